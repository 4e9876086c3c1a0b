package terminal

import (
	"math/bits"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/prng"
)

// PlayoutOrders is the greatest number of orders that Playout appends.
const PlayoutOrders = playoutTries + 7 + playoutStacks

const (
	playoutTries  = 6 // least number of random cells; up to 7 more are drawn
	playoutStacks = 2 // greatest number of spawn orders
)

// playoutKinds and playoutMobile hold the kinds of structures and mobile units, with the frequency
// at which Playout draws them.
var (
	playoutKinds  = [16]Kind{Wall, Wall, Wall, Wall, Wall, Wall, Wall, Wall, Turret, Turret, Turret, Turret, Turret, Support, Support, Support}
	playoutMobile = [4]Kind{Scout, Scout, Demolisher, Interceptor}
)

// Playout appends random orders of seat p, at most PlayoutOrders, which are legal one after the
// other:
//
//   - With probability 7/8 it draws 6 to 13 cells of the own half. A free cell gets a structure
//     (wall 8 : turret 5 : support 3); an own structure is upgraded or, with probability 1/8,
//     marked for removal; if the player can pay for it.
//   - With probability 3/4 it spawns 1 or 2 stacks (recorded matches have about 1) on random free
//     edge cells (scouts 2 : demolishers 1 : interceptors 1). With probability 1/4 a stack has as
//     many units as the player can pay for, otherwise a random smaller number.
//
// It is fast enough for search and benchmarks: it makes no list of legal orders, but draws cells
// and tests boards.
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

// playoutStructures appends the orders for structures and adds the cells of new structures to
// occupied.
func (g *Game) playoutStructures(dst []sim.Order, s *State, p sim.Player, occupied *bitboard.Diamond, r *prng.Rand, tries int) []sim.Order {
	purse := s.Cores[p]
	var done bitboard.Diamond // cells that have an order
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

// playoutSpawns appends the orders for mobile units.
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

// Exchange holds the results of an action phase, by player.
type Exchange struct {
	Breaches   [2]int32   // units of the player that breached
	Health     [2]float32 // health that the player lost by the enemy's breaches
	Cores      [2]float32 // cores that the player earned by its breaches
	Structures [2]int32   // structures that the player lost
	Value      [2]float32 // price of the structures lost, in cores
	Damage     [2]float32 // health lost by the player's structures, destroyed or not
}

// Simulate plays the deployment and the action phase of s with the orders of both players, and
// stores the state at the end in dst. The caller may continue with Restore. Simulate changes s only
// if dst is s. Searches call it often: it does not allocate, and costs one copy of the state more
// than the turn itself.
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

// count adds the structures of a player, or subtracts them if sign is −1.
func (e *Exchange) count(g *Game, s *State, p int, sign int32) {
	for k := range s.Ages[p] {
		list := &s.Ages[p][k]
		e.Structures[p] += sign * int32(list.N)
		for _, local := range list.Cell[:list.N] {
			c := s.Cells[localCell[p][local]]
			e.Value[p] += float32(float32(sign) * g.rules.Paid(Kind(k), c.Upgraded()))
			e.Damage[p] += float32(float32(sign) * c.Health)
		}
	}
}
