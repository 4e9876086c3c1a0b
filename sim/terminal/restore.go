package terminal

import (
	"math/bits"

	"moonfarm/sim"
)

// Restore ends the turn: the end of the game, or decay, income and removals
// (3.16 to 3.20). It is called after the last frame.
func (g *Game) Restore(s *State) sim.Status {
	if s.Health[0] <= 0 || s.Health[1] <= 0 {
		return sim.Over
	}
	s.Turn++
	for p := range sim.Player(2) {
		g.income(s, p)
	}
	if !s.Marked.Empty() {
		g.removals(s)
	}
	if invariants {
		g.check(s)
	}
	if s.Turn >= uint32(g.rules.MaxTurns) {
		return sim.Over
	}
	return sim.Running
}

// income lets the bits decay and pays out the turn's resources (3.16 to 3.19).
func (g *Game) income(s *State, p sim.Player) {
	r := &g.rules
	left := float32(s.Bits[p] * g.keep)
	s.Bits[p] = tenths(left)
	bits, cores := r.BitsPerTurn, r.CoresPerTurn
	if t := int32(s.Turn); t >= r.GrowthStart {
		bits += float32(r.BitGrowth * float32(1+(t-r.GrowthStart)/r.GrowthInterval))
	}
	if g.gives {
		b, c := g.given(s, p)
		bits, cores = bits+b, cores+c
	}
	s.Bits[p] += bits
	s.Cores[p] += cores
	if r.CapBits {
		s.Bits[p] = min(s.Bits[p], r.MaxBits+float32(r.CapGrowth*float32(int32(s.Turn)/r.CapInterval)))
	}
}

// given are the bits and cores that the structures of seat p give.
func (g *Game) given(s *State, p sim.Player) (bits, cores float32) {
	for k := range s.Ages[p] {
		list := &s.Ages[p][k]
		for _, local := range list.Cell[:list.N] {
			c := s.Cells[localCell[p][local]]
			if !g.rules.RemovedGive && c.RemoveIn() == 1 {
				continue
			}
			u := g.rules.structure(Kind(k), c.Upgraded())
			bits += u.GivesBits
			cores += u.GivesCores
		}
	}
	return bits, cores
}

// removals counts down the marks, in the order of ids, and takes away what is
// due: its owner gets a part of the price, for the part of the health left
// (3.20).
func (g *Game) removals(s *State) {
	due := g.due[:0]
	for w, b := range s.Marked {
		for ; b != 0; b &= b - 1 {
			cell := w<<6 | bits.TrailingZeros64(b)
			s.Cells[cell].Mark -= markTurn
			if s.Cells[cell].RemoveIn() != 0 {
				continue
			}
			i := len(due) // insert by id: they are few
			due = append(due, uint16(cell))
			for ; i > 0 && s.Cells[due[i-1]].ID() > s.Cells[cell].ID(); i-- {
				due[i] = due[i-1]
			}
			due[i] = uint16(cell)
		}
	}
	for _, cell := range due {
		c := s.Cells[cell]
		p, k := c.Player(), c.Kind()
		paid := g.rules.Units[k].Cores
		if c.Upgraded() {
			paid += g.rules.Upgraded[k].Cores
		}
		u := g.rules.structure(k, c.Upgraded())
		refund := float32(float32(u.Refund*paid)*c.Health) / u.Health
		s.Cores[p] = tenths(s.Cores[p] + refund)
		if g.rec != nil {
			g.rec.Removed = append(g.rec.Removed, DeathEvent{positions[cell], k, p, c.ID(), true})
		}
		s.drop(int(cell))
	}
}
