package terminal

import (
	"math/bits"

	"moonfarm/features"
	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	tm "moonfarm/sim/terminal"
)

// purchase carries out the choices of an action for a player: it subtracts prices from the player's
// cores and bits and collects the orders.
type purchase struct {
	a      *Actions
	s      *tm.State
	p      sim.Player
	dst    []sim.Order
	room   int  // orders that may still be appended
	dry    bool // orders are not appended
	cores  float32
	bits   float32
	walled uint32 // edge cells on which a structure was placed this turn, as bits
	manned uint32 // edge cells on which mobile units were placed in the first line, as bits

	// Results of a dry run.
	bought [stackHeads]int32 // mobile units
	missed headSet           // heads with commands that were left out
}

// headSet is a set of heads.
type headSet [(heads + 63) / 64]uint64

func (h *headSet) add(i int) { h[i>>6] |= 1 << (i & 63) }

func (a *Actions) purchase(s *tm.State, p sim.Player) purchase {
	return purchase{a: a, s: s, p: p, room: a.most, cores: s.Cores[p], bits: s.Bits[p]}
}

// AppendOrders appends those commands of the action that the rules accept, in the order of Doc.
func (a *Actions) AppendOrders(dst []sim.Order, action []int32, s *tm.State, p sim.Player) []sim.Order {
	features.CheckLength("action", len(action), heads)
	b := a.purchase(s, p)
	b.dst = dst
	b.buy(action)
	return b.dst
}

// buy carries out an action.
func (p *purchase) buy(action []int32) {
	stacks, choices := action[:stackHeads], action[stackHeads:heads]
	taken := p.taken()
	i, j := 0, 0
	for ; j < cellHeads && (p.dry || p.cores >= p.a.least); j++ {
		if c := choices[i]; c > 0 && c < cellChoices {
			p.consider(i, int(c), taken.Has(i))
		}
		if i += cellStep; i >= cellHeads {
			i -= cellHeads
		}
	}
	if j < cellHeads {
		p.removals(choices, taken, j)
	}
	for h, j := 0, 0; j < stackHeads && (p.dry || p.bits >= p.a.cheapest); j++ {
		if c := stacks[h]; c > 0 && c < stackChoices {
			if p.bits >= p.a.cheapest {
				p.stack(h, int(c))
			} else {
				p.missed.add(h)
			}
		}
		if h += stackStep; h >= stackHeads {
			h -= stackHeads
		}
	}
}

// removals carries out the removals of own structures from the j-th cell on. They cost nothing; the
// player cannot pay for any other command.
func (p *purchase) removals(choices []int32, taken tm.HalfSet, j int) {
	var due tm.HalfSet // by their place in the order of buying
	for w, t := range taken {
		for ; t != 0; t &= t - 1 {
			i := w<<6 | bits.TrailingZeros64(t)
			if c := choices[i]; c&cellRemove != 0 && c > 0 && c < cellChoices {
				due.Add(int(cellTurn[i]))
			}
		}
	}
	for w, d := range due {
		for ; d != 0; d &= d - 1 {
			if at := w<<6 | bits.TrailingZeros64(d); at >= j {
				i := at * cellStep % cellHeads
				p.cell(i, int(choices[i]))
			}
		}
	}
}

// cellTurn holds the place of each cell in the order of buying.
var cellTurn = func() (t [cellHeads]uint8) {
	for j := range t {
		t[j*cellStep%cellHeads] = uint8(j)
	}
	return t
}()

// taken returns the own cells with a structure.
func (p *purchase) taken() (t tm.HalfSet) {
	for k := range p.s.Ages[p.p] {
		ages := &p.s.Ages[p.p][k]
		for _, i := range ages.Cell[:ages.N] {
			t.Add(int(i))
		}
	}
	return t
}

