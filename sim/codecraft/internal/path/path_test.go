package path

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"moonfarm/sim/bitboard"
	"moonfarm/sim/prng"
)

// world is a map for the plain searches of this test: the cost of entering each cell, 0 for a
// blocked cell.
type world struct {
	cost  [Side][Side]int // [x][y]
	limit int
}

const far = math.MaxInt / 2

// neighbour returns the next cell in a direction; ok is false outside of the map.
func neighbour(c [2]int, d int) (n [2]int, ok bool) {
	n = [2]int{c[0] + StepX[d], c[1] + StepY[d]}
	return n, min(n[0], n[1]) >= 0 && max(n[0], n[1]) < Side
}

func distance(a, b [2]int) int { return max(a[0]-b[0], b[0]-a[0]) + max(a[1]-b[1], b[1]-a[1]) }

// costsFrom returns the costs of the best paths from a cell to all others.
func (w *world) costsFrom(c [2]int) *[Side][Side]int {
	var costs [Side][Side]int
	for x := range costs {
		for y := range costs[x] {
			costs[x][y] = far
		}
	}
	costs[c[0]][c[1]] = 0
	for queue := [][2]int{c}; len(queue) > 0; queue = queue[1:] {
		c := queue[0]
		for d := range 4 {
			n, ok := neighbour(c, d)
			if !ok || w.cost[n[0]][n[1]] == 0 {
				continue
			}
			if k := costs[c[0]][c[1]] + w.cost[n[0]][n[1]]; k < costs[n[0]][n[1]] {
				costs[n[0]][n[1]] = k
				queue = append(queue, n)
			}
		}
	}
	return &costs
}

// closed returns the cells that a search from c closes (RULES.md, 3.9): level by level, until it
// closes the target or reaches the limit.
func (w *world) closed(costs *[Side][Side]int, to [2]int, outside bool) (list [][2]int) {
	levels := map[int][][2]int{}
	for x := range Side {
		for y := range Side {
			if k := costs[x][y]; k < far {
				level := k + distance([2]int{x, y}, to)
				levels[level] = append(levels[level], [2]int{x, y})
			}
		}
	}
	order := make([]int, 0, len(levels))
	for level := range levels {
		order = append(order, level)
	}
	slices.Sort(order)
	for _, level := range order {
		if list = append(list, levels[level]...); len(list) >= w.limit || !outside && slices.Contains(list, to) {
			break
		}
	}
	return list
}

// steps returns the first steps of the best paths from c to cells.
func (w *world) steps(c [2]int, costs *[Side][Side]int, goals [][2]int) (set Steps) {
	for d := range 4 {
		n, ok := neighbour(c, d)
		if !ok || w.cost[n[0]][n[1]] == 0 {
			continue
		}
		rest := w.costsFrom(n)
		for _, to := range goals {
			if w.cost[n[0]][n[1]]+rest[to[0]][to[1]] == costs[to[0]][to[1]] {
				set |= 1 << d
			}
		}
	}
	return set
}

// best returns the cells with the least key.
func best(cells [][2]int, key func(c [2]int) [2]int) (list [][2]int) {
	least := [2]int{far, far}
	for _, c := range cells {
		switch k := key(c); slices.Compare(k[:], least[:]) {
		case -1:
			least, list = k, [][2]int{c}
		case 0:
			list = append(list, c)
		}
	}
	return list
}

// walk is the plain twin of Walk (RULES.md, 3.9 and 3.10).
func (w *world) walk(u Unit, to [2]int, outside bool) Steps {
	c := [2]int{int(u.X), int(u.Y)}
	costs := w.costsFrom(c)
	cells := w.closed(costs, to, outside)
	if !outside && slices.Contains(cells, to) {
		return w.steps(c, costs, [][2]int{to})
	}
	goals := best(cells, func(n [2]int) [2]int { return [2]int{distance(n, to), costs[n[0]][n[1]]} })
	if !u.Closest || slices.Contains(goals, c) {
		return 0
	}
	return w.steps(c, costs, goals)
}

// chase is the plain twin of Chase (RULES.md, 3.4 and 3.9).
func (w *world) chase(u Unit, goals *bitboard.Square) Steps {
	c := [2]int{int(u.X), int(u.Y)}
	costs := w.costsFrom(c)
	var cells [][2]int
	least := far
	for x := range Side {
		for y := range Side {
			if goals.Has(x, y) && costs[x][y] < far {
				cells, least = append(cells, [2]int{x, y}), min(least, costs[x][y])
			}
		}
	}
	nearer := 0
	for x := range costs {
		for y := range costs[x] {
			if costs[x][y] < least {
				nearer++
			}
		}
	}
	if least > int(u.Length) || nearer >= w.limit {
		return 0
	}
	return w.steps(c, costs, best(cells, func(n [2]int) [2]int { return [2]int{costs[n[0]][n[1]]} }))
}

