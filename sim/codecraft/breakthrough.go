package codecraft

import "math"

// heap is a queue of the cells that a search with break through has reached,
// those with the least sum of cost and distance first.
type heap struct {
	list  []heapItem
	stamp uint32
	seen  [gridSize]uint32 // equal to stamp: closed
	cost  [gridSize]int32  // of closed cells
	paid  [gridSize]int32  // what it costs to enter closed cells
}

type heapItem struct {
	sum, cost int32
	cell      uint16
}

func (h *heap) push(item heapItem) {
	h.list = append(h.list, item)
	i := len(h.list) - 1
	for i > 0 {
		up := (i - 1) / 2
		if h.list[up].sum <= item.sum {
			break
		}
		h.list[i] = h.list[up]
		i = up
	}
	h.list[i] = item
}

func (h *heap) pop() heapItem {
	top := h.list[0]
	last := len(h.list) - 1
	item := h.list[last]
	h.list = h.list[:last]
	if last == 0 {
		return top
	}
	i := 0
	for {
		down := 2*i + 1
		if down >= last {
			break
		}
		if down+1 < last && h.list[down+1].sum < h.list[down].sum {
			down++
		}
		if h.list[down].sum >= item.sum {
			break
		}
		h.list[i] = h.list[down]
		i = down
	}
	h.list[i] = item
	return top
}

// breakThrough returns the first steps of a unit whose move breaks through
// (RULES.md, 3): cells of others can be entered at the price of the ticks that
// it takes to destroy what is there.
func (g *Game) breakThrough(s *State, u *Unit, a *Action) Steps {
	h := &g.paths.heap
	h.list = h.list[:0]
	if h.stamp++; h.stamp == 0 {
		h.stamp = 1
		clear(h.seen[:])
	}
	tx, ty := int(a.MoveX)+1, int(a.MoveY)+1
	start, target := gridCell(int(u.X), int(u.Y)), gridCell(int(a.MoveX), int(a.MoveY))
	if a.Parts&MoveOutside != 0 {
		target = -1
	}
	q := &g.paths.search
	q.begin()
	q.best = q.best[:0]
	away := func(c int) int32 {
		cx, cy := c&(1<<gridShift-1), c>>gridShift
		return int32(max(cx-tx, tx-cx) + max(cy-ty, ty-cy))
	}
	h.push(heapItem{sum: away(start), cell: uint16(start)})
	damage := g.rules.Types[u.Type].Damage
	closed, least := 0, int64(math.MaxInt64)
	for len(h.list) > 0 {
		level, reached := h.list[0].sum, false
		for len(h.list) > 0 && h.list[0].sum == level {
			item := h.pop()
			c := int(item.cell)
			if h.seen[c] == h.stamp {
				continue
			}
			h.seen[c], h.cost[c] = h.stamp, item.cost
			h.paid[c] = 0
			if c != start {
				h.paid[c] = g.price(s, u, damage, c)
			}
			closed++
			reached = reached || c == target
			if key := int64(away(c))<<32 | int64(item.cost); key <= least {
				if key < least {
					least, q.best = key, q.best[:0]
				}
				q.best = append(q.best, uint16(c))
			}
			for _, step := range gridStep {
				n := c + step
				if h.seen[n] == h.stamp {
					continue
				}
				if price := g.price(s, u, damage, n); price > 0 {
					cost := item.cost + price
					h.push(heapItem{cost + away(n), cost, uint16(n)})
				}
			}
		}
		if reached || closed >= int(g.rules.MaxNodes) {
			if !reached && a.Parts&FindClosest == 0 {
				return 0
			}
			return g.retraceBreak(start)
		}
	}
	if a.Parts&FindClosest == 0 {
		return 0
	}
	return g.retraceBreak(start)
}

// price is what it costs unit u to enter a cell of the grid: 0 if it cannot.
func (g *Game) price(s *State, u *Unit, damage int32, cell int) int32 {
	x, y := cell&(1<<gridShift-1)-1, cell>>gridShift-1
	if uint(x) >= Side || uint(y) >= Side {
		return 0
	}
	if g.open[u.Owner].Has(x, y) {
		return 1
	}
	health := int32(s.Health[CellOf(x, y)])
	if i := int(s.At[CellOf(x, y)]) - 1; i >= 0 {
		if s.Units[i].Owner == u.Owner {
			return 0
		}
		health = int32(s.Units[i].Health)
	}
	if damage == 0 {
		return 0
	}
	if g.rules.BreakFloor {
		return max(1, health/damage)
	}
	return max(1, (health+damage-1)/damage)
}

// retraceBreak is retrace for costs by price; the best paths end at the cells
// of q.best: the target is nearest to itself.
func (g *Game) retraceBreak(start int) (set Steps) {
	q, h := &g.paths.search, &g.paths.heap
	tail := 0
	for _, c := range q.best {
		if int(c) == start {
			return 0
		}
		q.mark[c] = q.base
		q.back[tail] = c
		tail++
	}
	for head := 0; head < tail; head++ {
		c := int(q.back[head])
		before := h.cost[c] - h.paid[c]
		for d, step := range gridStep {
			n := c - step
			if h.seen[n] != h.stamp || h.cost[n] != before {
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
