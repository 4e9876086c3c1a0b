package datasets

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInspectCountsLabels compares the labels of inspect with those of the rows, seat by
// seat.
func TestInspectCountsLabels(t *testing.T) {
	dir := generateToy(t, toyJob(3, 2), Options{Workers: 2})
	d := opened(t, dir)
	card := inspected(t, dir, InspectOptions{Workers: 2})
	want := make([]Labels, d.Manifest().Game.Players)
	for b := range each(t, d.Batches(ReadOptions{})) {
		heads := len(b.Action) / b.Rows
		for i := range b.Rows {
			want[b.Seat[i]].Put(b.Action[i*heads : (i+1)*heads])
		}
	}
	for i := range want {
		want[i].Seat = i
		want[i].Close()
		require.Positive(t, want[i].Heads.All)
	}
	require.Equal(t, want, card.Labels)
}
