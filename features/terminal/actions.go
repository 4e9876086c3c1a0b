package terminal

import (
	"math"
	"math/bits"
	"slices"

	"moonfarm/features"
	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	tm "moonfarm/sim/terminal"
)

// The grid form has one head for each kind of mobile unit on each edge cell, then one head for each
// cell of the own half.
const (
	mobileKinds   = tm.MobileKinds
	stackHeads    = edgeCells * mobileKinds
	stackChoices  = 32 // 0 … 30 units, or as many as the player can pay for
	stackAll      = stackChoices - 1
	cellHeads     = tm.HalfCells
	cellChoices   = 16 // see cellPlace
	heads         = stackHeads + cellHeads
	stackWords    = stackHeads * stackChoices / 64
	cellWords     = (cellHeads*cellChoices + 63) / 64
	gridMaskWords = stackWords + cellWords
)

// A choice for a cell is up to three commands, which are given in this order:
//
//	bits 0–1 place: 0 nothing, 1 a wall, 2 a support, 3 a turret
//	bit  2   upgrade
//	bit  3   mark for removal
const (
	cellPlace   = 3
	cellUpgrade = 4
	cellRemove  = 8
)

// Steps of the fixed order in which choices are carried out: the j-th is the choice of head
// j·step mod n of its kind. The steps are coprime to the number of heads, so that the order has
// every head. Consecutive heads are far apart: an action that asks for more than the player can pay
// for, as random actions do, does not fill one corner of the arena.
const (
	cellStep  = 97
	stackStep = 37
)

// Actions implements features.ActionSpace for C1 Terminal: a MultiDiscrete
// space over the grid, one action for the whole turn.
type Actions struct {
	rules tm.Rules
	heads []int

	most   int // orders of one turn
	mobile int // mobile units that a player can buy in one turn

	// Prices: of structures by cellPlace, and the lowest of upgrades and of mobile units.
	// Commands that do not exist have an infinite price.
	place             [cellPlace + 1]float32
	upgrade, cheapest float32
	least             float32 // lowest of place and upgrade
}

// NewActions returns the grid form for the rules of g.
func NewActions(g *tm.Game) *Actions {
	a := &Actions{rules: g.Rules(), heads: make([]int, heads), most: g.Info().MaxOrders}
	a.mobile = a.rules.MaxMobile()
	never := float32(math.Inf(1))
	a.place[0], a.upgrade, a.cheapest = never, never, never
	for k := range tm.Structures {
		a.place[k+1] = a.rules.Units[k].Cores
		if a.rules.Upgradable[k] {
			a.upgrade = min(a.upgrade, a.rules.Upgraded[k].Cores)
		}
		a.cheapest = min(a.cheapest, a.rules.Units[int(tm.Scout)+k].Bits)
	}
	a.least = min(slices.Min(a.place[:]), a.upgrade)
	for h := range a.heads {
		a.heads[h] = stackChoices
		if h >= stackHeads {
			a.heads[h] = cellChoices
		}
	}
	return a
}

// Heads returns 84 heads of 32 choices, then 210 of 16.
func (a *Actions) Heads() []int { return a.heads }

// Doc explains the choices.
func (a *Actions) Doc() string {
	return "One choice a turn for each of 294 heads.\n" +
		"  Heads 0 … 83: mobile units; head 3·e + k is for edge cell e and kind k (0 scout, 1 demolisher, 2 interceptor). Choices 0 … 30 are the number\n" +
		"  of units, 31 is as many as the bits buy. Edge cells are numbered from the own end, two in each row y: e = 2y the left one, (13−y, y), e = 2y+1 the right one, (14+y, y).\n" +
		"  Heads 84 … 293: structures; head 84 + i is for own cell i, numbered from the own end by rows, in each from the left: i = y(y+1) + x − 13 + y.\n" +
		"  A choice is place + 4·upgrade + 8·remove, with place 0 nothing, 1 a wall, 2 a support, 3 a turret: up to three commands, given in this order.\n" +
		"  Structures come first, cell 97·j mod 210 as the j-th (j = 0 … 209), then mobile units, head 37·j mod 84 as the j-th. A command that the rules\n" +
		"  would reject when its turn comes, or for which the purse is empty, is left out; of mobile units, as many are bought as the bits reach for.\n" +
		"  A bit of the mask is set if the rules accept all commands of the choice when it is the only one in this turn.\n" +
		"  Orders are found head by head: each gets the choice that stands for the same commands, but for their order and for those that have no effect;\n" +
		"  the order in which structures and units are bought, and so that of their ids, is lost. A removal called off by an upgrade after it counts as\n" +
		"  without effect. A head is −1, and the others stand, if its commands are in the other line than their kind's, if they buy more than 30 units and\n" +
		"  leave bits over, or if in this order of buying the purse would not pay for them (rounding can make it depend on the order).\n" +
		"  Of 131,894 recorded turns of a player 24 have such a head, 22 of them in recordings of 2022: always for an upgrade that was sent in the second\n" +
		"  line, with the mobile units."
}

