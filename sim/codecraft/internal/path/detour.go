package path

import "moonfarm/sim/bitboard"

const (
	// maxEnclosed is how many cells an enclosed area has at most.
	maxEnclosed = 64

	// maxAreas is how many enclosed areas are left out, one after the other. In
	// crowds there are few around a target; where there is nothing else, each
	// would cost more than the searches it saves. Whatever the number, the first
	// steps are the same.
	maxAreas = 4

	// nearBy is how near a target is, in cells, to which a search goes without
	// the board of direct paths (measured: from 8 to 20 makes little difference).
	nearBy = 12

	// fewUnits search one by one, more share a flood fill (measured: from 4 to 6
	// makes little difference).
	fewUnits = 5
)

// enclosed is the scratch of the search for enclosed areas: free cells around a
// target that are cut off from all others, as in a crowd of units that go there.
type enclosed struct {
	rest  Terrain         // the free cells without those of the areas found
	cells bitboard.Square // of the last area

	// No neighbours are looked at, and no row of the cells nearest to the target,
	// once there are more than maxEnclosed: at most 4 cells come after them.
	queue [maxEnclosed + 4]uint16
}

// walkAround finds the first steps of the first n units in detours, which need
// a detour.
//
// If the free cells nearest to the target are enclosed, all units outside would
// search in vain until they have closed as many cells as they can. To them the
// nearest cells outside are what the target is to others when it is blocked.
func (f *Finder) walkAround(n int) {
	d, q, t := &f.direct, &f.enclosed, f.terrain
	for areas := 0; areas < maxAreas && q.find(&t.Free, d); areas++ {
		if k := f.putInsideLast(n); k < n {
			f.searchAll(t, f.detours[k:n])
			n = k
		}
		q.rest.Free = t.Free
		q.rest.Free.AndNot(&q.cells)
		q.rest.hasMirror = false
		t = &q.rest
		if n = f.keepClosest(n); n == 0 {
			return
		}
		d.aim(&t.Free, d.x, d.y) // a cell is free: one next to a unit that is left
		d.makeBoard(t)
		if n = f.walkDirectly(n); n == 0 {
			return
		}
	}
	if n <= fewUnits {
		f.searchAll(t, f.detours[:n])
		return
	}
	d.makeBoard(t)
	f.floodFill(f.detours[:n])
}

// searchAll lets units search one by one, where t holds the free cells that
// direct paths may lead over. Those near to the target do not need the board of
// direct paths: it is made for the others.
func (f *Finder) searchAll(t *Terrain, list []uint16) {
	d := &f.direct
	for _, i := range list {
		u := &f.units[i]
		if u.distance(d.x, d.y) <= nearBy {
			f.search.state = *f.terrain.freeGrid()
		} else {
			d.makeBoard(t)
			f.search.state = *d.gridOver(f.terrain)
		}
		f.searchDetour(u)
	}
}

// find reports whether the free cells nearest to the target, and all that are
// connected to them, are few. It leaves them in cells.
func (q *enclosed) find(free *bitboard.Square, d *direct) bool {
	q.cells = bitboard.Square{}
	tail := 0
	reach := func(x, y int) {
		if isFree(free, x, y) && !q.cells.Has(x, y) {
			q.cells.Add(x, y)
			q.queue[tail] = uint16(y*Side + x)
			tail++
		}
	}
	for dy := -d.least; dy <= d.least && tail <= maxEnclosed; dy++ {
		dx := d.least - max(dy, -dy)
		reach(d.x+dx, d.y+dy)
		reach(d.x-dx, d.y+dy)
	}
	for head := 0; head < tail && tail <= maxEnclosed; head++ {
		x, y := int(q.queue[head])%Side, int(q.queue[head])/Side
		for d := range StepX {
			reach(x+StepX[d], y+StepY[d])
		}
	}
	return tail <= maxEnclosed
}

// putInsideLast puts those of the first n units in detours that are next to the
// enclosed area after the others, and returns how many the others are.
func (f *Finder) putInsideLast(n int) (outside int) {
	list := f.detours[:n]
	for k, i := range list {
		if stepsOn(&f.enclosed.cells, &f.units[i]) == 0 {
			list[k], list[outside] = list[outside], i
			outside++
		}
	}
	return outside
}

// keepClosest keeps those of the first n units in detours that go to the nearest
// cell if the target is not reached. It returns how many they are.
func (f *Finder) keepClosest(n int) (kept int) {
	for _, i := range f.detours[:n] {
		if f.units[i].Closest {
			f.detours[kept] = i
			kept++
		}
	}
	return kept
}
