package featuretest

import (
	"moonfarm/features"
	"moonfarm/sim"
	"moonfarm/sim/simtest"
)

// toyOrders is the sequential form of the toy: an action names one heap, the
// heaps of a turn in ascending order, and choice 0 ends the turn. It shows the
// heaps that the seat has named in this turn as empty.
func toyOrders(g simtest.Toy) features.Form[simtest.ToyState] {
	return features.Form[simtest.ToyState]{
		Name: "orders", Doc: "one heap after the other",
		Encoder: toyEncoder{seats: g.Seats},
		Actions: toyFirst{toyActions{game: simtest.Toy{Seats: g.Seats, Orders: 1}, heads: []int{toyChoices}}},
		NewDrafts: func(n int) features.Drafts[simtest.ToyState] {
			return &toyDrafts{most: g.Orders, encoder: toyEncoder{seats: g.Seats}, rows: make([]toyDraft, n)}
		},
	}
}

// toyFirst is the first action of a turn.
type toyFirst struct{ toyActions }

func (t toyFirst) Action(dst []int32, orders []sim.Order, s *simtest.ToyState, p sim.Player) bool {
	features.CheckLength("action", len(dst), 1)
	d := toyDraft{state: *s, seat: p}
	var said bool
	dst[0], said = d.next(orders, simtest.ToyHeaps)
	return said
}

// toyDraft is a turn in the making.
type toyDraft struct {
	state simtest.ToyState
	seat  sim.Player
	named simtest.ToyHeapSet
	least int // first heap that may be named
	n     int // orders so far
}

// next returns the next choice on the way to the orders, and whether it leads
// to all of them.
func (t *toyDraft) next(orders []sim.Order, most int) (choice int32, said bool) {
	var wanted simtest.ToyHeapSet
	for _, o := range orders {
		if o-1 < simtest.ToyHeaps && t.legal(int(o-1)) || o-1 < simtest.ToyHeaps && t.named>>(o-1)&1 != 0 {
			wanted |= 1 << (o - 1)
		}
	}
	said = t.named&^wanted == 0
	for h := range simtest.ToyHeaps {
		if wanted>>h&1 != 0 && t.named>>h&1 == 0 {
			if h >= t.least && t.n < most {
				return int32(h) + 1, said
			}
			said = false
		}
	}
	return 0, said
}

// legal reports whether the rules accept a heap.
func (t *toyDraft) legal(h int) bool {
	return t.state.Heap[h] > 0 && t.state.Named[t.seat]>>h&1 == 0
}

type toyDrafts struct {
	most    int
	encoder toyEncoder
	rows    []toyDraft
}

func (t *toyDrafts) Begin(i int, s *simtest.ToyState, p sim.Player) {
	t.rows[i] = toyDraft{state: *s, seat: p}
}

func (t *toyDrafts) Observe(dst features.Rows, i int) {
	d := &t.rows[i]
	s := d.state
	for h := range s.Heap {
		if d.named>>h&1 != 0 {
			s.Heap[h] = 0
		}
	}
	if dst.Planes != nil {
		t.encoder.Planes(dst.Planes, &s, d.seat)
	}
	if dst.Packed != nil {
		t.encoder.Packed(dst.Packed, &s, d.seat)
	}
	if dst.Scalars != nil {
		t.encoder.Scalars(dst.Scalars, &s, d.seat)
	}
}

func (t *toyDrafts) Mask(dst []uint64, i int) {
	features.CheckLength("mask", len(dst), 1)
	d := &t.rows[i]
	dst[0] = 1
	for h := d.least; h < simtest.ToyHeaps && d.n < t.most; h++ {
		if d.legal(h) {
			dst[0] |= 2 << h
		}
	}
}

func (t *toyDrafts) Take(i int, action []int32) (ended bool) {
	d := &t.rows[i]
	h := int(action[0]) - 1
	if h < d.least || h >= simtest.ToyHeaps || !d.legal(h) || d.n >= t.most {
		return true
	}
	d.named |= 1 << h
	d.least, d.n = h+1, d.n+1
	return false
}

func (t *toyDrafts) AppendOrders(dst []sim.Order, i int) []sim.Order {
	for h := range simtest.ToyHeaps {
		if t.rows[i].named>>h&1 != 0 {
			dst = append(dst, sim.Order(h+1))
		}
	}
	return dst
}

func (t *toyDrafts) Action(dst []int32, orders []sim.Order, i int) bool {
	features.CheckLength("action", len(dst), 1)
	d := &t.rows[i]
	var said bool
	dst[0], said = d.next(orders, t.most)
	return said
}
