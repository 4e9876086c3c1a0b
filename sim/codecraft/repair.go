package codecraft

// repair is the repair phase (RULES.md, 3.22 and 3.23). Health is looked at before anything
// is repaired, so the order does not matter.
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
		v.Health = int16(min(full, int32(v.Health)+g.rules.Types[s.Units[i].Type].Power))
	}
}

// canRepair tells whether unit u repairs the entity with that id.
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
		gap(int(u.X), int(u.Y), int(k.Size), int(v.X), int(v.Y), int(t.Size)) == 1
}
