package command

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/cmd/moonfarm/internal/commandtest"
	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/datasets"
	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/rollout"
	"moonfarm/rollout/policy"
)

// TestDatasetOfALibrary inspects and verifies datasets that another program made, one of
// them with a policy of its own, whose choices verify cannot compare.
func TestDatasetOfALibrary(t *testing.T) {
	g, err := catalog.Find("towerdefence")
	require.NoError(t, err)
	m := Makers(g)
	m.Policy = func(name string, files rollout.Files) (rollout.Maker, error) {
		if name == "mine" {
			return policy.New(g.Name, "econ")
		}
		return policy.New(g.Name, name, files)
	}
	for name, policies := range map[string][]string{"mine": {"mine", "random"}, "known": {"econ", "random"}} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), name)
			job := datasets.Job{Game: g.Name, Policies: policies, Episodes: 3, ShardEpisodes: 2}
			made := m
			if name == "mine" {
				made.Policy = func(name string, files rollout.Files) (rollout.Maker, error) {
					maker, err := m.Policy(name, files)
					return renamed(maker, name), err
				}
			}
			_, err := datasets.Generate(t.Context(), dir, job, made, datasets.Options{})
			require.NoError(t, err)
			lacking := []string{`"lacking": "",`, `"replayed": false`, "; 2 shards played again: equal to the bit"}
			if name == "mine" {
				lacking = []string{`no policy \"mine\" for towerdefence`, `"replayed": true`,
					`; the recorded orders of 2 shards played again: equal to the bit; the policy that chose them is not available here: policy "mine": `}
			}
			all := name + "\n"
			for _, args := range [][]string{{"inspect", dir}, {"verify", dir, "--recompute", "all"}, {"verify", dir, "--recompute", "all", "--json"}} {
				out, problems := said(t, console.ExitOK, args...)
				require.Equalf(t, "", problems, "%q", args)
				all += out
			}
			commandtest.Wants(t, all, append(lacking, "\nmade by a library (moonfarm "+datasets.Version+", format 3)\n", `"problems": [],`, `"recomputed": 2,`)...)
		})
	}
}

// renamed makes policies of a maker under another name.
func renamed(m rollout.Maker, name string) rollout.Maker {
	return func(s env.Spec) (rollout.Policy, error) {
		p, err := m(s)
		return other{p, name}, err
	}
}

type other struct {
	rollout.Policy
	name string
}

// Name implements rollout.Policy.
func (o other) Name() string { return o.name }
