package towerdefence

import "moonfarm/sim"

// Moment is a point within a round.
type Moment uint8

// The moments of a round, in their order.
const (
	Commanded Moment = iota // after the commands and the curtains (3.1 to 3.6)
	Fired                   // after the shots of tesla towers and attack buildings (3.7 to 3.14)
	Moved                   // after a step of all missiles; a round has as many as the weapon speed of attack buildings (3.15 to 3.20)
)

// Moments plays a round as Step does, and calls visit with the state at each moment
// of the round, before the income and the end of construction. Buildings without
// health are gone from it. It takes several times as long as Step. If the match is
// aborted, there are no moments.
func (g *Game) Moments(s *State, t *sim.Turn, visit func(m Moment, s *State)) sim.Status {
	now := *s
	status := g.Step(s, t)
	if status == sim.Cut {
		return status
	}
	a, b, r := &now.Half[0], &now.Half[1], int(now.Round)
	orderA, orderB := firstOrders(t)
	g.carryOut(a, orderA, r)
	g.carryOut(b, orderB, r)
	g.resetCurtain(a, b, r)
	visit(Commanded, &now)

	shotsA, shotsB := g.fireAnyRhythm(a, r), g.fireAnyRhythm(b, r)
	g.strike(a, b, r)
	push(&a.Own, shotsA)
	push(&b.Own, shotsB)
	visit(Fired, &now)

	for range g.rules.Buildings[Attack].Speed {
		leftB := g.stepStacked(a, b, health{b.Live, b.Extra0, b.Extra1}, r)
		leftA := g.stepStacked(b, a, health{a.Live, a.Extra0, a.Extra1}, r)
		a.lose(leftA)
		b.lose(leftB)
		visit(Moved, &now)
	}
	return status
}

// carryOut carries out any order.
func (g *Game) carryOut(h *Half, o sim.Order, r int) {
	if cheapPlacement(h, o) {
		g.place(h, o, r)
	} else {
		g.execute(h, o&orderUsed, r)
	}
}
