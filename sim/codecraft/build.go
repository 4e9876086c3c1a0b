package codecraft

import "moonfarm/sim"

// build is the build phase (RULES.md, 3.18–3.21): all active units with a build action that have
// not attacked build in random order. A build that fails also takes an id.
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
		if g.record != nil {
			g.record.Builds = append(g.record.Builds, Work{u.ID, id, health})
		}
	}
}

// canBuild reports whether the build action of a unit succeeds now.
func (g *Game) canBuild(s *State, u *Unit, a *Action) bool {
	k := &g.rules.Types[u.Type]
	if s.N == MaxUnits || !k.Builds.Set().Has(a.BuildType) {
		return false
	}
	x, y, size := int(a.BuildX), int(a.BuildY), int(g.rules.Types[a.BuildType].Size)
	return OnMap(x, y, size) &&
		Gap(int(u.X), int(u.Y), int(k.Size), x, y, size) == 1 &&
		s.Resource[u.Owner] >= g.cost(s, u.Owner, a.BuildType) &&
		g.hasRoom(s, u.Owner, a.BuildType) &&
		!s.Occupied.MeetsSquare(x, y, size)
}

// cost returns the price of an entity of type t for a player now.
func (g *Game) cost(s *State, p sim.Player, t Type) int32 {
	has := int32(s.Count[p][t])
	if g.rules.DeadAreFree {
		for _, i := range g.dead {
			if u := &s.Units[i]; u.Owner == p && u.Type == t {
				has--
			}
		}
	}
	return g.rules.CostOf(t, has)
}

// hasRoom reports whether the population of a player has room for another entity of type t now.
func (g *Game) hasRoom(s *State, p sim.Player, t Type) bool {
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
	return g.rules.RoomFor(t, use, provide)
}

// CostOf returns the price of another entity of type t for a player who has the given number
// of them (RULES.md, 3.20).
func (r *Rules) CostOf(t Type, has int32) int32 {
	if k := &r.Types[t]; !k.CanMove {
		return k.Cost
	}
	return r.Types[t].Cost + has
}

// RoomFor reports whether a population, given by its used and its provided part, has room for
// another entity of type t (RULES.md, 3.20).
func (r *Rules) RoomFor(t Type, used, provided int32) bool {
	k := &r.Types[t]
	return k.PopUse == 0 && !r.PopulationAll || used+k.PopUse <= provided
}

// Affords reports whether seat p can pay for an entity of type t now and has room for it in its
// population.
func (r *Rules) Affords(s *State, p sim.Player, t Type) bool {
	return s.Resource[p] >= r.CostOf(t, int32(s.Count[p][t])) && r.RoomFor(t, s.PopUse[p], s.PopProvide[p])
}

// repair is the repair phase (RULES.md, 3.22 and 3.23). All repairs are checked by the healths
// before the phase, so their order does not matter.
func (g *Game) repair(s *State) {
	list := g.order[:0]
	for i := range s.Units[:s.N] {
		u := &s.Units[i]
		if s.Acts[i].Parts&HasRepair == 0 || !u.Active || g.acted[i] || g.rules.DeadRest && u.Health == 0 {
			continue
		}
		if g.rules.Types[u.Type].CanRepair && g.canRepair(s, u, s.Acts[i].Repair) {
			g.acted[i] = true
			list = append(list, uint16(i))
		}
	}
	for _, i := range list {
		v := &s.Units[s.Find(s.Acts[i].Repair)]
		full := g.rules.Types[v.Type].MaxHealth
		before := int32(v.Health)
		v.Health = int16(min(full, before+g.rules.Types[s.Units[i].Type].Power))
		if g.record != nil {
			g.record.Repairs = append(g.record.Repairs, Work{s.Units[i].ID, v.ID, int32(v.Health) - before})
		}
	}
}

// NeedsRepair reports whether v is a damaged entity of player p and of a type in targets.
func (r *Rules) NeedsRepair(v *Unit, p sim.Player, targets TypeSet) bool {
	return v.Owner == p && targets.Has(v.Type) && int32(v.Health) < r.Types[v.Type].MaxHealth
}

// canRepair reports whether unit u can repair the entity with that id.
func (g *Game) canRepair(s *State, u *Unit, id uint32) bool {
	i := s.Find(id)
	if i < 0 {
		return false
	}
	v, k := &s.Units[i], &g.rules.Types[u.Type]
	t := &g.rules.Types[v.Type]
	return k.Repairs.Set().Has(v.Type) && v.Health > 0 &&
		(v.Owner == u.Owner || g.rules.RepairOthers) &&
		(int32(v.Health) < t.MaxHealth || g.rules.RepairFull) &&
		Gap(int(u.X), int(u.Y), int(k.Size), int(v.X), int(v.Y), int(t.Size)) == 1
}
