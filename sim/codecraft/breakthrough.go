package codecraft

import (
	"math"
	"math/bits"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
)

// maxSoft is how many boards of soft cells are kept; more kinds are rare.
const maxSoft = 8

// soft are the cells that a player's units with that damage enter at the price
// of 1: those that are open, and those of others that a blow destroys. Where a
// straight way leads through them no search is needed, as without break
// through: nothing is cheaper.
type soft struct {
	player sim.Player
	damage int32
	cells  bitboard.Square
}

// softFor returns the board, drawn if need be.
func (g *Game) softFor(s *State, p sim.Player, damage int32) *bitboard.Square {
	t := &g.paths
	for k := range t.soft[:t.softs] {
		if b := &t.soft[k]; b.player == p && b.damage == damage {
			return &b.cells
		}
	}
	if t.softs == maxSoft {
		t.softs = 0
	}
	b := &t.soft[t.softs]
	t.softs++
	b.player, b.damage, b.cells = p, damage, g.open[p]
	if damage == 0 {
		return &b.cells
	}
	w := breakSearch{s: s, player: p, open: g.gridOf(p), damage: damage}
	var others bitboard.Square
	others.Flip(&g.open[p])
	others.AndNot(&s.Own[p])
	for y := range Side {
		low, high := others.Row(y)
		for row, k := [2]uint64{low, high}, 0; k < 2; k++ {
			for m := row[k]; m != 0; m &= m - 1 {
				if x := k*64 + bits.TrailingZeros64(m); g.price(&w, gridCell(x, y)) == 1 {
					b.cells.Add(x, y)
				}
			}
		}
	}
	return &b.cells
}

// breaks is the scratch of searches with break through.
type breaks struct {
	stamp   uint32
	seen    [gridSize]uint32 // equal to stamp: closed
	cost    [gridSize]int32  // of closed cells
	paid    [gridSize]int32  // what it costs to enter closed cells
	entries []breakEntry     // cells that are reached; a cell may be there more than once
	levels  [breakLevels]uint32
	far     []uint32 // entries of the levels beyond, a heap: the lowest level first
	best    []uint16 // where the best paths end
	back    [gridSize]uint16
	marked  [gridSize]uint32 // equal to stamp: on a best path
}

// breakLevels is how many levels have a list; more are rare, and a heap.
const breakLevels = 256

// breakEntry is a cell that is reached.
type breakEntry struct {
	level, cost int32  // the level counts from that of the start
	next        uint32 // 1 + the next entry of the level
	cell        uint16
}

func (q *breaks) begin() {
	q.entries, q.far, q.best = q.entries[:0], q.far[:0], q.best[:0]
	clear(q.levels[:])
	if q.stamp++; q.stamp == 0 {
		q.stamp = 1
		clear(q.seen[:])
		clear(q.marked[:])
	}
}

// reach notes that a cell can be had.
func (q *breaks) reach(level, cost int32, cell int) {
	e := breakEntry{level: level, cost: cost, cell: uint16(cell)}
	if level < breakLevels {
		e.next = q.levels[level]
		q.levels[level] = uint32(len(q.entries) + 1)
		q.entries = append(q.entries, e)
		return
	}
	q.entries = append(q.entries, e)
	q.far = append(q.far, uint32(len(q.entries)-1))
	i := len(q.far) - 1
	for up := (i - 1) / 2; i > 0 && q.entries[q.far[up]].level > level; up = (i - 1) / 2 {
		q.far[i], q.far[up] = q.far[up], q.far[i]
		i = up
	}
}

// take returns an entry of the level, or of the lowest from it on among those
// beyond the lists; ok is false if there is none.
func (q *breaks) take(level int32) (e breakEntry, ok bool) {
	if level < breakLevels {
		at := q.levels[level]
		if at == 0 {
			return e, false
		}
		e = q.entries[at-1]
		q.levels[level] = e.next
		return e, true
	}
	if len(q.far) == 0 || q.entries[q.far[0]].level != level {
		return e, false
	}
	e = q.entries[q.far[0]]
	last := len(q.far) - 1
	q.far[0] = q.far[last]
	q.far = q.far[:last]
	for i := 0; ; {
		down := 2*i + 1
		if down+1 < last && q.entries[q.far[down+1]].level < q.entries[q.far[down]].level {
			down++
		}
		if down >= last || q.entries[q.far[down]].level >= q.entries[q.far[i]].level {
			return e, true
		}
		q.far[i], q.far[down] = q.far[down], q.far[i]
		i = down
	}
}

