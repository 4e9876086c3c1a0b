package codecraft

import (
	"fmt"
	"slices"

	"moonfarm/sim"
)

// Position is a state as lists of entities, the form of state files and recordings.
type Position struct {
	Seed     uint64
	Tick     int32
	NextID   uint32
	Score    [sim.MaxPlayers]int32
	Resource [sim.MaxPlayers]int32
	Units    []Unit   // ascending by id
	Acts     []Action // the actions of the units; nil: no unit has an action
	Veins    []Vein   // ascending by id
}

// Vein is a resource on the map.
type Vein struct {
	ID     uint32
	Health int16
	X, Y   uint8
}

// Restore sets s to the position. It fails if no game with these rules has such a state; s is
// then undefined.
//
// A position does not have the places of used up resources. If ids are missing between two
// resources, Restore assumes that these resources were on the first cells after the earlier one.
// It ignores used up resources before the first and after the last resource.
func (g *Game) Restore(s *State, p *Position) error {
	*s = State{Seed: p.Seed, Tick: p.Tick, NextID: p.NextID, Score: p.Score, Resource: p.Resource}
	if err := g.restorable(p); err != nil {
		return err
	}
	for i, u := range p.Units {
		if err := g.restoreUnit(s, u); err != nil {
			return fmt.Errorf("entity %d: %w", u.ID, err)
		}
		if p.Acts != nil {
			s.Acts[i] = p.Acts[i]
		}
	}
	for i, v := range p.Veins {
		if err := g.restoreVein(s, p, i); err != nil {
			return fmt.Errorf("entity %d: %w", v.ID, err)
		}
	}
	if len(p.Veins) > 0 {
		s.FirstID = p.Veins[0].ID
	} else {
		s.FirstID = p.NextID
	}
	s.countVeins()
	for _, u := range p.Units {
		if _, _, ok := s.ResourceAt(u.ID); ok {
			return fmt.Errorf("entity %d: its id lies between those of resources, %d to %d", u.ID, s.FirstID, p.Veins[len(p.Veins)-1].ID)
		}
	}
	return nil
}

// restorable checks all of the position but its entities.
func (g *Game) restorable(p *Position) error {
	switch {
	case len(p.Units) > MaxUnits:
		return fmt.Errorf("%d entities that are no resources, expected at most %d", len(p.Units), MaxUnits)
	case p.Acts != nil && len(p.Acts) != len(p.Units):
		return fmt.Errorf("%d actions of %d entities", len(p.Acts), len(p.Units))
	case p.Tick < 0 || p.Tick > g.rules.MaxTurns:
		return fmt.Errorf("tick %d, expected 0 to %d", p.Tick, g.rules.MaxTurns)
	case p.NextID > MaxID-MaxUnits*uint32(g.rules.MaxTurns-p.Tick):
		return fmt.Errorf("next id %d is too great: ids could pass %d before the end", p.NextID, MaxID)
	}
	if !slices.IsSortedFunc(p.Units, func(a, b Unit) int { return int(a.ID) - int(b.ID) }) ||
		!slices.IsSortedFunc(p.Veins, func(a, b Vein) int { return int(a.ID) - int(b.ID) }) {
		return fmt.Errorf("the entities are not in the order of their ids")
	}
	for q := range p.Score {
		low := p.Score[q] < 0 || p.Resource[q] < 0
		if high := p.Score[q] > maxRestored || p.Resource[q] > maxRestored; low || high {
			return fmt.Errorf("player %d has score %d and resource %d, expected 0 to %d", q+1, p.Score[q], p.Resource[q], maxRestored)
		}
	}
	return nil
}

// maxRestored is the limit of score and resource in a position. Under all rules in use, a game
// adds less than 2^31 − 2^30.
const maxRestored = 1 << 30

