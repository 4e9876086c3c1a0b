package towerdefence

import (
	"math/bits"

	"moonfarm/sim"
)

// cheapPlacement reports whether place carries out the order: it does nothing
// or places a cheap building, and the player has no failures. Four of five
// orders are such. execute carries out all others.
func cheapPlacement(h *Half, o sim.Order) bool {
	return o&orderUsed|sim.Order(h.Failures)<<orderBits <= orderPlain
}

// place carries out a cheapPlacement in round r and returns the bit of the
// building placed. The processor cannot predict which of these orders comes, so
// they take one path without a branch: nothing is treated as a building without
// a bit and a price. (Refusals are rare, hence predicted.)
func (g *Game) place(h *Half, o sim.Order, r int) uint64 {
	buy := &g.cheap[r&3][o>>orderOpShift&3]
	poor := uint64(int64(int(h.Energy)-int(buy.price)) >> 63)
	bit := uint64(1) << (o & orderCellMask) & buy.allow &^ h.Occupied &^ poor
	if bit|uint64(buy.nothing) == 0 {
		h.Failures = 1
		return 0
	}
	h.Energy -= buy.price
	h.Ledger += buy.entry
	h.Occupied |= bit
	h.Type2 |= bit & buy.type2
	h.Type1 |= bit & buy.type1
	h.Type0 |= bit & buy.type0
	h.setBorn(bit, r)
	return bit
}

// setBorn stores the round in which the building at the bit was placed.
func (h *Half) setBorn(bit uint64, r int) {
	h.Born[bits.TrailingZeros64(bit)] = uint8(r)
	if r >= 256 {
		h.BornLate |= bit // rounds only grow, so it is never cleared
	}
}

// execute carries out the orders that are not a cheapPlacement, and counts
// failures. Like place it returns the bit of a cheap building placed.
func (g *Game) execute(h *Half, o sim.Order, r int) uint64 {
	bit := uint64(1) << (o & orderCellMask)
	done := false
	switch op := Op(o >> orderOpShift & 7); op {
	case OpNothing:
		h.Failures += min(uint8(o>>orderFailShift&3), 255-h.Failures)
		return 0
	case OpDefense, OpAttack, OpEnergy: // a well-formed command resets the failures, also those of too many fields
		h.Failures = 0
		return g.place(h, o, r)
	case OpDeconstruct:
		done = g.Deconstruct(h, bit)
	case OpTesla:
		done = g.buildTesla(h, bit, r)
	case OpCurtain:
		done = g.raiseCurtain(h, r)
	}
	h.Failures = 1
	if done {
		h.Failures = 0
	}
	return 0
}

// Deconstruct removes the own building at the bit, finished or not, and reports whether
// there is one. It does not read or write Born and BornLate.
func (g *Game) Deconstruct(h *Half, bit uint64) bool {
	if h.Occupied&bit == 0 {
		return false
	}
	kind, _ := h.Kind(bits.TrailingZeros64(bit))
	worth := g.health(h, kind, bit) * g.rules.Buildings[kind].DestroyMultiplier
	h.Live &^= bit
	h.Extra1 &^= bit
	h.Wait0 &^= bit
	h.Wait1 &^= bit
	h.vacate(bit)
	h.Ledger -= g.refundEntry + int64(worth)
	h.Energy += g.refund
	if kind == Tesla {
		h.dropTeslas()
	}
	return true
}
