// Package tron plays light cycles, the game of Tron: two cycles leave trails,
// and a cycle that runs into a trail or a wall loses. It is the smallest real
// game here; read it first. The rules have numbers in RULES.md beside this
// file, and Game.Step follows its turn order.
package tron

import (
	"math/bits"

	"moonfarm/sim"
	"moonfarm/sim/prng"
)

// Game is the game with one set of rules. It is immutable.
type Game struct {
	rules Rules
	info  sim.Info
}

// New returns the game with these rules. The error is always nil: all rules can
// be played.
func New(r Rules) (*Game, error) {
	return &Game{r, sim.Info{
		Name: "tron", Rules: RulesVersion, Config: string(r.AppendText(nil)),
		Players: 2, MaxTurns: Cells / 2, MaxOrders: 1,
	}}, nil
}

// Info describes the game.
func (g *Game) Info() sim.Info { return g.info }

// Rules returns the rule values.
func (g *Game) Rules() Rules { return g.rules }

// Reset sets s to the start of a game (2.3).
func (g *Game) Reset(s *State, seed uint64) {
	r := prng.New(prng.Mix(seed))
	head := uint8(r.IntN(Size)*Size + r.IntN(Size/2))
	*s = State{Head: [2]uint8{head, Cells - 1 - head}, Heading: [2]Heading{Right, Left}}
	for p := range s.Trail {
		s.Trail[p] = 1 << s.Head[p]
	}
}

// Step plays one turn, in the order of RULES.md, section 3.
func (g *Game) Step(s *State, t *sim.Turn) sim.Status {
	free := s.Free()
	var next [2]uint64 // the cell that each cycle enters; 0 beyond a wall
	for p := range next {
		if orders := t.Orders(sim.Player(p)); len(orders) > 0 { // 3.1, 4.3
			s.Heading[p] = s.Heading[p].Turned(orders[0])
		}
		next[p] = g.Beside(1<<s.Head[p], s.Heading[p]) // 3.2
	}
	for p := range next {
		if next[p]&free == 0 || next[0] == next[1] { // 3.3, 3.4
			s.Crashed[p] = true
			continue
		}
		s.Trail[p] |= next[p] // 3.5
		s.Head[p] = uint8(bits.TrailingZeros64(next[p]))
	}
	s.Turn++
	if s.Crashed[0] || s.Crashed[1] { // 5.1
		return sim.Over
	}
	return sim.Running
}

// AppendOrders appends the orders of seat p. All three are legal in every turn,
// even if the cycle crashes.
func (g *Game) AppendOrders(dst []sim.Order, _ *State, _ sim.Player) []sim.Order {
	return append(dst, Straight, TurnLeft, TurnRight)
}

// Outcome returns how seat p stands: it wins if only the other cycle has
// crashed (5.2). The score is the length of its trail (5.3).
func (g *Game) Outcome(s *State, p sim.Player) sim.Outcome {
	o := sim.Outcome{Score: float64(bits.OnesCount64(s.Trail[p]))}
	switch {
	case s.Crashed[p] && !s.Crashed[p^1]:
		o.Result = -1
	case s.Crashed[p^1] && !s.Crashed[p]:
		o.Result = 1
	}
	return o
}

// Hash returns a digest of what play depends on. It leaves out the owners of
// trails, which do not matter, and the turn, which follows from the trails.
func (g *Game) Hash(s *State) uint64 {
	h := prng.Mix(s.Free())
	for p := range s.Head {
		h = prng.Mix(h ^ uint64(s.Head[p])<<8 ^ uint64(s.Heading[p]))
		if s.Crashed[p] {
			h = prng.Mix(h ^ 1<<p)
		}
	}
	return h
}

// Columns of the board.
const (
	firstColumn = 0x0101010101010101
	lastColumn  = firstColumn << (Size - 1)
)

// Beside returns the cells one step away from the given cells in a heading. On
// a board with walls there is no cell beyond the edge.
func (g *Game) Beside(cells uint64, h Heading) uint64 {
	var inside, around uint64 // neighbours on the board, and neighbours across the edge of a torus
	switch h {
	case Right:
		inside, around = cells<<1&^firstColumn, cells>>(Size-1)&firstColumn
	case Down:
		inside, around = cells<<Size, cells>>(Cells-Size)
	case Left:
		inside, around = cells>>1&^lastColumn, cells<<(Size-1)&lastColumn
	case Up:
		inside, around = cells>>Size, cells<<(Cells-Size)
	}
	if g.rules.Torus {
		return inside | around
	}
	return inside
}

// around returns the cells next to the given cells in any heading.
func (g *Game) around(cells uint64) uint64 {
	return g.Beside(cells, Right) | g.Beside(cells, Down) | g.Beside(cells, Left) | g.Beside(cells, Up)
}

// Nearer floods the free cells from both cycles at once, one step at a time. It
// returns the cells that each cycle reaches first. Cells that both reach at the
// same step are in neither set, and are not passed through.
func (g *Game) Nearer(s *State) (cells [2]uint64) {
	free := s.Free()
	frontier := [2]uint64{1 << s.Head[0], 1 << s.Head[1]}
	for frontier[0]|frontier[1] != 0 {
		a, b := g.around(frontier[0])&free, g.around(frontier[1])&free
		free &^= a | b
		frontier = [2]uint64{a &^ b, b &^ a}
		cells[0] |= frontier[0]
		cells[1] |= frontier[1]
	}
	return cells
}
