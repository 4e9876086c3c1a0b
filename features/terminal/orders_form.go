package terminal

import (
	"math/bits"
	"slices"

	"moonfarm/features"
	"moonfarm/sim"
	tm "moonfarm/sim/terminal"
)

// OrdersForm is the name of the form in which a player gives one order after the other.
const OrdersForm = "orders"

// ordersForm returns the form of that name for the rules of g.
func ordersForm(g *tm.Game) features.Form[tm.State] {
	e := newOrdersEncoder(g)
	return features.Form[tm.State]{
		Name: OrdersForm, Doc: "one order after the other, in a fixed order, then the end of the turn",
		Encoder: e,
		Actions: &ordersActions{game: g, rules: g.Rules()},
		NewDrafts: func(n int) features.Drafts[tm.State] {
			return &drafts{game: g, rules: g.Rules(), encoder: e, rows: make([]draft, n), goalOf: -1, goalOrders: make([]sim.Order, 0, g.Info().MaxOrders)}
		},
	}
}

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
	if next < choiceEnd {
		clear(dst[:next>>6])
		dst[next>>6] &= ^uint64(0) << (next & 63)
	}
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

// next returns the next choice on the way to the turn that goal makes, and whether it leads there.
func (d *draft) next(goal *tm.Draft, r *tm.Rules) (choice int, said bool) {
	choice, said = choiceEnd, true
	cores := d.View.Cores[d.Player]
	for k := range tm.Structures {
		can := d.Free
		if cores < r.Units[k].Cores {
			can = tm.HalfSet{}
		}
		d.seek(&choice, &said, choicePlace+k*tm.HalfCells, &goal.Placed[k], &d.Placed[k], &can)
	}
	can := everywhere // as long as placements come first, which can make it so
	if choice == choiceEnd {
		can = tm.HalfSet{}
		for k := range tm.Structures {
			if cores >= r.Upgraded[k].Cores {
				for w, b := range d.Upgradable[k] {
					can[w] |= b
				}
			}
		}
	}
	d.seek(&choice, &said, choiceUpgrade, &goal.Upgraded, &d.Upgraded, &can)
	if can = everywhere; choice == choiceEnd {
		can = d.Unmarked
	}
	d.seek(&choice, &said, choiceRemove, &goal.Marked, &d.Marked, &can)
	if d.Waiting|goal.Waiting != 0 {
		d.seekStacks(&choice, &said, goal, r)
	}
	return choice, said
}

var everywhere = tm.HalfSet{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)}

// seek looks for the lowest choice that adds a wanted cell which is not done yet. first is the
// choice of cell 0. It clears said if cells were done that are not wanted, if a wanted one lies
// behind the cursor, or if the rules would refuse it.
func (d *draft) seek(choice *int, said *bool, first int, wanted, done, can *tm.HalfSet) {
	for w := range wanted {
		if done[w]&^wanted[w] != 0 {
			*said = false
		}
		left := wanted[w] &^ done[w]
		if left == 0 {
			continue
		}
		open := left & can[w] & d.from(first+w*64)
		if open != left {
			*said = false
		}
		if open != 0 {
			*choice = min(*choice, first+w*64+bits.TrailingZeros64(open))
		}
	}
}

// from returns the choices from first to first + 63 that come after the last one, as bits.
func (d *draft) from(first int) uint64 {
	switch passed := d.last + 1 - first; {
	case passed <= 0:
		return ^uint64(0)
	case passed >= 64:
		return 0
	default:
		return ^uint64(0) << passed
	}
}

// seekStacks looks for the lowest choice that adds wanted units.
func (d *draft) seekStacks(choice *int, said *bool, goal *tm.Draft, r *tm.Rules) {
	for cells := d.Waiting | goal.Waiting; cells != 0; cells &= cells - 1 {
		e := bits.TrailingZeros32(cells)
		for k := range mobileKinds {
			left := goal.Units[e][k] - d.Units[e][k]
			if left == 0 {
				continue
			}
			first := choiceStack + stackAt(e*mobileKinds+k)*sizesOfStack
			size, whole := d.sizeOf(left, first, tm.Scout+tm.Kind(k), r)
			*said = *said && whole
			if size < sizesOfStack && d.Built>>e&1 == 0 {
				*choice = min(*choice, first+size)
			}
		}
	}
}

// sizeFrom returns the first size, from sizeAgain on, that may still be chosen of the stacks whose
// first choice is given.
func (d *draft) sizeFrom(first int) int {
	size := sizeAgain
	for size < sizesOfStack && !d.ahead(first+size) {
		size++
	}
	return size
}

// sizeOf returns the largest size that may still be chosen and does not exceed the units left, and
// whether it leads to all of them. If there is no such size it returns sizesOfStack.
func (d *draft) sizeOf(left int32, first int, k tm.Kind, r *tm.Rules) (size int, whole bool) {
	if left < 0 {
		return sizesOfStack, false
	}
	buys := int32(d.affords(r, k, int(left)+1))
	if buys == left && d.ahead(first+sizeAll) {
		return sizeAll, true
	}
	size = d.sizeFrom(first)
	whole = left <= min(buys, unitsLeft[size])
	for size < sizesOfStack && stackSizes[size] > int(min(left, buys)) {
		size++
	}
	return size, whole
}

