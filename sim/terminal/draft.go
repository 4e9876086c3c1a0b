package terminal

import (
	"math/bits"

	"moonfarm/sim"
)

// HalfSet is a set of cells of one player's half, by their numbers of Local.
type HalfSet [4]uint64

// Add adds a cell.
func (h *HalfSet) Add(local int) { h[local>>6&3] |= 1 << (local & 63) }

// Drop removes a cell.
func (h *HalfSet) Drop(local int) { h[local>>6&3] &^= 1 << (local & 63) }

// Has reports whether a cell is in the set.
func (h *HalfSet) Has(local int) bool { return h[local>>6&3]>>(local&63)&1 != 0 }

// wholeHalf has all cells of a half.
var wholeHalf = HalfSet{^uint64(0), ^uint64(0), ^uint64(0), 1<<(HalfCells-192) - 1}

// Draft is a turn of one player in the making: the state after the commands so far, and what they
// have changed. Begin begins it, Take adds a command. The order of the commands matters only for
// ids, and where the rules would accept them in one order and not in another.
type Draft struct {
	// View is the state after the commands so far. The mobile units of the turn are not on the
	// board: they wait on the edge cells.
	View   State
	Player sim.Player

	Waiting uint32                        // edge cells on which mobile units wait, as bits by Edge
	Units   [EdgeCells][MobileKinds]int32 // mobile units that wait, by Edge and Kind − Scout

	// Changes of this turn. A mark that an upgrade has taken away does not count.
	Placed   [Structures]HalfSet // by Kind
	Upgraded HalfSet
	Marked   HalfSet

	// Cells of the commands that the rules accept if the purse pays for them.
	Free       HalfSet             // without a structure or a mobile unit that waits
	Upgradable [Structures]HalfSet // own structures that can be upgraded, by Kind
	Unmarked   HalfSet             // own structures without a mark for removal
	Built      uint32              // edge cells with a structure, as bits by Edge
}

// Begin begins the turn of player p in state s, without commands.
func (g *Game) Begin(d *Draft, s *State, p sim.Player) {
	d.View = *s
	d.Player = p
	d.Waiting, d.Built = 0, 0
	d.Units = [EdgeCells][MobileKinds]int32{}
	d.Placed, d.Upgraded, d.Marked = [Structures]HalfSet{}, HalfSet{}, HalfSet{}
	d.Free, d.Unmarked = wholeHalf, HalfSet{}
	for k := range s.Ages[p] {
		ages, upgradable := &s.Ages[p][k], HalfSet{}
		for _, local := range ages.Cell[:ages.N] {
			c := &s.Cells[localCell[p][local]]
			if g.rules.Upgradable[k] && !c.Upgraded() {
				upgradable.Add(int(local))
			}
			if c.RemoveIn() == 0 {
				d.Unmarked.Add(int(local))
			}
			d.Free.Drop(int(local))
			d.Built |= edgeBit[local]
		}
		d.Upgradable[k] = upgradable
	}
}

// edgeBit holds 1 << Edge by number of Local, 0 for cells that are not on the edges.
var edgeBit = func() (t [HalfCells + 1]uint32) {
	for e := range EdgeCells {
		t[edgeLocal(e)] = 1 << e
	}
	return t
}()

// Take adds a command to the draft, and reports whether the rules accept it. Of mobile units it
// buys as many as the bits pay for. It ignores Swap. The orders of the referee are not accepted.
func (g *Game) Take(d *Draft, o sim.Order) bool {
	p, v := d.Player, &d.View
	cell, k := ownCell(o, p), kindOf(o)
	if cell == 0 {
		return false
	}
	local := int(localOf[cell])
	switch opOf(o) {
	case OpPlace:
		if !d.Free.Has(local) || !g.build(v, p, k, cell) {
			return false
		}
		d.Placed[k].Add(local)
		if d.Unmarked.Add(local); g.rules.Upgradable[k] {
			d.Upgradable[k].Add(local)
		}
		d.Free.Drop(local)
		d.Built |= edgeBit[local]
		return true
	case OpUpgrade:
		if !g.improve(v, p, cell) {
			return false
		}
		d.Upgraded.Add(local)
		d.Upgradable[v.Cells[cell].Kind()].Drop(local)
		d.Marked.Drop(local)
		d.Unmarked.Add(local)
		return true
	case OpRemove:
		if _, ok := g.condemn(v, cell); !ok {
			return false
		}
		d.Marked.Add(local)
		d.Unmarked.Drop(local)
		return true
	case OpSpawn:
		return g.enlist(d, k, local, int(min(max(1, uint64(o>>orderCountShift)), uint64(g.mobile))))
	}
	return false
}

// enlist buys up to n mobile units, which wait on a cell, and reports whether it bought any.
func (g *Game) enlist(d *Draft, k Kind, local, n int) bool {
	bit := edgeBit[local]
	if !k.Mobile() || bit == 0 || d.Built&bit != 0 {
		return false
	}
	v, p := &d.View, d.Player
	n, v.Bits[p] = Buy(v.Bits[p], g.rules.Units[k].Bits, n)
	if n == 0 {
		return false
	}
	v.NextID += uint32(n)
	d.Units[bits.TrailingZeros32(bit)][k-Scout] += int32(n)
	d.Waiting |= bit
	d.Free.Drop(local)
	return true
}

// TakeTurn adds the commands of a whole turn in the order in which Deploy carries them out: up to
// Info.MaxOrders, the first line before the second, without the referee's.
func (g *Game) TakeTurn(d *Draft, orders []sim.Order) {
	orders = orders[:min(len(orders), g.info.MaxOrders)]
	second := false
	for _, o := range orders {
		switch line(o) {
		case 0:
			g.Take(d, o)
		case 1:
			second = true
		}
	}
	if !second {
		return
	}
	for _, o := range orders {
		if line(o) == 1 {
			g.Take(d, o)
		}
	}
}
