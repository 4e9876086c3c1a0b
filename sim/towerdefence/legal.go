package towerdefence

import (
	"math/bits"

	"moonfarm/sim"
	"moonfarm/sim/prng"
)

// Legal is what the rules accept from one seat in one state.
type Legal struct {
	Build       [5]uint64 // by Kind (entry 3 unused): cells where it may be placed
	Deconstruct uint64    // cells with a building to remove
	Curtain     bool
}

// Legal returns the commands the rules accept from seat p in s.
func (g *Game) Legal(s *State, p sim.Player) Legal {
	h := &s.Half[p]
	l := Legal{Deconstruct: h.Occupied, Curtain: g.mayRaise(h, s.Round)}
	free := ^h.Occupied
	l.Build[Defense] = free & affords(h, g.price[OpDefense])
	l.Build[Attack] = free & affords(h, g.price[OpAttack])
	l.Build[Energy] = free & affords(h, g.price[OpEnergy])
	l.Build[Tesla] = free & affords(h, g.price[OpTesla]) & -uint64(1-h.Teslas>>1) // MaxTeslas is 2
	return l
}

// affords is all ones if h has the energy, else 0.
func affords(h *Half, price int32) uint64 { return uint64(int64(price-h.Energy-1) >> 63) }

// AppendOrders appends the orders that are accepted from seat p: nothing, then
// defense, attack, energy, tesla and deconstruct by cell, then the curtain.
func (g *Game) AppendOrders(dst []sim.Order, s *State, p sim.Player) []sim.Order {
	l := g.Legal(s, p)
	dst = append(dst, Nothing)
	for _, k := range Kinds {
		dst = appendCells(dst, Op(k)+1, l.Build[k])
	}
	dst = appendCells(dst, OpDeconstruct, l.Deconstruct)
	if l.Curtain {
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

// Hash digests all of s that influences play: not the ages of buildings other
// than the order of the teslas, and nothing that a cell keeps of a building
// long gone.
func (g *Game) Hash(s *State) uint64 {
	x := prng.Mix(uint64(s.Round) + 1)
	mix := func(v uint64) { x = prng.Mix(x ^ v) }
	for p := range s.Half {
		h := &s.Half[p]
		mix(h.Occupied)
		mix(h.Live)
		mix(h.Extra0)
		mix(h.Extra1)
		mix(h.Type2 & h.Occupied)
		mix(h.Type1 & h.Occupied)
		mix(h.Type0 & h.Occupied)
		mix(h.Wait0)
		mix(h.Wait1)
		for i := range h.Own {
			mix(h.Own[i])
			mix(h.Far[i])
		}
		mix(h.Bought)
		mix(uint64(uint32(h.Energy))<<32 | uint64(uint32(h.Spent)))
		mix(uint64(uint32(h.Exposed)))
		mix(uint64(h.Base))
		curtain := max(int32(h.Curtain), s.Round-1) // one that has run out is like any other
		mix(uint64(uint16(curtain))<<16 | uint64(h.Failures)<<8 | b2u(h.Available))
		for _, t := range h.Tesla {
			mix(uint64(uint16(t.Ready))<<32 | uint64(uint16(t.Due))<<16 | uint64(t.Cell))
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
