package towerdefence

import "math/bits"

// Income returns the energy that the round brings h if h loses no energy
// building in it.
func (g *Game) Income(h *Half) int32 { return g.incomeFrom(h.Live & h.Standing(Energy)) }

// incomeFrom returns the income of a round with these energy buildings.
func (g *Game) incomeFrom(buildings uint64) int32 {
	return g.income + g.perEnergy*int32(bits.OnesCount64(buildings))
}

// earn pays h the income of a round from the energy buildings pay.
func (g *Game) earn(h *Half, pay uint64) { h.Energy += g.incomeFrom(pay) }

// pay subtracts the price of a command from h's energy and adds its score.
func (g *Game) pay(h *Half, op Op) {
	h.Energy -= g.price[op]
	h.Ledger += g.entry[op]
}
