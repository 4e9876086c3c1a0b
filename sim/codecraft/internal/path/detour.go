package path

import "moonfarm/sim/bitboard"

const (
	// maxEnclosed is the limit of cells in an enclosed area.
	maxEnclosed = 64

	// maxAreas is the limit of enclosed areas that are left out, one after the other.
	// Crowds have few of them around a target; in a map of nothing but enclosed areas,
	// each would cost more than the searches that it saves. The number does not change
	// the first steps.
	maxAreas = 4

	// nearBy is the distance from the target, in cells, up to which a search does without
	// the board of direct paths (measured: 8 to 20 make little difference).
	nearBy = 12

	// fewUnits is the number of units up to which they search one by one; more units share
	// a flood fill (measured: 4 to 6 make little difference).
	fewUnits = 5
)

// enclosed is the scratch memory of the search for enclosed areas: free cells around a target
// that are cut off from all others, as in a crowd of units that go there.
type enclosed struct {
	rest  Terrain         // the free cells outside of the areas found
	cells bitboard.Square // the cells of the last area

	// The search stops after the row or the neighbours with which it exceeds maxEnclosed
	// cells, so at most 4 more cells come into the queue.
	queue [maxEnclosed + 4]uint16
}

// walkAround finds the first steps of the first n units in detours, which need a detour.
//
// If the free cells nearest to the target are enclosed, the searches of all units outside would
// fail only after they have closed as many cells as they may. These units head for the nearest
// cells outside, as units do when the target is blocked.
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
		d.setTarget(&t.Free, d.x, d.y) // there is a free cell: next to a remaining unit
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

// searchAll finds the first steps of units one by one. t has the free cells of direct paths. Only
// units far from the target need the board of direct paths.
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

// find reports whether the free cells nearest to the target and all cells connected to them are at
// most maxEnclosed. It leaves these cells in q.cells.
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

// putInsideLast sorts the first n units in detours: units next to the enclosed area come after
// all others. It returns the number of the others.
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

// keepClosest keeps the units with Closest among the first n units in detours, and returns their
// number.
func (f *Finder) keepClosest(n int) (kept int) {
	for _, i := range f.detours[:n] {
		if f.units[i].Closest {
			f.detours[kept] = i
			kept++
		}
	}
	return kept
}
