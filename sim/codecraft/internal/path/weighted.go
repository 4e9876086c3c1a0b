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

// prepare allocates the greatest number of entries: the start, and two for each cell.
func (q *queue) prepare() { q.entries = make([]entry, 0, 2*Cells+1) }

// searchWeighted finds the first steps of a unit to (x, y) on weighted terrain. It closes cells level
// by level, as searchDetour does. The start is in level 0; a step leads up by its cost, plus 1 if
// it leads away from the target and minus 1 if it leads towards the target.
//
// The state of the search must have cellBlocked on blocked cells, and may have cellDirect on the cells with a
// direct path to a free target. No path is shorter than a direct path, so these cells are in the level of the
// target or above. The search does not close them. It ends with the first level that has some, since all best
// paths lead through them, and lists them in now.
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
			switch c := int(e.cell); {
			case q.state[c]&(cellClosed|cellEntered) != 0:
			case q.state[c]&cellDirect == 0:
				closed++
				q.closeWeighted(t, c, level, h, before, x+1, y+1, ring)
			default:
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
	if dx == 0 { // both neighbours are farther away
		q.push(t, c+1, level+1, ring)
		q.push(t, c-1, level+1, ring)
	} else {
		sx := dx>>(bits.UintSize-1) | 1
		q.pushNearer(t, c+sx, level-1, ring)
		q.push(t, c-sx, level+1, ring)
	}
	if dy == 0 {
		q.push(t, c+1<<gridShift, level+1, ring)
		q.push(t, c-1<<gridShift, level+1, ring)
	} else {
		sy := (dy>>(bits.UintSize-1) | 1) << gridShift
		q.pushNearer(t, c+sy, level-1, ring)
		q.push(t, c-sy, level+1, ring)
	}
}

// push adds a cell to the list of the level that is its cost above the given level, for a step away from the
// target. A cell is only added by the first step away and the first step towards the target: entering it costs
// the same from all cells, so a later step of the same kind leads to no lower level.
func (q *search) push(t *Terrain, c, level int, ring []uint32) {
	if s := q.state[c]; s&(cellDone|cellNearer|cellAway) == 0 {
		q.state[c] = s | cellAway
		q.list(t, c, level, ring)
	}
}

// pushNearer adds a cell as push does, for a step towards the target.
func (q *search) pushNearer(t *Terrain, c, level int, ring []uint32) {
	if s := q.state[c]; s&(cellDone|cellNearer) == 0 {
		q.state[c] = s | cellNearer
		q.list(t, c, level, ring)
	}
}

// list adds a cell to the list of the level that is its cost above the given level.
func (q *search) list(t *Terrain, c, level int, ring []uint32) {
	list := &ring[(level+int(t.cost[c]))&(len(ring)-1)]
	q.entries = append(q.entries, entry{next: *list, cell: uint16(c)})
	*list = uint32(len(q.entries))
}
