package terminal

import (
	"math/bits"
	"slices"

	"moonfarm/sim"
	tm "moonfarm/sim/terminal"
)

// First choices of each command: commands on own cells, stacks of mobile units on edge cells, and
// the end of the turn.
const (
	choicePlace   = 0 // + 210·kind + cell
	choiceUpgrade = choicePlace + tm.Structures*tm.HalfCells
	choiceRemove  = choiceUpgrade + tm.HalfCells
	choiceStack   = choiceRemove + tm.HalfCells // + 6·stack + size, see stackAt
	choiceEnd     = choiceStack + stackHeads*sizesOfStack
	choices       = choiceEnd + 1
	choiceWords   = (choices + 63) / 64
)

// stackAt returns the head of Actions to which a stack belongs, by its place in the order of the
// choices, and the place of a head: edge cells come from the front to the own end, and on each the
// kinds from interceptors to scouts. Ids follow this order, and decide who shoots first and which of
// two equal targets is shot at. Of all orders tried, it changes the fewest fights of recorded turns.
func stackAt(h int) int { return stackHeads - 1 - h }

// stackSizes are the numbers of units of a stack. The first is as many as the bits buy. The second
// may be chosen again and again.
var stackSizes = [sizesOfStack]int{0, 10, 5, 3, 2, 1}

const (
	sizesOfStack = 6
	sizeAll      = 0
	sizeAgain    = 1
)

// unitsLeft holds, by size, the greatest number for which this size and the later ones suffice. All
// smaller numbers are sums of these sizes, too.
var unitsLeft = [sizesOfStack + 1]int32{1 << 30, 1 << 30, 11, 6, 3, 1, 0}

// draft is the turn of a seat in the making.
type draft struct {
	tm.Draft
	start *tm.State  // at the start of the turn
	purse [2]float32 // cores and bits at the start
	last  int        // the last choice; −1: none
	given int        // orders so far
	ended bool
}

// begin begins the turn of seat p in state s.
func (d *draft) begin(g *tm.Game, s *tm.State, p sim.Player) {
	g.Begin(&d.Draft, s, p)
	d.start, d.purse = s, [2]float32{s.Cores[p], s.Bits[p]}
	d.last, d.given, d.ended = -1, 0, false
}

// take carries out a choice. A choice that is not legal ends the turn.
func (d *draft) take(g *tm.Game, r *tm.Rules, c int) (ended bool) {
	d.ended = d.ended || c < 0 || c >= choiceEnd || !d.ahead(c) || !d.carryOut(g, r, c)
	if !d.ended {
		d.last = c
		d.given++
	}
	return d.ended
}

// ahead reports whether a choice comes after the last one, or is a stack that may be chosen again.
func (d *draft) ahead(c int) bool {
	return c > d.last || c == d.last && c >= choiceStack && (c-choiceStack)%sizesOfStack == sizeAgain
}

// carryOut carries out a choice below choiceEnd, and reports whether it is legal.
func (d *draft) carryOut(g *tm.Game, r *tm.Rules, c int) bool {
	if c < choiceStack {
		at := &half[d.Player][c%tm.HalfCells]
		x, y := int(at.x), int(at.y)
		switch {
		case c >= choiceRemove:
			return g.Take(&d.Draft, tm.RemoveAt(x, y))
		case c >= choiceUpgrade:
			return g.Take(&d.Draft, tm.UpgradeAt(x, y))
		}
		return g.Take(&d.Draft, tm.Place(tm.Kind(c/tm.HalfCells), x, y))
	}
	h, size := stackAt((c-choiceStack)/sizesOfStack), (c-choiceStack)%sizesOfStack
	e, k := h/mobileKinds, tm.Scout+tm.Kind(h%mobileKinds)
	n := stackSizes[size]
	if size == sizeAll {
		n = d.affords(r, k, maxUnits)
	} else if d.affords(r, k, n) < n {
		return false
	}
	at := &half[d.Player][edges[e]]
	return n > 0 && g.Take(&d.Draft, tm.Spawn(k, int(at.x), int(at.y), n))
}

const maxUnits = 1 << 30

// affords returns the number of units of a kind, at most n, that the bits left buy.
func (d *draft) affords(r *tm.Rules, k tm.Kind, n int) int {
	n, _ = tm.Buy(d.View.Bits[d.Player], r.Units[k].Bits, n)
	return n
}

