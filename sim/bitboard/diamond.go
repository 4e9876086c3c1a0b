package bitboard

import "math/bits"

// Diamond is a set of cells of C1 Terminal's arena: the cells (x, y) of a 28 ×
// 28 grid with 13 ≤ x+y ≤ 41 and −14 ≤ x−y ≤ 14, 420 in number. The board is
// turned by 45° and split into two colours like a chess board, so that a step
// to a neighbour is a shift, and a shift over the edge ends on border bits:
//
//	u = x+y−13, v = x−y+14          both 0 … 28, one of them even, the other odd
//	colour A (u even): row u/2     (15 rows), column (v−1)/2 (14 columns)
//	colour B (u odd):  row (u−1)/2 (14 rows), column v/2     (15 columns)
//	cell = colour<<8 | row<<4 | column+1
//
// A cell is bit cell%64 of word cell/64; words 0–3 are colour A, 4–7 colour B.
// The other bits (bit 0 of every row, bit 15 of A's rows, row 15 of A, rows 14
// and 15 of B) are the border: they belong to no cell and stay 0. The
// neighbours of cell c are
//
//	       up    right  left   down
//	A:   c+256  c+257  c+240  c+241
//	B:   c−241  c−240  c−257  c−256
//
// where a number that is no cell is border. A Diamond fills one cache line.
type Diamond [8]uint64

// Sizes of the diamond.
const (
	DiamondSide  = 28  // of the grid around it
	DiamondCells = 420 // of the board
	DiamondSpan  = 512 // cells are below it
)

// DiamondCell returns the cell at (x, y). Outside of the diamond ok is false
// and the cell is 0, which is border.
func DiamondCell(x, y int) (cell int, ok bool) {
	u, v := x+y-13, x-y+14
	if u < 0 || u > 28 || v < 0 || v > 28 {
		return 0, false
	}
	if u&1 == 0 {
		return u/2<<4 | (v-1)/2 + 1, true
	}
	return 256 | (u-1)/2<<4 | v/2 + 1, true
}

// DiamondXY returns the coordinates of a cell of the board.
func DiamondXY(cell int) (x, y int) {
	row, col := cell>>4&15, cell&15-1
	u, v := 2*row, 2*col+1
	if cell >= 256 {
		u, v = 2*row+1, 2*col
	}
	return (u + v - 1) / 2, (u - v + 27) / 2
}

// Has reports whether the cell is in the set.
func (d *Diamond) Has(cell int) bool { return d[cell>>6&7]>>(cell&63)&1 != 0 }

// Add adds the cell.
func (d *Diamond) Add(cell int) { d[cell>>6&7] |= 1 << (cell & 63) }

// Drop removes the cell.
func (d *Diamond) Drop(cell int) { d[cell>>6&7] &^= 1 << (cell & 63) }

// The operations on sets are written out, as the compiler does not unroll loops.

// And keeps the cells that are also in e.
func (d *Diamond) And(e *Diamond) {
	d[0], d[1], d[2], d[3] = d[0]&e[0], d[1]&e[1], d[2]&e[2], d[3]&e[3]
	d[4], d[5], d[6], d[7] = d[4]&e[4], d[5]&e[5], d[6]&e[6], d[7]&e[7]
}

// Or adds the cells of e.
func (d *Diamond) Or(e *Diamond) {
	d[0], d[1], d[2], d[3] = d[0]|e[0], d[1]|e[1], d[2]|e[2], d[3]|e[3]
	d[4], d[5], d[6], d[7] = d[4]|e[4], d[5]|e[5], d[6]|e[6], d[7]|e[7]
}

// AndNot removes the cells of e.
func (d *Diamond) AndNot(e *Diamond) {
	d[0], d[1], d[2], d[3] = d[0]&^e[0], d[1]&^e[1], d[2]&^e[2], d[3]&^e[3]
	d[4], d[5], d[6], d[7] = d[4]&^e[4], d[5]&^e[5], d[6]&^e[6], d[7]&^e[7]
}

// Count returns the number of cells.
func (d *Diamond) Count() int {
	n := 0
	for _, w := range d {
		n += bits.OnesCount64(w)
	}
	return n
}

// Empty reports whether the set has no cell.
func (d *Diamond) Empty() bool {
	return d[0]|d[1]|d[2]|d[3]|d[4]|d[5]|d[6]|d[7] == 0
}
