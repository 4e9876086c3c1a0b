package terminal

import (
	"math/bits"

	"moonfarm/sim"
	"moonfarm/sim/prng"
)

// SequentialName is the name of the sequential form in the catalog.
const SequentialName = "terminal-sequential"

// SequentialSteps bounds the steps of one turn of the sequential form. After the last step the turn
// is played with the commands given so far.
const SequentialSteps = 255

// Sequential is the same game in small steps, for learners that choose one command at a time. In
// each step each player gives one command: a placement, an upgrade, a removal or one mobile unit.
// The player's own view of the game changes at once, including what is left to spend. The order
// Nothing ends the player's turn; the player then waits. When both players have ended their turns,
// the turn is played as Game.Step plays it with the two lists of commands in the order given, with
// the same ids.
//
// Differences from Game:
//   - Only the first order of a step counts, and a spawn is for one unit. Swap is ignored.
//   - A structure may not be placed on a cell where a mobile unit waits. (In a turn of Game it
//     may, and the cell is then taken when the unit is spawned.)
//   - A command that the rules reject uses up the step.
//   - A turn has at most SequentialSteps steps.
//   - The referee's orders (clock, penalty) are ignored, because thinking times are not known.
type Sequential struct {
	game *Game
	info sim.Info
	turn *sim.Turn
}

// SequentialState is the game between two steps.
type SequentialState struct {
	// Base is the state before the turn being made. A player may see the other player only
	// as of Base.
	Base State
	// View is Base after the commands of both players so far. A player may see its own half
	// and its own cores and bits in it.
	View State

	Orders  [2][SequentialSteps]uint32       // the commands so far, bits 0–17 of each order
	Mobile  [2][EdgeCells][MobileKinds]uint8 // mobile units ordered so far, by Edge and Kind − Scout
	Waiting [2]uint32                        // edge cells with mobile units ordered so far, as bits
	N       [2]uint16                        // number of commands
	Ended   [2]uint8                         // 1: the player has ended its turn
	Steps   uint16                           // steps of the turn so far
}

// NewSequential returns the game with these rules. It fails if Rules.Validate fails.
func NewSequential(r Rules) (*Sequential, error) {
	g, err := New(r)
	if err != nil {
		return nil, err
	}
	info := g.Info()
	info.Name = SequentialName
	info.MaxTurns *= SequentialSteps
	info.MaxOrders = 1
	return &Sequential{g, info, sim.NewTurn(SequentialSteps)}, nil
}

// Info describes the game. Its turns are steps.
func (g *Sequential) Info() sim.Info { return g.info }

// Rules returns the rule values.
func (g *Sequential) Rules() Rules { return g.game.Rules() }

// Game returns the game that plays the turns.
func (g *Sequential) Game() *Game { return g.game }

// Reset sets s to the start of a match. The seed has no effect.
func (g *Sequential) Reset(s *SequentialState, seed uint64) {
	g.game.Reset(&s.Base, seed)
	s.open()
}

// Begin sets s to the state before the first step of a turn that begins in the given state.
func (s *SequentialState) Begin(turn *State) {
	*s = SequentialState{Base: *turn}
	s.open()
}

// open begins a turn without commands.
func (s *SequentialState) open() {
	s.View = s.Base
	s.Orders = [2][SequentialSteps]uint32{}
	s.Mobile = [2][EdgeCells][MobileKinds]uint8{}
	s.Waiting, s.N, s.Ended, s.Steps = [2]uint32{}, [2]uint16{}, [2]uint8{}, 0
}

// Step takes one command of each player. When both have ended their turns, it plays the turn.
func (g *Sequential) Step(s *SequentialState, t *sim.Turn) sim.Status {
	g.game.action.open() // removes the units of the last turn, which would block cells
	for p := range sim.Player(2) {
		if orders := t.Orders(p); s.Ended[p] == 0 && len(orders) > 0 && orders[0] != Nothing {
			g.take(s, p, orders[0])
		} else {
			s.Ended[p] = 1
		}
	}
	s.Steps++
	if s.Ended[0]&s.Ended[1] == 0 && s.Steps < SequentialSteps {
		return sim.Running
	}
	return g.play(s)
}