// Mask writes 95 words: 32 bits for each of the 84 heads of mobile units, 16 bits for each of the
// 210 heads of cells, and 32 bits that are 0.
func (a *Actions) Mask(dst []uint64, s *tm.State, p sim.Player) {
	features.CheckLength("mask", len(dst), gridMaskWords)
	m := (*[gridMaskWords]uint64)(dst)
	built := a.maskCells((*[cellWords]uint64)(m[stackWords:]), s, p)
	a.maskStacks((*[stackWords]uint64)(m[:]), s.Bits[p], built)
}

// maskCells writes the mask of the cells: the same choices for all free cells, and the legal choices
// for cells with a structure. It returns the edge cells with a structure, as bits.
func (a *Actions) maskCells(dst *[cellWords]uint64, s *tm.State, p sim.Player) (built uint32) {
	free := a.freeChoices(s.Cores[p]) * 0x0001000100010001
	for w := range dst {
		dst[w] = free
	}
	dst[cellWords-1] = free & 0xffffffff
	for k := range s.Ages[p] {
		upgrade := uint64(0)
		if a.rules.Upgradable[k] && s.Cores[p] >= a.rules.Upgraded[k].Cores {
			upgrade = 1<<cellUpgrade | 1<<(cellUpgrade|cellRemove)
		}
		ages := &s.Ages[p][k]
		for _, i := range ages.Cell[:ages.N] {
			at := &places[p][i]
			c := s.Cells[at.cell%bitboard.DiamondSpan]
			// Branches are avoided, because processors could not predict them.
			base := flag(c.Upgraded()) - 1 // all ones if it is not upgraded
			choices := 1 | upgrade&base | flag(c.RemoveIn() == 0)<<cellRemove
			dst[i>>2] ^= (free&0xffff ^ choices) << (i & 3 * 16)
			built |= at.edge
		}
	}
	return built
}

// maskStacks writes the mask of the mobile units: on a free edge cell, all numbers of units that the
// player can pay for.
func (a *Actions) maskStacks(dst *[stackWords]uint64, purse float32, built uint32) {
	var free [mobileKinds]uint64
	for k := range free {
		n, _ := tm.Buy(purse, a.rules.Units[int(tm.Scout)+k].Bits, stackAll-1)
		free[k] = 2<<n - 1
		if n > 0 {
			free[k] |= 1 << stackAll
		}
	}
	// Two edge cells have three words.
	one, two, three := free[0]|free[1]<<32, free[2]|free[0]<<32, free[1]|free[2]<<32
	for w := 0; w < stackWords; w += 3 {
		dst[w], dst[w+1], dst[w+2] = one, two, three
	}
	for ; built != 0; built &= built - 1 {
		e := bits.TrailingZeros32(built)
		w := e >> 1 * 3 % stackWords
		if e&1 == 0 {
			dst[w], dst[w+1] = 1|1<<32, 1|dst[w+1]&^0xffffffff
		} else {
			dst[w+1], dst[w+2] = 1<<32|dst[w+1]&0xffffffff, 1|1<<32
		}
	}
}

// freeChoices returns the mask of the choices for a free cell that a player with these cores can pay
// for.
func (a *Actions) freeChoices(cores float32) uint64 {
	choices := uint64(1)
	for k := range tm.Structures {
		price := a.rules.Units[k].Cores
		if cores < price {
			continue
		}
		choices |= 1<<(k+1) | 1<<(k+1|cellRemove)
		if a.rules.Upgradable[k] && tm.Tenths(cores-price) >= a.rules.Upgraded[k].Cores {
			choices |= 1<<(k+1|cellUpgrade) | 1<<(k+1|cellUpgrade|cellRemove)
		}
	}
	return choices
}
