package terminal

import (
	"math/bits"

	"moonfarm/sim"
	"moonfarm/sim/prng"
)

// SequentialName is the name of the sequential form in the catalog.
const SequentialName = "terminal-sequential"

// SequentialSteps bounds the steps of one turn of the sequential form: after so
// many the turn is played with what has been ordered by then.
const SequentialSteps = 255

// Sequential is the same game in small steps, for learners that choose one
// thing at a time. In each step each player gives one command: a placement, an
// upgrade, a removal or one mobile unit. It is carried out at once as far as
// that player can see, and so pays for the next. Nothing ends the player's
// turn; who has ended it waits. When both have, the turn is played exactly as
// Game.Step plays it with the two lists of commands in the order given, so
// ids and all else are the same.
//
// Differences from Game:
//   - of the orders of a step only the first counts, and of a spawn only one
//     unit. Swap is ignored: each command is in its own line;
//   - a structure may not be placed on a cell where a mobile unit waits (in a
//     plain turn it may, and the units find the cell taken);
//   - a command that the rules reject uses up the step and does nothing else;
//   - a turn has at most SequentialSteps steps;
//   - the referee's orders (clock, penalty) are ignored: who thinks how long is
//     not known.
type Sequential struct {
	game *Game
	info sim.Info
	turn *sim.Turn
}

// SequentialState is the game between two steps.
type SequentialState struct {
	// Base is the game between the last turn and the one being made. It is
	// all that a player may see of the other.
	Base State
	// View is Base after the commands of both players so far. A player may
	// see its own half and its own purses of it.
	View State

	Orders  [2][SequentialSteps]uint32       // the commands so far, bits 0–17 of each order
	Mobile  [2][EdgeCells][MobileKinds]uint8 // the mobile units among them, by Edge and Kind − Scout
	Waiting [2]uint32                        // edge cells that have some, as bits
	N       [2]uint16                        // number of commands
	Ended   [2]uint8                         // 1: the player has ended its turn
	Steps   uint16                           // steps of the turn so far
}

// NewSequential returns the game with these rules; it fails if Rules.Validate
// does.
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

// Info describes the game. Its turns are the steps.
func (g *Sequential) Info() sim.Info { return g.info }

// Rules returns the rule values.
func (g *Sequential) Rules() Rules { return g.game.Rules() }

// Game is the game whose turns the steps make.
func (g *Sequential) Game() *Game { return g.game }

// Reset makes s the start of a match. The seed has no effect.
func (g *Sequential) Reset(s *SequentialState, seed uint64) {
	g.game.Reset(&s.Base, seed)
	s.open()
}

// Begin makes s the state before the first step of a turn that begins in the given
// state.
func (s *SequentialState) Begin(turn *State) {
	*s = SequentialState{Base: *turn}
	s.open()
}

// open begins a turn of which nothing is made yet.
func (s *SequentialState) open() {
	s.View = s.Base
	s.Orders = [2][SequentialSteps]uint32{}
	s.Mobile = [2][EdgeCells][MobileKinds]uint8{}
	s.Waiting, s.N, s.Ended, s.Steps = [2]uint32{}, [2]uint16{}, [2]uint8{}, 0
}

// Step takes one command of each player and, when both have ended their turns,
// plays it.
func (g *Sequential) Step(s *SequentialState, t *sim.Turn) sim.Status {
	g.game.action.open() // no unit of the last turn is in the way
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

// play plays the turn that has been made.
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

// take carries out a command on the view and notes it, if the rules accept it.
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

// AppendOrders appends the orders that seat p may give in s: those of
// Game.AppendOrders for what it sees. Who has ended its turn may only give
// Nothing.
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

// Outcome tells how seat p stands, as Game.Outcome does. It changes when a turn
// has been played.
func (g *Sequential) Outcome(s *SequentialState, p sim.Player) sim.Outcome {
	return g.game.Outcome(&s.Base, p)
}

// Hash digests what influences play: the game at the turn's start, what has
// been ordered since, and the steps left.
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
