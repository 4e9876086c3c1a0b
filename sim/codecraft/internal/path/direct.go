package path

import (
	"math/bits"

	"moonfarm/sim/bitboard"
)

// direct are the cells from which a direct path leads to a target or, if that
// is blocked, to one of the free cells nearest to it: each step brings it nearer
// by one. No path is shorter.
type direct struct {
	x, y  int       // the target
	least int       // its distance from the nearest free cells
	right halfBoard // the cells that are not left of the target
	left  halfBoard // those that are not right of it, with x as Side−1−x

	hasBoard, hasGrid bool
	board             bitboard.Square // both halves, wholly
	grid              grid            // cellFree and cellDirect
}

// halfBoard are the cells with a direct path on one side of the target. Direct
// paths never cross the column of the target, so no half depends on the other.
type halfBoard struct{ bitboard.Square }

// aim begins with a new target: it finds how far the nearest free cells are.
// There must be one.
func (d *direct) aim(free *bitboard.Square, x, y int) {
	d.x, d.y, d.hasBoard, d.hasGrid = x, y, false, false
	for d.least = 0; d.least < 2*Side; d.least++ {
		for dy := -d.least; dy <= d.least; dy++ {
			dx := d.least - max(dy, -dy)
			if isFree(free, x+dx, y+dy) || isFree(free, x-dx, y+dy) {
				return
			}
		}
	}
}

// isFree reports whether a cell is on the map and free.
func isFree(free *bitboard.Square, x, y int) bool {
	return uint(x) < Side && uint(y) < Side && free.Has(x, y)
}

// steps returns the first steps of the direct paths of a unit: those to nearer
// cells that have a direct path. The halves must be filled in its row and the
// next one towards the target.
func (d *direct) steps(u *Unit) (set Steps) {
	x, y := int(u.X), int(u.Y)
	half, at, step := &d.right, x, Steps(2)
	if x < d.x {
		half, at, step = &d.left, Side-1-x, 1
	}
	if x != d.x && half.Has(at-1, y) {
		set = step
	}
	if y < d.y && half.Has(at, y+1) {
		set |= 4
	} else if y > d.y && half.Has(at, y-1) {
		set |= 8
	}
	return set
}

// fill makes the rows of the half from low to high, which must include that of
// the target. It goes from there up and down; within a row the carry of an
// addition spreads over free cells away from the column of the target.
func (h *halfBoard) fill(free *bitboard.Square, tx, ty, least, low, high int) {
	m0, m1 := rowMask(tx, Side-1)
	for dir := 1; dir >= -1; dir -= 2 {
		n0, n1 := uint64(0), uint64(0) // the row before
		away := least
		for y := ty; y >= low && y <= high; y += dir {
			o0, o1 := free.Row(y)
			o0, o1 = o0&m0, o1&m1
			n0, n1 = n0&o0, n1&o1
			if away >= 0 {
				if x := tx + away; x < Side {
					n0, n1 = n0|bitAt(x)&o0, n1|bitAt(x-64)&o1
				}
				away--
			}
			t0, carry := bits.Add64(o0, n0, 0)
			t1, _ := bits.Add64(o1, n1, carry)
			n0, n1 = (t0^o0)&o0|n0, (t1^o1)&o1|n1
			h.SetRow(y, n0, n1)
		}
	}
}

// makeBoard fills both halves wholly and makes the board of them, unless it is
// there.
func (d *direct) makeBoard(t *Terrain) {
	if d.hasBoard {
		return
	}
	d.hasBoard = true
	d.right.fill(&t.Free, d.x, d.y, d.least, 0, Side-1)
	d.left.fill(t.mirrored(), Side-1-d.x, d.y, d.least, 0, Side-1)
	for y := range Side {
		r0, r1 := d.right.Row(y)
		l0, l1 := d.left.Row(y)
		if l0|l1 != 0 {
			l0, l1 = mirrorRow(l0, l1)
		}
		d.board.SetRow(y, r0|l0, r1|l1)
	}
}

// gridOver returns the free cells of the terrain as cellFree, but those of the
// board as cellDirect.
func (d *direct) gridOver(t *Terrain) *grid {
	if !d.hasGrid {
		d.hasGrid = true
		d.grid = *t.freeGrid()
		d.grid.add(&d.board)
	}
	return &d.grid
}
