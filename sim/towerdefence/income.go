package towerdefence

import "math/bits"

// Income is the energy that the round brings h, if it loses none of its energy
// buildings.
func (g *Game) Income(h *Half) int32 { return g.incomeFrom(h.Live & h.Standing(Energy)) }

// incomeFrom is the income of a round with these energy buildings.
func (g *Game) incomeFrom(buildings uint64) int32 {
	return g.income + g.perEnergy*int32(bits.OnesCount64(buildings))
}

// earn pays h the income of a round; pay are its energy buildings.
func (g *Game) earn(h *Half, pay uint64) { h.Energy += g.incomeFrom(pay) }

// pay takes the price of a command from h and notes what it scores.
func (g *Game) pay(h *Half, op Op) {
	h.Energy -= g.price[op]
	h.Ledger += g.entry[op]
}