// restoreUnit adds a unit. Units come in the order of their ids.
func (g *Game) restoreUnit(s *State, u Unit) error {
	if err := restoreID(s, u.ID, s.N > 0 && s.Units[max(s.N-1, 0)].ID == u.ID); err != nil {
		return err
	}
	if u.Type >= Types || u.Type == Resource {
		return fmt.Errorf("it is a %s, expected the type of a unit or building", u.Type)
	}
	t := &g.rules.Types[u.Type]
	switch size := int(t.Size); {
	case int32(u.Owner) >= g.rules.Players:
		return fmt.Errorf("its player is %d, expected 1 to %d", u.Owner+1, g.rules.Players)
	case int(u.X)+size > Side || int(u.Y)+size > Side:
		return fmt.Errorf("a %s at (%d, %d) reaches out of the map", u.Type, u.X, u.Y)
	case s.Occupied.MeetsSquare(int(u.X), int(u.Y), size):
		return fmt.Errorf("the %s at (%d, %d) overlaps another entity", u.Type, u.X, u.Y)
	case u.Health < 1 || int32(u.Health) > t.MaxHealth:
		return fmt.Errorf("its health is %d, expected 1 to %d", u.Health, t.MaxHealth)
	}
	g.add(s, u)
	return nil
}

// restoreVein puts resource i on the map, and assumes places for the resources whose ids are
// missing between the resource before and this one.
func (g *Game) restoreVein(s *State, p *Position, i int) error {
	v := p.Veins[i]
	x, y := int(v.X), int(v.Y)
	if err := restoreID(s, v.ID, i > 0 && p.Veins[max(i-1, 0)].ID == v.ID); err != nil {
		return err
	}
	switch {
	case x >= Side || y >= Side:
		return fmt.Errorf("a resource at (%d, %d) lies outside of the map", x, y)
	case s.Occupied.Has(x, y):
		return fmt.Errorf("the resource at (%d, %d) overlaps another entity", x, y)
	case v.Health < 1 || int32(v.Health) > g.rules.Types[Resource].MaxHealth:
		return fmt.Errorf("its health is %d, expected 1 to %d", v.Health, g.rules.Types[Resource].MaxHealth)
	}
	if i > 0 {
		last := p.Veins[i-1]
		from, to := int(last.X)*Side+int(last.Y)+1, x*Side+y
		gone := int(v.ID - last.ID - 1)
		if to < from || to-from < gone {
			return fmt.Errorf("a resource at (%d, %d) cannot have that id after %d at (%d, %d): ids count up along the columns", x, y, last.ID, last.X, last.Y)
		}
		for k := from; k < from+gone; k++ {
			s.setVein(k/Side, k%Side)
		}
	}
	s.setVein(x, y)
	s.addResource(x, y, uint8(v.Health))
	return nil
}

// setVein records that the cell had a resource at the start.
func (s *State) setVein(x, y int) { s.Veins[x][y>>6] |= 1 << (y & 63) }

// restoreID checks the id of an entity.
func restoreID(s *State, id uint32, twice bool) error {
	switch {
	case twice:
		return fmt.Errorf("two entities have this id")
	case id < 1 || id >= s.NextID:
		return fmt.Errorf("expected an id from 1 to %d, below the next one", int64(s.NextID)-1)
	}
	return nil
}

// Position sets p to the position of s and reuses the lists of p.
func (s *State) Position(p *Position) {
	p.Seed, p.Tick, p.NextID, p.Score, p.Resource = s.Seed, s.Tick, s.NextID, s.Score, s.Resource
	p.Units = append(p.Units[:0], s.Units[:s.N]...)
	p.Acts = append(p.Acts[:0], s.Acts[:s.N]...)
	p.Veins = p.Veins[:0]
	for x := range Side {
		for y := range Side {
			if h := s.Health[CellOf(x, y)]; h > 0 {
				p.Veins = append(p.Veins, Vein{ID: s.ResourceID(x, y), Health: int16(h), X: uint8(x), Y: uint8(y)})
			}
		}
	}
}
