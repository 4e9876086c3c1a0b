package plain

import (
	"os"
	"slices"
	"testing"

	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/prng"
)

const far = 1 << 40

// distances are the costs of the best paths from a cell to all others, or with
// back from all others to it, found by going over the map until nothing changes.
func (g *Game) distances(u *Entity, from Pos, breaking, back bool) *[side][side]int {
	var costs [side][side]int
	for x := range costs {
		for y := range costs[x] {
			costs[x][y] = far
		}
	}
	costs[from.X][from.Y] = 0
	for changed := true; changed; {
		changed = false
		for x := range costs {
			for y := range costs[x] {
				enter, ok := g.cost(u, Pos{x, y}, breaking)
				for d := range directions {
					n := Pos{x, y}.step(d)
					if !n.inside() {
						continue
					}
					if back {
						enter, ok = g.cost(u, n, breaking)
					}
					if c := costs[n.X][n.Y] + enter; ok && c < costs[x][y] {
						costs[x][y], changed = c, true
					}
				}
			}
		}
	}
	return &costs
}

// randomMap puts things on a map at random, and returns one that moves.
func randomMap(r *prng.Rand) (*Game, *Entity) {
	rules, _ := codecraft.Preset("round1-2")
	rules.MaxNodes = []int32{1, 3, 20, 100, 300, 1000, 1000, 6400}[r.IntN(8)]
	rules.BreakFloor = r.IntN(4) == 0
	rules.Fog = r.IntN(4) == 0
	g := New(rules)
	density := 1 + r.IntN(60)
	for x := range side {
		for y := range side {
			if r.IntN(100) >= density {
				continue
			}
			e := &Entity{ID: uint32(1 + len(g.Entities)), Owner: r.IntN(3) - 1, At: Pos{x, y}, Health: 1 + r.IntN(10), Active: true, size: 1}
			e.Type = []codecraft.Type{codecraft.Resource, codecraft.Wall, codecraft.MeleeUnit}[e.Owner+1]
			if e.Owner == 0 && r.IntN(3) > 0 || e.Owner > 0 && r.IntN(2) == 0 {
				e.Owner, e.Type = nobody, codecraft.Resource
			}
			g.Entities = append(g.Entities, e)
		}
	}
	u := &Entity{ID: 10_000, Type: codecraft.RangedUnit, At: Pos{r.IntN(side), r.IntN(side)}, Health: 10, Active: true, size: 1}
	if r.IntN(2) == 0 {
		u.Type = codecraft.BuilderUnit
	}
	g.Entities = slices.DeleteFunc(g.Entities, func(e *Entity) bool { return e.At == u.At })
	g.Entities = append(g.Entities, u)
	g.sight = [sim.MaxPlayers]*[side][side]bool{}
	g.hunting = map[zone]*[side][side]bool{}
	g.cover()
	return g, u
}

// TestSearches holds the searches against distances over the whole map: what is
// closed is whole levels, a target is reached if less than the limit lies on
// those before it, and a first step is one after which the rest is that much
// less far.
func TestSearches(t *testing.T) {
	maps := 60
	if os.Getenv("MOONFARM_LONG") == "1" {
		maps = 3000
	}
	r := prng.New(1)
	found, lost, stays := 0, 0, 0
	for i := range maps {
		g, u := randomMap(&r)
		near := []int{3, 10, 80}[r.IntN(3)]
		m := &Move{
			To:      Pos{min(max(u.At.X+r.IntN(2*near)-near, 0), side-1), min(max(u.At.Y+r.IntN(2*near)-near, 0), side-1)},
			Outside: r.IntN(10) == 0, Closest: r.IntN(4) > 0, Break: r.IntN(2) == 0,
		}
		costs := g.distances(u, u.At, m.Break, false)
		s, reached := g.astar(u, m)
		if want := g.wantClosed(costs, m); !sameCells(s.closed, want) {
			t.Fatalf("map %d: %+v: %d cells are closed, want %d", i, m, len(s.closed), len(want))
		}
		for _, c := range s.closed {
			if s.costs[c.X][c.Y] != costs[c.X][c.Y] {
				t.Fatalf("map %d: %+v: cell %v costs %d, want %d", i, m, c, s.costs[c.X][c.Y], costs[c.X][c.Y])
			}
		}
		if want := !m.Outside && slices.Contains(s.closed, m.To); reached != want {
			t.Fatalf("map %d: %+v: reached %v, want %v", i, m, reached, want)
		}
		steps, goals := g.way(u, m), []Pos{m.To}
		switch {
		case reached:
			found++
		case !m.Closest:
			goals = nil
			lost++
		default:
			goals = nearestOf(s.closed, costs, m.To)
			lost++
		}
		want := codecraft.Steps(0)
		for _, c := range goals {
			want |= g.wantSteps(u, c, m.Break)
		}
		if want == 0 {
			stays++
		}
		if steps != want {
			t.Fatalf("map %d: %+v: steps %04b, want %04b", i, m, steps, want)
		}
	}
	t.Logf("%d targets reached, %d not, %d without a step", found, lost, stays)
	if found < maps/5 || lost < maps/5 || stays < maps/50 || stays > maps/2 {
		t.Errorf("%d targets reached, %d not, %d without a step: too few of one sort", found, lost, stays)
	}
}

