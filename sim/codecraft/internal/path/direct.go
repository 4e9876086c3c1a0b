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

	hasBoard, hasGrid bool
	board             bitboard.Square // all cells of both halves
	grid              grid            // cellFree and cellDirect
}

// halfBoard has the cells with a direct path on one side of the target. Direct paths never cross
// the column of the target, so the halves are independent.
type halfBoard struct{ bitboard.Square }

// setTarget sets the target and finds the distance of the nearest free cells. There must be a free cell.
func (d *direct) setTarget(free *bitboard.Square, x, y int) {
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

// gridOver returns a grid with cellDirect on the cells of the board and cellFree on all other free
// cells of the terrain.
func (d *direct) gridOver(t *Terrain) *grid {
	if !d.hasGrid {
		d.hasGrid = true
		d.grid = *t.freeGrid()
		d.grid.add(&d.board)
	}
	return &d.grid
}
