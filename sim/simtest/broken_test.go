package simtest_test

import (
	"maps"
	"slices"
	"testing"

	"moonfarm/sim"
	"moonfarm/sim/simtest"
)

// state and game shorten the wrappers below: a toy with one method broken.
type (
	state = simtest.ToyState
	toy   struct{ simtest.Toy }
)

type info struct {
	toy
	calls *int
}

func (g info) Info() sim.Info {
	*g.calls++
	i := g.Toy.Info()
	i.MaxTurns += *g.calls
	return i
}

type reset struct{ toy }

func (r reset) Reset(s *state, seed uint64) {
	turn := s.Turn
	r.Toy.Reset(s, seed)
	s.Turn = turn
}

type memory struct {
	toy
	turns *int
}

func (m memory) Step(s *state, t *sim.Turn) sim.Status {
	status := m.Toy.Step(s, t)
	*m.turns++
	s.Taken[0] ^= uint16(*m.turns >> 6)
	return status
}

type attached struct {
	toy
	to **state
}

func (a attached) Reset(s *state, seed uint64) {
	*a.to = s
	a.Toy.Reset(s, seed)
}

func (a attached) Step(s *state, t *sim.Turn) sim.Status {
	if *a.to != s {
		s.Taken[0]++
	}
	return a.Toy.Step(s, t)
}

type doubled struct{ toy }

func (d doubled) AppendOrders(dst []sim.Order, s *state, p sim.Player) []sim.Order {
	return append(d.Toy.AppendOrders(dst, s, p), 0)
}

type gullible struct{ toy }

func (g gullible) Step(s *state, t *sim.Turn) sim.Status {
	for _, o := range t.Orders(0) {
		if o > 0 {
			s.Heap[o-1] |= 0
		}
	}
	return g.Toy.Step(s, t)
}

type endless struct{ toy }

func (e endless) Step(s *state, t *sim.Turn) sim.Status {
	e.Toy.Step(s, t)
	return sim.Running
}

type generous struct{ toy }

func (g generous) Outcome(s *state, p sim.Player) sim.Outcome {
	return sim.Outcome{Result: 1}
}

type stale struct{ toy }

func (g stale) Hash(s *state) uint64 { return uint64(s.Turn) / 2 }

type nosy struct{ toy }

func (n nosy) Outcome(s *state, p sim.Player) sim.Outcome {
	s.Named[3]++
	return n.Toy.Outcome(s, p)
}

type wasteful struct{ toy }

var sink *state

func (w wasteful) Step(s *state, t *sim.Turn) sim.Status {
	sink = new(state)
	return w.Toy.Step(s, t)
}

type partial struct{ toy }

func (p partial) Step(s *state, t *sim.Turn) sim.Status {
	status := p.Toy.Step(s, t)
	if s.Turn == 1 {
		s.Taken[0]++
	}
	return status
}

// broken has a game for each promise, by the name of the subtest that must
// fail.
var broken = map[string]func() sim.Game[state]{
	"Info":        func() sim.Game[state] { return info{two, new(int)} },
	"Reset":       func() sim.Game[state] { return reset{two} },
	"Same":        func() sim.Game[state] { return memory{two, new(int)} },
	"Clone":       func() sim.Game[state] { return attached{two, new(*state)} },
	"Orders":      func() sim.Game[state] { return doubled{two} },
	"Illegal":     func() sim.Game[state] { return gullible{two} },
	"Ends":        func() sim.Game[state] { return endless{two} },
	"Outcome":     func() sim.Game[state] { return generous{two} },
	"Hash":        func() sim.Game[state] { return stale{two} },
	"ReadOnly":    func() sim.Game[state] { return nosy{two} },
	"Allocations": func() sim.Game[state] { return wasteful{two} },
	"Mirror":      func() sim.Game[state] { return partial{two} },
}

var two = toy{simtest.Toy{Seats: 2, Orders: 1}}

func TestRunFindsFaults(t *testing.T) {
	names := slices.Concat(slices.Collect(maps.Keys(broken)), slices.Collect(maps.Keys(brokenTexts)))
	simtest.FindsFaults(t, names, func(t *testing.T, name string) {
		if f := brokenTexts[name]; f != nil {
			t.Run(name, f)
			return
		}
		simtest.Run(t, broken[name], simtest.Options[state]{Mirror: two.Mirror})
	})
}
