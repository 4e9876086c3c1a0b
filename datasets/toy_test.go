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
	"moonfarm/rollout/policy"
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
		Policy: func(name string) (rollout.Maker, error) { return policy.New("toy", name) },
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