// consider carries out a choice for own cell i, unless the player cannot pay for any of it. This is
// a fast path: a player with a choice for every cell soon has nothing left to spend.
func (p *purchase) consider(i, choice int, taken bool) {
	var open bool
	if taken {
		open = choice&cellRemove != 0 || p.cores >= p.a.upgrade
	} else {
		open = p.cores >= p.a.place[choice&cellPlace]
	}
	if open {
		p.cell(i, choice)
	} else {
		p.missed.add(stackHeads + i)
	}
}

// cell carries out the commands of a choice for own cell i.
func (p *purchase) cell(i, choice int) {
	at, r := &half[p.p][i], &p.a.rules
	x, y := int(at.x), int(at.y)
	c := p.s.Cells[at.cell]
	stands, k, upgraded, marked := c.Mark != 0, c.Kind(), c.Upgraded(), c.RemoveIn() != 0
	whole := true
	if place := choice & cellPlace; place != 0 {
		wanted := tm.Kind(place - 1)
		ok := p.pay(tm.Place(wanted, x, y), !stands, r.Units[wanted].Cores)
		whole = whole && ok
		if ok {
			stands, k = true, wanted
			p.walled |= at.edge
		}
	}
	if choice&cellUpgrade != 0 {
		ok := p.pay(tm.UpgradeAt(x, y), stands && !upgraded && r.Upgradable[k], r.Upgraded[k].Cores)
		whole = whole && ok
		marked = marked && !ok
	}
	if choice&cellRemove != 0 {
		ok := p.pay(tm.RemoveAt(x, y), stands && !marked, 0)
		whole = whole && ok
	}
	if !whole {
		p.missed.add(stackHeads + i)
	}
}

// pay appends an order and subtracts its price in cores, if it is legal and the player can pay.
func (p *purchase) pay(o sim.Order, legal bool, price float32) bool {
	if !legal || p.cores < price || p.room == 0 {
		return false
	}
	if price > 0 {
		p.cores = tm.Tenths(p.cores - price)
	}
	p.give(o)
	return true
}

func (p *purchase) give(o sim.Order) {
	p.room--
	if !p.dry {
		p.dst = append(p.dst, o)
	}
}

// stack buys the units of a choice of head h.
func (p *purchase) stack(h, choice int) {
	e, k := h/mobileKinds, tm.Scout+tm.Kind(h%mobileKinds)
	at, n := &half[p.p][edges[e]], 0
	if p.walled>>e&1 == 0 && p.s.Cells[at.cell].Mark == 0 && p.room > 0 {
		most := choice
		if choice == stackAll {
			most = p.a.mobile
		}
		n = p.spend(k, most)
	}
	if n == 0 || n < choice && choice != stackAll {
		p.missed.add(h)
	}
	if n > 0 {
		p.bought[h] += int32(n)
		p.give(tm.Spawn(k, int(at.x), int(at.y), n))
	}
}

// spend buys up to most mobile units and returns how many it bought.
func (p *purchase) spend(k tm.Kind, most int) (n int) {
	n, p.bits = tm.Buy(p.bits, p.a.rules.Units[k].Bits, most)
	return n
}

// Action writes the action that has the same commands as the orders, in any order and without
// commands that have no effect. It ignores the referee's orders. A head gets −1 in three cases: its
// orders are for the other line (terminal.Swap); they buy more than 30 units of a kind on one cell
// and leave bits unspent; or the player cannot pay in the order of the action, because rounding
// makes the remaining amount depend on the order. Action returns false if any head is −1.
func (a *Actions) Action(dst []int32, orders []sim.Order, s *tm.State, p sim.Player) bool {
	features.CheckLength("action", len(dst), heads)
	dst = dst[:heads:heads]
	clear(dst)
	orders = orders[:min(len(orders), a.most)]
	if len(orders) == 0 {
		return true
	}
	given := a.purchase(s, p)
	given.dry = true
	for line := range 2 {
		for _, o := range orders {
			given.note(dst, tm.Decode(o), line)
		}
	}
	for h, n := range given.bought {
		dst[h] = min(n, stackAll)
	}
	given.missed.takeFrom(dst)
	return a.settle(dst, &given) && given.missed == headSet{}
}

