package path

import "math/bits"

// queue has the cells that a weighted search has reached, by level, in a ring of lists. The ring has
// more lists than any step leads levels up. A cell may be in several lists; it is closed once.
type queue struct {
	entries []entry
	lists   [1 << 15]uint32 // by level modulo the length of the ring: 1 + the first entry, 0 for an empty list
}

// entry is a cell in a list.
type entry struct {
	next uint32 // 1 + the next entry of the list, 0 at the end
	cell uint16
}

// prepare allocates the greatest number of entries: the start, and four for each closed cell.
func (q *queue) prepare() { q.entries = make([]entry, 0, 4*Cells+1) }

// searchWeighted finds the first steps of a unit to (x, y) on weighted terrain. It closes cells level
// by level, as searchDetour does. The start is in level 0; a step leads up by its cost, plus 1 if
// it leads away from the target and minus 1 if it leads towards the target.
//
// The state of the search must be clear, or have cellDirect on the cells with a direct path to a free target.
// No path is shorter, so cells with a direct path are in the level of the target or above. The search does not
// close them, but ends with the first level that has some: all best paths lead through these. They are in now.
func (f *Finder) searchWeighted(u *Unit, x, y int, outside bool) {
	q, t := &f.search, f.terrain
	start, h := gridCell(int(u.X), int(u.Y)), u.distance(x, y)
	ring := q.lists[:1<<bits.Len(uint(t.highest+1))]
	mask := len(ring) - 1
	clear(ring)
	q.nearest, u.Steps = 2*Side, 0
	q.entries = append(q.entries[:0], entry{cell: uint16(start)})
	ring[0] = 1
	entered, reached, closed := 0, false, 0
	for level := 0; !reached && closed < f.limit; level++ {
		empty := emptyLists(ring, level&mask)
		if empty == len(ring) {
			break
		}
		level += empty
		before := q.nearest
		for at := ring[level&mask]; at != 0; at = ring[level&mask] {
			e := &q.entries[at-1]
			ring[level&mask] = e.next
			switch c := int(e.cell); q.state[c] {
			case 0:
				closed++
				q.closeWeighted(t, c, level, h, before, x+1, y+1, ring)
			case cellDirect:
				q.state[c], q.cost[c] = cellEntered, int32(h+level)-distanceOn(c, x+1, y+1)
				q.now[entered] = e.cell
				entered++
			}
		}
		reached = entered > 0 || q.nearest == 0 && !outside
	}
	if entered > 0 {
		q.best = append(q.best[:0], q.now[:entered]...)
	}
	if reached || u.Closest && q.nearest < h {
		u.Steps = q.firstSteps(start, &t.cost)
	}
}

// distanceOn returns the distance of a cell of a grid from (tx, ty).
func distanceOn(c, tx, ty int) int32 {
	dx, dy := tx-c&gridX, ty-c>>gridShift
	return int32(max(dx, -dx) + max(dy, -dy))
}

// emptyLists counts the consecutive empty lists of the ring, from the given list on.
func emptyLists(ring []uint32, from int) (n int) {
	for n < len(ring) && ring[(from+n)&(len(ring)-1)] == 0 {
		n++
	}
	return n
}

// closeWeighted closes a cell of a level and reaches its neighbours. h is the distance of the start
// from the target, and before the least distance of the cells that were closed in earlier levels.
func (q *search) closeWeighted(t *Terrain, c, level, h, before, tx, ty int, ring []uint32) {
	dx, dy := tx-c&gridX, ty-c>>gridShift
	left := max(dx, -dx) + max(dy, -dy)
	q.state[c], q.cost[c] = cellClosed, int32(h+level-left)
	if left <= q.nearest && left < before {
		if left < q.nearest {
			q.nearest, q.best = left, q.best[:0]
		}
		q.best = append(q.best, uint16(c))
	}
	nearer := [4]bool{dx > 0, dx < 0, dy > 0, dy < 0}
	for d, step := range gridStep {
		n := c + step
		cost := int(t.cost[n])
		if cost == 0 || q.state[n]&^cellDirect != 0 {
			continue
		}
		to := level + cost + 1
		if nearer[d] {
			to -= 2
		}
		list := &ring[to&(len(ring)-1)]
		q.entries = append(q.entries, entry{next: *list, cell: uint16(n)})
		*list = uint32(len(q.entries))
	}
}
