package terminal

import (
	"slices"

	"moonfarm/features"
	"moonfarm/sim"
	tm "moonfarm/sim/terminal"
)

// OrdersForm is the name of the form in which a player gives one order after the other.
const OrdersForm = "orders"

// ordersForm returns the form of that name for the rules of g.
func ordersForm(g *tm.Game) features.Form[tm.State] {
	e := &ordersEncoder{NewEncoder(g)}
	return features.Form[tm.State]{
		Name: OrdersForm, Doc: "one order after the other, in a fixed order, then the end of the turn",
		Encoder: e,
		Actions: &ordersActions{game: g, rules: g.Rules()},
		NewDrafts: func(n int) features.Drafts[tm.State] {
			return &drafts{game: g, rules: g.Rules(), encoder: e, rows: make([]row, n), goalOf: -1, goalOrders: make([]sim.Order, 0, g.Info().MaxOrders)}
		},
	}
}

// drafts implements features.Drafts.
type drafts struct {
	game    *tm.Game
	rules   tm.Rules
	encoder *ordersEncoder
	rows    []row

	// The turn to which the last call of Action led: its row, its orders and their effect.
	goalOf     int
	goalOrders []sim.Order
	goal       tm.Draft
}

// Begin implements features.Drafts.
func (t *drafts) Begin(i int, s *tm.State, p sim.Player) {
	d := &t.rows[i]
	d.begin(t.game, s, p)
	d.shown.listed, d.shown.counted = false, false
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
	d := &t.rows[i]
	ended = d.take(t.game, &t.rules, int(action[0]))
	t.encoder.update(d, int(action[0]))
	return ended
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
func (o *ordersActions) Heads() []int { return []int{choices} }

// Doc explains the choices.
func (o *ordersActions) Doc() string {
	return "One choice after the other, in ascending order, until choice 1554 ends the turn: it has as many actions as different orders, and one more.\n" +
		"  i is an own cell, numbered from the own end by rows, in each from the left: i = y(y+1) + x − 13 + y;\n" +
		"  e is an edge cell, two in each row y: e = 2y the left one, (13−y, y), e = 2y+1 the right one, (14+y, y).\n" +
		"  0 … 209 place a wall on cell i, 210 … 419 a support, 420 … 629 a turret,\n" +
		"  630 … 839 upgrade what stands on i, 840 … 1049 mark it for removal,\n" +
		"  1050 + 6·(83 − 3·e − k) + n a stack of mobile units of kind k (0 scout, 1 demolisher, 2 interceptor) on edge cell e, of as many as the\n" +
		"  bits buy for n = 0, of 10, 5, 3, 2, 1 units for n = 1 … 5; the stack of 10 may be chosen again and again.\n" +
		"  1554 ends the turn.\n" +
		"  The orders are carried out in the order of their choices. A bit of the mask is set if the choice is not behind the last one, and the rules accept\n" +
		"  its orders after those so far. A choice that is not legal ends the turn.\n" +
		"  Of the orders of a whole turn those that have an effect are found, in their own order; the label is the lowest choice that leads there. The order of\n" +
		"  ids is lost. All of 7,494 recorded turns of a player have a label for each order. Played so, 5,290 come out the same, 2,187 with other ids of\n" +
		"  structures; in 17 the fight takes another course, because the ids of mobile units decide who shoots first, and which of equal targets is hit.\n" +
		"  So it does in 28 of 49,173 turns of scripts and of mcts by the rules of five seasons."
}

// Mask writes 25 words.
func (o *ordersActions) Mask(dst []uint64, s *tm.State, p sim.Player) {
	features.CheckLength("mask", len(dst), choiceWords)
	var d draft
	d.begin(o.game, s, p)
	d.mask((*[choiceWords]uint64)(dst), &o.rules)
}

// AppendOrders appends the order of the first action of a turn, if it is legal.
func (o *ordersActions) AppendOrders(dst []sim.Order, action []int32, s *tm.State, p sim.Player) []sim.Order {
	features.CheckLength("action", len(action), 1)
	var d draft
	d.begin(o.game, s, p)
	d.take(o.game, &o.rules, int(action[0]))
	return d.appendOrders(dst)
}

// Action writes the first action on the way to the orders.
func (o *ordersActions) Action(dst []int32, orders []sim.Order, s *tm.State, p sim.Player) bool {
	features.CheckLength("action", len(dst), 1)
	var d draft
	var goal tm.Draft
	d.begin(o.game, s, p)
	o.game.Begin(&goal, s, p)
	o.game.TakeTurn(&goal, orders)
	choice, said := d.next(&goal, &o.rules)
	dst[0] = int32(choice)
	return said
}
