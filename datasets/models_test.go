package datasets

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/datasets/internal/about"
	"moonfarm/datasets/internal/store"
	"moonfarm/env"
	"moonfarm/rollout"
	"moonfarm/sim/prng"
)

// netData is the file of the policy "net". A process that knows only the name with its
// sum, "net(sha256=…)", does not have it.
const netData = "what was learned"

// net plays like anyone, with seeds that its file changes.
type net struct {
	anyone
	file rollout.File
	salt uint64
}

func newNet(name string, files rollout.Files) (rollout.Maker, error) {
	data := []byte(netData)
	if sum, ok := strings.CutPrefix(name, "net("); ok {
		var err error
		if data, err = files(strings.TrimSuffix(sum, ")")); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	sum := store.SHA256(data)
	return func(s env.Spec) (rollout.Policy, error) {
		return net{anyone{"net(" + sum[:16] + ")", s}, rollout.File{Name: "net", SHA256: sum, Data: data}, uint64(len(data))}, nil
	}, nil
}

func (n net) Files() []rollout.File { return []rollout.File{n.file} }

func (n net) Act(v env.Vector, b *env.Batch, rows []int32) {
	salted := *b
	salted.RowSeed = make([]uint64, len(b.RowSeed))
	for i, seed := range b.RowSeed {
		salted.RowSeed[i] = prng.Mix(seed + n.salt)
	}
	n.anyone.Act(v, &salted, rows)
}

// learned gives the second seat of a job a policy with a file.
func learned(j Job) Job {
	j.Policies[1] = "net"
	return j
}

// TestModels: a dataset holds the files of its policies, which are made again from
// them.
func TestModels(t *testing.T) {
	j := learned(toyJob(2, 1))
	for name, out := range places(t) {
		r, err := Generate(withBuckets(t), out, j, toyMakers(), Options{})
		require.NoError(t, err, name)
		sum := store.SHA256([]byte(netData))
		model := Attachment{Path: "models/" + sum + ".onnx", SHA256: sum, Bytes: uint64(len(netData))}
		require.Equal(t, []Attachment{model}, r.Manifest.Job.Models)
		require.Equal(t, "net("+sum[:16]+")", r.Manifest.Job.Policies[1])
		d, err := OpenContext(withBuckets(t), out)
		require.NoError(t, err)
		data, err := d.Attached(model)
		require.NoError(t, err)
		require.Equal(t, netData, string(data))
		report, err := Verify(withBuckets(t), out, toyMakers(), VerifyOptions{Recompute: -1})
		require.NoError(t, err)
		require.Empty(t, report.Problems)
		require.Empty(t, report.Lacking, "the file is in the dataset")
		require.False(t, report.Replayed)
	}
}

// TestModelsTogether: processes that know only the sum of a file make the same dataset
// as a process that has the file; so do parts.
func TestModelsTogether(t *testing.T) {
	j := learned(toyJob(2, 1))
	alone := generateToy(t, j, Options{})
	want := withoutFolders(files(t, alone))
	summed := j
	summed.Policies = []string{"random", "net(" + store.SHA256([]byte(netData))[:16] + ")"}
	_, err := Generate(withBuckets(t), filepath.Join(t.TempDir(), "new"), summed, toyMakers(), Options{})
	require.ErrorIs(t, err, fs.ErrNotExist, "nobody has the file")
	for name, out := range places(t) {
		first, err := OpenRun(withBuckets(t), out, j, toyMakers(), Options{})
		require.NoError(t, err, name)
		require.NoError(t, first.Close())
		_, err = madeTogether(t, out, summed, Options{})
		require.NoError(t, err, name)
		requireSameFiles(t, want, objects(t, out))
	}
	merged := filepath.Join(t.TempDir(), "merged")
	_, err = Merge(withBuckets(t), merged, inParts(t, j, 3), toyMakersOf, Options{})
	require.NoError(t, err)
	requireSameFiles(t, want, withoutFolders(files(t, merged)))
}

// TestModelsKilled: the unfinished file of a killed run is removed.
func TestModelsKilled(t *testing.T) {
	j := learned(toyJob(2, 1))
	want := files(t, generateToy(t, j, Options{}))
	dir := filepath.Join(t.TempDir(), "data")
	x, err := OpenRun(withBuckets(t), dir, j, toyMakers(), Options{})
	require.NoError(t, err)
	require.NoError(t, x.Close())
	model := filepath.Join(dir, filepath.FromSlash(about.ModelPath(store.SHA256([]byte(netData)))))
	require.NoError(t, os.Rename(model, model+".tmp"))
	_, err = madeTogether(t, dir, j, Options{})
	require.NoError(t, err)
	requireSameFiles(t, want, files(t, dir))
}

// TestModelsDamaged: a wrong file, and one too many, are found.
func TestModelsDamaged(t *testing.T) {
	j := learned(toyJob(2, 1))
	for want, damage := range map[string]func(path string) error{
		"the manifest says":            func(path string) error { return os.WriteFile(path, []byte(netData+"!"), 0o666) },
		"no such file":                 os.Remove,
		"does not belong to the datas": func(path string) error { return os.WriteFile(path+"2", nil, 0o666) },
	} {
		t.Run(want, func(t *testing.T) {
			dir := generateToy(t, j, Options{})
			require.NoError(t, damage(filepath.Join(dir, filepath.FromSlash(about.ModelPath(store.SHA256([]byte(netData)))))))
			report, err := Verify(withBuckets(t), dir, toyMakers(), VerifyOptions{})
			require.NoError(t, err)
			require.Len(t, report.Problems, 1)
			require.Contains(t, report.Problems[0], want)
		})
	}
	for want, change := range map[string]func(a *Attachment){
		`sha256 "x"`:   func(a *Attachment) { a.SHA256 = "x" },
		`in "../evil"`: func(a *Attachment) { a.Path = "../evil" },
		"9999999999":   func(a *Attachment) { a.Bytes = 9999999999 },
	} {
		t.Run(want, func(t *testing.T) {
			job := toyJob(2, 1).WithDefaults()
			require.NoError(t, job.AddModels([]rollout.File{{SHA256: store.SHA256(nil)}}))
			require.NoError(t, job.Check())
			change(&job.Models[0])
			require.ErrorContains(t, job.Check(), want)
		})
	}
}
