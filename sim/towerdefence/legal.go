package towerdefence

import (
	"math/bits"

	"moonfarm/sim"
)

// Legal holds the commands that the rules accept from one seat: five boards of
// the cells where a defense, an attack, an energy building or a tesla may be
// placed, and where a building may be removed; and one word with bit 0 for
// nothing and bit 1 for the curtain.
type Legal [6]uint64

// LegalOps holds the ops of the five boards of Legal, in order.
var LegalOps = [5]Op{OpDefense, OpAttack, OpEnergy, OpTesla, OpDeconstruct}

// Build returns the cells where kind k may be placed.
func (l *Legal) Build(k Kind) uint64 {
	if k == Tesla {
		return l[3]
	}
	return l[k&3]
}

// Curtain reports whether the curtain may be raised.
func (l *Legal) Curtain() bool { return l[5]&2 != 0 }

// Legal writes the commands the rules accept from seat p in s.
func (g *Game) Legal(dst *Legal, s *State, p sim.Player) {
	h := &s.Half[p]
	free := ^h.Occupied
	dst[0] = free & affords(h, g.price[OpDefense])
	dst[1] = free & affords(h, g.price[OpAttack])
	dst[2] = free & affords(h, g.price[OpEnergy])
	dst[3] = free & affords(h, g.price[OpTesla]) & -uint64(1-h.Teslas>>1) // MaxTeslas is 2
	dst[4] = h.Occupied
	dst[5] = 1
	if g.mayRaise(h, int(s.Round)) {
		dst[5] = 3
	}
}

// affords returns all ones if h has the energy, else 0.
func affords(h *Half, price int32) uint64 { return uint64(int64(price-h.Energy-1) >> 63) }

// AppendOrders appends the orders that the rules accept from seat p: nothing,
// then defense, attack, energy, tesla and deconstruct by cell, then the
// curtain.
func (g *Game) AppendOrders(dst []sim.Order, s *State, p sim.Player) []sim.Order {
	var l Legal
	g.Legal(&l, s, p)
	dst = append(dst, Nothing)
	for i, op := range LegalOps {
		dst = appendCells(dst, op, l[i])
	}
	if l.Curtain() {
		dst = append(dst, Curtain)
	}
	return dst
}

func appendCells(dst []sim.Order, op Op, cells uint64) []sim.Order {
	for ; cells != 0; cells &= cells - 1 {
		dst = append(dst, sim.Order(op)<<orderOpShift|sim.Order(bits.TrailingZeros64(cells)))
	}
	return dst
}
