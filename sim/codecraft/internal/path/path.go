// Package path finds the first steps of units on the map of CodeCraft, by the
// rules of paths (RULES.md, 3.4 and 3.6 to 3.11). It knows boards, costs and
// the limit of searches, and nothing of the state of a game: a Terrain has the
// cells that can be entered. One call serves a group of units with the same
// aim: Finder.Walk for units that go to a cell, and Finder.Chase for units that
// go to the nearest of many cells.
//
// On a direct path each step leads nearer to the target; one pass over the
// rows of a board finds all cells with a direct path (direct.go). Units that
// need a detour share a flood fill from the target (detour.go); so do units
// that chase the same targets (chase.go). Both count cells to prove that a
// search would have got as far within its limit. A unit without such a proof
// searches by itself (search.go).
package path

import "moonfarm/sim/bitboard"

// Sizes of the map.
const (
	Side  = bitboard.SquareSide // the side of the map, in cells
	Cells = Side * Side
)

// Steps is a set of directions: bit 0 +x, bit 1 −x, bit 2 +y, bit 3 −y.
type Steps uint8

// StepX and StepY have the steps of the directions.
var (
	StepX = [4]int{1, -1, 0, 0}
	StepY = [4]int{0, 0, 1, -1}
)

// Unit is a unit that looks for a path.
type Unit struct {
	X, Y    uint8  // its cell
	Closest bool   // of a walk: go to the nearest cell if the target is not reached
	Steps   Steps  // the result: the first steps of all best paths
	Length  uint16 // of a chase: the longest path, from 1 to Cells
}

// distance returns the distance from a unit to a cell.
func (u *Unit) distance(x, y int) int {
	dx, dy := int(u.X)-x, int(u.Y)-y
	return max(dx, -dx) + max(dy, -dy)
}

// Finder finds paths. It holds scratch memory, so each goroutine needs its own.
type Finder struct {
	limit   int           // cells that a search closes before it gives up (RULES.md, 3.9)
	terrain *Terrain      // the terrain of the current group
	units   []Unit        // the current group
	detours [Cells]uint16 // indices of the units that need a detour

	direct direct
	search search
	detour detour
	chase  chase
	check  int // the steps of a fill before the first look for units that are cut off; Cells for none
}

// New returns a Finder. Its searches give up after the level, all cells with one sum of cost and
// distance, in which they have closed limit cells.
func New(limit int) *Finder {
	f := &Finder{limit: limit, check: firstCheck}
	if bitboard.FloodsFast() {
		f.check = Cells // the rest of the fill takes less time than a look
	}
	f.search.prepare()
	return f
}

// Walk finds the first steps of units that go to (x, y) and do not stand on or next to it
// (RULES.md, 3.5). If outside is true, the target lies outside of the map, so that no unit
// reaches it, and (x, y) is the cell nearest to it.
func (f *Finder) Walk(t *Terrain, x, y int, outside bool, units []Unit) {
	f.terrain, f.units = t, units
	reachable := !outside && t.Free.Has(x, y)
	if t.weighted && !reachable {
		for i := range units {
			f.search.state = t.blocked
			f.searchWeighted(&units[i], x, y, outside)
		}
		return
	}
	n, low, high, left, right := 0, y, y, false, false
	for i := range units {
		u := &units[i]
		u.Steps = 0
		if !t.weighted && (!reachable && !u.Closest || stepsOn(&t.Free, u) == 0) {
			continue
		}
		f.detours[n] = uint16(i)
		n++
		low, high = min(low, int(u.Y)), max(high, int(u.Y))
		left, right = left || int(u.X) < x, right || int(u.X) >= x
	}
	if n == 0 {
		return
	}
	d := &f.direct
	d.setTarget(&t.Free, x, y)
	if right {
		d.right.fill(&t.Free, x, y, d.least, low, high)
	}
	if left {
		d.left.fill(t.mirrored(), Side-1-x, y, d.least, low, high)
	}
	if n = f.walkDirectly(n); n == 0 {
		return
	}
	if !t.weighted {
		f.walkAround(n)
		return
	}
	d.makeBoard(t)
	f.detour.grid = t.blocked
	f.detour.grid.add(&d.board, cellDirect)
	for _, i := range f.detours[:n] {
		f.search.state = f.detour.grid
		f.searchWeighted(&units[i], x, y, false)
	}
}

// walkDirectly finds the first steps of the units with a direct path among the first n units in
// detours. Units that are as near to the target as the nearest free cells stay. It keeps all
// other units in detours and returns their number.
func (f *Finder) walkDirectly(n int) (left int) {
	d := &f.direct
	for _, i := range f.detours[:n] {
		u := &f.units[i]
		if u.distance(d.x, d.y) <= d.least {
			continue
		}
		if u.Steps = d.steps(u); u.Steps == 0 {
			f.detours[left] = i
			left++
		}
	}
	return left
}

// stepsOn returns the directions in which the neighbour cell of a unit is on the board.
func stepsOn(b *bitboard.Square, u *Unit) (set Steps) {
	for d := range 4 {
		x, y := int(u.X)+StepX[d], int(u.Y)+StepY[d]
		if uint(x) < Side && uint(y) < Side && b.Has(x, y) {
			set |= 1 << d
		}
	}
	return set
}
