package path

import (
	"math/bits"

	"moonfarm/sim/bitboard"
)

// flood is the scratch of the flood fill that units of a group share.
//
// The fill queues each cell once: those of the board of direct paths when it
// comes to their distance, from lists that have each once, the others when it
// takes floodFree from them; no cell is both. So a queue holds at most Cells,
// below gridSize, and lengths are below Cells + 2·Side. Distances of cells are
// below 2·Side.
type flood struct {
	free   bitboard.Square     // free cells without a direct path
	count  int                 // how many these are
	state  grid                // floodFree and floodUnit; 0 also where the fill has been
	unit   [gridSize]uint16    // by cell: the index of the unit on it
	length [Cells]uint16       // by unit: of its best path, 0 while that is not known
	first  [2 * Side]uint16    // by distance: 1 + a cell from which the fill starts, 0 for none
	others [gridSize]uint16    // by cell: 1 + the next of them at that distance, 0 for none
	queue  [2][gridSize]uint16 // of the fill: the cells of this step and of the next
}

const (
	floodFree = 1
	floodUnit = 2
)

// floodFill finds the first steps of units without a direct path, given by their
// indices. A flood fill starts from the edge of the board of direct paths, from
// each cell when it comes to its distance from the target. Where so few cells
// are free that a search cannot have closed too many, the steps by which it
// comes to a unit are the unit's; the other units search for themselves.
func (f *Finder) floodFill(list []uint16) {
	q, d := &f.flood, &f.direct
	q.free = f.terrain.Free
	q.free.AndNot(&d.board)
	q.count = q.free.Count()
	q.state.set(&q.free)
	for _, i := range list {
		u := &f.units[i]
		c := gridCell(int(u.X), int(u.Y))
		q.length[i], q.unit[c], q.state[c] = 0, i, floodUnit
	}
	f.fill(list)
	for _, i := range list {
		u := &f.units[i]
		if n := int(q.length[i]); n == 0 || !q.fewerThan(f.limit, u, n+d.least, d) {
			u.Steps = 0
			f.search.state = *d.gridOver(f.terrain)
			f.searchDetour(u)
		}
	}
}

// fill is the flood fill. It ends when it has come to all units of the list.
func (f *Finder) fill(list []uint16) {
	q, d := &f.flood, &f.direct
	q.startFrom(f.units, list, d)
	now, next, left := 0, 0, len(list)
	for far := d.least; left > 0 && (far < 2*Side || now > 0); far++ {
		here, there := &q.queue[far&1], &q.queue[far&1^1]
		if far < 2*Side {
			for at := q.first[far]; at != 0; at = q.others[at-1] {
				here[now] = at - 1
				now++
			}
			q.first[far] = 0
		}
		next = 0
		for _, c := range here[:now] {
			for k, step := range gridStep {
				m := int(c) - step // from m, direction k leads to c
				switch q.state[m] {
				case floodFree:
					q.state[m] = 0
					there[next] = uint16(m)
					next++
				case floodUnit:
					left -= f.arrive(q.unit[m], k, far-d.least+1)
				}
			}
		}
		now = next
	}
	clear(q.first[:])
}

// arrive notes that the fill has come to the neighbour of a unit in a direction,
// so that the unit has a path of the given length. It returns 1 if this is the
// first to come, else 0.
func (f *Finder) arrive(unit uint16, direction, length int) int {
	q, u := &f.flood, &f.units[unit]
	switch int(q.length[unit]) {
	case 0:
		q.length[unit], u.Steps = uint16(length), 1<<direction
		return 1
	case length:
		u.Steps |= 1 << direction
	}
	return 0
}

// startFrom lists the cells with a direct path next to free cells without one or
// to one of the units, by their distance from the target.
func (q *flood) startFrom(units []Unit, list []uint16, d *direct) {
	without := q.free
	for _, i := range list {
		without.Add(int(units[i].X), int(units[i].Y))
	}
	var edge bitboard.Square
	edge.Grow(&without)
	edge.And(&d.board)
	for y := range Side {
		low, high := edge.Row(y)
		for row, k := [2]uint64{low, high}, 0; k < 2; k++ {
			for w := row[k]; w != 0; w &= w - 1 {
				x := k*64 + bits.TrailingZeros64(w)
				far := max(x-d.x, d.x-x) + max(y-d.y, d.y-y)
				c := gridCell(x, y)
				q.others[c] = q.first[far]
				q.first[far] = uint16(c + 1)
			}
		}
	}
}

// fewerThan reports whether a search from the unit, whose target is closed in
// the given level, has closed fewer cells than limit before: these are free,
// have no direct path, and the sum of their distances from the unit and the
// target is below the level.
func (q *flood) fewerThan(limit int, u *Unit, level int, d *direct) bool {
	if q.count+1 < limit {
		return true
	}
	ux, uy := int(u.X), int(u.Y)
	left, right := min(ux, d.x), max(ux, d.x)
	closed := 1 // the start
	for y := range Side {
		spare := level - 2 - max(y-uy, uy-y) - max(y-d.y, d.y-y) - (right - left)
		if spare < 0 {
			continue
		}
		closed += countRow(&q.free, y, left-spare/2, right+spare/2)
	}
	return closed < limit
}

// countRow counts the cells of a row from x = from to x = to, which may lie
// beyond the edges of the map.
func countRow(b *bitboard.Square, y, from, to int) int {
	m0, m1 := rowMask(max(from, 0), min(to, Side-1))
	b0, b1 := b.Row(y)
	return bits.OnesCount64(b0&m0) + bits.OnesCount64(b1&m1)
}