// appendOrders appends the orders of the draft in the order of their choices.
func (d *draft) appendOrders(dst []sim.Order) []sim.Order {
	p := d.Player
	for k := range d.Placed {
		for w, b := range d.Placed[k] {
			for ; b != 0; b &= b - 1 {
				at := &half[p][w<<6|bits.TrailingZeros64(b)]
				dst = append(dst, tm.Place(tm.Kind(k), int(at.x), int(at.y)))
			}
		}
	}
	for w, b := range d.Upgraded {
		for ; b != 0; b &= b - 1 {
			at := &half[p][w<<6|bits.TrailingZeros64(b)]
			dst = append(dst, tm.UpgradeAt(int(at.x), int(at.y)))
		}
	}
	for w, b := range d.Marked {
		for ; b != 0; b &= b - 1 {
			at := &half[p][w<<6|bits.TrailingZeros64(b)]
			dst = append(dst, tm.RemoveAt(int(at.x), int(at.y)))
		}
	}
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

// drafts implements features.Drafts.
type drafts struct {
	game    *tm.Game
	rules   tm.Rules
	encoder *ordersEncoder
	rows    []draft

	// The turn to which the last call of Action led: its row, its orders and their effect.
	goalOf     int
	goalOrders []sim.Order
	goal       tm.Draft
}

// Begin implements features.Drafts. The state must not change before the next Begin.
func (t *drafts) Begin(i int, s *tm.State, p sim.Player) {
	t.rows[i].begin(t.game, s, p)
	if t.goalOf == i {
		t.goalOf = -1
	}
}

// Observe implements features.Drafts.
func (t *drafts) Observe(dst features.Rows, i int) { t.encoder.observe(dst, &t.rows[i]) }

// Mask implements features.Drafts.
func (t *drafts) Mask(dst []uint64, i int) {
	features.CheckLength("mask", len(dst), choiceWords)
	t.rows[i].mask((*[choiceWords]uint64)(dst), &t.rules)
}

// Take implements features.Drafts.
func (t *drafts) Take(i int, action []int32) (ended bool) {
	features.CheckLength("action", len(action), 1)
	return t.rows[i].take(t.game, &t.rules, int(action[0]))
}

// AppendOrders implements features.Drafts.
func (t *drafts) AppendOrders(dst []sim.Order, i int) []sim.Order {
	return t.rows[i].appendOrders(dst)
}

// Action implements features.Drafts.
func (t *drafts) Action(dst []int32, orders []sim.Order, i int) bool {
	features.CheckLength("action", len(dst), 1)
	d := &t.rows[i]
	orders = orders[:min(len(orders), cap(t.goalOrders))]
	if t.goalOf != i || !slices.Equal(t.goalOrders, orders) {
		t.goalOf, t.goalOrders = i, append(t.goalOrders[:0], orders...)
		t.game.Begin(&t.goal, d.start, d.Player)
		t.game.TakeTurn(&t.goal, orders)
	}
	choice, said := d.next(&t.goal, &t.rules)
	dst[0] = int32(choice)
	return said
}

// ordersActions implements features.ActionSpace: the first action of a turn.
type ordersActions struct {
	game  *tm.Game
	rules tm.Rules
}

// Heads returns one head of 1,555 choices.
func (a *ordersActions) Heads() []int { return []int{choices} }

// Doc explains the choices.
func (a *ordersActions) Doc() string {
	return "One choice after the other, in ascending order, until choice 1554 ends the turn: it has as many actions as different orders, and one more.\n" +
		"  i is an own cell, numbered from the own end by rows, in each from the left: i = y(y+1) + x − 13 + y;\n" +
		"  e is an edge cell, two in each row y: e = 2y the left one, (13−y, y), e = 2y+1 the right one, (14+y, y).\n" +
		"  0 … 209 place a wall on cell i, 210 … 419 a support, 420 … 629 a turret,\n" +
		"  630 … 839 upgrade what stands on i, 840 … 1049 mark it for removal,\n" +
		"  1050 + 6·(83 − 3·e − k) + n a stack of mobile units of kind k (0 scout, 1 demolisher, 2 interceptor) on edge cell e, of as many as the\n" +
		"  bits buy for n = 0, of 10, 5, 3, 2, 1 units for n = 1 … 5; the stack of 10 may be chosen again and again.\n" +
		"  1554 ends the turn."
}

// Mask writes 25 words.
func (a *ordersActions) Mask(dst []uint64, s *tm.State, p sim.Player) {
	features.CheckLength("mask", len(dst), choiceWords)
	var d draft
	d.begin(a.game, s, p)
	d.mask((*[choiceWords]uint64)(dst), &a.rules)
}

// AppendOrders appends the order of the first action of a turn, if it is legal.
func (a *ordersActions) AppendOrders(dst []sim.Order, action []int32, s *tm.State, p sim.Player) []sim.Order {
	features.CheckLength("action", len(action), 1)
	var d draft
	d.begin(a.game, s, p)
	d.take(a.game, &a.rules, int(action[0]))
	return d.appendOrders(dst)
}

// Action writes the first action on the way to the orders.
func (a *ordersActions) Action(dst []int32, orders []sim.Order, s *tm.State, p sim.Player) bool {
	features.CheckLength("action", len(dst), 1)
	var d draft
	var goal tm.Draft
	d.begin(a.game, s, p)
	a.game.Begin(&goal, s, p)
	a.game.TakeTurn(&goal, orders)
	choice, said := d.next(&goal, &a.rules)
	dst[0] = int32(choice)
	return said
}
