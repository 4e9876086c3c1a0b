package bitboard

import (
	"testing"

	"moonfarm/sim/prng"
)

// boards returns words of every density.
func boards(n int) []uint64 {
	r := prng.New(1)
	list := []uint64{0, 1, 1 << 63, ^uint64(0), 0x8040201008040201}
	for i := range n {
		x := r.Uint64()
		for range i % 4 {
			x &= r.Uint64()
		}
		if i%3 == 0 {
			x = ^x
		}
		list = append(list, x)
	}
	return list
}

func TestSelect(t *testing.T) {
	for _, x := range boards(2000) {
		n := 0
		for i := range 64 {
			if x>>i&1 == 0 {
				continue
			}
			if got := Select(x, n); got != i {
				t.Fatalf("Select(%#x, %d) = %d, want %d", x, n, got, i)
			}
			n++
		}
	}
}

func TestSpread(t *testing.T) {
	for b := range 256 {
		for i := range 8 {
			if got := Spread(uint8(b)) >> (8 * i) & 0xff; got != uint64(b>>i&1) {
				t.Fatalf("Spread(%#x) byte %d = %d", b, i, got)
			}
		}
	}
}

func TestRowCounts(t *testing.T) {
	for _, x := range boards(2000) {
		for row := range 8 {
			want := 0
			for col := range 8 {
				want += int(x >> (row*8 + col) & 1)
			}
			if got := int(RowCounts(x) >> (8 * row) & 0xff); got != want {
				t.Fatalf("RowCounts(%#x) row %d = %d, want %d", x, row, got, want)
			}
		}
	}
}
