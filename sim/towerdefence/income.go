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

// Purchase returns the price of an op's command, and what carrying it out adds to
// Half.Ledger.
func (g *Game) Purchase(op Op) (price int32, entry int64) { return g.price[op&7], g.entry[op&7] }

// Shot returns the energy that a tesla tower pays for a shot, and what the shot
// adds to Half.Ledger.
func (g *Game) Shot() (price int32, entry int64) { return g.shotPrice, g.shotEntry }

// pay subtracts the price of a command from h's energy and adds its score.
func (g *Game) pay(h *Half, op Op) {
	h.Energy -= g.price[op]
	h.Ledger += g.entry[op]
}
