package terminal

import (
	"math/bits"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/prng"
)

// PlayoutOrders is the most orders that Playout appends.
const PlayoutOrders = playoutTries + 7 + playoutStacks

const (
	playoutTries  = 6 // cells looked at, with up to 7 more
	playoutStacks = 2 // spawn orders at most
)

// playoutKinds is drawn from for a free cell, playoutMobile for a stack.
var (
	playoutKinds  = [16]Kind{Wall, Wall, Wall, Wall, Wall, Wall, Wall, Wall, Turret, Turret, Turret, Turret, Turret, Support, Support, Support}
	playoutMobile = [4]Kind{Scout, Scout, Demolisher, Interceptor}
)

// Playout appends random orders of seat p that are legal one after the other,
// at most PlayoutOrders, as a player without a plan might give them:
//
//   - in seven turns of eight it looks at 6 to 13 random cells of its half, a
//     free one gets a structure (wall 8 : turret 5 : support 3), an own
//     structure its upgrade or, one time in eight, the removal, if the cores
//     left pay for it;
//   - in three turns of four it spawns 1 or 2 stacks (recorded matches: about 1) on random free cells of
//     its edges (scouts 2 : demolishers 1 : interceptors 1), one time in four
//     as large as the bits left allow, else of any smaller size.
//
// It is made for search and benchmarks: no list of what is legal, a few draws
// and tests of boards instead.
func (g *Game) Playout(dst []sim.Order, s *State, p sim.Player, r *prng.Rand) []sim.Order {
	random := r.Uint64()
	occupied := s.Own[p]
	if random&7 != 0 {
		dst = g.playoutStructures(dst, s, p, &occupied, r, playoutTries+int(random>>3&7))
	}
	if random>>6&3 != 0 {
		dst = g.playoutSpawns(dst, s.Bits[p], p, &occupied, r, 1+int(random>>8&(playoutStacks-1)))
	}
	return dst
}

// playoutStructures gives the orders for structures and adds the cells of new
// ones to occupied.
func (g *Game) playoutStructures(dst []sim.Order, s *State, p sim.Player, occupied *bitboard.Diamond, r *prng.Rand, tries int) []sim.Order {
	purse := s.Cores[p]
	var done bitboard.Diamond // cells that have got an order
	for range tries {
		random := r.Uint64()
		local, _ := bits.Mul64(random, HalfCells)
		cell := int(localCell[p][local])
		if done.Has(cell) {
			continue
		}
		at := positions[cell]
		x, y := int(at.X), int(at.Y)
		if !occupied.Has(cell) {
			kind := playoutKinds[random&15]
			if price := g.rules.Units[kind].Cores; price <= purse {
				purse = tenths(purse - price)
				occupied.Add(cell)
				done.Add(cell)
				dst = append(dst, Place(kind, x, y))
			}
			continue
		}
		c := s.Cells[cell]
		if random>>4&7 == 0 {
			if c.RemoveIn() == 0 {
				done.Add(cell)
				dst = append(dst, RemoveAt(x, y))
			}
			continue
		}
		kind := c.Kind()
		if price := g.rules.Upgraded[kind].Cores; g.rules.Upgradable[kind] && !c.Upgraded() && price <= purse {
			purse = tenths(purse - price)
			done.Add(cell)
			dst = append(dst, UpgradeAt(x, y))
		}
	}
	return dst
}

// playoutSpawns gives the orders for mobile units.
func (g *Game) playoutSpawns(dst []sim.Order, purse float32, p sim.Player, occupied *bitboard.Diamond, r *prng.Rand, stacks int) []sim.Order {
	for range stacks {
		random := r.Uint64()
		// The first and the last cell of a row of the half are edge.
		edge, _ := bits.Mul64(random, Side)
		row := edge >> 1
		cell := int(localCell[p][row*(row+1)+edge&1*(2*row+1)])
		kind := playoutMobile[random&3]
		price := g.rules.Units[kind].Bits
		if occupied.Has(cell) || price <= 0 || price > purse {
			continue
		}
		n := uint64(purse / price)
		if random>>2&3 != 0 {
			n = 1 + (random>>32&0xffff)*n>>16
		}
		cost := float32(price * float32(n))
		purse = tenths(purse - cost)
		at := positions[cell]
		dst = append(dst, Spawn(kind, int(at.X), int(at.Y), int(n)))
	}
	return dst
}
