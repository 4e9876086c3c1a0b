package codecraft

// cleanUp removes dead entities and activates complete ones (RULES.md, 3.26 and 3.27).
func (g *Game) cleanUp(s *State) {
	if g.record != nil {
		g.recordDead(s)
	}
	for _, c := range g.gone {
		x, y := int(c)%Side, int(c)/Side
		s.Occupied.Drop(x, y)
		s.Resources.Drop(x, y)
	}
	g.activate(s)
	if len(g.dead) > 0 {
		g.removeDead(s)
	}
}

// activate makes the inactive entities with full health active.
func (g *Game) activate(s *State) {
	for i := range s.Units[:s.N] {
		u := &s.Units[i]
		if u.Active {
			continue
		}
		t := &g.rules.Types[u.Type]
		if int32(u.Health) == t.MaxHealth {
			u.Active = true
			s.Score[u.Owner] += t.BuildScore
			s.PopProvide[u.Owner] += t.PopProvide
		}
	}
}

// removeDead removes dead units from the board and from the list of units.
func (g *Game) removeDead(s *State) {
	first := int(s.N)
	for _, d := range g.dead {
		u := &s.Units[d]
		t := &g.rules.Types[u.Type]
		x, y, size := int(u.X), int(u.Y), int(t.Size)
		s.Occupied.DropSquare(x, y, size)
		s.Own[u.Owner].DropSquare(x, y, size)
		g.mark(s, u, 0)
		s.Count[u.Owner][u.Type]--
		s.PopUse[u.Owner] -= t.PopUse
		if u.Active {
			s.PopProvide[u.Owner] -= t.PopProvide
		}
		first = min(first, int(d))
	}
	to := first
	for from := first; from < int(s.N); from++ {
		u := &s.Units[from]
		if u.Health == 0 {
			continue
		}
		if to != from {
			s.Units[to], s.Acts[to] = *u, s.Acts[from]
			g.mark(s, &s.Units[to], uint16(to+1))
		}
		to++
	}
	clear(s.Units[to:s.N]) // so that equal positions are equal states
	clear(s.Acts[to:s.N])
	s.N = int32(to)
}

// recordDead records the ids of the removed entities.
func (g *Game) recordDead(s *State) {
	for i := range s.Units[:s.N] {
		if s.Units[i].Health == 0 {
			g.record.Died = append(g.record.Died, s.Units[i].ID)
		}
	}
	if len(g.gone) == 0 {
		return
	}
	for x := range Side {
		for y := range Side {
			if s.Resources.Has(x, y) && s.Health[CellOf(x, y)] == 0 {
				g.record.Died = append(g.record.Died, s.ResourceID(x, y))
			}
		}
	}
}
