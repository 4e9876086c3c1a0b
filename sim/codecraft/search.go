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
	best  []uint16         // where the best paths end
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
