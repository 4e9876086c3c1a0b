package path

import (
	"math/bits"

	"moonfarm/sim/bitboard"
)

// direct has the cells from which a direct path leads to a target or, if the target is blocked, to
// one of the free cells nearest to it. Each step of a direct path leads nearer to the target by
// one, so no path is shorter.
type direct struct {
	x, y  int       // the target
	least int       // its distance from the nearest free cells
	right halfBoard // the cells with a direct path in the target's column and right of it
	left  halfBoard // in the target's column and left of it, with x as Side−1−x

	hasBoard bool
	board    bitboard.Square // all cells of both halves
}

// halfBoard has the cells with a direct path on one side of the target. Direct paths never cross
// the column of the target, so the halves are independent.
type halfBoard struct{ bitboard.Square }

// setTarget sets the target and finds the distance of the nearest free cells. It is 2·Side if there is none.
func (d *direct) setTarget(free *bitboard.Square, x, y int) {
	d.x, d.y, d.hasBoard = x, y, false
	d.least = nearest(free, x, y)
}

// eachNearest calls do for all places at the least distance from the target that lie on the map.
func (d *direct) eachNearest(do func(x, y int)) {
	for y := max(d.y-d.least, 0); y <= min(d.y+d.least, Side-1); y++ {
		wide := d.least - max(d.y-y, y-d.y)
		if x := d.x - wide; x >= 0 {
			do(x, y)
		}
		if x := d.x + wide; x < Side {
			do(x, y)
		}
	}
}

// nearest returns the distance of the cells of a board that are nearest to (x, y), or 2·Side if the board
// has no cells.
func nearest(b *bitboard.Square, x, y int) int {
	least := 2 * Side
	for dy := 0; dy < least && dy < Side; dy++ {
		if y+dy < Side {
			least = min(least, dy+nearestInRow(b, x, y+dy))
		}
		if y-dy >= 0 {
			least = min(least, dy+nearestInRow(b, x, y-dy))
		}
	}
	return least
}

// nearestInRow returns the distance of the cells of row y that are nearest to column x, or 2·Side if
// the row has no cells.
func nearestInRow(b *bitboard.Square, x, y int) int {
	low, high := b.Row(y)
	if low|high == 0 {
		return 2 * Side
	}
	m0, m1 := bitsFrom(x), bitsFrom(x-64)
	least := 2 * Side
	if r := low & m0; r != 0 {
		least = bits.TrailingZeros64(r) - x
	} else if r := high & m1; r != 0 {
		least = 64 + bits.TrailingZeros64(r) - x
	}
	if l := high &^ m1; l != 0 {
		least = min(least, x-63-bits.Len64(l))
	} else if l := low &^ m0; l != 0 {
		least = min(least, x+1-bits.Len64(l))
	}
	return least
}

// steps returns the first steps of the direct paths of a unit: the steps to nearer cells with a
// direct path. The halves must be filled in the unit's row and the next row towards the target.
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

// fill fills the rows of the half from low to high, which must include the target's row. It goes up
// and down from this row; within a row the carry of an addition spreads over free cells away from
// the target's column.
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

// makeBoard fills all rows of both halves and the board of both, unless the board is filled
// already.
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
