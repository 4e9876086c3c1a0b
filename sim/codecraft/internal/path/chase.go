package path

import "moonfarm/sim/bitboard"

// chase is the scratch memory of chases.
type chase struct {
	list  [Cells]uint16   // indices of the units that the flood fill has not reached
	near  bitboard.Square // the cells next to them
	front bitboard.Square // the frontier
	free  bitboard.Square // free cells that the fill has not reached
}

// Chase finds the first steps of units to the goals that are nearest by length of path, if the
// path is at most Unit.Length long (RULES.md, 3.4). No unit stands on a goal. The goals lie in
// the rows from first to last; they may be blocked cells.
func (f *Finder) Chase(t *Terrain, goals *bitboard.Square, first, last int, units []Unit) {
	f.terrain, f.units = t, units
	q := &f.chase
	n := 0
	for i := range units {
		u := &units[i]
		u.Steps = 0
		set := stepsOn(&t.Free, u)
		if set == 0 || f.limit == 1 {
			continue // a search can close only the start
		}
		if u.Steps = set & stepsOn(goals, u); u.Steps == 0 && inReach(goals, first, last, u) {
			q.list[n] = uint16(i)
			n++
		}
	}
	if n > 0 {
		f.chaseTogether(goals, q.list[:n])
	}
}

// inReach reports whether a goal is within the longest path of the unit along both axes. If none
// is, no path leads to a goal.
func inReach(goals *bitboard.Square, first, last int, u *Unit) bool {
	x, y, most := int(u.X), int(u.Y), int(u.Length)
	low, high := rowMask(max(x-most, 0), min(x+most, Side-1))
	first, last = max(y-most, first), min(y+most, last)
	if first > last {
		return false
	}
	for k := min(max(y-4, first), last); k <= min(y+4, last); k++ { // most units have a goal nearby
		if b0, b1 := goals.Row(k); b0&low|b1&high != 0 {
			return true
		}
	}
	any := uint64(0)
	for rows := goals.Words(first, last); len(rows) >= 2; rows = rows[2:] {
		any |= rows[0]&low | rows[1]&high
	}
	return any != 0
}

// chaseTogether finds the first steps of units, given by their indices, by a flood fill for all of
// them. The fill starts from all free goals and ends when it has reached all units or the longest
// path.
func (f *Finder) chaseTogether(goals *bitboard.Square, list []uint16) {
	q, free := &f.chase, &f.terrain.Free
	most := 0
	for _, i := range list {
		most = max(most, int(f.units[i].Length))
	}
	q.front, q.free = *free, *free
	q.front.And(goals)
	q.free.AndNot(goals)
	for length := 1; len(list) > 0; {
		markNear(&q.near, f.units, list)
		steps, met := q.front.Flood(&q.free, &q.near, most-length)
		if length += steps; !met {
			return
		}
		list = f.endChases(length, list)
	}
}

// endChases finds the first steps of the units next to the frontier, whose paths have the given
// length. It returns the other units.
func (f *Finder) endChases(length int, list []uint16) []uint16 {
	waiting := list[:0]
	for _, i := range list {
		u := &f.units[i]
		if set := stepsOn(&f.chase.front, u); set == 0 {
			waiting = append(waiting, i)
		} else if length <= int(u.Length) && f.closesFewer(u, length) {
			u.Steps = set
		}
	}
	return waiting
}

// closesFewer reports whether fewer cells than the limit of a search are nearer to the unit than
// the length of its path. Two upper bounds of their number nearly always decide: the cells at a
// shorter distance on a map without blocked cells, then the free cells at a shorter distance.
func (f *Finder) closesFewer(u *Unit, length int) bool {
	x, y, sum := int(u.X), int(u.Y), 2*(length-1) // of the distances from the unit and from (x, y), its own cell
	return mostWithin(u, x, y, sum) < f.limit || countWithin(&f.terrain.Free, u, x, y, sum) < f.limit-1 ||
		f.countNearer(u, length) < f.limit
}

// countNearer counts the cells to which the unit has a path shorter than length, including its
// own cell.
func (f *Finder) countNearer(u *Unit, length int) int {
	var front, none bitboard.Square
	free := f.terrain.Free
	front.Add(int(u.X), int(u.Y))
	front.Flood(&free, &none, length-1)
	return 1 + f.terrain.Free.Count() - free.Count()
}
