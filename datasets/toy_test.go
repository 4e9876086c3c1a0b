package datasets

import (
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/datasets/internal/about"
	"moonfarm/datasets/internal/disk"
	"moonfarm/env"
	"moonfarm/features"
	"moonfarm/features/featuretest"
	"moonfarm/rollout"
	"moonfarm/rollout/policy"
	"moonfarm/sim/prng"
	"moonfarm/sim/simtest"
)

// toyMakers returns makers of toy games; the rules are the numbers of seats and orders.
func toyMakers() Makers { return foggyMakers(nil) }

// foggyMakers returns makers of toy games with that fog.
func foggyMakers(fog *features.Fog) Makers {
	return Makers{
		Vector: func(rules string, c env.Settings) (env.Vector, error) {
			g := simtest.Toy{Seats: 2, Orders: 1}
			if rules != "" {
				if _, err := fmt.Sscanf(rules, "seats=%d orders=%d", &g.Seats, &g.Orders); err != nil {
					return nil, fmt.Errorf("rules %q: %w", rules, err)
				}
			}
			kit := featuretest.ToyKit(g)
			kit.Fog = fog
			return env.New(g, kit, c)
		},
		Policy: func(name string, files rollout.Files) (rollout.Maker, error) {
			if strings.HasPrefix(name, "mix(") {
				return policy.New("toy", name)
			}
			if strings.HasPrefix(name, "net") {
				return newNet(name, files)
			}
			if name == "seek" {
				return func(s env.Spec) (rollout.Policy, error) { return &seeker{anyone: anyone{name, s}}, nil }, nil
			}
			if name != "random" && name != "other" {
				return nil, fmt.Errorf("no policy %q", name)
			}
			return func(s env.Spec) (rollout.Policy, error) { return anyone{name, s}, nil }, nil
		},
	}
}

// toyJob returns a small job of toys with that many seats and orders a turn.
func toyJob(seats, orders int) Job {
	j := Job{
		Game: "toy", Rules: []string{fmt.Sprintf("seats=%d orders=%d", seats, orders)},
		Seed: 7, Episodes: 100, ShardEpisodes: 15, Reward: "stones",
	}
	for range seats {
		j.Policies = append(j.Policies, "random")
	}
	return j
}

// mixed gives the second seat of a job a policy of several members, and
// discounts the returns.
func mixed(j Job) Job {
	j.Policies[1] = "mix(1*random,2*mix(1*empty,1*random))"
	j.Discount = 0.9
	return j
}

// full gives a job of three seats one policy of several members, and one that searches.
func full(j Job) Job {
	j = mixed(j)
	j.Policies[2] = "seek"
	return j
}

// files returns the contents of the files of a folder, by path.
func files(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil || name == "." {
			return err
		}
		if d.IsDir() {
			all[name+"/"] = ""
			return nil
		}
		b, err := os.ReadFile(path)
		all[name] = string(b)
		return err
	}))
	return all
}

// requireSameFiles compares folders without printing their bytes.
func requireSameFiles(t testing.TB, want, got map[string]string) {
	t.Helper()
	for name, content := range want {
		g, ok := got[name]
		require.True(t, ok, "%s is missing", name)
		require.True(t, content == g, "%s differs", name)
	}
	for name := range got {
		_, ok := want[name]
		require.True(t, ok, "%s is too much", name)
	}
}

// generateToy makes a dataset of toys.
func generateToy(t testing.TB, j Job, o Options) string {
	t.Helper()
	return generated(t, j, toyMakers(), o)
}

// generated makes a dataset of the job in a new folder.
func generated(t testing.TB, j Job, m Makers, o Options) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	_, err := Generate(withBuckets(t), dir, j, m, o)
	require.NoError(t, err)
	return dir
}

// requireRefused requires that generating the job into the folder fails with an error
// that contains these words.
func requireRefused(t testing.TB, dir string, j Job, words ...string) {
	t.Helper()
	_, err := Generate(withBuckets(t), dir, j, toyMakers(), Options{})
	for _, w := range words {
		require.ErrorContains(t, err, w)
	}
}

// opened opens a dataset.
func opened(t testing.TB, dir string) *Dataset {
	t.Helper()
	d, err := OpenContext(withBuckets(t), dir)
	require.NoError(t, err)
	return d
}

// each yields the values of a reader, which must not fail.
func each[T any](t testing.TB, from iter.Seq2[T, error]) iter.Seq[T] {
	return func(yield func(T) bool) {
		for v, err := range from {
			require.NoError(t, err)
			if !yield(v) {
				return
			}
		}
	}
}

// inspected returns the result of Inspect.
func inspected(t testing.TB, dir string, o InspectOptions) *Overview {
	t.Helper()
	card, err := Inspect(withBuckets(t), dir, o)
	require.NoError(t, err)
	return card
}

// verified returns the report of Verify.
func verified(t testing.TB, dir string, m Makers, o VerifyOptions) *Report {
	t.Helper()
	r, err := Verify(withBuckets(t), dir, m, o)
	require.NoError(t, err)
	return r
}

// requireSound requires that Verify finds no problem.
func requireSound(t testing.TB, dir string, m Makers, o VerifyOptions) *Report {
	t.Helper()
	r := verified(t, dir, m, o)
	require.Empty(t, r.Problems)
	return r
}

// requireProblem requires that Verify finds one problem, whose text contains these
// words.
func requireProblem(t testing.TB, dir string, m Makers, o VerifyOptions, words ...string) {
	t.Helper()
	r := verified(t, dir, m, o)
	require.Len(t, r.Problems, 1)
	for _, w := range words {
		require.Contains(t, r.Problems[0], w)
	}
}

// playedTo is a rollout.Sink.
type playedTo func(e *rollout.Episode) error

func (p playedTo) Episode(e *rollout.Episode) error { return p(e) }

// edit changes the manifest of a dataset, with checksums that fit.
func edit(t testing.TB, dir string, change func(*Manifest)) {
	t.Helper()
	m, err := manifestIn(dir)
	require.NoError(t, err)
	change(m)
	rewrite(t, dir, m)
}

// contents returns the bytes of a file.
func contents(t testing.TB, path ...string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path...))
	require.NoError(t, err)
	return text
}

// anyone is a policy that draws a legal choice for each head by the row's seed.
type anyone struct {
	name string
	spec env.Spec
}

func (a anyone) Name() string { return a.name }

func (a anyone) Wants() env.Want { return env.WantMask | env.WantAction | env.WantRowSeed }

func (a anyone) Act(_ env.Vector, b *env.Batch, rows []int32) {
	for _, row := range rows {
		r, heads := prng.New(b.RowSeed[row]), len(a.spec.Heads)
		featuretest.Choose(b.Action[int(row)*heads:], a.spec.Heads, b.Mask[int(row)*a.spec.MaskWords:],
			func(_, n int) int { return r.IntN(n) })
	}
}

// specOfToy returns the spec of toyJob(2, 1).
func specOfToy(t testing.TB) env.Spec {
	v, err := toyMakers().Vector("", env.Settings{N: 1, Reward: "stones"})
	require.NoError(t, err)
	return v.Spec()
}

// manifestIn reads the manifest of a folder.
func manifestIn(dir string) (*Manifest, error) {
	return about.ReadManifest(context.Background(), disk.At(dir, dir))
}
