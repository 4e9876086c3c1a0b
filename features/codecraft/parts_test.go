package codecraft

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	cc "moonfarm/sim/codecraft"
	"moonfarm/sim/prng"
)

// ofSlot returns the choices of one slot.
func ofSlot(action []int32, slot int) (list []int32) {
	for k := slot; k < len(action); k += 256 {
		list = append(list, action[k])
	}
	return list
}

// ordersOf returns the orders of a slot's choices if its first choice is 1, by the table in Doc.
func (v *plain) ordersOf(e *entity, c []int32) []sim.Order {
	var parts []sim.Order
	n := func(k int) int { return int(c[k]) }
	within := func(k, most int) bool { return c[k] >= 1 && n(k) <= most }
	if within(1, 8) && within(2, 80) && within(3, 80) {
		f, x, y := n(1)-1, n(2)-1, n(3)-1
		o := v.move(e, x, y, f&1 != 0, f&2 != 0)
		if f&4 != 0 && (x%79 == 0 || y%79 == 0) {
			o |= 1 << 30
		}
		parts = append(parts, o)
	}
	if within(4, 10) {
		t := cc.Type(n(4) - 1)
		switch size := int(v.r.Types[t].Size); {
		case n(5) == 81 && n(6) == 81:
			parts = append(parts, cc.Build(e.ID, t, 255, 255))
		case within(5, 80) && within(6, 80):
			x, y := cc.TurnBack(v.p, n(5)-1, n(6)-1, size)
			if x < 0 || y < 0 {
				x, y = 255, 255
			}
			parts = append(parts, cc.Build(e.ID, t, x, y))
		}
	}
	target := func(k int) (id uint32, ok bool) {
		if !within(k, 80) || !within(k+1, 80) {
			return 0, false
		}
		w := v.at(n(k)-1, n(k+1)-1)
		if w == nil {
			return 0, false
		}
		if w.Type == cc.Resource {
			x, y := cc.TurnBack(v.p, w.x, w.y, 1)
			return v.s.ResourceID(x, y), true
		}
		return w.ID, true
	}
	if id, ok := target(7); ok {
		parts = append(parts, cc.Attack(e.ID, id))
	}
	far := []int{200, 255, 256, 300, 400, 500, 999, 1000, 6400, 9999, 10000, 65535}
	set := cc.TypeSet(0)
	if within(9, 31) {
		set |= cc.TypeSet(n(9))
	}
	if within(10, 31) {
		set |= cc.TypeSet(n(10) * 32)
	}
	if set != 0 && within(11, 173) {
		r := n(11) - 1
		if r > 160 {
			r = far[r-161]
		}
		parts = append(parts, cc.Auto(e.ID, r, set))
	}
	if id, ok := target(12); ok {
		parts = append(parts, cc.Repair(e.ID, id))
	}
	for i := 1; i < len(parts); i++ {
		parts[i] = cc.And(parts[i])
	}
	if parts == nil {
		parts = []sim.Order{cc.Stop(e.ID)}
	}
	return parts
}

// drawParts draws the choices of all heads of a slot but the first: most cells are near, some have
// entities, and some numbers are no choices.
func drawParts(r *prng.Rand, action []int32, slot int, v *plain) {
	put := func(k, c int) { action[k*256+slot] = int32(c) }
	cell := func(k int) {
		x, y := r.IntN(80), r.IntN(80)
		if w := v.view[r.IntN(len(v.view))]; r.IntN(4) > 0 {
			x, y = w.x+r.IntN(w.size), w.y+r.IntN(w.size)
		}
		if r.IntN(4) == 0 {
			x = 79
		}
		put(k, 1+x)
		put(k+1, 1+y)
	}
	for k := 1; k < 14; k++ {
		put(k, 0)
	}
	if r.IntN(2) == 0 {
		put(1, 1+r.IntN(8))
		cell(2)
	}
	if r.IntN(2) == 0 {
		put(4, 1+r.IntN(10))
		if cell(5); r.IntN(5) == 0 {
			put(5, 81)
			put(6, 81)
		}
	}
	if r.IntN(2) == 0 {
		cell(7)
	}
	if r.IntN(2) == 0 {
		put(9, r.IntN(32))
		put(10, r.IntN(32))
		put(11, r.IntN(174))
	}
	if r.IntN(2) == 0 {
		cell(12)
	}
	if r.IntN(3) == 0 {
		put(1+r.IntN(13), []int{-1, 0, 1 << 20, -1 << 31, 174, 82}[r.IntN(6)])
	}
}

// TestPartsTwin gives actions part by part. The orders must be the orders of the plain table, and
// must have the same choices.
func TestPartsTwin(t *testing.T) {
	action, back := make([]int32, heads), make([]int32, heads)
	r := prng.New(12)
	visit(t, func(t *testing.T, g *cc.Game, s *cc.State, p sim.Player) {
		a := NewActions(g)
		v := &plain{g, g.Rules(), s, p, inView(g, s, p)}
		own := v.slots()
		for range 30 {
			want := map[uint32][]sim.Order{}
			clear(action)
			for h := range slots {
				if r.IntN(4) == 0 {
					continue
				}
				action[h] = 1
				if drawParts(&r, action, h, v); h < len(own) {
					want[own[h].ID] = v.ordersOf(own[h], ofSlot(action, h))
				}
			}
			orders := a.AppendOrders(nil, action, s, p)
			got := map[uint32][]sim.Order{}
			for _, o := range orders {
				id := cc.Decode(o).ID
				got[id] = append(got[id], o)
			}
			for h, e := range own {
				if !slices.Equal(got[e.ID], want[e.ID]) {
					t.Fatalf("tick %d seat %d: %s %d, choices %d: orders %#x, want %#x", s.Tick, p, e.Type, e.ID, ofSlot(action, h), got[e.ID], want[e.ID])
				}
			}
			// A square may reach over the edge of the map, so that it has no choice as
			// seen.
			if !a.Action(back, orders, s, p) {
				for h, e := range own {
					if c := ofSlot(back, h); slices.Contains(c, -1) && (c[4] == 0 || v.r.Types[c[4]-1].Size == 1) {
						t.Fatalf("tick %d seat %d: %s %d: orders %#x have no choice: %d", s.Tick, p, e.Type, e.ID, got[e.ID], c)
					}
				}
				continue
			}
			again := a.AppendOrders(nil, back, s, p)
			require.Truef(t, slices.Equal(again, orders), "tick %d seat %d: orders %#x, found as an action, become %#x", s.Tick, p, orders, again)
		}
	})
}