// settle removes the choices that have another effect than the given orders, until all remaining
// choices have the same effect. It removes choices that buy more first, because they can leave too
// little for others. It reports whether it removed no choice.
func (a *Actions) settle(dst []int32, given *purchase) bool {
	for same := true; ; same = false {
		b := a.purchase(given.s, given.p)
		b.dry = true
		b.buy(dst)
		var more, less headSet
		for h, n := range b.bought {
			if n > given.bought[h] {
				more.add(h)
			} else if n < given.bought[h] && dst[h] > 0 {
				less.add(h)
			}
		}
		for w := range less {
			less[w] |= b.missed[w]
		}
		switch {
		case more != headSet{}:
			more.takeFrom(dst)
		case less != headSet{}:
			less.takeFrom(dst)
		default:
			return same
		}
	}
}

// takeFrom sets the heads of the set to −1.
func (h *headSet) takeFrom(dst []int32) {
	for w, set := range h {
		for ; set != 0; set &= set - 1 {
			dst[w<<6|bits.TrailingZeros64(set)] = -1
		}
	}
}

// note adds a command to the choice of its head, if it is in the given line and the rules accept it.
// If the command was swapped to that line, it adds the head to missed.
func (p *purchase) note(dst []int32, c tm.Command, line int) {
	own := 0
	if c.Op == tm.OpSpawn {
		own = 1
	}
	if c.Swapped {
		own = 1 - own
	}
	switch {
	case own != line:
	case c.Op == tm.OpSpawn:
		p.noteStack(c)
	case c.Op >= tm.OpPlace && c.Op <= tm.OpRemove:
		p.noteCell(dst[stackHeads:], c)
	}
}

// noteCell adds a command for a structure to the choice of its cell.
func (p *purchase) noteCell(cells []int32, c tm.Command) {
	cell, ok := bitboard.DiamondCell(int(c.X), int(c.Y))
	if !ok || tm.Owner(int(c.Y)) != p.p {
		return
	}
	i := listAt[p.p][cell]
	choice, r := &cells[i], &p.a.rules
	stood := p.s.Cells[cell]
	stands, k := stood.Mark != 0, stood.Kind()
	if *choice&cellPlace != 0 {
		stands, k = true, tm.Kind(*choice&cellPlace-1)
	}
	upgraded := stood.Upgraded() || *choice&cellUpgrade != 0
	marked := *choice&cellRemove != 0 || stood.RemoveIn() != 0 && *choice&cellUpgrade == 0
	done := false
	switch c.Op {
	case tm.OpPlace:
		free := !stands && p.manned&half[p.p][i].edge == 0
		if done = c.Kind.Structure() && p.pay(0, free, r.Units[c.Kind].Cores); done {
			*choice = int32(c.Kind) + 1
			p.walled |= half[p.p][i].edge
		}
	case tm.OpUpgrade:
		if done = p.pay(0, stands && !upgraded && r.Upgradable[k], r.Upgraded[k].Cores); done {
			*choice = *choice&^cellRemove | cellUpgrade
		}
	case tm.OpRemove:
		if done = stands && !marked; done {
			*choice |= cellRemove
		}
	}
	if done && c.Swapped {
		p.missed.add(stackHeads + int(i))
	}
}

// noteStack buys the units of a spawn.
func (p *purchase) noteStack(c tm.Command) {
	e, ok := tm.Edge(int(c.X), int(c.Y))
	if !ok || !c.Kind.Mobile() || tm.Owner(int(c.Y)) != p.p ||
		p.walled>>e&1 != 0 || p.s.Cells[half[p.p][edges[e]].cell].Mark != 0 {
		return
	}
	h := e*mobileKinds + int(c.Kind-tm.Scout)
	n := p.spend(c.Kind, int(min(c.Count, uint32(p.a.mobile))))
	p.bought[h] += int32(n)
	if n > 0 && c.Swapped {
		p.manned |= 1 << e
		p.missed.add(h)
	}
}
