package codecraft

// noCell is the next cell of a unit that does not move.
const noCell = 1<<16 - 1

// drawNext draws the next cell of every unit with a first step (RULES.md, 3.11).
func (g *Game) drawNext(s *State) {
	root := stream(s.Seed, s.Tick, chanceStep)
	for i := range s.Units[:s.N] {
		g.acted[i], g.next[i] = false, noCell
		if set := g.steps[i]; set != 0 {
			g.next[i] = nextOf(root, &s.Units[i], set)
		}
	}
}

// nextOf draws the next cell of a unit among its first steps.
func nextOf(root uint64, u *Unit, set Steps) uint16 {
	list := &directions[set]
	d := list.d[0]
	if list.n > 1 {
		d = list.d[draw(root, u.ID, int(list.n))]
	}
	x, y := int(u.X)+stepX[d], int(u.Y)+stepY[d]
	if x >= 0 && x < Side && y >= 0 && y < Side {
		return uint16(CellOf(x, y))
	}
	return noCell
}

// directions has the directions of every set.
var directions = func() (t [16]struct {
	n uint8
	d [4]uint8
}) {
	for set := range t {
		for d := range uint8(4) {
			if set>>d&1 != 0 {
				t[set].d[t[set].n] = d
				t[set].n++
			}
		}
	}
	return t
}()

// moves is the move phase (RULES.md, 3.24 and 3.25). By the rules units move in rounds, each
// round into cells that are free at its beginning; units that want the same cell draw for it.
// A loser never moves, because the winner stays on the cell. So each cell is decided once, when
// it is free; the next cell to decide is the cell that the winner has left.
func (g *Game) moves(s *State) {
	movers := g.order[:0]
	for i := range s.Units[:s.N] {
		if g.next[i] == noCell || g.acted[i] || s.Units[i].Health == 0 && !g.rules.DeadMove {
			continue
		}
		movers = append(movers, uint16(i))
	}
	if len(movers) == 0 {
		return
	}
	// The waiters of a cell form a list, the greatest id first.
	for _, i := range movers {
		g.waiting[i] = g.waiters[g.next[i]]
		g.waiters[g.next[i]] = i + 1
	}
	root := stream(s.Seed, s.Tick, chanceCell)
	for _, i := range movers {
		cell := g.next[i]
		for g.waiters[cell] != 0 && !s.Occupied.Has(int(cell)%Side, int(cell)/Side) {
			winner := g.contest(root, cell)
			g.waiters[cell] = 0
			cell = g.step(s, winner, cell)
		}
	}
	for _, i := range movers {
		g.waiters[g.next[i]] = 0
	}
}

// contest draws one of the units that wait for a cell.
func (g *Game) contest(root uint64, cell uint16) int {
	n := 0
	for i := g.waiters[cell]; i != 0; i = g.waiting[i-1] {
		n++
	}
	at := g.waiters[cell]
	if n > 1 {
		for k := n - 1 - draw(root, uint32(cell), n); k > 0; k-- { // the draw is over ascending ids
			at = g.waiting[at-1]
		}
	}
	return int(at) - 1
}

// step moves a unit and returns the cell it has left.
func (g *Game) step(s *State, i int, cell uint16) (left uint16) {
	u := &s.Units[i]
	x, y := int(u.X), int(u.Y)
	left = uint16(CellOf(x, y))
	s.At[left] = 0
	s.Occupied.Drop(x, y)
	s.Own[u.Owner].Drop(x, y)
	x, y = int(cell)%Side, int(cell)/Side
	u.X, u.Y = uint8(x), uint8(y)
	s.At[cell] = uint16(i + 1)
	s.Occupied.Add(x, y)
	s.Own[u.Owner].Add(x, y)
	return left
}
