package datasets

import (
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/datasets/internal/about"
	"moonfarm/env"
	"moonfarm/rollout"
)

// TestRowsAreTheGame plays the recorded episodes again in the simplest way, and
// compares all columns of Batches.
func TestRowsAreTheGame(t *testing.T) {
	j := toyJob(3, 2)
	j.Episodes, j.ShardEpisodes = 700, 600 // several batches in a shard
	dir := generateToy(t, j, Options{Workers: 2})
	d := opened(t, dir)
	require.Greater(t, shardsOf(t, dir)[0].Steps.Rows, uint64(2*d.Manifest().Steps.BatchRows))
	v, err := toyMakers().Vector(j.Rules[0], env.Settings{N: 1, Reward: "stones"})
	require.NoError(t, err)
	b := env.NewBatch(v.Spec(), 1, env.WantPlanes|env.WantScalars|env.WantMask|env.WantAction)
	type row struct {
		episode        uint64
		turn           int32
		seat           uint8
		planes         string
		scalars        []float32
		mask           []uint64
		action         []int32
		orders         int
		reward, result float32
		sum            float32
		end            uint8
	}
	var want, got []row
	for e := range each(t, d.Episodes()) {
		require.Equal(t, []string{"random", "random", "random"}, e.Policies)
		require.NoError(t, rollout.Replay(v, &e.Episode, b, func(turn int, b *env.Batch) error {
			for p := range 3 {
				want = append(want, row{
					e.ID, int32(turn), uint8(p), string(b.Planes[p*16 : (p+1)*16]), append([]float32{}, b.Scalars[p*3:(p+1)*3]...),
					append([]uint64{}, b.Mask[p:p+1]...), append([]int32{}, b.Action[p*2:(p+1)*2]...), int(b.OrderLen[p]),
					b.Reward[p], e.Outcome[p].Result, 0, about.Flag(turn == e.Turns-1),
				})
			}
			return nil
		}))
		sums := [3]float32{} // small whole numbers and thirds
		for i := len(want) - 1; i >= len(want)-e.Turns*3; i-- {
			sums[want[i].seat] += want[i].reward
			want[i].sum = sums[want[i].seat]
		}
	}
	for b := range each(t, d.Batches(ReadOptions{Rows: 100})) {
		require.Equal(t, []int{b.Rows, 2, 1, 8}, b.Shape(about.ColPlanes))
		require.Equal(t, []int{b.Rows}, b.Shape(about.ColReward))
		for i := range b.Rows {
			got = append(got, row{
				b.Episode[i], b.Turn[i], b.Seat[i], string(b.Planes[i*16 : (i+1)*16]), append([]float32{}, b.Scalars[i*3:(i+1)*3]...),
				append([]uint64{}, b.Mask[i:i+1]...), append([]int32{}, b.Action[i*2:(i+1)*2]...), int(b.OrderEnds[i+1] - b.OrderEnds[i]),
				b.Reward[i], b.Outcome[i], b.Return[i], b.Terminated[i],
			})
			require.Zero(t, b.Truncated[i])
		}
	}
	require.Equal(t, want, got)
	require.EqualValues(t, len(want), d.Manifest().Totals.Rows)
}

func TestInspect(t *testing.T) {
	for _, o := range []Obs{ObsPlanes, ObsPacked, ObsNone} {
		j := toyJob(2, 1)
		j.Obs = o
		dir := generateToy(t, j, Options{Workers: 2})
		one := inspected(t, dir, InspectOptions{Workers: 1, Sums: true})
		two := inspected(t, dir, InspectOptions{Workers: 3, Sums: true})
		require.Equal(t, one, two)
		require.Equal(t, one.Rows, one.Manifest.Totals.Rows)
		if o == ObsPlanes {
			require.Equal(t, "heap", one.Planes[0].Name)
			require.Greater(t, one.Planes[0].Mean, 0.0)
			require.LessOrEqual(t, one.Planes[0].Max, 9.0)
		}
		few := inspected(t, dir, InspectOptions{Shards: 2})
		require.Equal(t, 2, few.Shards)
		require.Less(t, few.Rows, one.Rows)
	}
}
