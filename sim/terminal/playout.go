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
				purse = Tenths(purse - price)
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
			purse = Tenths(purse - price)
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
		edge, _ := bits.Mul64(random, EdgeCells)
		cell := int(localCell[p][edgeLocal(int(edge))])
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
		purse = Tenths(purse - cost)
		at := positions[cell]
		dst = append(dst, Spawn(kind, int(at.X), int(at.Y), int(n)))
	}
	return dst
}

// Exchange sums up an action phase, by player.
type Exchange struct {
	Breaches   [2]int32   // units of the player that scored
	Health     [2]float32 // health the player lost by breaches of the enemy
	Cores      [2]float32 // cores it earned by its own
	Structures [2]int32   // structures it lost …
	Value      [2]float32 // … what it had paid for them, in cores …
	Damage     [2]float32 // … and health lost by all its structures, those that fell and those that stand
}

// Simulate plays the deployment and the action phase of s with the orders of
// both sides and leaves in dst the state at its end, before the restore (which
// is Restore's: the game may go on from there). s is not changed, and dst may
// be s. It is what a search inside a player asks again and again: it allocates
// nothing, and costs a copy of the state more than the turn itself.
func (g *Game) Simulate(dst, s *State, t *sim.Turn) Exchange {
	if dst != s {
		*dst = *s
	}
	g.Deploy(dst, t)
	var x Exchange
	for p := range 2 {
		x.Health[p], x.Cores[p] = dst.Health[p], dst.Cores[p]
		x.count(g, dst, p, 1)
	}
	g.action.scored = [2]int32{}
	g.Action(dst)
	for p := range 2 {
		x.Health[p] -= dst.Health[p]
		x.Cores[p] = dst.Cores[p] - x.Cores[p]
		x.count(g, dst, p, -1)
	}
	x.Breaches = g.action.scored
	return x
}

// count adds the structures of a player, or with sign −1 takes them off.
func (x *Exchange) count(g *Game, s *State, p int, sign int32) {
	for k := range s.Ages[p] {
		list := &s.Ages[p][k]
		x.Structures[p] += sign * int32(list.N)
		for _, local := range list.Cell[:list.N] {
			c := s.Cells[localCell[p][local]]
			x.Value[p] += float32(float32(sign) * g.rules.Paid(Kind(k), c.Upgraded()))
			x.Damage[p] += float32(float32(sign) * c.Health)
		}
	}
}
