package terminal

import "moonfarm/sim"

// Restore ends the turn after its last frame: it ends the match, or carries out decay, income and
// removals (3.16 to 3.20). After the last turn it leaves the removals out (5.3).
func (g *Game) Restore(s *State) sim.Status {
	if s.Health[0] <= 0 || s.Health[1] <= 0 {
		return sim.Over
	}
	s.Turn++
	for p := range sim.Player(2) {
		g.payIncome(s, p)
	}
	status := sim.Running
	if s.Turn >= uint32(g.rules.MaxTurns) {
		status = sim.Over
	} else if !s.Marked.Empty() {
		g.removals(s)
	}
	if invariants {
		g.check(s)
	}
	return status
}

// payIncome lets the bits of player p decay and pays the income of the turn just played (3.16 to
// 3.19).
func (g *Game) payIncome(s *State, p sim.Player) {
	cores, bits := g.income(s, p, s.Turn)
	s.Bits[p] = g.BitsKept(s, p) + bits
	s.Cores[p] += cores
	if r := &g.rules; r.CapBits {
		s.Bits[p] = min(s.Bits[p], r.MaxBits+float32(r.CapGrowth*float32(int32(s.Turn)/r.CapInterval)))
	}
}

// BitsKept returns how many of player p's bits are left after the decay of a restore (3.16).
func (g *Game) BitsKept(s *State, p sim.Player) float32 {
	left := float32(s.Bits[p] * g.keep)
	return Tenths(left)
}

// Income returns the cores and bits that the restore of the coming turn adds for player p if no
// structure is built or destroyed. It has no refunds, and ignores the maximum of bits (3.17,
// 3.19).
func (g *Game) Income(s *State, p sim.Player) (cores, bits float32) {
	return g.income(s, p, s.Turn+1)
}

// income returns the income of the restore after the given number of turns.
func (g *Game) income(s *State, p sim.Player, turns uint32) (cores, bits float32) {
	cores, bits = g.rules.CoresPerTurn, g.rules.TurnBits(turns)
	if !g.gives {
		return cores, bits
	}
	var givenCores, givenBits float32
	for k := range s.Ages[p] {
		list := &s.Ages[p][k]
		for _, local := range list.Cell[:list.N] {
			c := s.Cells[localCell[p][local]]
			if !g.rules.RemovedGive && c.RemoveIn() == 1 {
				continue
			}
			u := g.rules.Structure(Kind(k), c.Upgraded())
			givenCores += u.GivesCores
			givenBits += u.GivesBits
		}
	}
	return cores + givenCores, bits + givenBits
}

// removals counts down the marks and removes the structures whose turns are over, in the order of
// ids. Their owners get back a part of the price, in proportion to the health left (3.20).
func (g *Game) removals(s *State) {
	n := 0
	for w, b := range s.Marked {
		for ; b != 0; b &= b - 1 {
			cell := cellOf(w, b)
			c := &s.Cells[cell]
			c.Mark -= markTurn
			if c.RemoveIn() == 0 {
				n++
				insert(g.due[:n], newAged(c.ID(), cell))
			}
		}
	}
	for _, due := range g.due[:n] {
		cell := due.cell()
		c := s.Cells[cell]
		p, k := c.Player(), c.Kind()
		u, paid := g.rules.Structure(k, c.Upgraded()), g.rules.Paid(k, c.Upgraded())
		refund := float32(float32(u.Refund*paid)*c.Health) / u.Health
		s.Cores[p] = Tenths(s.Cores[p] + refund)
		if g.record != nil {
			g.record.Removed = append(g.record.Removed, DeathEvent{At: positions[cell], Kind: k, Player: p, ID: c.ID(), Removed: true})
		}
		s.drop(cell)
	}
}
