package codecraft

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	cc "moonfarm/sim/codecraft"
	"moonfarm/sim/prng"
)

// plain computes the choices from the table in Doc, in the player's own frame and only from what
// the player sees.
type plain struct {
	g    *cc.Game
	r    cc.Rules
	s    *cc.State
	p    sim.Player
	view []entity
}

// at returns the visible entity on a cell, nil if there is none.
func (v *plain) at(x, y int) *entity {
	for i := range v.view {
		if e := &v.view[i]; x >= e.x && x < e.x+e.size && y >= e.y && y < e.y+e.size {
			return e
		}
	}
	return nil
}

func (v *plain) owns(e *entity) bool { return e != nil && e.rival == 0 && e.Type != cc.Resource }

// repairable reports whether e can repair w.
func (v *plain) repairable(e, w *entity) bool {
	n := v.r.Types[e.Type]
	return v.owns(w) && w.ID != e.ID && n.CanRepair && n.Repairs.Set().Has(w.Type) && int32(w.Health) < v.r.Types[w.Type].MaxHealth
}

// move returns an order to move to a cell of the player's frame.
func (v *plain) move(e *entity, x, y int, closest, breaks bool) sim.Order {
	x, y = cc.TurnBack(v.p, x, y, 1)
	return cc.Move(e.ID, x, y, closest, breaks)
}

// orders returns the orders of a choice for an own active entity, nil if the choice is not legal.
func (v *plain) orders(e *entity, c int) []sim.Order {
	n := v.r.Types[e.Type]
	others := cc.EveryType &^ (1 << cc.Resource)
	dir := [8][2]int{{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, 1}, {-1, 1}, {-1, -1}, {1, -1}}
	fight := func(o sim.Order) []sim.Order {
		if n.CanAttack && n.Range > 0 && !n.Collects {
			return []sim.Order{o, cc.And(cc.Auto(e.ID, int(n.Range), others))}
		}
		return []sim.Order{o}
	}
	switch {
	case c >= 2 && c < 6:
		x, y := e.x+dir[c-2][0], e.y+dir[c-2][1]
		if w := v.at(x, y); n.CanMove && x >= 0 && x < side && y >= 0 && y < side && (!v.owns(w) || v.r.Types[w.Type].CanMove) {
			return []sim.Order{v.move(e, x, y, false, false)}
		}
	case c == 6 && n.CanMove && n.Collects:
		return []sim.Order{cc.Auto(e.ID, 80, 1<<cc.Resource)}
	case c == 7 && n.CanMove && n.CanAttack:
		return []sim.Order{cc.Auto(e.ID, 80, others)}
	case c >= 8 && c < 12:
		for _, at := range beside(e, 1, c-8) {
			if w := v.at(at[0], at[1]); w != nil && v.repairable(e, w) {
				return []sim.Order{cc.Repair(e.ID, w.ID)}
			}
		}
	case c >= 12 && c < 36:
		return v.build(e, (c-12)/4, (c-12)%4)
	case c >= 36 && c < 52 && n.CanMove:
		return fight(v.move(e, 10+20*((c-36)%4), 10+20*((c-36)/4), true, false))
	case c >= 52 && c < 60 && n.CanMove:
		d := dir[c-52]
		x, y := min(max(e.x+8*d[0], 0), side-1), min(max(e.y+8*d[1], 0), side-1)
		if (x == e.x) == (d[0] == 0) && (y == e.y) == (d[1] == 0) {
			return fight(v.move(e, x, y, true, false))
		}
	case c == 60 && n.CanAttack:
		return []sim.Order{cc.Auto(e.ID, int(n.Range), others)}
	case c == 61 && n.Collects:
		return []sim.Order{cc.Auto(e.ID, int(n.Range), 1<<cc.Resource)}
	case c == 62:
		return v.focus(e)
	case c == 63 && n.CanMove:
		return v.mend(e)
	}
	return nil
}

// beside returns the squares on one side of an entity, in the order of Doc.
func beside(e *entity, size, d int) (list [][2]int) {
	for k := range e.size {
		list = append(list, [2]int{k, k})
	}
	for k := 1; k < size; k++ {
		list = append(list, [2]int{-k, -k})
	}
	for i := range list {
		list[i][0] += e.x
		list[i][1] += e.y
		switch d {
		case 0:
			list[i][0] = e.x + e.size
		case 1:
			list[i][0] = e.x - size
		case 2:
			list[i][1] = e.y + e.size
		case 3:
			list[i][1] = e.y - size
		}
	}
	return list
}

