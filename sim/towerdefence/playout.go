package towerdefence

import (
	"math/bits"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/prng"
)

// A playout buys energy buildings only while the income is at most
// PlayoutIncome or the energy at most PlayoutEnergy.
const (
	PlayoutIncome = 50
	PlayoutEnergy = 120
)

// Playout draws the order of seat p as the recorded "playout" games did:
// uniformly one of doing nothing, raising the curtain if possible, and the
// kinds of building that are affordable and have a free cell (energy buildings
// only while the income is at most 50 or the energy at most 120); then
// uniformly a free cell. It takes one number from r.
//
// Search and benchmarks call it as often as Step, so it uses tables instead of
// branches, which no processor could predict.
func (g *Game) Playout(s *State, p sim.Player, r *prng.Rand) sim.Order {
	h := &s.Half[p]
	random := r.Uint64()
	free := ^h.Occupied
	if free == 0 {
		return g.playoutFull(h, int(s.Round), random)
	}
	energy := h.Energy
	wants := (PlayoutIncome - g.Income(h)) & (PlayoutEnergy - energy) // negative: no more energy buildings
	// One bit for each kind that is not an option: the sign of what is lacking.
	no := uint32(energy-g.price[OpDefense])>>31 |
		uint32(energy-g.price[OpAttack])>>31<<1 |
		uint32(energy-g.price[OpEnergy]|wants)>>31<<2 |
		uint32(energy-g.price[OpTesla]|(MaxTeslas-1-int32(h.Teslas)))>>31<<3
	no |= uint32(energy-g.price[OpCurtain]|(s.Round-1-int32(h.Curtain))|(int32(b2u(h.Available))-1)) >> 31 << 4 // mayRaise
	list := &playoutOptions[no&31]
	pick, _ := bits.Mul64(random, list.n)
	op := list.ops >> (8 * pick & 63) & 7
	// Twice on to the next six bits where the cell is not free: a branch on a cell would be
	// mispredicted as often as it is taken.
	cell := random
	cell >>= 6 &^ -(free >> (cell & 63) & 1)
	cell >>= 6 &^ -(free >> (cell & 63) & 1)
	cell &= 63
	if free>>(cell&63)&1 == 0 {
		cell = freeCell(free, random>>18)
	}
	return sim.Order(op<<orderOpShift | cell&playoutCell[op])
}

// playoutFull is Playout on a half without a free cell.
func (g *Game) playoutFull(h *Half, round int, random uint64) sim.Order {
	if g.mayRaise(h, round) && random>>63 != 0 {
		return Curtain
	}
	return Nothing
}

// playoutCell is a mask for the cell of each op; 0 for ops without a cell.
var playoutCell = [8]uint64{OpDefense: 63, OpAttack: 63, OpEnergy: 63, OpTesla: 63}

// playoutOptions lists the ops that are options for each set of ops that are
// not: their number, and one op per byte.
var playoutOptions = func() (t [32]struct{ n, ops uint64 }) {
	for no := range t {
		t[no].n = 1 // nothing
		for i, op := range []Op{OpDefense, OpAttack, OpEnergy, OpTesla, OpCurtain} {
			if no>>i&1 == 0 {
				t[no].ops |= uint64(op) << (8 * t[no].n)
				t[no].n++
			}
		}
	}
	return t
}()

// freeCell draws a cell of free, which is not 0: the first of three draws of
// six bits that is free, else the cell with a drawn rank.
func freeCell(free, random uint64) uint64 {
	for range 3 {
		if free>>(random&63)&1 != 0 {
			return random & 63
		}
		random >>= 6
	}
	n := (random & 0xffff) * uint64(bits.OnesCount64(free)) >> 16
	return uint64(bitboard.Select(free, int(n)))
}