// wantClosed are the cells of all levels up to that of the target or that at
// which there are enough.
func (g *Game) wantClosed(costs *[side][side]int, m *Move) (list []Pos) {
	var all []Pos
	for x := range side {
		for y := range side {
			if costs[x][y] < far {
				all = append(all, Pos{x, y})
			}
		}
	}
	level := func(c Pos) int { return costs[c.X][c.Y] + manhattan(c, m.To) }
	slices.SortFunc(all, func(a, b Pos) int { return level(a) - level(b) })
	for i, c := range all {
		if i > 0 && level(c) != level(all[i-1]) && (i >= int(g.Rules.MaxNodes) || !m.Outside && slices.Contains(list, m.To)) {
			break
		}
		list = append(list, c)
	}
	return list
}

func sameCells(a, b []Pos) bool {
	if len(a) != len(b) {
		return false
	}
	in := map[Pos]bool{}
	for _, c := range a {
		in[c] = true
	}
	for _, c := range b {
		if !in[c] {
			return false
		}
	}
	return len(in) == len(b)
}

// nearestOf are the cheapest of the nearest cells to a target.
func nearestOf(cells []Pos, costs *[side][side]int, to Pos) (list []Pos) {
	best := [2]int{far, far}
	for _, c := range cells {
		d := [2]int{manhattan(c, to), costs[c.X][c.Y]}
		switch slices.Compare(d[:], best[:]) {
		case -1:
			best, list = d, []Pos{c}
		case 0:
			list = append(list, c)
		}
	}
	return list
}

// wantSteps are the first steps of best paths to a cell.
func (g *Game) wantSteps(u *Entity, to Pos, breaking bool) (set codecraft.Steps) {
	if to == u.At {
		return 0
	}
	costs := g.distances(u, to, breaking, true)
	for d := range directions {
		n := u.At.step(d)
		if !n.inside() {
			continue
		}
		enter, ok := g.cost(u, n, breaking)
		if ok && enter+costs[n.X][n.Y] == costs[u.At.X][u.At.Y] {
			set |= 1 << d
		}
	}
	return set
}

// TestChases holds chases against distances over the whole map.
func TestChases(t *testing.T) {
	maps := 60
	if os.Getenv("MOONFARM_LONG") == "1" {
		maps = 3000
	}
	r := prng.New(2)
	found, lost := 0, 0
	for i := range maps {
		g, u := randomMap(&r)
		u.Action = &Action{Auto: &Auto{Range: []int{3, 8, 12, 30, 200}[r.IntN(5)], Valid: 1 << codecraft.MeleeUnit}}
		reach := int(g.of(u).Range)
		if len(g.candidates(u)) > 0 {
			continue
		}
		costs := g.distances(u, u.At, false, false)
		least, goals := far, []Pos(nil)
		for _, e := range g.Entities {
			if e.Owner == u.Owner || e.Type != codecraft.MeleeUnit || !g.visible(u.Owner, e) {
				continue
			}
			for x := range side {
				for y := range side {
					switch c := (Pos{x, y}); {
					case manhattan(c, e.At) > reach || costs[x][y] > least || costs[x][y] == far:
					case costs[x][y] < least:
						least, goals = costs[x][y], []Pos{c}
					default:
						goals = append(goals, c)
					}
				}
			}
		}
		before := 0
		for x := range side {
			for y := range side {
				if costs[x][y] < least {
					before++
				}
			}
		}
		want := codecraft.Steps(0)
		if least+reach <= u.Action.Auto.Range && before < int(g.Rules.MaxNodes) {
			for _, c := range goals {
				want |= g.wantSteps(u, c, false)
			}
		}
		if got := g.chase(u); got != want {
			t.Fatalf("map %d: from %v: steps %04b, want %04b to %v", i, u.At, got, want, goals)
		}
		if want == 0 {
			lost++
		} else {
			found++
		}
	}
	t.Logf("%d targets to chase, %d without", found, lost)
	if found < maps/10 || lost < maps/10 {
		t.Errorf("%d targets to chase, %d without: too few of one sort", found, lost)
	}
}
