package codecraft

import (
	"math"

	"moonfarm/sim"
)

// search is the scratch of the searches. Costs are stamped: those of a search
// are base + cost, and base grows past all of them, so nothing is cleared.
type search struct {
	base  uint32
	cost  [gridSize]uint32 // of closed cells, of reached ones in a chase
	mark  [gridSize]uint32 // equal to base: on a best path
	queue [gridSize]uint16
	back  [gridSize]uint16 // queue of retrace
	ahead [2][]uint16      // the level in hand and the next
	best  []uint16         // where the best paths end

	entries []uint16 // cells of the field next to closed ones
}

// longest is above the length of any path.
const longest = Cells + 2

// begin makes all cells untouched.
func (q *search) begin() {
	if q.base > math.MaxUint32-2*longest {
		q.base = 0
		clear(q.cost[:])
		clear(q.mark[:])
	}
	q.base += longest
}

// retrace returns the first steps of all best paths: it goes back from the
// cells of q.best, whose costs must be there, along cells that cost one less,
// to the start, which costs nothing.
func (q *search) retrace(start int) (set Steps) {
	tail := 0
	for _, c := range q.best {
		if q.mark[c] != q.base {
			q.mark[c] = q.base
			q.back[tail] = c
			tail++
		}
	}
	for head := 0; head < tail; head++ {
		c := int(q.back[head])
		before := q.cost[c] - 1
		for d, step := range gridStep {
			n := c - step
			if q.cost[n] != before {
				continue
			}
			if n == start {
				set |= 1 << d
			} else if q.mark[n] != q.base {
				q.mark[n] = q.base
				q.back[tail] = uint16(n)
				tail++
			}
		}
	}
	return set
}

// nearest searches for the nearest cells of near, by layers of cost, at most
// reach away, and returns the first steps of all shortest paths to them. It
// gives up where the layers before hold as many cells as a search may close.
func (g *Game) nearest(p sim.Player, start int, b *aimBoard, reach int) Steps {
	q, open := &g.paths.search, g.gridOf(p)
	q.begin()
	q.cost[start] = q.base
	q.queue[0] = uint16(start)
	q.best = q.best[:0]
	limit := int(g.rules.MaxNodes)
	head, tail := 0, 1
	for layer := uint32(1); int(layer) <= reach; layer++ {
		end := tail
		if end >= limit || head == end {
			return 0
		}
		for ; head < end; head++ {
			c := int(q.queue[head])
			for _, step := range gridStep {
				n := c + step
				if open[n] == 0 || q.cost[n] >= q.base {
					continue
				}
				q.cost[n] = q.base + layer
				q.queue[tail] = uint16(n)
				tail++
				if hasOn(&b.near, n) {
					q.best = append(q.best, uint16(n))
				}
			}
		}
		if len(q.best) > 0 {
			return q.retrace(start)
		}
	}
	return 0
}

// detour searches the way of a unit that no straight way leads from, whose
// distance to the target is h (RULES.md, 3: levels). Cells of the field are not
// closed: a straight way leads from them, so all with a lower sum of cost and
// distance than the path through them lie outside of the field. Such a cell is
// entered by a step away from the target only, or the cell before it would be
// in the field: so it is first seen one level before the target would be
// closed.
func (g *Game) detour(u *Unit, closest bool, h int) Steps {
	q, f, open := &g.paths.search, &g.paths.field, g.gridOf(u.Owner)
	q.begin()
	tx, ty := f.x+1, f.y+1
	start := gridCell(int(u.X), int(u.Y))
	ahead, next := append(q.ahead[0][:0], uint16(start)), q.ahead[1][:0]
	q.entries = q.entries[:0]
	closed, least := 0, uint32(math.MaxUint32)
	for level := h; ; level += 2 {
		for len(ahead) > 0 {
			c := int(ahead[len(ahead)-1])
			ahead = ahead[:len(ahead)-1]
			if q.cost[c] >= q.base {
				continue
			}
			cx, cy := c&(1<<gridShift-1), c>>gridShift
			left := max(cx-tx, tx-cx) + max(cy-ty, ty-cy)
			cost := uint32(level - left)
			q.cost[c] = q.base + cost
			closed++
			if key := uint32(left)<<16 | cost; key <= least {
				if key < least {
					least, q.best = key, q.best[:0]
				}
				q.best = append(q.best, uint16(c))
			}
			nearer := [4]bool{cx < tx, cx > tx, cy < ty, cy > ty}
			for d, step := range gridStep {
				n := c + step
				switch {
				case open[n] == 0 || q.cost[n] >= q.base:
				case hasOn(&f.board, n):
					q.entries = append(q.entries, uint16(n))
				case nearer[d]:
					ahead = append(ahead, uint16(n))
				default:
					next = append(next, uint16(n))
				}
			}
		}
		limited := closed >= int(g.rules.MaxNodes)
		if len(q.entries) > 0 && !limited {
			return q.enter(start, level+2, tx, ty)
		}
		if limited || len(next) == 0 {
			break
		}
		ahead, next = next, ahead[:0]
	}
	if !closest || least&(1<<16-1) == 0 {
		return 0 // the start is the best
	}
	return q.retrace(start)
}

// enter returns the first steps of the paths that enter the field.
func (q *search) enter(start, level, tx, ty int) Steps {
	q.best = q.best[:0]
	for _, c := range q.entries {
		cx, cy := int(c)&(1<<gridShift-1), int(c)>>gridShift
		q.cost[c] = q.base + uint32(level-max(cx-tx, tx-cx)-max(cy-ty, ty-cy))
		q.best = append(q.best, c)
	}
	return q.retrace(start)
}
