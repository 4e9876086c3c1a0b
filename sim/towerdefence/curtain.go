package towerdefence

import "moonfarm/sim"

// resetCurtain makes both curtains available again in the rounds for it, and
// keeps the counters of curtains long gone from overflowing.
func (g *Game) resetCurtain(a, b *Half, r int) {
	if g.resets[r>>6&7]>>(r&63)&1 == 0 {
		return
	}
	a.Available, b.Available = true, true
	a.Curtain = max(a.Curtain, int16(r-1))
	b.Curtain = max(b.Curtain, int16(r-1))
}

// CurtainReset returns the number of rounds, from the given one on, before the
// round at whose end both curtains become available.
func (g *Game) CurtainReset(round int32) int {
	period := int32(g.rules.CurtainResetPeriod)
	if rest := round % period; round == 0 || rest != 0 {
		return int(period - rest)
	}
	return 0
}

// mayRaise reports whether the curtain may be raised in round r.
func (g *Game) mayRaise(h *Half, r int) bool {
	return h.Available && h.Energy >= g.price[OpCurtain] && int(h.Curtain) < r
}

// raiseCurtain protects the half in this round and the following ones.
func (g *Game) raiseCurtain(h *Half, r int) bool {
	if !g.mayRaise(h, r) {
		return false
	}
	h.Available = false
	g.pay(h, OpCurtain)
	h.Curtain = int16(r) + g.curtainRounds - 1
	return true
}

// CurtainTime returns the original's counter after the round before s.Round: 0
// or more while the curtain is up.
func (s *State) CurtainTime(p sim.Player) int {
	return int(s.Half[p].Curtain) - int(s.Round) + 1
}
