package datasets

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/datasets/internal/about"
	"moonfarm/datasets/internal/store"
)

// toyMakersOf returns the makers of the game of that name.
func toyMakersOf(string) (Makers, error) { return toyMakers(), nil }

// inParts makes a job in n parts, in folders below a new one.
func inParts(t *testing.T, j Job, n int) (dirs []string) {
	above := t.TempDir()
	for i := range n {
		dirs = append(dirs, filepath.Join(above, strconv.Itoa(i)))
		_, err := Generate(withBuckets(t), dirs[i], j, toyMakers(), Options{Part: i, Parts: n})
		require.NoError(t, err)
	}
	return dirs
}

// TestMergeLinks: a part may have links in place of files, as a cache of downloads has. They are copied.
func TestMergeLinks(t *testing.T) {
	j := mixed(toyJob(3, 2))
	dirs := inParts(t, j, 2)
	file, real := filepath.Join(dirs[1], "steps/00005.arrow"), filepath.Join(t.TempDir(), "real")
	require.NoError(t, os.Rename(file, real))
	require.NoError(t, os.Symlink(real, file))
	out := filepath.Join(t.TempDir(), "out")
	_, err := Merge(t.Context(), out, dirs, toyMakersOf, Options{})
	require.NoError(t, err)
	s, err := os.Lstat(filepath.Join(out, "steps/00005.arrow"))
	require.NoError(t, err)
	require.True(t, s.Mode().IsRegular())
}

// TestMerge: parts made separately become the same bytes as the whole made by Generate.
func TestMerge(t *testing.T) {
	j := full(toyJob(3, 2))
	want := withoutFolders(files(t, generateToy(t, j, Options{})))
	for _, n := range []int{2, 3, 7} {
		dirs := inParts(t, j, n)
		rows := uint64(0)
		for i, dir := range dirs {
			r, err := Generate(withBuckets(t), dir, j, toyMakers(), Options{Part: i, Parts: n})
			require.NoError(t, err)
			require.Zero(t, r.Made, "the part is there")
			rows += r.Manifest.Totals.Rows
			for name := range files(t, dir) {
				require.Regexp(t, `^(run\.json|(shards|steps|episodes|finals)/([0-9]{5}\.(json|arrow))?)$`, name)
			}
			_, err = Open(dir)
			require.ErrorContains(t, err, "not complete")
		}
		for _, out := range places(t) {
			out += strconv.Itoa(n)
			r, err := Merge(withBuckets(t), out, append(dirs, dirs[0]), toyMakersOf, Options{Workers: 2})
			require.NoError(t, err)
			require.Equal(t, 7, r.Made)
			require.Equal(t, rows, r.Manifest.Totals.Rows)
			requireSameFiles(t, want, objects(t, out))
			r, err = Merge(withBuckets(t), out, dirs, toyMakersOf, Options{})
			require.NoError(t, err)
			require.True(t, r.AlreadyComplete)
		}
	}
	dirs := inParts(t, j, 2) // into one of them
	_, err := Merge(withBuckets(t), dirs[1], dirs, toyMakersOf, Options{})
	require.NoError(t, err)
	requireSameFiles(t, want, withoutFolders(files(t, dirs[1])))
}

// TestMergeStoppedAtEveryStep fails changes of a merge.
func TestMergeStoppedAtEveryStep(t *testing.T) {
	j := toyJob(2, 1)
	j.Episodes = 45
	want := withoutFolders(files(t, generateToy(t, j, Options{})))
	dirs := inParts(t, j, 2)
	stoppedAtEveryStep(t, stride(), 20, want, func(out string, o Options) error {
		_, err := Merge(withBuckets(t), out, dirs, toyMakersOf, o)
		return err
	})
}

// TestMergeRefuses: parts that do not belong together are refused with the reason.
func TestMergeRefuses(t *testing.T) {
	j := toyJob(2, 1)
	dirs := inParts(t, j, 3)
	refusedFor := func(parts []string, words ...string) {
		t.Helper()
		out := filepath.Join(t.TempDir(), "out")
		_, err := Merge(withBuckets(t), out, parts, toyMakersOf, Options{})
		for _, w := range words {
			require.ErrorContains(t, err, w)
		}
		_, err = Open(out)
		require.Error(t, err)
	}
	refusedFor(nil, "no parts to merge")
	refusedFor(dirs[1:], "2 of 7 shards are in no part: 0, 1")
	refusedFor([]string{t.TempDir()}, "not a part of a dataset")
	refusedFor([]string{generateToy(t, j, Options{})}, "not a part of a dataset")
	other := j
	other.Seed++
	refusedFor([]string{dirs[0], inParts(t, other, 2)[1]}, dirs[0]+" and ", "belong to different runs", "seed: it has ")

	// The same shard, with other bytes and a sidecar that fits them.
	from, name := inParts(t, other, 3)[1], about.PathOf(about.ShardsDir, 3)
	for _, dir := range append(about.TableNames(true), about.ShardsDir) {
		require.NoError(t, os.MkdirAll(filepath.Join(dirs[0], dir), 0o777))
		require.NoError(t, os.WriteFile(filepath.Join(dirs[0], about.PathOf(dir, 3)), contents(t, from, about.PathOf(dir, 3)), 0o666))
	}
	refusedFor(dirs, "shard 3 has different bytes in "+dirs[0]+" and "+dirs[1])
	require.NoError(t, os.Remove(filepath.Join(dirs[0], name)))
	require.NoError(t, os.WriteFile(filepath.Join(dirs[0], about.PathOf(about.ShardsDir, 99)), nil, 0o666))
	refusedFor(dirs, "no shard of the run")
	require.NoError(t, os.Remove(filepath.Join(dirs[0], about.PathOf(about.ShardsDir, 99))))

	path := filepath.Join(dirs[2], about.PathOf(about.StepsDir, 5))
	good := contents(t, path)
	bad := append([]byte{}, good...)
	bad[len(bad)/2] ^= 1
	require.NoError(t, os.WriteFile(path, bad, 0o666))
	refusedFor(dirs, path+": sha256 is "+store.SHA256(bad))
	require.NoError(t, os.WriteFile(path, good[1:], 0o666))
	refusedFor(dirs, path)
	for _, o := range []Options{{Part: 2, Parts: 2}, {Part: -1, Parts: 2}, {Part: 1}, {Parts: -1}} {
		_, err := Generate(withBuckets(t), t.TempDir(), j, toyMakers(), o)
		require.ErrorContains(t, err, "from 0; there may be")
	}
}
