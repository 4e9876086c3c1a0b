package path

import (
	"math/bits"

	"moonfarm/sim/bitboard"
)

// detour is the scratch memory of the flood fills that units of a group share.
type detour struct {
	rest    bitboard.Square // the free cells that no fill has reached
	front   bitboard.Square // the frontier
	hard    bitboard.Square // the free cells without a direct path, if hasHard
	grid    grid            // the same cells as the first state of a search, if hasGrid
	hasHard bool
	hasGrid bool
	back    bitboard.Square // the frontier of a fill from the units
	around  bitboard.Square // the cells of rest that it has not reached
	near    bitboard.Square // the cells next to the units that the fill has not reached
}

// walkAround finds the first steps of the first n units in detours, which need a detour.
//
// A flood fill starts from the free cells nearest to the target and reaches all cells that are
// connected to them. The directions from which it reaches a unit are its first steps, if a search
// of the unit would have closed fewer cells than the limit before. Other units search one by one.
// Units that the fill does not reach are cut off from these cells, as in a crowd. They head for the
// nearest of the cells that are left, as units do when the target is blocked.
func (f *Finder) walkAround(n int) {
	q, d := &f.detour, &f.direct
	q.rest = f.terrain.Free
	list := f.detours[:n]
	for {
		if list = f.fill(list); len(list) == 0 {
			return
		}
		d.setTarget(&q.rest, d.x, d.y)
		if list = f.keepOutside(list); len(list) == 0 {
			return
		}
	}
}

// fill runs a flood fill until it has reached all units of a list, or all cells that it can reach, or is known to
// reach none of the other units. It returns the other units.
func (f *Finder) fill(list []uint16) (left []uint16) {
	q, d := &f.detour, &f.direct
	q.hasHard, q.hasGrid = false, false
	q.front = bitboard.Square{}
	d.eachNearest(func(x, y int) {
		if q.rest.Has(x, y) {
			q.front.Add(x, y)
			q.rest.Drop(x, y)
		}
	})
	for length, most := 1, f.check; ; {
		markNear(&q.near, f.units, list)
		steps, met := q.front.Flood(&q.rest, &q.near, most)
		if length += steps; !met {
			if steps < most || f.cutOff(list, most/4) {
				return list
			}
			most *= 2
			continue
		}
		left = list[:0]
		for _, i := range list {
			u := &f.units[i]
			if set := stepsOn(&q.front, u); set == 0 {
				left = append(left, i)
			} else if u.Steps = set; !f.reachesBefore(u, length+d.least) {
				if !q.hasGrid {
					q.hasGrid = true
					q.grid.set(&q.hard, cellFree|cellNew)
				}
				f.search.state = q.grid
				f.searchDetour(u, length+d.least)
			}
		}
		if list = left; len(list) == 0 {
			return nil
		}
	}
}

// firstCheck is the number of steps after which a fill without vectors first looks for units that are cut off (measured:
// 24 to 32 make little difference, 16 is slower).
const firstCheck = 32

// cutOff reports whether a fill that goes on from the frontier surely reaches none of the units of a list. Then it
// leaves in rest only the free cells that are connected to the units. To find them, a fill from the units does at
// most the given number of steps; most units that are cut off have few free cells around them.
func (f *Finder) cutOff(list []uint16, most int) bool {
	q := &f.detour
	q.back, q.around = bitboard.Square{}, q.rest
	for _, i := range list {
		u := &f.units[i]
		for d, set := 0, stepsOn(&q.rest, u); set != 0; d, set = d+1, set>>1 {
			if set&1 != 0 {
				x, y := int(u.X)+StepX[d], int(u.Y)+StepY[d]
				q.back.Add(x, y)
				q.around.Drop(x, y)
			}
		}
	}
	if steps, _ := q.back.Flood(&q.around, &noCells, most); steps == most {
		return false
	}
	left := q.rest
	left.AndNot(&q.around)
	q.back.Grow(&left)
	q.back.And(&q.front)
	if q.back != noCells {
		return false
	}
	q.rest = left
	return true
}

// noCells is an empty board.
var noCells bitboard.Square

// markNear sets near to the cells next to the units of a list.
func markNear(near *bitboard.Square, units []Unit, list []uint16) {
	*near = bitboard.Square{}
	for _, i := range list {
		near.AddBeside(int(units[i].X), int(units[i].Y))
	}
}

// keepOutside keeps the units of a list that go to the nearest cell if they do not reach the target, and
// are farther from the target than the cells that are left.
func (f *Finder) keepOutside(list []uint16) []uint16 {
	kept := list[:0]
	for _, i := range list {
		if u := &f.units[i]; u.Closest && u.distance(f.direct.x, f.direct.y) > f.direct.least {
			kept = append(kept, i)
		}
	}
	return kept
}

// reachesBefore reports whether a search from the unit surely closes fewer cells than the limit before
// the level in which it closes its goal. These are free cells without a direct path whose distances
// from the unit and the target add up to less than the level.
func (f *Finder) reachesBefore(u *Unit, level int) bool {
	q, d := &f.detour, &f.direct
	if mostWithin(u, d.x, d.y, level-2) < f.limit {
		return true
	}
	if !q.hasHard {
		if countWithin(&f.terrain.Free, u, d.x, d.y, level-2) < f.limit-1 {
			return true
		}
		q.hasHard = true
		d.makeBoard(f.terrain)
		q.hard = f.terrain.Free
		q.hard.AndNot(&d.board)
	}
	return countWithin(&q.hard, u, d.x, d.y, level-2) < f.limit-1
}

// mostWithin returns how many cells of an endless map have distances from the unit and from (x, y) that
// add up to sum or less. They are the cells of the rectangle between both and those around it.
func mostWithin(u *Unit, x, y, sum int) int {
	spare := sum - u.distance(x, y)
	if spare < 0 {
		return 0
	}
	wide, high, around := max(int(u.X)-x, x-int(u.X))+1, max(int(u.Y)-y, y-int(u.Y))+1, spare/2
	return wide*high + 2*around*(wide+high+around-1)
}

// countWithin counts the cells of a board whose distances from the unit and from (x, y) add up to sum
// or less.
func countWithin(b *bitboard.Square, u *Unit, x, y, sum int) (n int) {
	ux, uy := int(u.X), int(u.Y)
	left, right, low, high := min(ux, x), max(ux, x), min(uy, y), max(uy, y)
	spare := sum - (right - left) - (high - low)
	if spare < 0 {
		return 0
	}
	wide := spare / 2
	m0, m1 := rowMask(max(left-wide, 0), min(right+wide, Side-1))
	for rows := b.Words(low, high); len(rows) >= 2; rows = rows[2:] {
		n += bits.OnesCount64(rows[0]&m0) + bits.OnesCount64(rows[1]&m1)
	}
	for k := 1; k <= wide; k++ {
		m0, m1 := rowMask(max(left-wide+k, 0), min(right+wide-k, Side-1))
		if row := low - k; row >= 0 {
			b0, b1 := b.Row(row)
			n += bits.OnesCount64(b0&m0) + bits.OnesCount64(b1&m1)
		}
		if row := high + k; row < Side {
			b0, b1 := b.Row(row)
			n += bits.OnesCount64(b0&m0) + bits.OnesCount64(b1&m1)
		}
	}
	return n
}
