package datasets

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/datasets/internal/about"
	"moonfarm/sim"
)

// TestDiscount: a discount of 1 is the default. Verify and TestRenderedIsRead compare the returns of others.
func TestDiscount(t *testing.T) {
	one, none := toyJob(2, 1), toyJob(2, 1)
	one.Discount = 1
	requireSameFiles(t, files(t, generateToy(t, none, Options{})), files(t, generateToy(t, one, Options{})))
	for _, wrong := range []float64{-0.5, 1.01, math.NaN(), math.Inf(1)} {
		one.Discount = wrong
		requireRefused(t, t.TempDir(), one, "it must be above 0 and at most 1")
	}
}

// TestChosen: rows and episodes have the member of a mixture that chose, and the same
// member if only the recorded orders can be played again.
func TestChosen(t *testing.T) {
	j := mixed(toyJob(3, 2))
	dir := generateToy(t, j, Options{Workers: 2})
	d := opened(t, dir)
	require.Equal(t, [][]string{{}, {"random", "empty", "random"}, {}}, d.Manifest().Job.Members)
	var byRow []uint8
	counts := map[uint8]int{}
	for b := range each(t, d.Batches(ReadOptions{})) {
		byRow = append(byRow, b.Chosen...)
		for i, c := range b.Chosen {
			if b.Seat[i] != 1 {
				require.Zero(t, c)
				continue
			}
			counts[c]++
			if c == 1 {
				require.Equal(t, b.OrderEnds[i], b.OrderEnds[i+1], "the empty member gave orders")
			}
		}
	}
	require.Len(t, counts, 3)
	var byEpisode []uint8
	for e := range each(t, d.Episodes()) {
		byEpisode = append(byEpisode, e.Chosen...)
		for k, c := range e.Chosen {
			require.False(t, c == 1 && len(e.OrdersOf(k/e.Players, sim.Player(k%e.Players))) > 0)
		}
	}
	require.Equal(t, byRow, byEpisode)
	for _, m := range []Makers{toyMakers(), {Vector: toyMakers().Vector}} {
		r := requireSound(t, dir, m, VerifyOptions{Workers: 2, Recompute: -1})
		require.Equal(t, 7, r.Recomputed)
		require.Equal(t, m.Policy == nil, r.Replayed)
	}
	// Without a mixture there is no such column.
	d = opened(t, generateToy(t, toyJob(3, 2), Options{}))
	require.Empty(t, d.Manifest().Job.Members)
	for b := range each(t, d.Batches(ReadOptions{})) {
		require.Nil(t, b.Chosen)
	}
	_, err := d.ColumnSHA256("episodes", about.ColChosen)
	require.ErrorContains(t, err, "no column")
}
