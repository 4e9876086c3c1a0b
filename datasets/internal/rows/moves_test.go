package rows

import (
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/rollout"
)

// TestMoves cuts the moves of three rows out of an episode with several heads: row 0
// has moves of 1 and 2 choices, row 1 has none, row 2 a move without choices.
func TestMoves(t *testing.T) {
	f := rollout.SearchResults{
		Value: make([]float32, 3), Ends: []int32{2, 2, 3}, Shares: []float32{0.75, 0.25, 1}, Choices: []int32{4, 5, 6}, Counts: []int32{1, 2, 0},
	}
	var m Moves
	m.Set(&f)
	for row, want := range []rollout.SearchResults{
		{Shares: f.Shares[:2], Choices: f.Choices, Counts: f.Counts[:2]},
		{Shares: []float32{}, Choices: []int32{}, Counts: []int32{}},
		{Shares: f.Shares[2:], Choices: []int32{}, Counts: f.Counts[2:]},
	} {
		require.Equal(t, want, m.Of(row, row+1))
	}
	moves, choices := m.Before(2)
	require.Equal(t, [2]int{2, 3}, [2]int{moves, choices})
	moves, choices = m.Before(0)
	require.Zero(t, moves+choices)
}

// TestScatter puts rows of every width of a column into the order of a window.
func TestScatter(t *testing.T) {
	var width [Columns]int
	width[Seat], width[Turn], width[Episode], width[Planes] = 1, 4, 8, 3
	from, to := newSlabs(width, 3), newSlabs(width, 4)
	for c, slab := range from.data {
		for i := range slab[:3*width[c]] {
			slab[i] = byte(10*(i/max(width[c], 1)) + i%max(width[c], 1) + 1)
		}
	}
	order := []int32{3, 0, 2}
	scatter(target{slabs: to, order: order}, from, 3)
	for _, c := range []Column{Seat, Turn, Episode, Planes} {
		for row, at := range order {
			require.Equal(t, from.Bytes(c, row, 1), to.Bytes(c, int(at), 1), "column %d, row %d", c, row)
		}
	}
}
