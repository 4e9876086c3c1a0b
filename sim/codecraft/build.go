package codecraft

import "moonfarm/sim"

// build is the build phase (RULES.md, 3.18–3.21): all who want to, in random order.
// Whoever tries takes an id.
func (g *Game) build(s *State) {
	list := g.order[:0]
	for i := range s.Units[:s.N] {
		u := &s.Units[i]
		if s.Acts[i].Parts&HasBuild == 0 || !u.Active || g.acted[i] || g.rules.DeadRest && u.Health == 0 {
			continue
		}
		if g.rules.Types[u.Type].CanBuild || g.rules.UnableTakeID {
			list = append(list, uint16(i))
		}
	}
	if len(list) == 0 {
		return
	}
	shuffle(list, stream(s.Seed, s.Tick, chanceBuilds))
	for _, i := range list {
		id := s.NextID
		s.NextID++
		u, a := &s.Units[i], &s.Acts[i]
		if !g.canBuild(s, u, a) {
			continue
		}
		t := &g.rules.Types[a.BuildType]
		s.Resource[u.Owner] -= g.cost(s, u.Owner, a.BuildType)
		health := t.MaxHealth
		if k := &g.rules.Types[u.Type]; k.InitHealth != 0 {
			health = min(health, k.InitHealth)
		}
		g.add(s, Unit{ID: id, Health: int16(health), X: a.BuildX, Y: a.BuildY, Type: a.BuildType, Owner: u.Owner})
		g.acted[i], g.next[s.N-1] = true, noCell
	}
}

// canBuild tells whether the build action of a unit succeeds now.
func (g *Game) canBuild(s *State, u *Unit, a *Action) bool {
	k := &g.rules.Types[u.Type]
	if s.N == MaxUnits || !k.Builds.Set().Has(a.BuildType) {
		return false
	}
	t := &g.rules.Types[a.BuildType]
	x, y, size := int(a.BuildX), int(a.BuildY), int(t.Size)
	return x+size <= Side && y+size <= Side &&
		gap(int(u.X), int(u.Y), int(k.Size), x, y, size) == 1 &&
		s.Resource[u.Owner] >= g.cost(s, u.Owner, a.BuildType) &&
		g.housed(s, u.Owner, t) &&
		!s.Occupied.MeetsSquare(x, y, size)
}

// cost is what one of type t costs a player now.
func (g *Game) cost(s *State, p sim.Player, t Type) int32 {
	k := &g.rules.Types[t]
	if !k.CanMove {
		return k.Cost
	}
	n := k.Cost + int32(s.Count[p][t])
	if g.rules.DeadAreFree {
		for _, i := range g.dead {
			if u := &s.Units[i]; u.Owner == p && u.Type == t {
				n--
			}
		}
	}
	return n
}

// housed tells whether the population of a player has room for one more.
func (g *Game) housed(s *State, p sim.Player, t *Properties) bool {
	if t.PopUse == 0 && !g.rules.PopulationAll {
		return true
	}
	use, provide := s.PopUse[p], s.PopProvide[p]
	if g.rules.DeadAreFree {
		for _, i := range g.dead {
			if u := &s.Units[i]; u.Owner == p {
				use -= g.rules.Types[u.Type].PopUse
				if u.Active {
					provide -= g.rules.Types[u.Type].PopProvide
				}
			}
		}
	}
	return provide >= use+t.PopUse
}
