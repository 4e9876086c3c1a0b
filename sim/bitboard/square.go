package bitboard

import "math/bits"

// SquareSide is the side of a Square in cells.
const SquareSide = 80

// squareRow is the number of words of a row.
const squareRow = 2

// Square is a set of cells of a board of 80 by 80. Row y is the words 2(y+1)
// and 2(y+1)+1: x from 0 to 63 in the first, from 64 to 79 in the lower bits of
// the second. An empty row lies on either side of the board, so that the
// neighbours above and below are two words away without any test.
type Square [squareRow * (SquareSide + 2)]uint64

// squareHigh selects the cells in the second word of a row.
const squareHigh = 1<<(SquareSide-64) - 1

// Has reports whether the cell is in the set.
func (s *Square) Has(x, y int) bool { return s[squareRow*(y+1)+x>>6]>>(x&63)&1 != 0 }

// Bit returns 1 if the cell is in the set, else 0. The cell may also lie up to 40
// columns beside the board, or in the row below or above it.
func (s *Square) Bit(x, y int) uint64 { return s[squareRow*(y+1)+x>>6] >> (x & 63) & 1 }

// Add adds a cell.
func (s *Square) Add(x, y int) { s[squareRow*(y+1)+x>>6] |= 1 << (x & 63) }

// Drop removes a cell.
func (s *Square) Drop(x, y int) { s[squareRow*(y+1)+x>>6] &^= 1 << (x & 63) }

// span returns the words of a row with the bits from x to x+size−1 set, at most
// 64 bits.
func span(x, size int) (low, high uint64) {
	ones := uint64(1)<<size - 1
	if x >= 64 {
		return 0, ones << (x - 64) & squareHigh
	}
	return ones << x, ones >> (64 - x) & squareHigh
}

// AddSquare adds the cells of a square whose lowest corner is (x, y). The
// square must lie on the board.
func (s *Square) AddSquare(x, y, size int) {
	low, high := span(x, size)
	for i := squareRow * (y + 1); i < squareRow*(y+1+size); i += squareRow {
		s[i] |= low
		s[i+1] |= high
	}
}

// AddBeside adds the neighbours of a cell that lie on the board.
func (s *Square) AddBeside(x, y int) {
	i := squareRow * (y + 1)
	s[i] |= 1<<uint(x-1) | 1<<uint(x+1) // shifts outside of the word give 0
	s[i+1] |= (1<<uint(x-65) | 1<<uint(x-63)) & squareHigh
	if y > 0 {
		s[i-squareRow+x>>6] |= 1 << (x & 63)
	}
	if y < SquareSide-1 {
		s[i+squareRow+x>>6] |= 1 << (x & 63)
	}
}

// DropSquare removes the cells of a square.
func (s *Square) DropSquare(x, y, size int) {
	low, high := span(x, size)
	for i := squareRow * (y + 1); i < squareRow*(y+1+size); i += squareRow {
		s[i] &^= low
		s[i+1] &^= high
	}
}

// MeetsSquare reports whether a cell of the square is in the set.
func (s *Square) MeetsSquare(x, y, size int) bool {
	low, high := span(x, size)
	any := uint64(0)
	for i := squareRow * (y + 1); i < squareRow*(y+1+size); i += squareRow {
		any |= s[i]&low | s[i+1]&high
	}
	return any != 0
}

// Row returns the two words of row y.
func (s *Square) Row(y int) (low, high uint64) { return s[squareRow*(y+1)], s[squareRow*(y+1)+1] }

// SetRow sets the two words of row y; bits past the board are dropped.
func (s *Square) SetRow(y int, low, high uint64) {
	s[squareRow*(y+1)], s[squareRow*(y+1)+1] = low, high&squareHigh
}

// Count returns the number of cells.
func (s *Square) Count() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// Or adds the cells of c.
func (s *Square) Or(c *Square) {
	for i := range s {
		s[i] |= c[i]
	}
}

// And keeps the cells that are also in c.
func (s *Square) And(c *Square) {
	for i := range s {
		s[i] &= c[i]
	}
}

// AndNot removes the cells of c.
func (s *Square) AndNot(c *Square) {
	for i := range s {
		s[i] &^= c[i]
	}
}

