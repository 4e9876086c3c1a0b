package codecraft

import (
	"os"
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
func (p *plain) at(x, y int) *entity {
	for i := range p.view {
		if e := &p.view[i]; x >= e.x && x < e.x+e.size && y >= e.y && y < e.y+e.size {
			return e
		}
	}
	return nil
}

func (p *plain) owns(e *entity) bool { return e != nil && e.rival == 0 && e.Type != cc.Resource }

// repairable reports whether e can repair w.
func (p *plain) repairable(e, w *entity) bool {
	n := p.r.Types[e.Type]
	return p.owns(w) && w.ID != e.ID && n.CanRepair && n.Repairs.Set().Has(w.Type) && int32(w.Health) < p.r.Types[w.Type].MaxHealth
}

// move returns an order to move to the position closest to a cell of the player's frame.
func (p *plain) move(e *entity, x, y int) sim.Order {
	x, y = cc.TurnBack(p.p, x, y, 1)
	return cc.Move(e.ID, x, y, true, false)
}

// fight returns orders to move and to attack on the way within a range, if the entity fights.
func (p *plain) fight(e *entity, reach, x, y int) []sim.Order {
	if n := p.r.Types[e.Type]; n.CanAttack && n.Range > 0 && !n.Collects {
		return []sim.Order{p.move(e, x, y), cc.And(cc.Auto(e.ID, reach, cc.AllButResource))}
	}
	return []sim.Order{p.move(e, x, y)}
}

// orders returns the orders of a choice for an own entity by the table in Doc, nil if it is not legal.
func (p *plain) orders(e *entity, c int) []sim.Order {
	n := p.r.Types[e.Type]
	reach := int(n.Range)
	switch {
	case c == 1 && (n.CanMove || n.CanAttack || n.CanBuild || n.CanRepair):
		return []sim.Order{cc.Stop(e.ID)}
	case (c == 14 || c == 15) && n.CanMove && n.Collects:
		return []sim.Order{cc.Auto(e.ID, 80-70*(c-14), 1<<cc.Resource)}
	case c == 16 && n.CanMove && n.Collects:
		return []sim.Order{p.move(e, 79, 79), cc.And(cc.Auto(e.ID, 30, 1<<cc.Resource))}
	case c >= 17 && c < 20 && n.CanMove && n.CanAttack:
		return []sim.Order{cc.Auto(e.ID, []int{80, 20, 10}[c-17], cc.AllButResource)}
	case c == 20 && n.CanAttack:
		return []sim.Order{cc.Auto(e.ID, reach, cc.AllButResource)}
	case c == 21 && n.Collects:
		return []sim.Order{cc.Auto(e.ID, reach, 1<<cc.Resource)}
	case c >= 24 && c < 40 && n.CanMove:
		return p.fight(e, reach, 10+20*((c-24)%4), 10+20*((c-24)/4))
	case c >= 40 && c < 43 && n.CanMove:
		for q := range sim.Player(p.r.Players) {
			if q != p.p && rival(q, p.p) == c-39 {
				return p.fight(e, 10, [3]int{72, 72, 7}[c-40], [3]int{72, 7, 72}[c-40])
			}
		}
	case c == 43 && n.CanMove:
		return []sim.Order{p.move(e, 7, 7)}
	case !e.Active:
	case c >= 2 && c < 14:
		return p.toward(e, (c-2)/4, (c-2)%4)
	case c == 22:
		return p.focus(e)
	case c == 23 && n.CanMove:
		return p.mend(e)
	case c >= 44 && n.CanBuild:
		return p.square(e, c-44)
	case c >= 44 && n.CanAttack && (n.Range > 1 || n.Size > 1):
		return p.target(e, c-44)
	}
	return nil
}

// toward returns the orders of a step, an attack or a repair in a direction.
func (p *plain) toward(e *entity, what, d int) []sim.Order {
	n := p.r.Types[e.Type]
	dx, dy := [4]int{1, -1, 0, 0}[d], [4]int{0, 0, 1, -1}[d]
	x, y := e.x+dx, e.y+dy
	w := p.at(x, y)
	switch {
	case what == 0 && n.CanMove && x >= 0 && x < side && y >= 0 && y < side && (!p.owns(w) || p.r.Types[w.Type].CanMove):
		x, y = cc.TurnBack(p.p, x, y, 1)
		return []sim.Order{cc.Move(e.ID, x, y, false, false)}
	case what == 1 && w != nil && !p.owns(w) && n.CanAttack && e.size == 1 && (n.CanBuild || n.Range == 1):
		return []sim.Order{cc.Attack(e.ID, p.idOf(w))}
	case what == 2:
		for k := range e.size {
			x, y := e.x+k, e.y+k
			switch d {
			case 0, 1:
				x = e.x + max(dx*e.size, dx)
			default:
				y = e.y + max(dy*e.size, dy)
			}
			if w := p.at(x, y); w != nil && p.repairable(e, w) {
				return []sim.Order{cc.Repair(e.ID, w.ID)}
			}
		}
	}
	return nil
}

func (p *plain) focus(e *entity) []sim.Order {
	n := p.r.Types[e.Type]
	var best *entity
	for i := range p.view {
		w := &p.view[i]
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

func (p *plain) mend(e *entity) []sim.Order {
	var best *entity
	least := 1000
	for i := range p.view {
		w := &p.view[i]
		if n := gap(e.x, e.y, 1, w.x, w.y, w.size); p.repairable(e, w) && (n < least || n == least && w.ID < best.ID) {
			best, least = w, n
		}
	}
	if best == nil {
		return nil
	}
	x, y := min(max(e.x, best.x), best.x+best.size-1), min(max(e.y, best.y), best.y+best.size-1)
	return []sim.Order{p.move(e, x, y), cc.And(cc.Repair(e.ID, best.ID))}
}

// slots returns the own entities in the order of their slots.
func (p *plain) slots() (list []*entity) {
	for i := range p.view {
		if e := &p.view[i]; p.owns(e) {
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(a, b *entity) int { return a.y*side + a.x - b.y*side - b.x })
	return list[:min(len(list), 256)]
}

// idOf returns the id of an entity in view.
func (p *plain) idOf(w *entity) uint32 {
	if w.Type == cc.Resource {
		x, y := cc.TurnBack(p.p, w.x, w.y, 1)
		return p.s.ResourceID(x, y)
	}
	return w.ID
}

// square returns the build of place j.
func (p *plain) square(e *entity, j int) []sim.Order {
	n := p.r.Types[e.Type]
	first := 0
	for _, built := range n.Builds.All() {
		k := p.r.Types[built]
		z := int(k.Size)
		row := e.size + z - 1
		if first+4*row > 84 {
			continue
		}
		if j < first || j >= first+4*row {
			first += 4 * row
			continue
		}
		d, along := (j-first)/row, (j-first)%row-z+1
		x := [4]int{e.x + e.size, e.x - z, e.x + along, e.x + along}[d]
		y := [4]int{e.y + along, e.y + along, e.y + e.size, e.y - z}[d]
		cost := k.Cost
		if k.CanMove {
			cost += int32(p.s.Count[p.p][built])
		}
		tested := k.PopUse > 0 || p.r.PopulationAll
		if x < 0 || y < 0 || x+z > side || y+z > side || p.purse() < cost ||
			tested && p.s.PopProvide[p.p] < p.s.PopUse[p.p]+k.PopUse {
			return nil
		}
		for i := range p.view {
			if w := &p.view[i]; gap(x, y, z, w.x, w.y, w.size) == 0 {
				return nil
			}
		}
		x, y = cc.TurnBack(p.p, x, y, z)
		return []sim.Order{cc.Build(e.ID, built, x, y)}
	}
	return nil
}

// purse returns the resource that can be spent in this tick.
func (p *plain) purse() int32 {
	purse := p.s.Resource[p.p]
	blind := p.r.Fog && p.r.Types[cc.BuilderUnit].Sight == 1 // the rules odd
	for i := range p.view {
		e := &p.view[i]
		if n := p.r.Types[e.Type]; p.owns(e) && e.Active && n.Collects && (blind || slices.ContainsFunc(p.view, func(w entity) bool {
			return w.Type == cc.Resource && gap(e.x, e.y, e.size, w.x, w.y, 1) == 1
		})) {
			purse += n.Damage
		}
	}
	return purse
}

// target returns the attack of place j.
func (p *plain) target(e *entity, j int) []sim.Order {
	var cells [][2]int
	reach := int(p.r.Types[e.Type].Range)
	for d := 1; d <= reach; d++ {
		for y := e.y - reach; y < e.y+e.size+reach; y++ {
			for x := e.x - reach; x < e.x+e.size+reach; x++ {
				if gap(e.x, e.y, e.size, x, y, 1) == d {
					cells = append(cells, [2]int{x, y})
				}
			}
		}
	}
	if j >= len(cells) {
		return nil
	}
	w := p.at(cells[j][0], cells[j][1])
	if w == nil || w.rival == 0 {
		return nil
	}
	for _, c := range cells[:j] {
		if p.at(c[0], c[1]) == w {
			return nil
		}
	}
	return []sim.Order{cc.Attack(e.ID, w.ID)}
}

// TestMaskTwin compares the mask and the orders of every choice of every slot with the plain ones.
func TestMaskTwin(t *testing.T) {
	mask, action := make([]uint64, maskWords*slots), make([]int32, slots)
	legal := map[int]int{}
	visit(t, func(t *testing.T, g *cc.Game, s *cc.State, p sim.Player) {
		if (int(s.Tick)+int(p))%3 != 0 && os.Getenv("MOONFARM_LONG") == "" {
			return
		}
		a := NewActions(g)
		a.Mask(mask, s, p)
		v := &plain{g, g.Rules(), s, p, inView(g, s, p)}
		own := v.slots()
		for c := range choices {
			for h := range action {
				action[h] = int32(c)
			}
			orders := a.AppendOrders(nil, action, s, p)
			for h, e := range own {
				got := slices.DeleteFunc(slices.Clone(orders), func(o sim.Order) bool { return cc.Decode(o).ID != e.ID })
				if v.r.Types[e.Type].CanBuild && c >= choicePlace { // builds are settled
					clear(action)
					action[h] = int32(c)
					got = a.AppendOrders(nil, action, s, p)
				}
				want := v.orders(e, c)
				if !slices.Equal(got, want) || (mask[2*h+c/64]>>(c%64)&1 != 0) != (want != nil || c == 0) {
					t.Fatalf("tick %d seat %d: %s %d at %d,%d, choice %d: orders %#x, mask %b, want orders %#x",
						s.Tick, p, e.Type, e.ID, e.x, e.y, c, got, mask[2*h+c/64]>>(c%64)&1, want)
				}
				if want != nil {
					legal[c]++
				}
			}
		}
		for h := len(own); h < slots; h++ {
			require.Truef(t, mask[2*h] == 1 && mask[2*h+1] == 0, "tick %d seat %d: slot %d has choices, but there is no own entity", s.Tick, p, h)
		}
	})
	for c := 1; c < choices; c++ {
		assert.NotEqualf(t, 0, legal[c], "choice %d was never legal", c)
	}
}

// TestSettlement lets several entities build at once.
func TestSettlement(t *testing.T) {
	r := rules(t, "finals")
	g := newGame(t, r)
	a, s := NewActions(g), new(cc.State)
	g.Reset(s, 1)
	var p cc.Position
	s.Position(&p)
	p.Units, p.Veins = p.Units[:0], nil
	for _, at := range [][2]int{{20, 20}, {22, 20}, {30, 20}, {40, 20}} {
		p.Units = append(p.Units, cc.Unit{ID: p.NextID, Type: cc.BuilderUnit, X: uint8(at[0]), Y: uint8(at[1]), Health: 10, Active: true})
		p.NextID++
	}
	p.Units = append(p.Units, cc.Unit{ID: p.NextID, Type: cc.BuilderBase, X: 50, Y: 50, Health: 300, Active: true})
	p.NextID++
	p.Acts = make([]cc.Action, len(p.Units))
	base := p.Units[4].ID
	build := func(resource int32, choices ...int32) []sim.Order {
		p.Resource[0] = resource
		require.NoError(t, g.Restore(s, &p))
		action := make([]int32, slots)
		copy(action, choices)
		return a.AppendOrders(nil, action, s, 0)
	}
	id := p.Units[0].ID
	// Place 8 is the middle of the upper side: the houses above (20, 20) and (22, 20) overlap.
	houses := []sim.Order{cc.Build(id, cc.House, 20, 21), cc.Build(id+1, cc.House, 22, 21), cc.Build(id+2, cc.House, 30, 21), cc.Build(id+3, cc.House, 40, 21)}
	up := int32(choicePlace + 2*3 + 2)
	assert.Equal(t, []sim.Order{houses[0], houses[2], houses[3]}, build(200, up, up, up, up), "squares")
	assert.Equal(t, []sim.Order{houses[0], houses[2]}, build(149, up, up, up, up), "resource for two")
	assert.Equal(t, []sim.Order{houses[1], houses[2]}, build(149, 0, up, up, up), "resource for two")
	assert.Equal(t, []sim.Order{houses[0], cc.Build(base, cc.BuilderUnit, 55, 50)}, build(55, up, 0, 0, 0, choicePlace), "a base always builds")
	assert.Empty(t, build(49, up, up, up, up), "no resource")
}

// TestFog removes everything that a player does not see: its observation and its mask must stay the
// same.
func TestFog(t *testing.T) {
	type observed struct {
		planes [boardBytes]uint8
		packed [words]uint64
		values [entityBytes]uint8 // of the form entities
		words  [entityWords]uint64
		mask   [maskWords * slots]uint64
	}
	observe := func(g *cc.Game, s *cc.State, p sim.Player) *observed {
		o, k := new(observed), Kit(g)
		k.Encoder.Planes(o.planes[:], s, p)
		k.Encoder.Packed(o.packed[:], s, p)
		k.Actions.Mask(o.mask[:], s, p)
		k.Forms[0].Encoder.Planes(o.values[:], s, p)
		k.Forms[0].Encoder.Packed(o.words[:], s, p)
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

// alone returns a position in which seat 0 has a ranged unit at (10, 20) and a builder at (12, 20),
// and seat 1 a turret at (40, 40) and a ranged unit at (14, 20).
func alone(t testing.TB, g *cc.Game) *cc.State {
	t.Helper()
	s := new(cc.State)
	g.Reset(s, 1)
	var p cc.Position
	s.Position(&p)
	p.Units = p.Units[:0]
	for i, u := range []cc.Unit{
		{Type: cc.RangedUnit, X: 10, Y: 20, Health: 10, Active: true},
		{Type: cc.BuilderUnit, X: 12, Y: 20, Health: 10, Active: true},
		{Type: cc.Turret, Owner: 1, X: 40, Y: 40, Health: 100, Active: true},
		{Type: cc.RangedUnit, Owner: 1, X: 14, Y: 20, Health: 10, Active: true},
	} {
		u.ID = p.NextID + uint32(i)
		p.Units = append(p.Units, u)
	}
	p.NextID += 4
	p.Acts, p.Veins = make([]cc.Action, 4), nil
	require.NoError(t, g.Restore(s, &p))
	return s
}

// TestManyEntities gives orders to more entities than there are slots.
func TestManyEntities(t *testing.T) {
	r := rules(t, "finals")
	g := newGame(t, r)
	a, s := NewActions(g), alone(t, g)
	var p cc.Position
	s.Position(&p)
	for i := range 300 {
		p.Units = append(p.Units, cc.Unit{ID: p.NextID, Type: cc.MeleeUnit, X: uint8(i % 60), Y: uint8(30 + i/60), Health: 50, Active: true})
		p.Acts = append(p.Acts, cc.Action{})
		p.NextID++
	}
	require.NoError(t, g.Restore(s, &p))
	mask, action := make([]uint64, maskWords*slots), make([]int32, slots)
	a.Mask(mask, s, 0)
	for h := range slots {
		require.Equalf(t, uint64(3), mask[maskWords*h]&3, "slot %d has choices %b", h, mask[maskWords*h])
	}
	// Slots 0 and 1 have the units of alone, so slot 255 has the unit with index 4 + 253.
	last, next := s.Units[4+253].ID, s.Units[4+254].ID
	assert.True(t, a.Action(action, []sim.Order{cc.Stop(last)}, s, 0) && action[255] == 1, "the last slot has no choice")
	assert.True(t, !a.Action(action, []sim.Order{cc.Stop(next), cc.Stop(last)}, s, 0) && action[255] == 1 && !slices.Contains(action, -1), "an entity without a slot has a choice, or removes the choice of another")
	for h := range slots {
		action[h] = 1
	}
	orders := a.AppendOrders(nil, action, s, 0)
	if len(orders) != slots || orders[slots-1] != cc.Stop(last) {
		t.Errorf("%d orders, the last %#x", len(orders), orders[len(orders)-1])
	}
}

// TestNoAllocations checks that long lists of orders do not allocate.
func TestNoAllocations(t *testing.T) {
	for name, r := range variants(t) {
		g := newGame(t, r)
		a, s := NewActions(g), new(cc.State)
		crowd(t, g, s, 3, 500)
		random := prng.New(8)
		var orders []sim.Order
		for _, u := range s.Units[:s.N] {
			for range random.IntN(3) {
				orders = append(orders, anyOrder(&random, u.ID, s.NextID))
			}
		}
		action, mask, buffer := make([]int32, slots), make([]uint64, maskWords*slots), make([]sim.Order, 0, g.Info().MaxOrders)
		for p := range sim.Player(r.Players) {
			if n := testing.AllocsPerRun(3, func() {
				a.Mask(mask, s, p)
				a.Action(action, orders, s, p)
				buffer = a.AppendOrders(buffer[:0], action, s, p)
			}); n != 0 {
				t.Errorf("%s: %v allocations", name, n)
			}
		}
	}
}
