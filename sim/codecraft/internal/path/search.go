package path

import "math/bits"

// search is the scratch of the searches of single units.
//
// A search closes cells level by level, a level being all cells with one sum of
// cost so far and distance to the target (RULES.md, 3.9). A step towards the
// target at the cost of 1 stays in its level, one away from it leads two levels
// up by cost and distance: levels of searches without weights are two apart.
//
// Lists without a capacity below hold a cell at most once, so at most Cells,
// which is below gridSize: now takes cells as they are closed; next and entered
// as they become cellReached, which those of next lose by being closed; best has
// closed cells as their costs are settled, or all of entered; back has best and
// those that become cellOnBest. Cells of best never do: all of them cost the
// same, or have direct paths, and back goes on to closed cells that cost less.
type search struct {
	state grid            // what each cell is to the search in hand
	cost  [gridSize]int32 // of the best path from the start to a closed cell

	now     [gridSize]uint16 // cells of this level whose neighbours were not looked at
	next    [gridSize]uint16 // cells of the next level
	waiting int              // cells in next
	entered []uint16         // cells with direct paths that this level has reached

	nearest int              // the least distance of a closed cell from the target
	best    []uint16         // where the best paths end
	back    [gridSize]uint16 // queue of firstSteps

	queue
}

// What a cell of the grid is to a search, beside 0. It is closed as soon as it
// is known to belong to the level in hand: its cost is settled then.
const (
	cellFree    = 1 // without a direct path
	cellDirect  = 2 // with one
	cellReached = 4 // with cellFree: waits in next; with cellDirect: is in entered
	cellClosed  = 8
	cellOnBest  = 16 // with cellClosed: on a best path
)

// prepare allocates the lists for the most they ever hold.
func (q *search) prepare() {
	q.best, q.entered = make([]uint16, 0, Cells), make([]uint16, 0, Cells)
	q.queue.prepare()
}

// searchDetour finds the first steps of a unit without a direct path. The state
// of the search must be that of the free cells, with direct paths or without.
//
// Cells with direct paths are not closed. The path through one is as short as
// the way to it and its distance, so all cells with a lower sum have none. The
// step to such a cell leads away from the target, or the cell before would have
// a direct path too: so it is first seen one level before the target is closed.
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
			break // the target, or free cells that are as near to it as any
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

// closeLevel closes the n cells in now and all that are reached from them by
// steps towards the target; those that are one step away from it go to next. It
// returns how many it has closed.
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

// nextLevel moves the cells of next to now, but for those that were closed
// meanwhile, and returns how many they are.
func (q *search) nextLevel() (n int) {
	for _, c := range q.next[:q.waiting] {
		if q.state[c]&cellFree != 0 {
			q.state[c], q.now[n] = cellClosed, c
			n++
		}
	}
	return n
}

// enter returns the first steps of the paths that go on by a direct path, from
// the cells in entered, which belong to the given level.
func (q *search) enter(start, level, tx, ty int) Steps {
	for _, c := range q.entered {
		dx, dy := tx-int(c)&gridX, ty-int(c)>>gridShift
		q.cost[c] = int32(level - max(dx, -dx) - max(dy, -dy))
	}
	q.best = append(q.best[:0], q.entered...)
	return q.firstSteps(start, nil)
}

// firstSteps returns the first steps of all best paths: it goes back from the
// cells of best along closed cells, each at the cost of the one after it less
// what that costs to enter, to the start, which costs nothing. Without weights
// every cell costs 1 to enter.
//
// Cells that nextLevel has closed for a level that is not searched any more have
// costs of earlier searches. They do no harm: what comes back to the start in as
// many steps as a cell of best costs is a best path, whatever the costs on it.
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
