package plain

import (
	"cmp"
	"slices"

	"moonfarm/sim"
	"moonfarm/sim/codecraft"
)

// Load sets g to the state s. It reads only the units and their actions, the health of resources,
// and the places of resources at the start; all other fields of s follow from these.
func (g *Game) Load(s *codecraft.State) {
	*g = Game{
		Rules: g.Rules, Seed: s.Seed, Tick: s.Tick, NextID: s.NextID, Score: s.Score, Resource: s.Resource, firstID: s.FirstID,
	}
	for i := range s.Units[:s.N] {
		u := &s.Units[i]
		g.Entities = append(g.Entities, &Entity{
			ID: u.ID, Owner: int(u.Owner), Type: u.Type, At: Pos{int(u.X), int(u.Y)}, Health: int(u.Health), Active: u.Active,
			Action: actionOf(&s.Acts[i]), size: int(g.Rules.Types[u.Type].Size),
		})
	}
	for x := range side {
		for y := range side {
			if s.Veins[x][y/64]>>(y%64)&1 == 0 {
				continue
			}
			id := g.firstID + uint32(len(g.start))
			g.start = append(g.start, Pos{x, y})
			if h := s.Health[y*side+x]; h > 0 {
				g.Entities = append(g.Entities, &Entity{
					ID: id, Owner: nobody, Type: codecraft.Resource, At: Pos{x, y}, Health: int(h), Active: true, size: 1,
				})
			}
		}
	}
	slices.SortFunc(g.Entities, func(a, b *Entity) int { return cmp.Compare(a.ID, b.ID) })
}

// actionOf converts an action of a state.
func actionOf(a *codecraft.Action) *Action {
	has := func(p codecraft.Parts) bool { return a.Parts&p != 0 }
	if !has(codecraft.Given) {
		return nil
	}
	r := &Action{}
	if has(codecraft.HasMove) {
		r.Move = &Move{
			To: Pos{int(a.MoveX), int(a.MoveY)}, Outside: has(codecraft.MoveOutside),
			Closest: has(codecraft.FindClosest), Break: has(codecraft.BreakThrough),
		}
	}
	if has(codecraft.HasBuild) {
		r.Build = &Build{Type: a.BuildType, At: Pos{int(a.BuildX), int(a.BuildY)}}
	}
	if has(codecraft.HasTarget) {
		id := a.Target
		r.Target = &id
	}
	if has(codecraft.HasAuto) {
		r.Auto = &Auto{Range: int(a.Range), Valid: a.Valid}
	}
	if has(codecraft.HasRepair) {
		id := a.Repair
		r.Repair = &id
	}
	return r
}

// stored returns the action in the form of states.
func (a *Action) stored() (r codecraft.Action) {
	if a == nil {
		return r
	}
	r.Parts = codecraft.Given
	if a.Move != nil {
		r.Parts |= codecraft.HasMove
		r.MoveX, r.MoveY = uint8(a.Move.To.X), uint8(a.Move.To.Y)
		if a.Move.Outside {
			r.Parts |= codecraft.MoveOutside
		}
		if a.Move.Closest {
			r.Parts |= codecraft.FindClosest
		}
		if a.Move.Break {
			r.Parts |= codecraft.BreakThrough
		}
	}
	if a.Build != nil {
		r.Parts |= codecraft.HasBuild
		r.BuildType, r.BuildX, r.BuildY = a.Build.Type, uint8(a.Build.At.X), uint8(a.Build.At.Y)
	}
	if a.Target != nil {
		r.Parts |= codecraft.HasTarget
		r.Target = *a.Target
	}
	if a.Auto != nil {
		r.Parts |= codecraft.HasAuto
		r.Range, r.Valid = uint16(a.Auto.Range), a.Auto.Valid
	}
	if a.Repair != nil {
		r.Parts |= codecraft.HasRepair
		r.Repair = *a.Repair
	}
	return r
}

// Store sets s to the state of this game. It computes every field from the entities.
func (g *Game) Store(s *codecraft.State) {
	*s = codecraft.State{
		Seed: g.Seed, Tick: g.Tick, NextID: g.NextID, Score: g.Score, Resource: g.Resource, FirstID: g.firstID,
	}
	for i, c := range g.start {
		s.Veins[c.X][c.Y/64] |= 1 << (c.Y % 64)
		for x := c.X + 1; x < side; x++ {
			s.Before[x] = uint16(i + 1)
		}
	}
	for _, e := range g.Entities {
		if e.Type == codecraft.Resource {
			s.Health[e.At.Y*side+e.At.X] = uint8(e.Health)
			s.Resources.Add(e.At.X, e.At.Y)
			s.Occupied.Add(e.At.X, e.At.Y)
			continue
		}
		p := g.of(e)
		s.Units[s.N] = codecraft.Unit{
			ID: e.ID, Health: int16(e.Health), X: uint8(e.At.X), Y: uint8(e.At.Y), Type: e.Type, Owner: sim.Player(e.Owner), Active: e.Active,
		}
		s.Acts[s.N] = e.Action.stored()
		s.N++
		for _, c := range e.cells() {
			s.At[c.Y*side+c.X] = uint16(s.N)
			s.Own[e.Owner].Add(c.X, c.Y)
			s.Occupied.Add(c.X, c.Y)
		}
		s.Count[e.Owner][e.Type]++
		s.PopUse[e.Owner] += p.PopUse
		if e.Active {
			s.PopProvide[e.Owner] += p.PopProvide
		}
	}
}
