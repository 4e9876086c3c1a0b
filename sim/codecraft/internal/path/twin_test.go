package path

import (
	"os"
	"slices"
	"testing"

	"moonfarm/sim/bitboard"
	"moonfarm/sim/prng"
)

// quick searches as world does, but with arrays, so that it has time for many searches. TestWalk and
// TestChase compare it with world.
type quick struct {
	cost  [gridSize]int32 // of entering a cell, 0 for a blocked cell
	limit int

	from, back [gridSize]int32 // costs of the best paths, far32 without a path
	queue      []uint16
	counts     map[int32]int
}

const far32 = 1 << 30

func newQuick(w *world) *quick {
	q := &quick{limit: w.limit, counts: map[int32]int{}}
	for x := range Side {
		for y := range Side {
			q.cost[gridCell(x, y)] = int32(w.cost[x][y])
		}
	}
	return q
}

// spread finds the costs of the best paths from some cells to all others, or with back from all others to
// these cells.
func (q *quick) spread(costs *[gridSize]int32, back bool, cells ...uint16) {
	for c := range costs {
		costs[c] = far32
	}
	for _, c := range cells {
		costs[c] = 0
	}
	for q.queue = append(q.queue[:0], cells...); len(q.queue) > 0; q.queue = q.queue[1:] {
		c := int(q.queue[0])
		for _, step := range gridStep {
			n := c + step
			cost := q.cost[n]
			if back {
				cost = q.cost[c]
			}
			if cost > 0 && (q.cost[n] > 0 || back) && onMap(n) && costs[c]+cost < costs[n] {
				costs[n] = costs[c] + cost
				q.queue = append(q.queue, uint16(n))
			}
		}
	}
}

func onMap(c int) bool {
	x, y := c&gridX-1, c>>gridShift-1
	return min(x, y) >= 0 && max(x, y) < Side
}

// steps returns the first steps of the best paths from a cell to goals at the given cost.
func (q *quick) steps(start int, cost int32, goals []uint16) (set Steps) {
	q.spread(&q.back, true, goals...)
	for d, step := range gridStep {
		if n := start + step; q.cost[n] > 0 && q.cost[n]+q.back[n] == cost {
			set |= 1 << d
		}
	}
	return set
}

// walk is the twin of Walk (RULES.md, 3.9 and 3.10).
func (q *quick) walk(u Unit, x, y int, outside bool) Steps {
	start, to := gridCell(int(u.X), int(u.Y)), gridCell(x, y)
	q.spread(&q.from, false, uint16(start))
	clear(q.counts)
	h := func(c int) int32 {
		dx, dy := c&gridX-1-x, c>>gridShift-1-y
		return int32(max(dx, -dx) + max(dy, -dy))
	}
	for c, k := range &q.from {
		if k < far32 {
			q.counts[k+h(c)]++
		}
	}
	levels := make([]int32, 0, 200)
	for level := range q.counts {
		levels = append(levels, level)
	}
	slices.Sort(levels)
	closed, last := 0, int32(0)
	for _, last = range levels {
		if closed += q.counts[last]; closed >= q.limit || !outside && last == q.from[to] {
			break
		}
	}
	if !outside && q.from[to] <= last {
		return q.steps(start, q.from[to], []uint16{uint16(to)})
	}
	near, cheap, goals := int32(far32), int32(0), []uint16(nil)
	for c, k := range &q.from {
		if k == far32 || k+h(c) > last || h(c) > near || h(c) == near && k > cheap {
			continue
		}
		if h(c) < near || k < cheap {
			near, cheap, goals = h(c), k, goals[:0]
		}
		goals = append(goals, uint16(c))
	}
	if !u.Closest || slices.Contains(goals, uint16(start)) {
		return 0
	}
	return q.steps(start, cheap, goals)
}

// chase is the twin of Chase (RULES.md, 3.4 and 3.9).
func (q *quick) chase(u Unit, board *bitboard.Square) Steps {
	start := gridCell(int(u.X), int(u.Y))
	q.spread(&q.from, false, uint16(start))
	least, goals, nearer := int32(far32), []uint16(nil), 0
	for x := range Side {
		for y := range Side {
			if c := gridCell(x, y); board.Has(x, y) && q.from[c] <= least && q.from[c] < far32 {
				if q.from[c] < least {
					least, goals = q.from[c], goals[:0]
				}
				goals = append(goals, uint16(c))
			}
		}
	}
	for _, k := range &q.from {
		if k < least {
			nearer++
		}
	}
	if least > int32(u.Length) || nearer >= q.limit {
		return 0
	}
	return q.steps(start, least, goals)
}

// TestTwin compares walks and chases of random groups with the quick twin: 4,000 units, with MOONFARM_LONG=1 a
// million.
func TestTwin(t *testing.T) {
	most := 4000
	if os.Getenv("MOONFARM_LONG") == "1" {
		most = 1_000_000
	}
	r := prng.New(3)
	for n, i := 0, 0; n < most; i++ {
		w, terrain, centre, units := randomWorld(&r, i%4 == 0)
		f, q := New(w.limit), newQuick(&w)
		if i%3 > 0 { // units that are cut off are looked for with and without vectors
			f.check = 1 + r.IntN(2*firstCheck)
		}
		to, outside := centre, r.IntN(8) == 0
		if r.IntN(2) == 0 {
			to = [2]int{r.IntN(Side), r.IntN(Side)}
		}
		walkers := slices.DeleteFunc(slices.Clone(units), func(u Unit) bool { return distance([2]int{int(u.X), int(u.Y)}, to) < 2 })
		f.Walk(&terrain, to[0], to[1], outside, walkers)
		for _, u := range walkers {
			if want := q.walk(u, to[0], to[1], outside); u.Steps != want {
				t.Fatalf("map %d: %+v to %v, outside %v, limit %d: want %04b", i, u, to, outside, w.limit, want)
			}
		}
		n += len(walkers)
		if terrain.weighted {
			continue
		}
		goals := randomGoals(&r)
		chasers := slices.DeleteFunc(units, func(u Unit) bool { return goals.Has(int(u.X), int(u.Y)) })
		first, last := goals.Rows()
		f.Chase(&terrain, &goals, first, last, chasers)
		for _, u := range chasers {
			if want := q.chase(u, &goals); u.Steps != want {
				t.Fatalf("map %d: %+v chases, limit %d: want %04b", i, u, w.limit, want)
			}
		}
		n += len(chasers)
	}
}

// randomGoals draws the goals of chases.
func randomGoals(r *prng.Rand) (goals bitboard.Square) {
	for range 1 + r.IntN(12) {
		goals.Add(r.IntN(Side), r.IntN(Side))
	}
	goals.GrowBy(r.IntN(4))
	return goals
}
