package codecraft

import "moonfarm/sim"

// detours is the scratch of the searches of units that no straight way leads
// from.
//
// All lists hold a cell at most once, so at most Cells, below gridSize, and those
// with a capacity of Cells never grow: ahead takes cells as they are closed; next
// and entered as they get cellReached, which those of next lose by being closed;
// best has closed cells as their costs are settled, or all of entered; back has
// best and those that get cellBest, which cells of best never do: in a search
// all of them have the same cost, or are of the field, and it goes on to closed
// cells of a lower cost. Costs are lengths of paths: below Cells, 16 bits.
type detours struct {
	drawn bool // base is that of the group in hand
	base  grid // cellOpen and cellField
	state grid // of the search in hand
	cost  [gridSize]uint16

	ahead   [gridSize]uint16 // the level in hand
	next    [gridSize]uint16 // the next level
	waiting int              // cells in next
	entered []uint16         // cells of the field that the level has reached
	best    []uint16         // where the best paths end
	back    [gridSize]uint16 // queue of retrace
}

// What a cell of the grid is to a detour, beside 0. It is closed as soon as it
// is known to belong to the level in hand: its cost is settled then.
const (
	cellOpen    = 1 // outside of the field
	cellField   = 2
	cellReached = 4 // with cellOpen: waits in next; with cellField: is in entered
	cellClosed  = 8
	cellBest    = 16 // with cellClosed: on a best path
)

// gridX is the part of a number of the grid that tells x.
const gridX = 1<<gridShift - 1

// withField makes the state of a new search: the open cells of the player and
// the field in hand.
func (g *Game) withField(p sim.Player) {
	q := &g.paths.detours
	if !q.drawn {
		q.drawn = true
		q.base = *g.gridOf(p)
		for y := range Side {
			if low, high := g.paths.field.board.Row(y); low|high != 0 {
				q.base.addRow(y, low, high)
			}
		}
	}
	q.state = q.base
}

// withoutField makes the state of a search that closes all cells as the rules
// say.
func (g *Game) withoutField(p sim.Player) { g.paths.detours.state = *g.gridOf(p) }

// detour searches the way of a unit that no straight way leads from, whose
// distance to the target is h (RULES.md, 3.9). The state is that of a new
// search, with the field or without.
//
// Cells of the field are not closed: a straight way leads from them, so all
// with a lower sum of cost and distance than the path through them lie outside
// of the field. Such a cell is entered by a step away from the target only, or
// the cell before it would be in the field: so it is first seen one level
// before the target would be closed.
func (g *Game) detour(u *Unit, closest bool, h int) Steps {
	q, f := &g.paths.detours, &g.paths.field
	q.entered = q.entered[:0]
	start := gridCell(int(u.X), int(u.Y))
	q.ahead[0], q.state[start] = uint16(start), cellClosed
	closed, most, least := 0, int(g.rules.MaxNodes), 2*Side
	for n, level := 1, h; ; level += 2 {
		q.waiting = 0
		var nearest int
		n, nearest = q.level(n, level, f.x+1, f.y+1, least)
		closed += n
		least = min(least, nearest)
		if len(q.entered) > 0 && closed < most {
			return q.enter(start, level+2, f.x+1, f.y+1)
		}
		if least == f.least {
			return q.retrace(start) // without a field: the target, or the cells nearest to it
		}
		if n = q.nextLevel(); closed >= most || n == 0 {
			break
		}
	}
	if !closest || least == h {
		return 0 // nothing is nearer than the start
	}
	return q.retrace(start)
}

// level closes the n cells in ahead and all that are reached from them by steps
// towards the target; those that are one step away from it go to next. It
// returns how many it has closed, and the least distance to the target that is
// below the given one; best are the cells at that distance then.
func (q *detours) level(n, level, tx, ty, least int) (closed, nearest int) {
	nearest = least
	for n > 0 {
		n--
		closed++
		c := int(q.ahead[n])
		dx, dy := tx-c&gridX, ty-c>>gridShift
		left := max(dx, -dx) + max(dy, -dy)
		q.cost[c] = uint16(level - left)
		if left <= nearest && left < least {
			if left < nearest {
				nearest, q.best = left, q.best[:0]
			}
			q.best = append(q.best, uint16(c))
		}
		if dx == 0 { // both neighbours are farther away
			q.away(c + 1)
			q.away(c - 1)
		} else {
			s := dx>>63 | 1
			if k := c + s; q.state[k]&cellOpen != 0 {
				q.state[k], q.ahead[n] = cellClosed, uint16(k)
				n++
			}
			q.away(c - s)
		}
		if dy == 0 {
			q.away(c + 1<<gridShift)
			q.away(c - 1<<gridShift)
		} else {
			s := (dy>>63 | 1) << gridShift
			if k := c + s; q.state[k]&cellOpen != 0 {
				q.state[k], q.ahead[n] = cellClosed, uint16(k)
				n++
			}
			q.away(c - s)
		}
	}
	return closed, nearest
}

// away reaches a cell by a step away from the target.
func (q *detours) away(c int) {
	switch q.state[c] {
	case cellOpen:
		q.state[c] = cellOpen | cellReached
		q.next[q.waiting] = uint16(c)
		q.waiting++
	case cellField:
		q.state[c] = cellField | cellReached
		q.entered = append(q.entered, uint16(c))
	}
}

// nextLevel moves the cells that wait to ahead, but for those that were closed
// meanwhile, and returns how many they are.
func (q *detours) nextLevel() (n int) {
	for _, c := range q.next[:q.waiting] {
		if q.state[c]&cellOpen != 0 {
			q.state[c], q.ahead[n] = cellClosed, c
			n++
		}
	}
	return n
}

// enter returns the first steps of the paths that enter the field, which is
// part of the given level.
func (q *detours) enter(start, level, tx, ty int) Steps {
	for _, c := range q.entered {
		dx, dy := tx-int(c)&gridX, ty-int(c)>>gridShift
		q.cost[c] = uint16(level - max(dx, -dx) - max(dy, -dy))
	}
	q.best = append(q.best[:0], q.entered...)
	return q.retrace(start)
}

// retrace returns the first steps of all best paths: it goes back from the
// cells of best, whose costs must be there, along closed cells that cost one
// less, to the start, which costs nothing.
//
// Cells that nextLevel has closed for a level that is not searched any more have
// costs of earlier searches. They do no harm: what comes back to the start in as
// many steps as a cell of best costs is a best path, whatever the costs on it.
func (q *detours) retrace(start int) (set Steps) {
	tail := copy(q.back[:], q.best)
	for head := 0; head < tail; head++ {
		c := int(q.back[head])
		before := q.cost[c] - 1
		for d, step := range gridStep {
			n := c - step
			if q.state[n] != cellClosed || q.cost[n] != before {
				continue
			}
			if n == start {
				set |= 1 << d
			} else {
				q.state[n] = cellClosed | cellBest
				q.back[tail] = uint16(n)
				tail++
			}
		}
	}
	return set
}
