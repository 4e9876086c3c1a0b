package bitboard

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/sim/prng"
)

// TestGather compares Of and its portable twin with Has, for lists of any cells with gaps. With
// MOONFARM_LONG=1 it compares the two a million times.
func TestGather(t *testing.T) {
	random := prng.New(11)
	sets := 2_000
	if os.Getenv("MOONFARM_LONG") == "1" {
		sets = 1_000_000
	}
	var g Gather
	var cells [64]int
	for i := range sets {
		if i%64 == 0 {
			g = Gather{}
			for j := range cells {
				if cells[j] = -1; random.IntN(8) > 0 {
					cells[j] = random.IntN(DiamondSpan)
					g.Put(j, cells[j])
				}
			}
		}
		var d Diamond
		for w := range d {
			d[w] = random.Uint64()
		}
		got := g.Of(&d)
		require.Equal(t, g.portable(&d), got)
		for j, cell := range cells {
			require.Equal(t, cell >= 0 && d.Has(cell), got>>j&1 != 0)
		}
	}
}
