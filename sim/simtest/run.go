package simtest

import (
	"testing"

	"moonfarm/sim"
	"moonfarm/sim/prng"
)

// Options adjusts the conformance suite to a game.
type Options[S any] struct {
	Games  int // number of random games per property; 0 means 20
	Turns  int // random games are stopped after this many turns; 0 means Info.MaxTurns, when they must have ended
	Orders int // largest number of orders of a seat in a random turn; 0 means Info.MaxOrders, at most 16

	// Mirror writes src with its seats in reverse order to dst. It is nil if
	// the game is not symmetric. Every turn must commute with it.
	Mirror func(dst, src *S)
	// MirrorOrder translates an order for the reversed seats. It is nil where
	// orders are in coordinates of their owner.
	MirrorOrder func(o sim.Order) sim.Order
}

// Run checks all promises of sim.Game by random play. fresh makes a new value
// of the game each time. At most one Options is given. The subtests are the
// promises:
//
//	Info        it is constant and within the limits of package sim
//	PlainData   a state is one block of numbers, without gaps
//	Reset       it writes every byte of the state
//	Same        equal seeds and orders give equal games, turn by turn, from
//	            game values with different pasts, and in other goroutines
//	Clone       an assignment is a clone, and both play on independently
//	Orders      begin with 0, without duplicates, the same each time
//	Illegal     random bits and too many orders do no harm
//	Ends        games end within Info.MaxTurns
//	Outcome     sums to zero, within −1 … +1
//	Hash        equal for equal states, different after every turn
//	ReadOnly    AppendOrders, Outcome and Hash change no state
//	Allocations no method allocates
//	Mirror      turns commute with Options.Mirror, if it is given
func Run[S any](t *testing.T, fresh func() sim.Game[S], options ...Options[S]) {
	t.Helper()
	c := &suite[S]{fresh: fresh, info: fresh().Info()}
	if len(options) > 0 {
		c.Options = options[0]
	}
	c.setDefaults()
	t.Run("Info", c.testInfo)
	t.Run("PlainData", testPlainData[S])
	if t.Failed() {
		return // all other checks compare states as bytes
	}
	t.Run("Reset", c.testReset)
	t.Run("Same", c.testSame)
	t.Run("Clone", c.testClone)
	t.Run("Orders", c.testOrders)
	t.Run("Illegal", c.testIllegal)
	t.Run("Ends", c.testEnds)
	t.Run("Outcome", c.testOutcome)
	t.Run("Hash", c.testHash)
	t.Run("ReadOnly", c.testReadOnly)
	t.Run("Allocations", c.testAllocations)
	if c.Mirror != nil {
		t.Run("Mirror", c.testMirror)
	}
}

type suite[S any] struct {
	Options[S]
	fresh func() sim.Game[S]
	info  sim.Info
}

func (s *suite[S]) setDefaults() {
	if s.Games == 0 {
		s.Games = 20
	}
	if s.Turns == 0 || s.Turns > s.info.MaxTurns {
		s.Turns = s.info.MaxTurns
	}
	if s.Orders == 0 {
		s.Orders = min(s.info.MaxOrders, 16)
	}
}

// playout is one game played at random: a game value, a state and the orders of
// the turn. The orders depend only on the seed, the turn and the state.
type playout[S any] struct {
	game   sim.Game[S]
	info   sim.Info
	orders int // largest number per seat and turn
	seed   uint64
	turn   int
	status sim.Status
	state  *S
	given  *sim.Turn
	legal  []sim.Order
}

func (s *suite[S]) newPlayout(game sim.Game[S], seed uint64) *playout[S] {
	b := &playout[S]{
		game: game, info: s.info, orders: s.Orders, seed: seed,
		state: new(S), given: sim.NewTurn(s.info.MaxOrders),
	}
	game.Reset(b.state, seed)
	return b
}

// choose fills in the orders of all seats: each gives a few orders, most often
// one, each of which is legal by itself.
func (b *playout[S]) choose() {
	b.given.Clear()
	for seat := range b.info.Players {
		p := sim.Player(seat)
		r := prng.New(prng.StreamSeed(b.seed, 0, uint64(b.turn), uint64(seat), prng.PurposePolicy))
		b.legal = b.game.AppendOrders(b.legal[:0], b.state, p)
		if len(b.legal) == 0 {
			continue
		}
		n := 1
		if b.orders > 1 && r.IntN(2) == 0 {
			n = r.IntN(b.orders + 1)
		}
		for range n {
			b.given.Add(p, b.legal[r.IntN(len(b.legal))])
		}
	}
}

// scribble fills in the orders of all seats with random bits, and more orders
// than a seat may give.
func (b *playout[S]) scribble() {
	b.given.Clear()
	for seat := range b.info.Players {
		r := prng.New(prng.StreamSeed(b.seed, 1, uint64(b.turn), uint64(seat), prng.PurposePolicy))
		for range r.IntN(b.orders + 3) {
			b.given.Add(sim.Player(seat), sim.Order(r.Uint64()>>r.IntN(64)))
		}
	}
}

// step plays the turn with the chosen orders.
func (b *playout[S]) step() {
	b.status = b.game.Step(b.state, b.given)
	b.turn++
}

// each plays s.Games random games and calls visit before the first turn and
// after every turn.
func (s *suite[S]) each(t *testing.T, visit func(b *playout[S])) {
	t.Helper()
	game := s.fresh()
	for seed := range uint64(s.Games) {
		b := s.newPlayout(game, seed)
		visit(b)
		for b.status == sim.Running && b.turn < s.Turns && !t.Failed() {
			b.choose()
			b.step()
			visit(b)
		}
	}
}

// Play plays one random game, as Run does, and calls visit before the first
// turn and after every turn, until the game ends or visit returns false. Tests
// of packages that build on games use it.
func Play[S any](g sim.Game[S], seed uint64, visit func(turn int, s *S, status sim.Status) bool) {
	c := &suite[S]{info: g.Info()}
	c.setDefaults()
	b := c.newPlayout(g, seed)
	for visit(b.turn, b.state, b.status) && b.status == sim.Running && b.turn < c.Turns {
		b.choose()
		b.step()
	}
}
