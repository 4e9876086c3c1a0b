package datasets

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/rollout"
)

// TestToldRows compares the rows that are written without playing again with
// those of the same games played again for their observations.
func TestToldRows(t *testing.T) {
	for _, maxTurns := range []int{0, 3} { // 3: most games are cut
		var sums [2][]string
		for i, o := range []Obs{ObsNone, ObsPlanes} {
			j := toyJob(2, 2)
			j.Obs, j.Reward, j.MaxTurns, j.Episodes, j.ShardEpisodes = o, "result", maxTurns, 3000, 1500
			d, err := Open(generateToy(t, j, Options{Workers: 2}))
			require.NoError(t, err)
			for _, c := range []string{ColEpisode, ColTurn, ColSeat, ColOrders, ColReward, ColReturn, ColOutcome, ColTerminated, ColTruncated} {
				sum, err := d.ColumnSHA256("steps", c)
				require.NoError(t, err)
				sums[i] = append(sums[i], sum)
			}
		}
		require.Equal(t, sums[1], sums[0])
	}
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