func (v *plain) build(e *entity, k, d int) []sim.Order {
	n := v.r.Types[e.Type]
	if !n.CanBuild || k >= int(n.Builds.N) {
		return nil
	}
	built := n.Builds.T[k]
	b := v.r.Types[built]
	cost := b.Cost
	if b.CanMove {
		cost += int32(v.s.Count[v.p][built])
	}
	tested := b.PopUse > 0 || v.r.PopulationAll
	if v.s.Resource[v.p] < cost || tested && v.s.PopProvide[v.p] < v.s.PopUse[v.p]+b.PopUse {
		return nil
	}
	size := int(b.Size)
squares:
	for _, at := range beside(e, size, d) {
		x, y := at[0], at[1]
		if x < 0 || y < 0 || x+size > side || y+size > side {
			continue
		}
		for i := range v.view {
			if w := &v.view[i]; gap(x, y, size, w.x, w.y, w.size) == 0 {
				continue squares
			}
		}
		x, y = cc.TurnBack(v.p, x, y, size)
		return []sim.Order{cc.Build(e.ID, built, x, y)}
	}
	return nil
}

func (v *plain) focus(e *entity) []sim.Order {
	n := v.r.Types[e.Type]
	var best *entity
	for i := range v.view {
		w := &v.view[i]
		if n.CanAttack && w.rival > 0 && gap(e.x, e.y, e.size, w.x, w.y, w.size) <= int(n.Range) &&
			(best == nil || w.Health < best.Health || w.Health == best.Health && w.ID < best.ID) {
			best = w
		}
	}
	if best == nil || n.Range == 0 {
		return nil
	}
	return []sim.Order{cc.Attack(e.ID, best.ID)}
}

func (v *plain) mend(e *entity) []sim.Order {
	var best *entity
	least := 1000
	for i := range v.view {
		w := &v.view[i]
		if n := gap(e.x, e.y, 1, w.x, w.y, w.size); v.repairable(e, w) && (n < least || n == least && w.ID < best.ID) {
			best, least = w, n
		}
	}
	if best == nil {
		return nil
	}
	x, y := min(max(e.x, best.x), best.x+best.size-1), min(max(e.y, best.y), best.y+best.size-1)
	return []sim.Order{v.move(e, x, y, true, false), cc.And(cc.Repair(e.ID, best.ID))}
}