// Flip sets s to all cells of the board that are not in c.
func (s *Square) Flip(c *Square) {
	for i := squareRow; i < len(s)-squareRow; i += squareRow {
		s[i], s[i+1] = ^c[i], ^c[i+1]&squareHigh
	}
}

// Grow sets s to the cells of c and their neighbours: all cells within distance
// 1.
func (s *Square) Grow(c *Square) {
	for i := squareRow; i < len(s)-squareRow; i += squareRow {
		low, high := c[i], c[i+1]
		s[i] = low | low<<1 | low>>1 | high<<63 | c[i-squareRow] | c[i+squareRow]
		s[i+1] = (high | high<<1 | high>>1 | low>>63 | c[i+1-squareRow] | c[i+1+squareRow]) & squareHigh
	}
}

// Corners sets s to the cells that are lowest corners of squares of 2 by 2
// cells in c, which may be s. Repeated size−1 times it leaves the lowest
// corners of squares of that size.
func (s *Square) Corners(c *Square) {
	low, high := c.Row(0)
	for y := range SquareSide {
		nextLow, nextHigh := c.Row(y + 1) // 0 after the last row
		l, h := low&nextLow, high&nextHigh
		s.SetRow(y, l&(l>>1|h<<63), h&(h>>1))
		low, high = nextLow, nextHigh
	}
}

// GrowRows grows s in place, but only the rows from low to high: they gain the
// neighbours of the cells in them and in the rows low−1 and high+1. So s as a
// whole is grown if its cells lie in the rows from low+1 to high−1, or up to low
// and high where these are edges of the board. The rows must lie on the board.
// With low above high GrowRows does nothing.
func (s *Square) GrowRows(low, high int) {
	if low > high {
		return
	}
	above := s[squareRow*(low+2) : squareRow*(high+3)]
	row := s[squareRow*(low+1) : squareRow*(high+2)][:len(above)]
	b0, b1 := s[squareRow*low], s[squareRow*low+1] // before the change
	c0, c1 := row[0], row[1]
	for k := 0; k+1 < len(above); k += squareRow {
		a0, a1 := above[k], above[k+1]
		row[k] = c0 | c0<<1 | c0>>1 | c1<<63 | b0 | a0
		row[k+1] = (c1 | c1<<1 | c1>>1 | c0>>63 | b1 | a1) & squareHigh
		b0, b1, c0, c1 = c0, c1, a0, a1
	}
}

// GrowBy grows s in place n times.
func (s *Square) GrowBy(n int) {
	if squareVectors == 512 {
		for ; n > 0; n -= 40 {
			grow512(s, min(n, 40))
		}
		return
	}
	s.growBy(n)
}

// growBy is GrowBy in portable code.
func (s *Square) growBy(n int) {
	low, high := s.Rows()
	if low > high {
		return
	}
	for range n {
		low, high = max(low-1, 0), min(high+1, SquareSide-1)
		s.GrowRows(low, high)
	}
}

// Words returns the words of the rows from low to high, two per row.
func (s *Square) Words(low, high int) []uint64 { return s[squareRow*(low+1) : squareRow*(high+2)] }

// Rows returns the lowest and the highest row with cells; low is above high if
// there is no cell.
func (s *Square) Rows() (low, high int) {
	for low = 0; low < SquareSide && s.noneInFour(low); low += 4 {
	}
	for ; low < SquareSide && s[squareRow*(low+1)]|s[squareRow*(low+1)+1] == 0; low++ {
	}
	for high = SquareSide - 1; high >= low && s.noneInFour(high-3); high -= 4 {
	}
	for ; high >= low && s[squareRow*(high+1)]|s[squareRow*(high+1)+1] == 0; high-- {
	}
	return low, high
}

// noneInFour reports whether four rows from y on, which is not negative, have no cell.
func (s *Square) noneInFour(y int) bool {
	r := (*[4 * squareRow]uint64)(s[squareRow*(y+1):])
	return r[0]|r[1]|r[2]|r[3]|r[4]|r[5]|r[6]|r[7] == 0
}

// First returns the cell with the lowest y, and among these the lowest x; ok is
// false if the set is empty.
func (s *Square) First() (x, y int, ok bool) {
	for i, w := range s {
		if w != 0 {
			return i%squareRow*64 + bits.TrailingZeros64(w), i/squareRow - 1, true
		}
	}
	return 0, 0, false
}