// randomWorld draws a map, its terrain and some units, most of them around a cell. With weights,
// some blocked cells can be entered at a cost.
func randomWorld(r *prng.Rand, weights bool) (w world, t Terrain, centre [2]int, units []Unit) {
	w.limit = []int{1, 3, 20, 100, 300, 1000, 1000, 6400}[r.IntN(8)]
	density, highest := []int{r.IntN(5), r.IntN(70)}[r.IntN(2)], []int{2, 10, 300, 30_000}[r.IntN(4)]
	var covered bitboard.Square
	for x := range Side {
		for y := range Side {
			if w.cost[x][y] = 1; r.IntN(100) < density {
				w.cost[x][y] = 0
				covered.Add(x, y)
			}
		}
	}
	if r.IntN(2) == 0 { // walls, for long detours
		for range r.IntN(30) {
			x, y, wide, high := r.IntN(Side), r.IntN(Side), 1+r.IntN(2), 1+r.IntN(40)
			if r.IntN(2) == 0 {
				wide, high = high, wide
			}
			for i := range wide * high {
				if x, y := x+i%wide, y+i/wide; max(x, y) < Side {
					w.cost[x][y] = 0
					covered.Add(x, y)
				}
			}
		}
	}
	centre = [2]int{r.IntN(Side), r.IntN(Side)}
	spread := []int{2, 4, 10, Side}[r.IntN(4)]
	for range 2 + r.IntN(60) {
		x, y := centre[0]+r.IntN(2*spread+1)-spread, centre[1]+r.IntN(2*spread+1)-spread
		if min(x, y) < 0 || max(x, y) >= Side || slices.ContainsFunc(units, func(u Unit) bool { return int(u.X) == x && int(u.Y) == y }) {
			continue
		}
		units = append(units, Unit{X: uint8(x), Y: uint8(y), Closest: r.IntN(4) > 0, Length: uint16(1 + r.IntN(60))})
		w.cost[x][y] = 0
		covered.Add(x, y)
	}
	t.Block(&covered)
	if !weights {
		return w, t, centre, units
	}
	plain := t
	t.Weigh(&plain)
	for x := range Side {
		for y := range Side {
			if w.cost[x][y] == 0 && r.IntN(3) > 0 {
				w.cost[x][y] = 1 + r.IntN(highest)
				t.SetCost(x, y, w.cost[x][y])
			}
		}
	}
	return w, t, centre, units
}

// few keeps only as many units as the plain searches have time for.
func few(r *prng.Rand, units []Unit) []int {
	list := []int{}
	for range 3 {
		if len(units) > 0 {
			list = append(list, r.IntN(len(units)))
		}
	}
	return list
}

// TestWalk compares walks to one target after the other, which share the scratch memory, with plain
// searches, and checks that all kinds of results occur.
func TestWalk(t *testing.T) {
	r := prng.New(1)
	stay, moving, reachable := 0, 0, 0
	for i := range 90 {
		w, terrain, centre, units := randomWorld(&r, i%3 == 2)
		f := New(w.limit)
		for range 3 {
			to := centre
			if r.IntN(2) == 0 {
				to = [2]int{r.IntN(Side), r.IntN(Side)}
			}
			outside := r.IntN(8) == 0
			group := slices.DeleteFunc(slices.Clone(units), func(u Unit) bool { return distance([2]int{int(u.X), int(u.Y)}, to) < 2 })
			f.Walk(&terrain, to[0], to[1], outside, group)
			for _, k := range few(&r, group) {
				want := w.walk(group[k], to, outside)
				if got := newQuick(&w).walk(group[k], to[0], to[1], outside); got != want {
					t.Fatalf("map %d: the quick twin has steps %04b, want %04b", i, got, want)
				}
				if got := group[k].Steps; got != want {
					t.Fatalf("map %d: %+v to %v, outside %v, limit %d: steps %04b, want %04b", i, group[k], to, outside, w.limit, got, want)
				}
				if want == 0 {
					stay++
				} else {
					moving++
				}
				if w.cost[to[0]][to[1]] > 0 {
					reachable++
				}
			}
		}
	}
	t.Logf("%d go, %d stay; %d with a free target", moving, stay, reachable)
	assert.Truef(t, stay >= 100 && moving >= 300 && reachable >= 300, "%d go, %d stay, %d have a free target: too few of one sort", moving, stay, reachable)
}

// TestChase compares chases with plain searches.
func TestChase(t *testing.T) {
	r := prng.New(2)
	stay, moving := 0, 0
	for i := range 200 {
		w, terrain, _, units := randomWorld(&r, false)
		f := New(w.limit)
		goals := randomGoals(&r)
		group := slices.DeleteFunc(units, func(u Unit) bool { return goals.Has(int(u.X), int(u.Y)) })
		first, last := goals.Rows()
		f.Chase(&terrain, &goals, first, last, group)
		for _, k := range few(&r, group) {
			want := w.chase(group[k], &goals)
			if got := newQuick(&w).chase(group[k], &goals); got != want {
				t.Fatalf("map %d: the quick twin has steps %04b, want %04b", i, got, want)
			}
			if got := group[k].Steps; got != want {
				t.Fatalf("map %d: %+v, limit %d: steps %04b, want %04b", i, group[k], w.limit, got, want)
			}
			if want == 0 {
				stay++
			} else {
				moving++
			}
		}
	}
	t.Logf("%d chase, %d do not", moving, stay)
	assert.Truef(t, stay >= 100 && moving >= 100, "%d chase, %d do not: too few of one sort", moving, stay)
}
