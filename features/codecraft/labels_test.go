package codecraft

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	cc "moonfarm/sim/codecraft"
	"moonfarm/sim/prng"
)

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

// TestActionOfPart checks the choices of the heads for orders.
func TestActionOfPart(t *testing.T) {
	g := newGame(t, rules(t, "finals"))
	a, s := NewActions(g), alone(t, g)
	gunner, builder, turret, enemy := s.Units[0].ID, s.Units[1].ID, s.Units[2].ID, s.Units[3].ID
	s.Acts[1].Take(cc.Attack(builder, turret))
	slot := func(i int, pairs ...int) []int32 {
		want := make([]int32, heads)
		for k := 0; k < len(pairs); k += 2 {
			want[pairs[k]*slots+i] = int32(pairs[k+1])
		}
		return want
	}
	both := slot(0, headOrder, 1, headMove, 2, headMoveX, 1, headMoveY, 80, headLow, 31, headHigh, 23, headRange, -1)
	for k, c := range slot(1, headOrder, 1, headBuild, 2, headBuildX, 14, headBuildY, 21) {
		both[k] += c
	}
	for _, c := range []struct {
		name   string
		orders []sim.Order
		want   []int32
	}{
		{"entities of others", []sim.Order{cc.Stop(enemy), cc.Move(9999, 3, 4, true, true), 0}, slot(0)},
		{"stop", []sim.Order{cc.Stop(gunner)}, slot(0, headOrder, 1)},
		{"all flags", []sim.Order{cc.Move(builder, 100, 7, true, true)}, slot(1, headOrder, 1, headMove, 8, headMoveX, 80, headMoveY, 8)},
		{"the last counts", []sim.Order{cc.Stop(gunner), cc.Move(gunner, 5, 6, false, false), cc.Repair(gunner, builder)},
			slot(0, headOrder, 1, headRepairX, 13, headRepairY, 21)},
		{"a range without a choice leaves the rest", []sim.Order{cc.Move(gunner, 0, 79, true, false), cc.And(cc.Auto(gunner, 777, 0)), cc.Build(builder, cc.House, 13, 20)}, both},
		{"the longest range", []sim.Order{cc.Auto(gunner, 1<<20, 1<<cc.Turret)}, slot(0, headOrder, 1, headHigh, 16, headRange, 173)},
		{"an enemy in sight", []sim.Order{cc.Attack(gunner, enemy)}, slot(0, headOrder, 1, headTargetX, 15, headTargetY, 21)},
		{"an enemy out of sight", []sim.Order{cc.Attack(gunner, turret)}, slot(0, headOrder, 1, headTargetX, -1, headTargetY, -1)},
		{"an unknown target", []sim.Order{cc.Attack(gunner, 7777), cc.And(cc.Move(gunner, 1, 2, false, false))},
			slot(0, headOrder, 1, headMove, 1, headMoveX, 2, headMoveY, 3, headTargetX, -1, headTargetY, -1)},
		{"nothing new", []sim.Order{cc.Attack(builder, turret)}, slot(1)},
		{"an unknown type", []sim.Order{cc.Build(builder, 13, 4, 4)}, slot(1, headOrder, 1, headBuild, -1, headBuildX, -1, headBuildY, -1)},
		{"outside", []sim.Order{cc.Build(builder, cc.Turret, 90, 4)}, slot(1, headOrder, 1, headBuild, 10, headBuildX, 81, headBuildY, 81)},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := make([]int32, heads)
			complete := a.Action(got, c.orders, s, 0)
			if complete != !slices.Contains(c.want, -1) || !slices.Equal(got, c.want) {
				t.Errorf("%s: %v, choices %d and %d", c.name, complete, ofSlot(got, 0), ofSlot(got, 1))
			}
		})
	}
	// Parts without a choice are left out; the other parts are executed.
	want := []sim.Order{cc.Move(gunner, 0, 79, true, false), cc.Build(builder, cc.House, 13, 20)}
	assert.True(t, slices.Equal(a.AppendOrders(nil, both, s, 0), want), "orders")
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
	mask, action := make([]uint64, slots), make([]int32, heads)
	a.Mask(mask, s, 0)
	for h, m := range mask {
		require.Equalf(t, uint64(3), m&3, "slot %d has choices %b", h, m)
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
		action, mask, buffer := make([]int32, heads), make([]uint64, slots), make([]sim.Order, 0, g.Info().MaxOrders)
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

// FuzzActions reads bytes as orders. Their choices must have the same effect on all entities that
// have choices, and the orders of these choices must have the same choices.
func FuzzActions(f *testing.F) {
	var list []rulesOf
	for _, name := range []string{"finals", "round1", "odd"} {
		g := newGame(f, variants(f)[name])
		s := new(cc.State)
		crowd(f, g, s, 9, 160)
		list = append(list, rulesOf{g, NewActions(g), s})
	}
	r := prng.New(5)
	for which := range uint8(24) {
		s := list[int(which)%len(list)].state
		var seed []byte
		for range 30 {
			u := &s.Units[r.IntN(int(s.N))]
			seed = binary.LittleEndian.AppendUint64(seed, uint64(anyOrder(&r, u.ID, s.NextID)))
		}
		f.Add(which, seed)
	}
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		c := list[int(which)%len(list)]
		p := sim.Player(int(which) / 8 % c.game.Info().Players)
		var orders []sim.Order
		for ; len(data) >= 8 && len(orders) < 100; data = data[8:] {
			orders = append(orders, sim.Order(binary.LittleEndian.Uint64(data)))
		}
		action, again := make([]int32, heads), make([]int32, heads)
		complete := c.actions.Action(action, orders, c.state, p)
		back := c.actions.AppendOrders(nil, action, c.state, p)
		want, got := acts(c.state, p, orders), acts(c.state, p, back)
		var ranked view
		ranked.begin(c.actions, c.state, p)
		for i := range want {
			u := &c.state.Units[i]
			if u.Owner != p {
				continue
			}
			slot, ok := ranked.slotOf(u)
			if whole := ok && !slices.Contains(ofSlot(action, slot), -1); whole && want[i] != got[i] || complete && !whole && want[i] != c.state.Acts[i] {
				t.Fatalf("%s %d: %+v by the orders, %+v by choices %d", u.Type, u.ID, want[i], got[i], ofSlot(action, slot))
			}
		}
		if complete && (!c.actions.Action(again, back, c.state, p) || !slices.Equal(again, action)) {
			t.Fatalf("orders %#x come to %#x, which have another action", orders, back)
		}
	})
}

// rulesOf returns a position under some rules.
type rulesOf struct {
	game    *cc.Game
	actions *Actions
	state   *cc.State
}