// lowest is the first level from the given one on that has entries; −1: none.
func (q *breaks) lowest(level int32) int32 {
	for ; level < breakLevels; level++ {
		if q.levels[level] != 0 {
			return level
		}
	}
	if len(q.far) > 0 {
		return q.entries[q.far[0]].level
	}
	return -1
}

// breakSearch is one search with break through.
type breakSearch struct {
	s             *State
	player        sim.Player
	open          *grid
	damage        int32
	tx, ty        int
	start, target int
	closed        int
	least         int64 // distance and cost of the best cells
	reached       bool
}

// breakThrough returns the first steps of a unit whose move breaks through
// (RULES.md, 3.7): cells of others can be entered at the price of the ticks that
// it takes to destroy what is there.
func (g *Game) breakThrough(s *State, u *Unit, a *Action) Steps {
	q := &g.paths.breaks
	q.begin()
	w := breakSearch{
		s: s, player: u.Owner, open: g.gridOf(u.Owner), damage: g.rules.Types[u.Type].Damage,
		tx: int(a.MoveX) + 1, ty: int(a.MoveY) + 1,
		start: gridCell(int(u.X), int(u.Y)), target: gridCell(int(a.MoveX), int(a.MoveY)), least: math.MaxInt64,
	}
	if a.Parts&MoveOutside != 0 {
		w.target = -1
	}
	q.reach(0, 0, w.start)
	for level := int32(0); level >= 0 && !w.reached && w.closed < int(g.rules.MaxNodes); level = q.lowest(level) {
		for e, ok := q.take(level); ok; e, ok = q.take(level) {
			if q.seen[e.cell] != q.stamp {
				g.closeBreak(&w, e)
			}
		}
	}
	if !w.reached && a.Parts&FindClosest == 0 {
		return 0
	}
	return q.retrace(w.start)
}

// closeBreak closes a cell.
func (g *Game) closeBreak(w *breakSearch, e breakEntry) {
	q, c := &g.paths.breaks, int(e.cell)
	q.seen[c], q.cost[c], q.paid[c] = q.stamp, e.cost, 0
	if c != w.start {
		q.paid[c] = g.price(w, c)
	}
	w.closed++
	w.reached = w.reached || c == w.target
	dx, dy := w.tx-c&gridX, w.ty-c>>gridShift
	if key := int64(max(dx, -dx)+max(dy, -dy))<<32 | int64(e.cost); key <= w.least {
		if key < w.least {
			w.least, q.best = key, q.best[:0]
		}
		q.best = append(q.best, e.cell)
	}
	nearer := [4]bool{dx > 0, dx < 0, dy > 0, dy < 0}
	for d, step := range gridStep {
		n := c + step
		if q.seen[n] == q.stamp {
			continue
		}
		price := g.price(w, n)
		if price == 0 {
			continue
		}
		level := e.level + price + 1
		if nearer[d] {
			level -= 2
		}
		q.reach(level, e.cost+price, n)
	}
}

// price is what it costs to enter a cell of the grid: 0 if it cannot be entered.
func (g *Game) price(w *breakSearch, cell int) int32 {
	if w.open[cell] != 0 {
		return 1
	}
	x, y := cell&gridX-1, cell>>gridShift-1
	if uint(x) >= Side || uint(y) >= Side || w.damage == 0 {
		return 0
	}
	health := int32(w.s.Health[CellOf(x, y)])
	if i := int(w.s.At[CellOf(x, y)]) - 1; i >= 0 {
		if w.s.Units[i].Owner == w.player {
			return 0
		}
		health = int32(w.s.Units[i].Health)
	}
	if g.rules.BreakFloor {
		return max(1, health/w.damage)
	}
	return max(1, (health+w.damage-1)/w.damage)
}

// retrace returns the first steps of all best paths. There are none if the start
// is the best.
func (q *breaks) retrace(start int) (set Steps) {
	tail := copy(q.back[:], q.best)
	for _, c := range q.best {
		if int(c) == start {
			return 0
		}
		q.marked[c] = q.stamp
	}
	for head := 0; head < tail; head++ {
		c := int(q.back[head])
		before := q.cost[c] - q.paid[c]
		for d, step := range gridStep {
			n := c - step
			if q.seen[n] != q.stamp || q.cost[n] != before {
				continue
			}
			if n == start {
				set |= 1 << d
			} else if q.marked[n] != q.stamp {
				q.marked[n] = q.stamp
				q.back[tail] = uint16(n)
				tail++
			}
		}
	}
	return set
}
