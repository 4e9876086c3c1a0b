package recording

import (
	"cmp"
	"slices"

	"moonfarm/sim"
	"moonfarm/sim/towerdefence"
	"moonfarm/sim/towerdefence/wire/display"
)

// Position returns the position that a recorded round led to, under these rules. The lists
// of a recorded round are sorted by cell; Position infers the order in which the original
// keeps them:
//
// Buildings: construction takes a fixed number of rounds and each player places at most one
// building a round, so buildTime gives the round of the placement. Within a round, first
// (the seat whose command is carried out first) decides. This order is certain.
//
// Missiles: a missile flies the same number of cells every round, so a standing attack
// building in its row is its origin if it fired when the missile was there. Missiles are
// sorted by the round of their shot, the oldest first, then by the place of their tower in
// the list. If a cell has fewer missiles than there are possible shots, the youngest shots
// count, because a target in the way takes the oldest ones. A missile whose tower is gone
// could come from any cell that was empty at that time. Position chooses the farthest cell
// without a shield (a standing building closer to the front that would have saved the tower
// from missiles), or the farthest cell if all have one, and sorts the missile behind the
// others of that round. This is a guess. It influences only the order of the lines in the
// text map's missile data, and it is right in nine of ten rounds of the recordings and in
// all of the original's own displays kept with them. The IDs number the missiles in this
// order, so they do not continue from round to round.
func (r *Round) Position(rules towerdefence.Rules, first sim.Player) *display.Position {
	p := inference{&display.Position{Rules: rules, Round: r.Number + 1, Players: r.Players}}
	p.Buildings = slices.Clone(r.Buildings)
	slices.SortStableFunc(p.Buildings, func(a, b display.Building) int {
		return cmp.Or(cmp.Compare(p.age(b), p.age(a)), cmp.Compare(a.Owner^first, b.Owner^first))
	})
	var shots []shot
	for _, m := range r.Missiles {
		shots = append(shots, p.shotsOf(m)...)
	}
	slices.SortStableFunc(shots, func(a, b shot) int {
		return cmp.Or(cmp.Compare(b.flight, a.flight), cmp.Compare(a.tower, b.tower))
	})
	for i, s := range shots {
		s.missile.ID = i + 1
		p.Missiles = append(p.Missiles, s.missile)
	}
	for _, cells := range r.TeslaHits {
		p.TeslaHits = append(p.TeslaHits, slices.Clone(cells))
	}
	p.CurtainHits = slices.Clone(r.CurtainHits)
	return p.Position
}

// inference is a position whose lists are being sorted.
type inference struct{ *display.Position }

// age returns the number of rounds since a building was placed.
func (p inference) age(b display.Building) int {
	return p.Rules.Buildings[b.Kind].ConstructionTime - b.BuildTime
}

// shot is a missile with its likely origin.
type shot struct {
	missile display.Missile
	flight  int // rounds it has flown, the round of its firing included
	tower   int // place of its tower in Position.Buildings; their number if it is gone
}

// shotsOf finds the origins of the missiles on a cell.
func (p inference) shotsOf(m Stack) []shot {
	var known, guesses []shot
	for flight := 1; flight <= display.Columns; flight++ {
		x, ok := p.origin(m, flight)
		if !ok {
			continue
		}
		s := shot{missile: display.Missile{X: m.X, Y: m.Y, Owner: m.Owner}, flight: flight, tower: len(p.Buildings)}
		i := slices.IndexFunc(p.Buildings, func(b display.Building) bool { return b.X == x && b.Y == m.Y })
		if i >= 0 && p.fired(p.Buildings[i], flight) {
			s.tower = i
			known = append(known, s)
			continue
		}
		if i >= 0 && p.age(p.Buildings[i]) >= flight {
			continue // something else stood there then
		}
		guesses = append(guesses, s)
	}
	slices.SortStableFunc(guesses, func(a, b shot) int { // origins without a shield first, then the farthest
		return cmp.Or(p.shields(m, a.flight)-p.shields(m, b.flight), cmp.Compare(b.flight, a.flight))
	})
	shots := append(known, guesses...)
	for len(shots) < m.Count { // not with the rules of the original
		shots = append(shots, shot{missile: display.Missile{X: m.X, Y: m.Y, Owner: m.Owner}, tower: len(p.Buildings)})
	}
	return shots[:m.Count]
}

// origin returns the column from which a missile that has flown for flight rounds was fired,
// if that is on its owner's half.
func (p inference) origin(m Stack, flight int) (x int, ok bool) {
	way := flight * p.Rules.Buildings[towerdefence.Attack].Speed
	if m.Owner == display.SeatB {
		x = m.X + way
		return x, x >= towerdefence.Width && x < display.Columns
	}
	x = m.X - way
	return x, x >= 0 && x < towerdefence.Width
}

// shields returns 1 if an own building that was finished when the missile was fired
// still stands in front of its origin, else 0.
func (p inference) shields(m Stack, flight int) int {
	x, _ := p.origin(m, flight)
	for _, b := range p.Buildings {
		inFront := b.X > x
		if m.Owner == display.SeatB {
			inFront = b.X < x
		}
		if inFront && b.Y == m.Y && b.Owner == m.Owner && b.BuildTime <= -flight {
			return 1
		}
	}
	return 0
}

// fired reports whether an attack building fired ago rounds ago; 1 is the round just
// played.
func (p inference) fired(b display.Building, ago int) bool {
	if b.Kind != towerdefence.Attack || b.BuildTime+ago-1 > -1 {
		return false
	}
	period := p.Rules.Buildings[towerdefence.Attack].Cooldown + 1
	return (ago-(period-b.Cooldown))%period == 0
}
