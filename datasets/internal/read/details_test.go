package read

import (
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/datasets/internal/about"
	"moonfarm/datasets/internal/arrowfile"
)

// TestSample: what is read for Details is bounded.
func TestSample(t *testing.T) {
	for _, c := range []struct {
		rows, shards  uint64
		batch, width  int
		n, every      int
		least, atMost uint64
	}{
		{1000, 2, 100, 4, 2, 1, 1000, 1000},
		{10_000_000, 100, 1000, 4, 64, 1, 6_400_000, 6_400_000},
		{10_000_000, 1, 1000, 1000, 1, 50, 200_000, 200_000},
		{1 << 40, 1 << 20, 4096, 1000, 64, 335, 190_000, 202_000},
		{0, 0, 0, 0, 0, 1, 0, 0},
	} {
		d := &Dataset{manifest: new(about.Manifest)}
		m := d.manifest
		m.Totals.Rows, m.Totals.Shards, m.Steps.BatchRows = c.rows, c.shards, c.batch
		m.Steps.Columns = []arrowfile.Column{{Name: "planes", Type: "uint8", Shape: []int{c.width}}}
		n, every, rows := d.sample(0)
		require.Equal(t, []int{c.n, c.every}, []int{n, every}, "%+v", c)
		require.True(t, rows >= c.least && rows <= c.atMost, "%d rows, %+v", rows, c)
	}
}

// TestKindOf: the kind of an order is its words.
func TestKindOf(t *testing.T) {
	for text, want := range map[string]string{
		"3 scout 13,0": "scout", "upgrade 1,2": "upgrade", "unreadable (2 failures)": "unreadable", "0x1f": "0x1f", "": "order",
		"and 7 auto attack within 10: Wall, House": "auto attack", "12 move 3,4 closest": "move closest",
	} {
		require.Equal(t, want, kindOf(text), text)
	}
}
