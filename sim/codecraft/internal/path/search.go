package path

import "math/bits"

// search is the scratch memory of the searches of single units.
//
// A search closes cells level by level. A level has all cells with one sum of cost so far and
// distance to the target (RULES.md, 3.9). A step towards the target at the cost of 1 stays in its
// level; a step away from the target leads two levels up, by cost and distance. So levels of
// searches without weights are two apart.
//
// A list has a cell at most once, so at most Cells entries. The arrays have room for them, and for one
// more entry, which is written past the end of a list. now gets a cell when it is closed, next when it
// loses cellNew, best when its cost is final, and back when it is in best or becomes cellOnBest. A cell
// of best never becomes cellOnBest: it is not closed, or it has the same cost as the other cells of best,
// while the cells that become cellOnBest are closed and cost less.
type search struct {
	state grid            // the state of each cell in the current search
	cost  [gridSize]int32 // the cost of the best path from the start to a closed cell

	now  [gridSize]uint16 // the closed cells
	next [gridSize]uint16 // cells of the next level

	nearest int              // the least distance of a closed cell from the target
	best    []uint16         // the ends of the best paths
	back    [gridSize]uint16 // queue of firstSteps

	queue
}

// The states of a cell in a search. A cell is closed as soon as the search finds it in the current level:
// its cost is then final. 0 is a cell that the search does not close; on weighted terrain, one that it has
// not reached.
const (
	cellFree   = 1 // free and not closed
	cellNew    = 2 // with cellFree: not in next
	cellClosed = 8
	cellOnBest = 16 // with cellClosed: on a best path

	// On weighted terrain:
	cellNearer  = 1  // in a list after a step towards the target
	cellAway    = 2  // in a list after a step away from the target
	cellDirect  = 4  // with a direct path
	cellEntered = 32 // with a direct path, and reached
	cellBlocked = 64
	cellDone    = cellClosed | cellEntered | cellBlocked
)

// prepare allocates the lists for their greatest length.
func (q *search) prepare() {
	q.best = make([]uint16, 0, Cells)
	q.queue.prepare()
}

// searchDetour decides the first steps of a unit without a direct path whose goal is at the given level.
// They are u.Steps already, unless the search reaches the limit before this level. The state of the
// search must have the free cells without a direct path.
//
// The search does not close cells with direct paths. The path through such a cell is as long as the
// path to it and its distance, so it is not below the level of the goal.
func (f *Finder) searchDetour(u *Unit, goal int) {
	q, d := &f.search, &f.direct
	h := u.distance(d.x, d.y)
	start := gridCell(int(u.X), int(u.Y))
	q.now[0], q.state[start] = uint16(start), cellClosed
	q.nearest = 2 * Side
	for closed, n, level := 0, 1, h; n > closed && level < goal; level += 2 {
		closed, n = q.closeLevel(closed, n, level, d.x+1, d.y+1)
		if closed >= f.limit {
			if u.Steps = 0; u.Closest && q.nearest < h {
				u.Steps = q.firstSteps(start, nil)
			}
			return
		}
	}
}

// closeLevel closes the cells of now from head to tail, and all cells that it reaches from them by steps
// towards the target. Then it closes the cells that it has reached by a step away from the target, for
// the next level. It returns the range of these cells in now.
//
// Whether a neighbour is free is hard to predict. For a step away from the target the loop always writes the
// neighbour behind next, and moves the end of next only if the neighbour belongs there: a third faster than a
// branch. For a step towards the target a branch is faster: the loop goes on with the cells of these steps, and
// without a branch it would wait for each of them.
func (q *search) closeLevel(head, tail, level, tx, ty int) (newHead, newTail int) {
	before, nearest, waiting := q.nearest, q.nearest, 0
	for ; head < tail; head++ {
		c := int(q.now[head])
		dx, dy := tx-c&gridX, ty-c>>gridShift
		sx, sy := dx>>(bits.UintSize-1)|1, (dy>>(bits.UintSize-1)|1)<<gridShift
		left := max(dx, -dx) + max(dy, -dy)
		q.cost[c] = int32(level - left)
		if left <= nearest && left < before { // at the same distance, cells of lower levels cost less
			if left < nearest {
				nearest, q.best = left, q.best[:0]
			}
			q.best = append(q.best, uint16(c))
		}
		if dx == 0 { // both neighbours are farther away
			waiting = q.reachAway(c+1, waiting)
			waiting = q.reachAway(c-1, waiting)
		} else {
			tail = q.reachNearer(c+sx, tail)
			waiting = q.reachAway(c-sx, waiting)
		}
		if dy == 0 {
			waiting = q.reachAway(c+1<<gridShift, waiting)
			waiting = q.reachAway(c-1<<gridShift, waiting)
		} else {
			tail = q.reachNearer(c+sy, tail)
			waiting = q.reachAway(c-sy, waiting)
		}
	}
	q.nearest = nearest
	for _, c := range q.next[:waiting] {
		tail = q.reachNearer(int(c), tail)
	}
	return head, tail
}

// reachNearer closes a cell if it is free and not closed yet, and adds it to now.
func (q *search) reachNearer(c, tail int) int {
	if q.state[c]&cellFree != 0 {
		q.state[c] = cellClosed
		q.now[tail] = uint16(c)
		tail++
	}
	return tail
}

// reachAway adds a cell to next if it is new.
func (q *search) reachAway(c, waiting int) int {
	s := q.state[c]
	q.state[c] = s &^ cellNew
	q.next[waiting] = uint16(c)
	return waiting + int(s&cellNew/cellNew)
}

// firstSteps returns the first steps of all best paths. It goes back from the cells of best to the
// start, whose cost is 0, along closed cells: the cost of each is the cost of the cell after it
// minus the cost of entering that cell. Without weights, entering a cell costs 1.
//
// Cells that closeLevel has closed for a level that is no longer searched have costs of earlier
// searches. This does no harm: a path back to the start with as many steps as the cost of its cell
// of best is a best path.
func (q *search) firstSteps(start int, weights *[gridSize]uint16) (set Steps) {
	tail := copy(q.back[:], q.best)
	for head := 0; head < tail; head++ {
		c := int(q.back[head])
		before := q.cost[c] - 1
		if weights != nil {
			before = q.cost[c] - int32(weights[c])
		}
		for d, step := range gridStep {
			n := c - step
			if q.state[n] != cellClosed || q.cost[n] != before {
				continue
			}
			if n == start {
				set |= 1 << d
			} else {
				q.state[n] = cellClosed | cellOnBest
				q.back[tail] = uint16(n)
				tail++
			}
		}
	}
	return set
}
