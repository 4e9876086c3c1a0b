package towerdefence

import (
	"math/bits"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/prng"
)

// The income from which and the energy up to which a playout still buys energy
// buildings.
const (
	playoutIncome = 50
	playoutEnergy = 120
)

// Playout draws the order of seat p as the recorded "playout" games did:
// uniformly one of doing nothing, raising the curtain if it may be, and the
// kinds of building there is energy and a free cell for (energy buildings only
// while the income is at most 50 or the energy at most 120); then uniformly a
// free cell. It takes one number from r.
//
// It is made for search and benchmarks, where it costs as much as the step:
// hence the list of options in the nibbles of a word instead of branches.
func (g *Game) Playout(s *State, p sim.Player, r *prng.Rand) sim.Order {
	h := &s.Half[p]
	free := ^h.Occupied
	random := r.Uint64()
	if free == 0 {
		if g.mayRaise(h, s.Round) && random>>63 != 0 {
			return Curtain
		}
		return Nothing
	}
	energy := h.Energy
	income := g.income + g.perEnergy*int32(bits.OnesCount64(h.Live&h.Type2&h.Type0))
	options, n := uint64(OpNothing), uint(4)
	add := func(op Op, no int32) { // no < 0: not an option
		yes := uint64(^(no >> 31) & 7)
		options |= uint64(op) & yes << n
		n += uint(yes & 4)
	}
	add(OpDefense, energy-g.cheap[OpDefense].price)
	add(OpAttack, energy-g.cheap[OpAttack].price)
	add(OpEnergy, (energy-g.cheap[OpEnergy].price)|((playoutIncome-income)&(playoutEnergy-energy)))
	add(OpTesla, (energy-g.tesla.price)|(MaxTeslas-1-int32(h.Teslas)))
	if h.Available && g.mayRaise(h, s.Round) {
		add(OpCurtain, 0)
	}
	pick, _ := bits.Mul64(random, uint64(n/4))
	op := options >> (4 * pick) & 7
	if op == uint64(OpNothing) || op == uint64(OpCurtain) {
		return sim.Order(op) << orderOpShift
	}
	return sim.Order(op)<<orderOpShift | sim.Order(freeCell(free, random))
}

// freeCell draws a cell of free, which is not 0: the first of seven draws of
// six bits that is free, else by counting. Seldom more than two are looked at,
// which is cheaper than selecting the n-th bit.
func freeCell(free, random uint64) int {
	for range 7 {
		if free>>(random&63)&1 != 0 {
			return int(random & 63)
		}
		random >>= 6
	}
	n := int(random) * bits.OnesCount64(free) >> (64 - 7*6)
	return bitboard.Select(free, n)
}
