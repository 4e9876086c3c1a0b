package codecraft

import "moonfarm/sim"

// attack is the attack phase (RULES.md, 3.12–3.17): all active units that can attack do so in
// random order, if they have a target.
func (g *Game) attack(s *State) {
	list := g.order[:0]
	for i := range s.Units[:s.N] {
		if u := &s.Units[i]; u.Active && g.rules.Types[u.Type].CanAttack {
			list = append(list, uint16(i))
		}
	}
	shuffle(list, stream(s.Seed, s.Tick, chanceAttacks))
	victims := stream(s.Seed, s.Tick, chanceVictim)
	for _, k := range list {
		i := int(k)
		u := &s.Units[i]
		if g.rules.DeadRest && u.Health == 0 {
			continue
		}
		switch g.aim[i] {
		case aimTarget:
			if t := s.Find(s.Acts[i].Target); t >= 0 {
				g.hitUnit(s, i, t)
			} else if x, y, ok := s.ResourceAt(s.Acts[i].Target); ok {
				g.hitResource(s, i, CellOf(x, y))
			}
		case aimAuto:
			c := g.candidates(s, i)
			v := c[draw(victims, u.ID, len(c))]
			if v.unit >= 0 {
				g.hitUnit(s, i, int(v.unit))
			} else {
				g.hitResource(s, i, int(v.cell))
			}
		default:
			g.hitBlocker(s, i)
		}
	}
}

// hitBlocker attacks the entity on the next cell of a unit, unless it belongs to the unit's player.
func (g *Game) hitBlocker(s *State, i int) {
	if g.next[i] == noCell {
		return
	}
	cell := int(g.next[i])
	switch t := int(s.At[cell]) - 1; {
	case t >= 0 && s.Units[t].Owner != s.Units[i].Owner:
		g.hitUnit(s, i, t)
	case t < 0 && s.Resources.Has(cell%Side, cell/Side):
		g.hitResource(s, i, cell)
	}
}

func (r *Record) attack(attacker, victim uint32, dealt int32) {
	r.Attacks = append(r.Attacks, Hit{attacker, victim})
	r.Dealt = append(r.Dealt, dealt)
}

// hitUnit attacks a unit, which may be dead already.
func (g *Game) hitUnit(s *State, i, t int) {
	u, v := &s.Units[i], &s.Units[t]
	k := &g.rules.Types[u.Type]
	g.acted[i] = true
	dealt := min(k.Damage, int32(v.Health))
	if g.record != nil {
		g.record.attack(u.ID, v.ID, dealt)
	}
	if dealt == 0 {
		return
	}
	v.Health -= int16(dealt)
	g.collect(s, u.Owner, k, dealt, v.Type)
	if v.Health == 0 {
		g.dead = append(g.dead, uint16(t))
		if v.Owner != u.Owner {
			s.Score[u.Owner] += g.rules.Types[v.Type].DestroyScore
		}
	}
}

// hitResource attacks the resource on a cell, which may be used up already.
func (g *Game) hitResource(s *State, i, cell int) {
	u := &s.Units[i]
	k := &g.rules.Types[u.Type]
	g.acted[i] = true
	dealt := min(k.Damage, int32(s.Health[cell]))
	if g.record != nil {
		g.record.attack(u.ID, s.ResourceID(cell%Side, cell/Side), dealt)
	}
	if dealt == 0 {
		return
	}
	s.Health[cell] -= uint8(dealt)
	g.collect(s, u.Owner, k, dealt, Resource)
	if s.Health[cell] == 0 {
		g.gone = append(g.gone, uint16(cell))
	}
}

// collect gives the player the resource and the points for damage dealt by a collector.
func (g *Game) collect(s *State, p sim.Player, k *Properties, dealt int32, from Type) {
	if k.Collects {
		n := dealt * g.rules.Types[from].Yield
		s.Resource[p] += n
		s.Score[p] += n
	}
}
