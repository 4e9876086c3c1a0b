package path

import (
	"math/bits"

	"moonfarm/sim/bitboard"
)

// flood is the scratch memory of the flood fill that units of a group share.
//
// The fill queues each cell once: cells of the board of direct paths when it reaches their
// distance, from lists without duplicates, and other cells when it clears their floodFree. So a
// queue has at most Cells entries, fewer than gridSize, and lengths are below Cells + 2·Side.
// Distances of cells are below 2·Side.
type flood struct {
	free   bitboard.Square     // free cells without a direct path
	count  int                 // the number of cells in free
	state  grid                // floodFree and floodUnit; 0 on blocked cells and on cells that the fill has reached
	unit   [gridSize]uint16    // by cell: the index of the unit on it
	length [Cells]uint16       // by unit: the length of its best path, 0 while unknown
	first  [2 * Side]uint16    // by distance: 1 + a cell from which the fill starts, 0 if there is none
	others [gridSize]uint16    // by cell: 1 + the next such cell at the same distance, 0 at the end
	queue  [2][gridSize]uint16 // the cells of the current step and of the next
}

const (
	floodFree = 1
	floodUnit = 2
)

// floodFill finds the first steps of units without a direct path, given by their indices. A flood
// fill starts from the edge of the board of direct paths, from each cell when the fill reaches its
// distance from the target. If a search of the unit would have closed fewer cells than the limit,
// the directions from which the fill reaches the unit are its first steps. All other units search
// one by one.
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

// fill runs the flood fill until it has reached all units of the list.
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

// arrive records that the fill has reached the neighbour of a unit in a direction, so that the unit
// has a path of the given length. It returns 1 for the first path of a unit, else 0.
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

// startFrom lists, by distance from the target, the cells with a direct path that are next to a
// unit or to a free cell without a direct path.
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

// fewerThan reports whether a search from the unit closes fewer cells than limit before the level
// in which it closes the target. These are free cells without a direct path whose distances from
// the unit and the target add up to less than the level.
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

// countRow counts the cells on the board in a row from x = from to x = to, which may lie outside of
// the map.
func countRow(b *bitboard.Square, y, from, to int) int {
	m0, m1 := rowMask(max(from, 0), min(to, Side-1))
	b0, b1 := b.Row(y)
	return bits.OnesCount64(b0&m0) + bits.OnesCount64(b1&m1)
}
