package codecraft

import (
	"math/bits"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
)

// field is the field of a target: the cells from which a straight way leads to
// it, or to the open cells nearest to it, each step nearer by one.
type field struct {
	x, y  int
	least int       // distance of the nearest open cells
	right halfBoard // what is not left of the target
	left  halfBoard // what is not right of it, mirrored: x is Side−1−x
	board bitboard.Square
}

// halfBoard is the part of a field on one side of its target. Steps along x
// never cross the column of the target, so the halves know nothing of each
// other.
type halfBoard struct{ bitboard.Square }

// begin looks for the open cells nearest to the target.
func (f *field) begin(open *bitboard.Square, x, y int) bool {
	f.x, f.y = x, y
	for f.least = 0; f.least < 2*Side; f.least++ {
		for dy := -f.least; dy <= f.least; dy++ {
			dx := f.least - max(dy, -dy)
			if f.openAt(open, dx, dy) || f.openAt(open, -dx, dy) {
				return true
			}
		}
	}
	return false
}

// openAt tells whether the cell at that offset from the target is open.
func (f *field) openAt(open *bitboard.Square, dx, dy int) bool {
	x, y := f.x+dx, f.y+dy
	return uint(x) < Side && uint(y) < Side && open.Has(x, y)
}

// distance is that of a unit to the target.
func (f *field) distance(u *Unit) int {
	x, y := int(u.X), int(u.Y)
	return max(x-f.x, f.x-x) + max(y-f.y, f.y-y)
}

// straight returns the first steps of the straight ways of a unit: those into
// cells of the field that are nearer.
func (f *field) straight(u *Unit) (set Steps) {
	x, y := int(u.X), int(u.Y)
	half, at, step := &f.right, x, Steps(2)
	if x < f.x {
		half, at, step = &f.left, Side-1-x, 1
	}
	if x != f.x && half.Has(at-1, y) {
		set = step
	}
	if y < f.y && half.Has(at, y+1) {
		set |= 4
	} else if y > f.y && half.Has(at, y-1) {
		set |= 8
	}
	return set
}

// fill makes the rows of the half from low to high, which must hold that of the
// target. They go away from it; within a row a carry spreads the cells away
// from its column.
func (h *halfBoard) fill(open *bitboard.Square, tx, ty, least, low, high int) {
	m0, m1 := rowMask(tx, Side-1)
	for dir := 1; dir >= -1; dir -= 2 {
		n0, n1 := uint64(0), uint64(0) // the row before
		away := least
		for y := ty; y >= low && y <= high; y += dir {
			o0, o1 := open.Row(y)
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

// draw makes the board: the whole field.
func (f *field) draw(open, mirror *bitboard.Square) {
	f.right.fill(open, f.x, f.y, f.least, 0, Side-1)
	f.left.fill(mirror, Side-1-f.x, f.y, f.least, 0, Side-1)
	for y := range Side {
		r0, r1 := f.right.Row(y)
		l0, l1 := f.left.Row(y)
		if l0|l1 != 0 {
			l0, l1 = mirrorRow(l0, l1)
		}
		f.board.SetRow(y, r0|l0, r1|l1)
	}
}

// bitAt is bit n, none outside of a word.
func bitAt(n int) uint64 {
	if uint(n) < 64 {
		return 1 << n
	}
	return 0
}

// mirrorRow is a row of a board with x as Side−1−x.
func mirrorRow(low, high uint64) (uint64, uint64) {
	l, h := bits.Reverse64(high), bits.Reverse64(low)
	const rest = 128 - Side
	return l>>rest | h<<(64-rest), h >> rest
}

// mirrors are the open cells of each player, mirrored, drawn when first asked
// for.
type mirrors struct {
	drawn [sim.MaxPlayers]bool
	list  [sim.MaxPlayers]bitboard.Square
	other bitboard.Square // of boards that are not kept
}

// of returns the mirrored board: that of the player's open cells if kept is
// there, else a new one, good until the next.
func (m *mirrors) of(open, kept *bitboard.Square, p sim.Player) *bitboard.Square {
	to := &m.other
	if kept != nil {
		if m.drawn[p] {
			return kept
		}
		m.drawn[p], to = true, kept
	}
	for y := range Side {
		low, high := open.Row(y)
		low, high = mirrorRow(low, high)
		to.SetRow(y, low, high)
	}
	return to
}

// rowMask are the bits of a row from x = from to x = to.
func rowMask(from, to int) (low, high uint64) {
	return ^uint64(0) << from &^ (^uint64(0) << (to + 1)), bitsFrom(from-64) &^ bitsFrom(to-63)
}

// bitsFrom are the bits from n on; all for n below 0.
func bitsFrom(n int) uint64 { return ^uint64(0) << max(n, 0) }
