package path

import "math/bits"

// search is the scratch memory of the searches of single units.
//
// A search closes cells level by level. A level has all cells with one sum of cost so far and
// distance to the target (RULES.md, 3.9). A step towards the target at the cost of 1 stays in its
// level; a step away from the target leads two levels up, by cost and distance. So levels of
// searches without weights are two apart.
//
// The lists without a capacity below have a cell at most once, so at most Cells entries, fewer than
// gridSize: now gets cells when they are closed; next and entered when they become cellReached,
// which cells of next lose when they are closed; best gets closed cells when their costs are final,
// or all of entered; back has best and the cells that become cellOnBest. Cells of best never become
// cellOnBest: all of them have the same cost, or have direct paths, and back continues with closed
// cells of lower cost.
type search struct {
	state grid            // the state of each cell in the current search
	cost  [gridSize]int32 // the cost of the best path from the start to a closed cell

	now     [gridSize]uint16 // cells of this level whose neighbours have not been visited
	next    [gridSize]uint16 // cells of the next level
	waiting int              // the number of cells in next
	entered []uint16         // cells with direct paths that this level has reached

	nearest int              // the least distance of a closed cell from the target
	best    []uint16         // the ends of the best paths
	back    [gridSize]uint16 // queue of firstSteps

	queue
}

// The states of a cell in a search; 0 is a blocked cell. A cell is closed as soon as the search
// finds it in the current level: its cost is then final.
const (
	cellFree    = 1 // free, without a direct path
	cellDirect  = 2 // free, with a direct path
	cellReached = 4 // with cellFree: waits in next; with cellDirect: is in entered
	cellClosed  = 8
	cellOnBest  = 16 // with cellClosed: on a best path
)

// prepare allocates the lists for their greatest length.
func (q *search) prepare() {
	q.best, q.entered = make([]uint16, 0, Cells), make([]uint16, 0, Cells)
	q.queue.prepare()
}

// searchDetour finds the first steps of a unit without a direct path. The state of the search must
// have the free cells, with or without cellDirect.
//
// The search does not close cells with direct paths. The path through such a cell is as long as the
// path to it and its distance, so no cell with a lower sum has a direct path. The step to such a
// cell leads away from the target; otherwise the cell before it would also have a direct path. So
// the search reaches it one level before the target is closed.
func (f *Finder) searchDetour(u *Unit) {
	q, d := &f.search, &f.direct
	h := u.distance(d.x, d.y)
	q.entered = q.entered[:0]
	start := gridCell(int(u.X), int(u.Y))
	q.now[0], q.state[start] = uint16(start), cellClosed
	closed := 0
	q.nearest = 2 * Side
	for n, level := 1, h; ; level += 2 {
		q.waiting = 0
		closed += q.closeLevel(n, level, d.x+1, d.y+1)
		if len(q.entered) > 0 && closed < f.limit {
			u.Steps = q.enter(start, level+2, d.x+1, d.y+1)
			return
		}
		if q.nearest == d.least {
			break // the target, or the free cells nearest to it
		}
		if n = q.nextLevel(); closed >= f.limit || n == 0 {
			if !u.Closest || q.nearest == h {
				return // nothing is nearer than the start
			}
			break
		}
	}
	u.Steps = q.firstSteps(start, nil)
}

// closeLevel closes the n cells in now and all cells that it reaches from them by steps towards the
// target. Cells that it reaches by a step away from the target go to next. It returns the number
// of closed cells.
func (q *search) closeLevel(n, level, tx, ty int) (closed int) {
	before, nearest := q.nearest, q.nearest
	for n > 0 {
		n--
		closed++
		c := int(q.now[n])
		dx, dy := tx-c&gridX, ty-c>>gridShift
		left := max(dx, -dx) + max(dy, -dy)
		q.cost[c] = int32(level - left)
		if left <= nearest && left < before { // at the same distance, cells of lower levels cost less
			if left < nearest {
				nearest, q.best = left, q.best[:0]
			}
			q.best = append(q.best, uint16(c))
		}
		if dx == 0 { // both neighbours are farther away
			q.reachAway(c + 1)
			q.reachAway(c - 1)
		} else {
			s := dx>>(bits.UintSize-1) | 1
			if k := c + s; q.state[k]&cellFree != 0 {
				q.state[k], q.now[n] = cellClosed, uint16(k)
				n++
			}
			q.reachAway(c - s)
		}
		if dy == 0 {
			q.reachAway(c + 1<<gridShift)
			q.reachAway(c - 1<<gridShift)
		} else {
			s := (dy>>(bits.UintSize-1) | 1) << gridShift
			if k := c + s; q.state[k]&cellFree != 0 {
				q.state[k], q.now[n] = cellClosed, uint16(k)
				n++
			}
			q.reachAway(c - s)
		}
	}
	q.nearest = nearest
	return closed
}

// reachAway reaches a cell by a step away from the target.
func (q *search) reachAway(c int) {
	switch q.state[c] {
	case cellFree:
		q.state[c] = cellFree | cellReached
		q.next[q.waiting] = uint16(c)
		q.waiting++
	case cellDirect:
		q.state[c] = cellDirect | cellReached
		q.entered = append(q.entered, uint16(c))
	}
}

// nextLevel moves the cells of next that are not yet closed to now, and returns their number.
func (q *search) nextLevel() (n int) {
	for _, c := range q.next[:q.waiting] {
		if q.state[c]&cellFree != 0 {
			q.state[c], q.now[n] = cellClosed, c
			n++
		}
	}
	return n
}

// enter returns the first steps of the paths through the cells in entered, which have direct paths
// and belong to the given level.
func (q *search) enter(start, level, tx, ty int) Steps {
	for _, c := range q.entered {
		dx, dy := tx-int(c)&gridX, ty-int(c)>>gridShift
		q.cost[c] = int32(level - max(dx, -dx) - max(dy, -dy))
	}
	q.best = append(q.best[:0], q.entered...)
	return q.firstSteps(start, nil)
}

// firstSteps returns the first steps of all best paths. It goes back from the cells of best to the
// start, whose cost is 0, along closed cells: the cost of each is the cost of the cell after it
// minus the cost of entering that cell. Without weights, entering a cell costs 1.
//
// Cells that nextLevel has closed for a level that is no longer searched have costs of earlier
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
