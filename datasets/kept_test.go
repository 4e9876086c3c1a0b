package datasets

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/datasets/internal/about"
	"moonfarm/datasets/internal/write"
	"moonfarm/env"
	"moonfarm/features"
	"moonfarm/rollout"
	"moonfarm/sim"
)

// TestKeptRows compares the files of rows that were kept while playing with those of
// the same episodes played again.
func TestKeptRows(t *testing.T) {
	for _, o := range []Obs{ObsNone, ObsPacked, ObsPlanes} {
		for _, reward := range []string{"result", "stones"} {
			for _, maxTurns := range []int{0, 3} { // 3: most games are cut
				j := full(toyJob(3, 2))
				j.Obs, j.Reward, j.MaxTurns, j.Episodes, j.ShardEpisodes = o, reward, maxTurns, 3000, 1500
				made, m := 0, toyMakers()
				vector := m.Vector
				m.Vector = func(rules string, c env.Settings) (env.Vector, error) {
					made++
					return vector(rules, c)
				}
				kept := generated(t, j, m, Options{Workers: 1})
				require.Equal(t, 4, made, "to look at the rules twice, to play, and to see how games start, but not to play again")
				again := filepath.Join(t.TempDir(), "again")
				r, err := write.NewRun(t.Context(), again, j, toyMakers(), Options{Workers: 1})
				require.NoError(t, err)
				r.Layout.Kept = 0 // nothing but the rewards
				_, err = r.Generate(t.Context())
				require.NoError(t, err)
				requireSameFiles(t, files(t, again), files(t, kept))
				report := requireSound(t, kept, Makers{Vector: toyMakers().Vector}, VerifyOptions{Workers: 1, Recompute: -1}) // played again from the orders alone
				require.True(t, report.Replayed)
			}
		}
	}
}

// TestKeep: workers keep rows while they fit into the bound of memory.
func TestKeep(t *testing.T) {
	specs := []env.Spec{{Info: sim.Info{Players: 2}, MaxTurns: 100,
		FormSpec: env.FormSpec{Shape: features.Shape{Words: 100, Scalars: 2}, Heads: []int{3}, MaskWords: 1}}}
	l := about.NewLayout(Job{Obs: ObsPacked, Rules: []string{""}}, specs)
	const row = 800 + 8 + 8 + 4 + 4
	require.Equal(t, env.WantPacked|env.WantScalars|env.WantMask|env.WantAction|env.WantReward, l.Keep(about.KeptBytes/(row*2*100*4)))
	require.Equal(t, env.WantReward, l.Keep(about.KeptBytes/(row*2*100*4)+1))
}

// TestWriteLies: episodes from elsewhere are played again, even where only their orders
// are written.
func TestWriteLies(t *testing.T) {
	j, from := recordedJob()
	j.Obs, j.Reward = ObsNone, "result"
	imported(t, j, toyMakers(), from, Options{})
	lying := func(e *rollout.Episode) bool { // it ends otherwise than recorded
		e.Outcome[0], e.Outcome[1] = e.Outcome[1], e.Outcome[0]
		return true
	}
	_, err := Write(t.Context(), t.TempDir(), j, toyMakers(), altered{from, lying}, Options{})
	require.ErrorContains(t, err, "recorded as")
}