// play plays the turn with the commands given.
func (g *Sequential) play(s *SequentialState) sim.Status {
	g.turn.Clear()
	for p := range sim.Player(2) {
		for _, o := range s.Orders[p][:s.N[p]] {
			g.turn.Add(p, sim.Order(o))
		}
	}
	status := g.game.Step(&s.Base, g.turn)
	s.open()
	return status
}

// take carries out a command on the view and stores it, if the rules accept it.
func (g *Sequential) take(s *SequentialState, p sim.Player, o sim.Order) {
	o &= orderCommand
	cell, k := ownCell(o, p), kindOf(o)
	if cell == 0 {
		return
	}
	v := &s.View
	id, marked := v.NextID, v.Marked.Has(cell)
	switch opOf(o) {
	case OpPlace:
		if !s.waits(p, o) {
			g.game.place(v, p, k, cell)
		}
	case OpUpgrade:
		g.game.upgrade(v, p, cell)
	case OpRemove:
		g.game.mark(v, p, cell)
	case OpSpawn:
		g.enlist(s, p, k, cell)
	}
	if v.NextID != id || v.Marked.Has(cell) != marked {
		s.Orders[p][s.N[p]] = uint32(o)
		s.N[p]++
	}
}

// enlist buys a mobile unit on the view.
func (g *Sequential) enlist(s *SequentialState, p sim.Player, k Kind, cell int) {
	v := &s.View
	if !k.Mobile() || v.Cells[cell].Mark != 0 || !ownEdges[p].Has(cell) || v.Bits[p] < g.game.rules.Units[k].Bits {
		return
	}
	price := g.game.rules.Units[k].Bits
	v.Bits[p] = Tenths(v.Bits[p] - price)
	v.NextID++
	at := positions[cell]
	e, _ := Edge(int(at.X), int(at.Y))
	s.Mobile[p][e][k-Scout]++
	s.Waiting[p] |= 1 << e
}

// AppendOrders appends the orders that seat p may give in s: those of Game.AppendOrders for its
// view. A player that has ended its turn may only give Nothing.
func (g *Sequential) AppendOrders(dst []sim.Order, s *SequentialState, p sim.Player) []sim.Order {
	if s.Ended[p] != 0 {
		return append(dst, Nothing)
	}
	first := len(dst)
	dst = g.game.AppendOrders(dst, &s.View, p)
	if s.Waiting[p] == 0 {
		return dst
	}
	n := first
	for _, o := range dst[first:] {
		if opOf(o) != OpPlace || !s.waits(p, o) {
			dst[n] = o
			n++
		}
	}
	return dst[:n]
}

// waits reports whether a mobile unit of seat p waits on the cell of an order.
func (s *SequentialState) waits(p sim.Player, o sim.Order) bool {
	e, ok := Edge(int(o>>orderXShift&orderCoordinate), int(o>>orderYShift&orderCoordinate))
	return ok && s.Waiting[p]>>e&1 != 0
}

// Legal fills l with the commands that seat p may give in s.
func (g *Sequential) Legal(l *Legal, s *SequentialState, p sim.Player) {
	if s.Ended[p] != 0 {
		*l = Legal{}
		return
	}
	g.game.Legal(l, &s.View, p)
	for w := s.Waiting[p]; w != 0; w &= w - 1 {
		e := bits.TrailingZeros32(w)
		cell := int(localCell[p][edgeLocal(e)])
		for k := range l.Place {
			l.Place[k].Drop(cell)
		}
	}
}

// Outcome returns the result and the score of seat p, as Game.Outcome does. They change when a turn
// is played.
func (g *Sequential) Outcome(s *SequentialState, p sim.Player) sim.Outcome {
	return g.game.Outcome(&s.Base, p)
}

// Hash returns a digest of everything that influences play: the state at the start of the turn, the
// commands since, and the steps left.
func (g *Sequential) Hash(s *SequentialState) uint64 {
	h := prng.Digest(g.game.Hash(&s.Base) ^ uint64(s.Steps)<<48)
	for p := range s.Orders {
		h.Add(uint64(s.N[p])<<1 | uint64(s.Ended[p]))
		for _, o := range s.Orders[p][:s.N[p]] {
			h.Add(uint64(o))
		}
	}
	return h.Sum()
}
