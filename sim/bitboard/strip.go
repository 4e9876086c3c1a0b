package bitboard

import "math/bits"

// strip is a set of cells in 64 adjacent columns of a Square: word y+1 is row y, and bit 0 is the lowest of the
// columns. Empty rows lie on either side, as in a Square.
type strip [SquareSide + 2]uint64

// stripAround returns the lowest of 64 columns around the cells in the rows from low to high, and the number of
// steps that a flood fill from these cells can do before it may leave the columns.
func (s *Square) stripAround(low, high int) (x, steps int) {
	or0, or1 := uint64(0), uint64(0)
	for rows := s.Words(low, high); len(rows) >= squareRow; rows = rows[squareRow:] {
		or0 |= rows[0]
		or1 |= rows[1]
	}
	left, right := bits.TrailingZeros64(or0), 63+bits.Len64(or1)
	if or0 == 0 {
		left = 64 + bits.TrailingZeros64(or1)
	}
	if or1 == 0 {
		right = bits.Len64(or0) - 1
	}
	const most = SquareSide - 64
	steps = 63 - right // from column 0 on, where the left edge of the board is no limit
	if left-most > steps {
		x, steps = most, left-most // up to the right edge
	}
	if middle := (left + right - 63) / 2; middle > 0 && middle < most {
		if n := min(left-middle, middle+63-right); n > steps {
			x, steps = middle, n
		}
	}
	return x, steps
}

// cut returns the cells of row y in the 64 columns from x on.
func (s *Square) cut(x, y int) uint64 {
	k := squareRow * (y + 1)
	return s[k]>>(x&63) | s[k+1]<<1<<(63-x&63)
}

// flip adds the cells of a row, given as in a strip from column x on, that are not in the set, and removes the others.
func (s *Square) flip(x, y int, cells uint64) {
	k := squareRow * (y + 1)
	s[k] ^= cells << (x & 63)
	s[k+1] ^= cells >> 1 >> (63 - x&63)
}

// inStrip does up to n steps in the 64 columns from x on, which the fill does not leave in these steps. It ends when
// the frontier has a cell in watch or is empty.
func (r *rowFlood) inStrip(x, n int) (steps int, met bool) {
	var front, free strip
	low, high := r.low, r.high
	for y := low; y <= high; y++ {
		front[y+1], free[y+1] = r.front.cut(x, y), r.free.cut(x, y)
		r.front.flip(x, y, front[y+1])
	}
	bottom, top := low, high // the rows that free has
	for ; steps < n && !met && low <= high; steps++ {
		if low = max(low-1, 0); low < bottom {
			bottom, free[low+1] = low, r.free.cut(x, low)
		}
		if high = min(high+1, SquareSide-1); high > top {
			top, free[high+1] = high, r.free.cut(x, high)
		}
		front.step(&free, low, high)
		for low <= high && front[low+1] == 0 {
			low++
		}
		for high > low && front[high+1] == 0 {
			high--
		}
		any := uint64(0)
		for y := max(low, r.first); y <= min(high, r.last); y++ {
			any |= front[y+1] & r.watch.cut(x, y)
		}
		met = any != 0
	}
	for y := bottom; y <= top; y++ {
		r.free.flip(x, y, r.free.cut(x, y)^free[y+1])
		r.front.flip(x, y, front[y+1])
	}
	r.low, r.high = low, high
	return steps, met
}

// step does one step of a flood fill in the rows from low to high, which are two or more. The rows are computed by
// pairs, so that neighbours change roles without copies (a third faster).
//
//go:noinline
func (s *strip) step(free *strip, low, high int) {
	above := s[low+2 : high+3]
	row, f := s[low+1 : high+2][:len(above)], free[low+1 : high+2][:len(above)]
	before, c := s[low], s[low+1]
	k := 0
	for ; k < len(above)-1; k += 2 {
		a := above[k]
		before |= c<<1 | c>>1 | a
		before &= f[k]
		row[k] = before
		f[k] ^= before
		before = above[k+1]
		c |= a<<1 | a>>1 | before
		c &= f[k+1]
		row[k+1] = c
		f[k+1] ^= c
		before, c = a, before
	}
	if k < len(above) {
		before |= c<<1 | c>>1 | above[k]
		before &= f[k]
		row[k] = before
		f[k] ^= before
	}
}
