package datasets

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/features/featuretest"
	"moonfarm/rollout"
	"moonfarm/sim/prng"
	"moonfarm/sim/simtest"
)

// toyMakers make toy games; the rules say seats and orders.
func toyMakers() Makers {
	return Makers{
		Vector: func(rules string, c env.Config) (env.Vector, error) {
			g := simtest.Toy{Seats: 2, Orders: 1}
			if rules != "" {
				if _, err := fmt.Sscanf(rules, "seats=%d orders=%d", &g.Seats, &g.Orders); err != nil {
					return nil, fmt.Errorf("rules %q: %w", rules, err)
				}
			}
			return env.New(g, featuretest.ToyKit(g), c)
		},
		Policy: func(name string) (rollout.Maker, error) {
			if name != "random" && name != "other" {
				return nil, fmt.Errorf("no policy %q", name)
			}
			return func(s env.Spec) (rollout.Policy, error) { return anyone{name, s}, nil }, nil
		},
	}
}

// toyJob is a small job of toys with that many seats and orders a turn.
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

// files reads a folder: path to content.
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

// generateToy makes a dataset of the job in a new folder.
func generateToy(t testing.TB, j Job, o Options) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	_, err := Generate(t.Context(), dir, j, toyMakers(), o)
	require.NoError(t, err)
	return dir
}

// anyone is a policy that takes a legal choice per head by the row's key.
type anyone struct {
	name string
	spec env.Spec
}

func (p anyone) Name() string { return p.name }

func (p anyone) Wants() env.Want { return env.WantMask | env.WantAction | env.WantKey }

func (p anyone) Act(_ env.Vector, b *env.Batch, rows []int32) {
	for _, row := range rows {
		r := prng.New(b.Key[row])
		mask, at := b.Mask[int(row)*p.spec.MaskWords:], 0
		for h, n := range p.spec.Heads {
			var legal []int32
			for c := range n {
				if i := at + c; mask[i/64]>>(i%64)&1 != 0 {
					legal = append(legal, int32(c))
				}
			}
			b.Action[int(row)*len(p.spec.Heads)+h] = legal[r.IntN(len(legal))]
			at += n
		}
	}
}

// specOfToy is the spec of toyJob(2, 1).
func specOfToy(t testing.TB) env.Spec {
	v, err := toyMakers().Vector("", env.Config{N: 1, Reward: "stones"})
	require.NoError(t, err)
	return v.Spec()
}
