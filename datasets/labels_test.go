package datasets

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Labels are counted by head and by row.
func TestLabelsAreCounted(t *testing.T) {
	var l, more Labels
	for _, row := range [][]int32{{0, 0, 0}, {0, 2, 1}, {-1, 2, 0}, {-1, -1, -1}} {
		l.put(row)
	}
	more.put([]int32{5, 5, 5})
	l.add(more)
	l.close()
	require.Equal(t, Labels{Heads: Share{10, 6, 0.6}, Rows: Share{5, 3, 0.6}, Told: Share{4, 2, 0.5}}, l)

	var single Labels // doing nothing is a choice of a single head
	for _, c := range []int32{0, 9, -1, 3} {
		single.put([]int32{c})
	}
	single.close()
	require.Equal(t, Labels{Heads: Share{4, 3, 0.75}, Rows: Share{4, 3, 0.75}, Told: Share{4, 3, 0.75}}, single)

	var none Labels
	none.close()
	require.Equal(t, 1.0, none.Heads.Share)
}

// What inspect says of the labels is what the rows hold, seat by seat.
func TestInspectCountsLabels(t *testing.T) {
	dir := generateToy(t, toyJob(3, 2), Options{Workers: 2})
	d := opened(t, dir)
	card := inspected(t, dir, InspectOptions{Workers: 2})
	want := make([]Labels, d.manifest.Game.Players)
	for b := range each(t, d.Batches(ReadOptions{})) {
		heads := len(b.Action) / b.Rows
		for i := range b.Rows {
			want[b.Seat[i]].put(b.Action[i*heads : (i+1)*heads])
		}
	}
	for i := range want {
		want[i].Seat = i
		want[i].close()
		require.Positive(t, want[i].Heads.All)
	}
	require.Equal(t, want, card.Labels)
}