// orInto adds a set of cells to the mask, from bit at on.
func orInto(dst *[choiceWords]uint64, at int, set *tm.HalfSet) {
	w, shift := at>>6, at&63
	for i, b := range set {
		dst[w+i] |= b << shift
		dst[w+i+1] |= b >> 1 >> (63 - shift)
	}
}

// mask writes the legal choices.
func (d *draft) mask(dst *[choiceWords]uint64, r *tm.Rules) {
	*dst = [choiceWords]uint64{choiceEnd >> 6: 1 << (choiceEnd & 63)}
	if d.ended {
		return
	}
	next, cores := d.last+1, d.View.Cores[d.Player]
	if next < choiceUpgrade {
		for k := next / tm.HalfCells; k < tm.Structures; k++ {
			if cores >= r.Units[k].Cores {
				orInto(dst, choicePlace+k*tm.HalfCells, &d.Free)
			}
		}
	}
	if next < choiceRemove {
		for k := range tm.Structures {
			if cores >= r.Upgraded[k].Cores {
				orInto(dst, choiceUpgrade, &d.Upgradable[k])
			}
		}
	}
	if next < choiceStack {
		orInto(dst, choiceRemove, &d.Unmarked)
	}
	d.maskStacks(dst, r)
	clear(dst[:next>>6])
	dst[next>>6] &= ^uint64(0) << (next & 63)
	if c := d.last; c >= choiceStack && d.ahead(c) && d.affords(r, tm.Scout+tm.Kind(stackAt((c-choiceStack)/sizesOfStack)%mobileKinds), stackSizes[sizeAgain]) == stackSizes[sizeAgain] {
		dst[c>>6] |= 1 << (c & 63)
	}
}

// maskStacks writes the legal stacks, those before the last choice included.
func (d *draft) maskStacks(dst *[choiceWords]uint64, r *tm.Rules) {
	var open uint64 // the legal sizes of the three kinds on a free edge cell
	for k := range mobileKinds {
		n := d.affords(r, tm.Scout+tm.Kind(k), stackSizes[sizeAgain])
		open |= uint64(sizesFor[n]) << ((mobileKinds - 1 - k) * sizesOfStack)
	}
	if open == 0 {
		return
	}
	passed := max(0, d.last-choiceStack) / (mobileKinds * sizesOfStack)
	for free := ^d.Built & (1<<(edgeCells-passed) - 1); free != 0; free &= free - 1 {
		at := choiceStack + (edgeCells-1-bits.TrailingZeros32(free))*mobileKinds*sizesOfStack
		w, shift := at>>6, at&63
		dst[w] |= open << shift
		if high := open >> 1 >> (63 - shift); high != 0 {
			dst[w+1] |= high
		}
	}
}

// sizesFor holds the sizes that a player can pay for who can buy so many units, as bits; 10 stands
// for 10 and more.
var sizesFor = func() (t [11]uint8) {
	for n := 1; n < len(t); n++ {
		for size, units := range stackSizes {
			if units <= n {
				t[n] |= 1 << size
			}
		}
	}
	return t
}()

// appendOrders appends the orders of the draft in the order of their choices.
func (d *draft) appendOrders(dst []sim.Order) []sim.Order {
	p := d.Player
	add := func(set *tm.HalfSet, order func(x, y int) sim.Order) {
		for w, b := range set {
			for ; b != 0; b &= b - 1 {
				at := &half[p][w<<6|bits.TrailingZeros64(b)]
				dst = append(dst, order(int(at.x), int(at.y)))
			}
		}
	}
	for k := range d.Placed {
		add(&d.Placed[k], func(x, y int) sim.Order { return tm.Place(tm.Kind(k), x, y) })
	}
	add(&d.Upgraded, tm.UpgradeAt)
	add(&d.Marked, tm.RemoveAt)
	for cells := d.Waiting; cells != 0; {
		e := bits.Len32(cells) - 1
		cells &^= 1 << e
		at := &half[p][edges[e]]
		for k, n := range slices.Backward(d.Units[e][:]) {
			if n > 0 {
				dst = append(dst, tm.Spawn(tm.Scout+tm.Kind(k), int(at.x), int(at.y), int(n)))
			}
		}
	}
	return dst
}
