package wire

import (
	"cmp"
	"slices"

	"moonfarm/sim"
	"moonfarm/sim/towerdefence"
)

// Position is the position a recorded round led to, under these rules. A
// recorded round has its lists sorted by cell, so their orders are worked
// out:
//
// Buildings: construction has a fixed length and one building a round is
// placed by each player, so buildTime gives the round of the placement, and
// with first, the seat whose command is carried out first, the order is certain.
//
// Missiles: a missile has flown the same number of cells every round since it
// was fired, so a standing attack building in its row explains it if it fired
// when the missile was that many rounds nearer. Missiles come by the round
// they were fired, the oldest first, then by the place of their tower in the
// list. Of more towers than missiles on a cell the youngest shots count, as a
// target in the way takes the oldest ones. A missile whose tower is gone could
// come from several cells where nothing else stood at that time; it is taken
// to come from the farthest of those without a shield, a standing building
// closer to the front that would have saved the tower from missiles, and if
// all have one from the farthest; and after the other missiles of that round.
// This is a guess. It influences nothing but the order of the lines in the text
// map's missile data, and gives the true one in nine of ten rounds of the
// recordings and in all of the original's own displays kept with them. The IDs
// number the missiles in this order, so they do not continue from round to
// round.
func (r *Round) Position(rules towerdefence.Rules, first sim.Player) *Position {
	p := &Position{Rules: rules, Round: r.Number + 1, Players: r.Players}
	p.Buildings = slices.Clone(r.Buildings)
	slices.SortStableFunc(p.Buildings, func(a, b Building) int {
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
	return p
}

// age is the number of rounds since a building was placed.
func (p *Position) age(b Building) int {
	return p.Rules.Buildings[b.Kind].ConstructionTime - b.BuildTime
}

// shot is a missile with its likely origin.
type shot struct {
	missile Missile
	flight  int // rounds it has flown, the round of its firing included
	tower   int // place of its tower in Position.Buildings, behind the last if it is gone
}

// shotsOf finds the origins of the missiles on a cell.
func (p *Position) shotsOf(m Stack) []shot {
	var known, guesses []shot
	for flight := 1; flight <= Columns; flight++ {
		x, ok := p.origin(m, flight)
		if !ok {
			continue
		}
		s := shot{missile: Missile{X: m.X, Y: m.Y, Owner: m.Owner}, flight: flight, tower: len(p.Buildings)}
		i := slices.IndexFunc(p.Buildings, func(b Building) bool { return b.X == x && b.Y == m.Y })
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
	slices.SortStableFunc(guesses, func(a, b shot) int { // those in the open first, then the farthest
		return cmp.Or(p.shields(m, a.flight)-p.shields(m, b.flight), cmp.Compare(b.flight, a.flight))
	})
	shots := append(known, guesses...)
	for len(shots) < m.Count { // under no rules of the original
		shots = append(shots, shot{missile: Missile{X: m.X, Y: m.Y, Owner: m.Owner}, tower: len(p.Buildings)})
	}
	return shots[:m.Count]
}

// origin is the column a missile with this many rounds of flight was fired
// from, if that is on its owner's half.
func (p *Position) origin(m Stack, flight int) (x int, ok bool) {
	way := flight * p.Rules.Buildings[towerdefence.Attack].Speed
	if m.Owner == seatB {
		x = m.X + way
		return x, x >= towerdefence.Width && x < Columns
	}
	x = m.X - way
	return x, x >= 0 && x < towerdefence.Width
}

// shields is 1 if an own building that was finished when the missile was fired
// still stands in front of where it was fired from, else 0.
func (p *Position) shields(m Stack, flight int) int {
	x, _ := p.origin(m, flight)
	for _, b := range p.Buildings {
		inFront := b.X > x
		if m.Owner == seatB {
			inFront = b.X < x
		}
		if inFront && b.Y == m.Y && b.Owner == m.Owner && b.BuildTime <= -flight {
			return 1
		}
	}
	return 0
}

// fired reports whether an attack building fired this many rounds ago, where 1
// is the round just played.
func (p *Position) fired(b Building, ago int) bool {
	if b.Kind != towerdefence.Attack || b.BuildTime+ago-1 > -1 {
		return false
	}
	period := p.Rules.Buildings[towerdefence.Attack].Cooldown + 1
	return (ago-(period-b.Cooldown))%period == 0
}
