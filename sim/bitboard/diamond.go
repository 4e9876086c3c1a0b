package bitboard

import "math/bits"

// Diamond is a board of C1 Terminal's arena: the cells (x, y) of a 28 × 28 grid
// with 13 ≤ x+y ≤ 41 and −14 ≤ x−y ≤ 14, 420 of them. It is turned by 45° and
// split like a chess board, so that a step to a neighbour is a shift and no
// shift leaves the board unseen:
//
//	u = x+y−13, v = x−y+14          both 0 … 28, one of them even, the other odd
//	colour A (u even): row u/2     (15 rows), column (v−1)/2 (14 columns)
//	colour B (u odd):  row (u−1)/2 (14 rows), column v/2     (15 columns)
//	cell = colour<<8 | row<<4 | column+1
//
// Bit cell%64 of word cell/64 is the cell; words 0–3 are A, 4–7 are B. The
// bits in between (bit 0 of every row, bit 15 of A's, row 15 of A, rows 14 and
// 15 of B) are no cells and stay 0: they are the border. From cell c
//
//	       up    right  left   down
//	A:   c+256  c+257  c+240  c+241
//	B:   c−241  c−240  c−257  c−256
//
// which is a cell, or the border. A board is one cache line.
type Diamond [8]uint64

// Sizes of the diamond.
const (
	DiamondSide  = 28  // of the grid around it
	DiamondCells = 420 // of the board
	DiamondSpan  = 512 // cells are below it
)

// DiamondCell returns the cell at (x, y); ok is false outside the diamond, and
// the cell then is 0, which is border.
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

// Has reports whether the board has the cell.
func (d *Diamond) Has(cell int) bool { return d[cell>>6&7]>>(cell&63)&1 != 0 }

// Add puts the cell on the board.
func (d *Diamond) Add(cell int) { d[cell>>6&7] |= 1 << (cell & 63) }

// Drop takes the cell off the board.
func (d *Diamond) Drop(cell int) { d[cell>>6&7] &^= 1 << (cell & 63) }

// And keeps the cells that are also on the board e.
func (d *Diamond) And(e *Diamond) {
	for w := range d {
		d[w] &= e[w]
	}
}

// Or adds the cells of the board e.
func (d *Diamond) Or(e *Diamond) {
	for w := range d {
		d[w] |= e[w]
	}
}

// AndNot takes the cells of the board e off the board.
func (d *Diamond) AndNot(e *Diamond) {
	for w := range d {
		d[w] &^= e[w]
	}
}

// Count is the number of cells on the board.
func (d *Diamond) Count() int {
	n := 0
	for _, w := range d {
		n += bits.OnesCount64(w)
	}
	return n
}

// Empty reports whether no cell is on the board.
func (d *Diamond) Empty() bool {
	return d[0]|d[1]|d[2]|d[3]|d[4]|d[5]|d[6]|d[7] == 0
}
