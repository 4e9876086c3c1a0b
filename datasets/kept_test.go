package datasets

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/features"
	"moonfarm/rollout"
	"moonfarm/sim"
)

// TestKeptRows compares the files whose rows were kept from play with those of
// the same episodes played again for them.
func TestKeptRows(t *testing.T) {
	for _, o := range []Obs{ObsNone, ObsPacked, ObsPlanes} {
		for _, reward := range []string{"result", "stones"} {
			for _, maxTurns := range []int{0, 3} { // 3: most games are cut
				j := toyJob(2, 2)
				j.Obs, j.Reward, j.MaxTurns, j.Episodes, j.ShardEpisodes = o, reward, maxTurns, 3000, 1500
				kept := generateToy(t, j, Options{Workers: 2})
				for _, spare := range []spare{spareRows, spareRewards} {
					again := generateToy(t, j, Options{Workers: 1, spare: spare})
					requireSameFiles(t, files(t, again), files(t, kept))
				}
			}
		}
	}
}

// TestKeep: rows are kept where they are small, whatever there are of them.
func TestKeep(t *testing.T) {
	specs := []env.Spec{{Info: sim.Info{Players: 2}, Shape: features.Shape{Words: 100, Scalars: 2}, Heads: []int{3}, MaskWords: 1, MaxTurns: 100}}
	l := newLayout(Job{Obs: ObsPacked, Rules: []string{""}}, specs)
	const row = 800 + 8 + 8 + 4 + 4
	require.Equal(t, env.WantPacked|env.WantScalars|env.WantMask|env.WantAction, l.keep(keptBytes/(row*2*100*4)))
	require.Zero(t, l.keep(keptBytes/(row*2*100*4)+1))
}

// lying is a Source whose episodes do not end as they say.
type lying struct{ Source }

func (l lying) Shard(ctx context.Context, shard int, yield func(*rollout.Episode, string) error) error {
	return l.Source.Shard(ctx, shard, func(e *rollout.Episode, source string) error {
		e.Outcome[0], e.Outcome[1] = e.Outcome[1], e.Outcome[0]
		return yield(e, source)
	})
}

// TestWriteLies: episodes from elsewhere are played again even where nothing but
// their orders is written.
func TestWriteLies(t *testing.T) {
	j, from := recordedJob()
	j.Obs, j.Reward = ObsNone, "result"
	_, err := Write(t.Context(), filepath.Join(t.TempDir(), "true"), j, toyMakers(), from, Options{})
	require.NoError(t, err)
	_, err = Write(t.Context(), filepath.Join(t.TempDir(), "lies"), j, toyMakers(), lying{from}, Options{})
	require.ErrorContains(t, err, "recorded as")
}
