package plain

import (
	"maps"
	"math"
	"slices"

	"moonfarm/sim/codecraft"
)

// attacker has the values that decide from which cells a unit can attack: its player, its range and
// its valid types.
type attacker struct {
	owner, reach int
	valid        codecraft.TypeSet
}

// seen reports whether an entity of player p has the cell in sight. Without fog players see all
// cells.
func (g *Game) seen(p int, c Pos) bool {
	if !g.Rules.Fog {
		return true
	}
	if g.sight[p] == nil {
		g.sight[p] = new([side][side]bool)
		for _, e := range g.Entities {
			if e.Owner == p {
				g.mark(g.sight[p], e, int(g.of(e).Sight))
			}
		}
	}
	return g.sight[p][c.X][c.Y]
}

// mark marks all cells within a distance of an entity.
func (g *Game) mark(board *[side][side]bool, e *Entity, reach int) {
	for x := max(e.At.X-reach, 0); x < min(e.At.X+e.size+reach, side); x++ {
		for y := max(e.At.Y-reach, 0); y < min(e.At.Y+e.size+reach, side); y++ {
			if gap(e.At, e.size, Pos{x, y}, 1) <= reach {
				board[x][y] = true
			}
		}
	}
}

// visible reports whether player p sees any cell of an entity.
func (g *Game) visible(p int, e *Entity) bool {
	return slices.ContainsFunc(e.cells(), func(c Pos) bool { return g.seen(p, c) })
}

// cost returns the cost of entering a cell for u; ok is false if the cell is blocked.
func (g *Game) cost(u *Entity, c Pos, breaking bool) (cost int, ok bool) {
	e := g.occupied(c)
	if e == nil || e == u || !g.seen(u.Owner, c) {
		return 1, true
	}
	p := g.of(u)
	if !breaking || e.Owner == u.Owner || !p.CanAttack {
		return 0, false
	}
	hits := e.Health / int(p.Damage)
	if !g.Rules.BreakFloor && e.Health%int(p.Damage) != 0 {
		hits++
	}
	return max(hits, 1), true
}

// search has the cost of the best path from the start to each closed cell.
type search struct {
	from   Pos
	closed []Pos
	known  [side][side]bool // closed
	costs  [side][side]int
}

func (s *search) close(c Pos, cost int) {
	s.closed = append(s.closed, c)
	s.known[c.X][c.Y], s.costs[c.X][c.Y] = true, cost
}

// firstSteps returns the first steps of all best paths from the start to some cells.
func (g *Game) firstSteps(s *search, u *Entity, to []Pos, breaking bool) (set codecraft.Steps) {
	var done [side][side]bool
	var back func(c Pos)
	back = func(c Pos) { // c is on a best path
		if done[c.X][c.Y] {
			return
		}
		done[c.X][c.Y] = true
		enter, _ := g.cost(u, c, breaking)
		for d := range directions {
			before := Pos{c.X - directions[d].X, c.Y - directions[d].Y}
			if !before.inside() || !s.known[before.X][before.Y] || s.costs[before.X][before.Y]+enter != s.costs[c.X][c.Y] {
				continue
			}
			if before == s.from {
				set |= 1 << d
			} else {
				back(before)
			}
		}
	}
	for _, c := range to {
		back(c)
	}
	return set
}

// chase finds the first steps to the nearest cells from which u can attack one
// of its valid targets (RULES.md, 3.4).
func (g *Game) chase(u *Entity) codecraft.Steps {
	goals := g.goalsOf(u)
	s := &search{from: u.At}
	s.close(u.At, 0)
	layer, before := []Pos{u.At}, 0
	for length := 0; len(layer) > 0; length++ {
		if length+int(g.of(u).Range) > u.Action.Auto.Range {
			return 0
		}
		if before >= int(g.Rules.MaxNodes) {
			g.Tally.Lost++
			return 0
		}
		var found []Pos
		for _, c := range layer {
			if goals[c.X][c.Y] {
				found = append(found, c)
			}
		}
		if len(found) > 0 {
			g.Tally.Chases++
			return g.firstSteps(s, u, found, false)
		}
		before += len(layer)
		var next []Pos
		for _, c := range layer {
			for d := range directions {
				n := c.step(d)
				if !n.inside() || s.known[n.X][n.Y] {
					continue
				}
				if _, ok := g.cost(u, n, false); ok {
					s.close(n, length+1)
					next = append(next, n)
				}
			}
		}
		layer = next
	}
	return 0
}

// goalsOf returns the cells from which u could attack a valid target.
func (g *Game) goalsOf(u *Entity) *[side][side]bool {
	a := attacker{u.Owner, int(g.of(u).Range), u.Action.Auto.Valid}
	if board := g.goals[a]; board != nil {
		return board
	}
	board := new([side][side]bool)
	for _, e := range g.Entities {
		if g.valid(u, e) {
			g.mark(board, e, a.reach)
		}
	}
	g.goals[a] = board
	return board
}

// walk finds the first steps of a move (RULES.md, 3.5 to 3.10).
func (g *Game) walk(u *Entity, m *Move) codecraft.Steps {
	s, reached := g.astar(u, m)
	if reached {
		return g.firstSteps(s, u, []Pos{m.To}, m.Break)
	}
	if !m.Closest {
		return 0
	}
	best := s.closest(m.To)
	if slices.Contains(best, u.At) {
		return 0
	}
	return g.firstSteps(s, u, best, m.Break)
}

// closest returns the cheapest among the closed cells nearest to a cell.
func (s *search) closest(to Pos) (best []Pos) {
	near, cheap := math.MaxInt, math.MaxInt
	for _, c := range s.closed {
		near = min(near, manhattan(c, to))
	}
	for _, c := range s.closed {
		if manhattan(c, to) == near {
			cheap = min(cheap, s.costs[c.X][c.Y])
		}
	}
	for _, c := range s.closed {
		if manhattan(c, to) == near && s.costs[c.X][c.Y] == cheap {
			best = append(best, c)
		}
	}
	return best
}

// astar closes whole levels of cells with an equal sum of cost and distance to
// the target, until the target or enough cells are closed (RULES.md, 3.9).
func (g *Game) astar(u *Entity, m *Move) (s *search, reached bool) {
	s = &search{from: u.At}
	g.Tally.Searches++
	if m.Outside {
		g.Tally.Beyond++
	}
	weighted := false
	open := map[int][]node{manhattan(u.At, m.To): {{u.At, 0}}} // by level
	for len(open) > 0 && !reached {
		if len(s.closed) >= int(g.Rules.MaxNodes) {
			g.Tally.Limited++
			return s, false
		}
		level := slices.Min(slices.Collect(maps.Keys(open)))
		for len(open[level]) > 0 {
			n := open[level][0]
			open[level] = open[level][1:]
			if s.known[n.at.X][n.at.Y] {
				continue
			}
			s.close(n.at, n.cost)
			if n.at == m.To && !m.Outside {
				reached = true
			}
			for d := range directions {
				c := n.at.step(d)
				if !c.inside() || s.known[c.X][c.Y] {
					continue
				}
				if cost, ok := g.cost(u, c, m.Break); ok {
					if cost > 1 && !weighted {
						weighted = true
						g.Tally.Weighted++
					}
					cost += n.cost
					open[cost+manhattan(c, m.To)] = append(open[cost+manhattan(c, m.To)], node{c, cost})
				}
			}
		}
		delete(open, level)
	}
	if !reached {
		g.Tally.Blocked++
	}
	return s, reached
}

// node is a cell that can be closed at a cost.
type node struct {
	at   Pos
	cost int
}
