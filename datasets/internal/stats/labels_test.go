package stats

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLabels counts by head and by row.
func TestLabels(t *testing.T) {
	var l, more Labels
	for _, row := range [][]int32{{0, 0, 0}, {0, 2, 1}, {-1, 2, 0}, {-1, -1, -1}} {
		l.Put(row)
	}
	more.Put([]int32{5, 5, 5})
	l.Add(more)
	l.Close()
	require.Equal(t, Labels{Heads: Share{10, 6, 0.6}, Rows: Share{5, 3, 0.6}, Told: Share{4, 2, 0.5}}, l)

	var single Labels // doing nothing is a choice of a single head
	for _, c := range []int32{0, 9, -1, 3} {
		single.Put([]int32{c})
	}
	single.Close()
	require.Equal(t, Labels{Heads: Share{4, 3, 0.75}, Rows: Share{4, 3, 0.75}, Told: Share{4, 3, 0.75}}, single)

	var none Labels
	none.Close()
	require.Equal(t, 1.0, none.Heads.Share)
}
