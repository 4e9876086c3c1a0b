package towerdefence

import (
	"math/bits"

	"moonfarm/sim"
	"moonfarm/sim/prng"
)

// Legal is what the rules accept from one seat: five boards of the cells where
// a defense, an attack, an energy building, a tesla may be placed and a building
// may be removed; and one word with bit 0 for nothing and bit 1 for the curtain.
type Legal [6]uint64

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

// affords is all ones if h has the energy, else 0.
func affords(h *Half, price int32) uint64 { return uint64(int64(price-h.Energy-1) >> 63) }

// AppendOrders appends the orders that are accepted from seat p: nothing, then
// defense, attack, energy, tesla and deconstruct by cell, then the curtain.
func (g *Game) AppendOrders(dst []sim.Order, s *State, p sim.Player) []sim.Order {
	var l Legal
	g.Legal(&l, s, p)
	dst = append(dst, Nothing)
	for i, op := range [5]Op{OpDefense, OpAttack, OpEnergy, OpTesla, OpDeconstruct} {
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

// Hash digests all of s that influences play: the score, but not how it came
// about, and, in the rhythm of release 3.0.2, not the ages of buildings.
func (g *Game) Hash(s *State) uint64 {
	x := prng.Mix(uint64(s.Round) + 1)
	mix := func(v uint64) { x = prng.Mix(x ^ v) }
	for p := range s.Half {
		h := &s.Half[p]
		mix(h.Occupied)
		mix(h.Live)
		mix(h.Extra0)
		mix(h.Extra1)
		mix(h.Type2)
		if g.regular {
			mix(h.Type1)
			mix(h.Type0)
		} else { // the phase of an attack building follows from its age, which other rhythms go by
			mix(h.Type1 & h.Type2)
			mix(h.Type0 & h.Type2)
			for cells := h.Occupied; cells != 0; cells &= cells - 1 {
				mix(uint64(h.PlacedIn(bits.TrailingZeros64(cells))))
			}
		}
		mix(h.Wait0)
		mix(h.Wait1)
		for i := range h.Own {
			mix(h.Own[i])
			mix(h.Far[i])
		}
		mix(uint64(uint32(h.Energy)))
		mix(uint64(g.Score(s, sim.Player(p))))
		mix(uint64(h.Base))
		curtain := max(int32(h.Curtain), s.Round-1) // one that has run out is like any other
		mix(uint64(uint16(curtain))<<16 | uint64(h.Failures)<<8 | b2u(h.Available))
		for _, t := range h.Tesla {
			ready := max(int32(t.Ready), s.Round) // one that waits for energy is as ready as any
			mix(uint64(ready)<<32 | uint64(uint16(t.Due))<<16 | uint64(t.Cell))
		}
	}
	return x
}

func b2u(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