// slots returns the own entities in the order of their slots.
func (v *plain) slots() (list []*entity) {
	for i := range v.view {
		if e := &v.view[i]; v.owns(e) {
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(a, b *entity) int { return a.y*side + a.x - b.y*side - b.x })
	return list[:min(len(list), 256)]
}

// TestMaskTwin compares the mask and the orders of every shortcut of every slot with the plain
// ones, and finds the choices of these orders part by part.
func TestMaskTwin(t *testing.T) {
	mask, action, back := make([]uint64, slots), make([]int32, heads), make([]int32, heads)
	legal := map[int]int{}
	visit(t, func(t *testing.T, g *cc.Game, s *cc.State, p sim.Player) {
		a := NewActions(g)
		a.Mask(mask, s, p)
		v := &plain{g, g.Rules(), s, p, inView(g, s, p)}
		own := v.slots()
		for h, e := range own {
			require.Equalf(t, uint64(3), mask[h]&3, "tick %d seat %d: mask %b of slot %d", s.Tick, p, mask[h], h)
			for c := 2; c < choices; c++ {
				var want []sim.Order
				if e.Active {
					want = v.orders(e, c)
				}
				action[h] = int32(c)
				got := a.AppendOrders(nil, action, s, p)
				if !slices.Equal(got, want) || (mask[h]>>c&1 != 0) != (want != nil) {
					t.Fatalf("tick %d seat %d: %s %d at %d,%d, choice %d: orders %#x, mask %b, want orders %#x",
						s.Tick, p, e.Type, e.ID, e.x, e.y, c, got, mask[h]>>c&1, want)
				}
				if want == nil {
					continue
				}
				legal[c]++
				if !a.Action(back, want, s, p) || back[h] != 1 || !slices.Equal(a.AppendOrders(nil, back, s, p), want) {
					t.Fatalf("tick %d seat %d: %s %d, choice %d: orders %#x are found as %d", s.Tick, p, e.Type, e.ID, c, want, ofSlot(back, h))
				}
				for k := range back {
					if k%slots != h && back[k] != 0 {
						t.Fatalf("tick %d seat %d: orders for slot %d are found as choice %d of slot %d", s.Tick, p, h, back[k], k%slots)
					}
				}
			}
			action[h] = 0
		}
		for h := len(own); h < slots; h++ {
			require.Equalf(t, uint64(1), mask[h], "tick %d seat %d: slot %d has choices %#x, but there is no own entity", s.Tick, p, h, mask[h])
		}
	})
	for c := 2; c < choices; c++ {
		assert.NotEqualf(t, 0, legal[c], "choice %d was never legal", c)
	}
}

// TestFog removes everything that a player does not see: its observation and its mask must stay the
// same.
func TestFog(t *testing.T) {
	type observed struct {
		planes [boardBytes]uint8
		packed [words]uint64
		mask   [slots]uint64
		values [entityBytes]uint8 // of the form entities
		words  [entityWords]uint64
		masks  [entityMask * slots]uint64
	}
	observe := func(g *cc.Game, s *cc.State, p sim.Player) *observed {
		o, k := new(observed), Kit(g)
		k.Encoder.Planes(o.planes[:], s, p)
		k.Encoder.Packed(o.packed[:], s, p)
		k.Actions.Mask(o.mask[:], s, p)
		k.Forms[0].Encoder.Planes(o.values[:], s, p)
		k.Forms[0].Encoder.Packed(o.words[:], s, p)
		k.Forms[0].Actions.Mask(o.masks[:], s, p)
		return o
	}
	hidden, less := 0, new(cc.State)
	visit(t, func(t *testing.T, g *cc.Game, s *cc.State, p sim.Player) {
		var known cc.Position
		s.Position(&known)
		seen := map[uint32]bool{}
		for _, e := range inView(g, s, p) {
			if e.Type == cc.Resource {
				x, y := cc.TurnBack(p, e.x, e.y, 1)
				e.ID = s.ResourceID(x, y)
			}
			seen[e.ID] = true
		}
		all := len(known.Units)
		acts := known.Acts[:0]
		for i, u := range known.Units {
			if seen[u.ID] {
				acts = append(acts, known.Acts[i])
			}
		}
		known.Acts = acts
		known.Units = slices.DeleteFunc(known.Units, func(u cc.Unit) bool { return !seen[u.ID] })
		hidden += all - len(known.Units)
		require.NoError(t, g.Restore(less, &known))
		less.PopProvide[p] = s.PopProvide[p] // crowd makes them up
		for y := range side {                // the numbers of the resources stay
			for x := range side {
				if less.Resources.Has(x, y) && !seen[s.ResourceID(x, y)] {
					less.Resources.Drop(x, y)
					less.Occupied.Drop(x, y)
					less.Health[cc.CellOf(x, y)] = 0
					hidden++
				}
			}
		}
		require.Truef(t, *observe(g, s, p) == *observe(g, less, p), "tick %d seat %d: it sees what is not in sight", s.Tick, p)
	})
	assert.GreaterOrEqualf(t, hidden, 1000, "only %d entities were hidden", hidden)
}

// TestActionOfOrders gives orders of all kinds, in any order. The choices of an entity must give
// the same action as its orders, and orders that come from choices must have choices, however they
// are split.
func TestActionOfOrders(t *testing.T) {
	r := prng.New(99)
	action, mask := make([]int32, heads), make([]uint64, slots)
	found, none := 0, 0
	visit(t, func(t *testing.T, g *cc.Game, s *cc.State, p sim.Player) {
		a := NewActions(g)
		a.Mask(mask, s, p)
		v := &plain{g, g.Rules(), s, p, inView(g, s, p)}
		own := v.slots()
		for range 20 {
			clear(action)
			for h, m := range mask {
				if c := r.IntN(64); m != 1 && m>>c&1 != 0 && r.IntN(2) == 0 {
					action[h] = int32(c)
				}
			}
			orders := a.AppendOrders(nil, action, s, p)
			slices.SortStableFunc(orders, func(a, b sim.Order) int { return int(a>>3&1) - int(b>>3&1) }) // parts of others between
			strange := r.IntN(3) == 0
			for range r.IntN(4) {
				id := uint32(1 + r.IntN(int(s.NextID)+3)) // mostly a resource, or nobody
				if s.N > 0 && r.IntN(2) == 0 {
					id = s.Units[r.IntN(int(s.N))].ID
				}
				i := s.Find(id)
				if own := i >= 0 && s.Units[i].Owner == p; !own || strange {
					orders = append(orders, anyOrder(&r, id, s.NextID))
				} else { // later orders count
					orders = slices.Insert(orders, 0, cc.Stop(id))
				}
			}
			complete := a.Action(action, orders, s, p)
			require.Truef(t, complete || strange, "tick %d seat %d: no action for %#x", s.Tick, p, orders)
			require.Equalf(t, !slices.Contains(action, -1), complete, "tick %d seat %d: complete: %v, action %d", s.Tick, p, complete, action)
			want, got := acts(s, p, orders), acts(s, p, a.AppendOrders(nil, action, s, p))
			for h, e := range own {
				switch i := s.Find(e.ID); {
				case slices.Contains(ofSlot(action, h), -1):
					none++
				case got[i] != want[i]:
					t.Fatalf("tick %d seat %d: %s %d: %+v by the orders, %+v by choices %d", s.Tick, p, e.Type, e.ID, want[i], got[i], ofSlot(action, h))
				case action[h] != 0:
					found++
				}
			}
		}
	})
	assert.Truef(t, found >= 1000 && none >= 20, "%d entities with choices, %d without", found, none)
}

// acts returns the actions of all units after orders.
func acts(s *cc.State, p sim.Player, orders []sim.Order) []cc.Action {
	list := slices.Clone(s.Acts[:s.N])
	for _, o := range orders {
		if i := s.Find(cc.Decode(o).ID); i >= 0 && s.Units[i].Owner == p {
			list[i].Take(o)
		}
	}
	return list
}
