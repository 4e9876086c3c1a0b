package bitboard

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/sim/prng"
)

// TestAround compares Of and its portable twin with Has, for lists of any offsets up to six steps with gaps. With
// MOONFARM_LONG=1 it compares the two a million times.
func TestAround(t *testing.T) {
	random := prng.New(11)
	boards := 2_000
	if os.Getenv("MOONFARM_LONG") == "1" {
		boards = 1_000_000
	}
	var n Around
	var offsets [64][2]int
	var p Padded
	for i := range boards {
		if i%512 == 0 {
			n = Around{}
			for j := range offsets {
				offsets[j] = [2]int{random.IntN(9) - 4, random.IntN(9) - 4}
				if random.IntN(8) == 0 {
					offsets[j] = [2]int{100, 100} // a gap
				}
			}
			for cell := range DiamondSpan {
				if !DiamondBoard.Has(cell) {
					continue
				}
				x, y := DiamondXY(cell)
				for j, o := range offsets {
					if other, ok := DiamondCell(x+o[0], y+o[1]); ok {
						require.True(t, n.Put(j, cell, other))
					}
				}
			}
		}
		for w := range p.Board {
			p.Board[w] = random.Uint64() & DiamondBoard[w]
		}
		cell := random.IntN(DiamondSpan)
		got := n.Of(&p, cell)
		require.Equal(t, n.portable(&p, cell), got)
		if !DiamondBoard.Has(cell) {
			require.Zero(t, got)
			continue
		}
		x, y := DiamondXY(cell)
		for j, o := range offsets {
			other, ok := DiamondCell(x+o[0], y+o[1])
			if want := ok && p.Board.Has(other); want != (got>>j&1 != 0) {
				require.Equalf(t, want, got>>j&1 != 0, "cell %d, offset %v", cell, o)
			}
		}
	}
	require.False(t, new(Around).Put(0, 13<<4|1, 1<<4|1), "a cell beyond the window")
}

// FuzzAround compares Of and its twin for any offsets, which may lead anywhere in the window, on any bits.
func FuzzAround(f *testing.F) {
	f.Add(make([]byte, 64), []byte{0, 1, 200}, uint16(300))
	f.Fuzz(func(t *testing.T, board, others []byte, cell uint16) {
		var n Around
		var p Padded
		for i, b := range board[:min(len(board), 64)] {
			p.Board[i/8] |= uint64(b) << (i % 8 * 8)
		}
		at := int(cell) % DiamondSpan
		for i, o := range others[:min(len(others), 64)] {
			n.Put(i, at, 2*int(o)+i&1)
		}
		require.Equal(t, n.portable(&p, at), n.Of(&p, at))
	})
}
