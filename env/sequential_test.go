package env_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/features/featuretest"
	"moonfarm/sim"
	"moonfarm/sim/prng"
	"moonfarm/sim/simtest"
)

const toyForm = "orders" // the sequential form of the toy

const everySlab = env.WantPlanes | env.WantPacked | env.WantScalars | env.WantMask | env.WantAction | env.WantRowSeed | env.WantPlayed

// toysInForm returns games of a toy in which seats give up to 4 orders a turn.
func toysInForm(t testing.TB, form string, n int) env.Vector {
	t.Helper()
	g := simtest.Toy{Seats: 2, Orders: 4}
	v, err := env.New(g, featuretest.ToyKit(g), env.Settings{N: n, Form: form})
	require.NoError(t, err)
	return v
}

// act chooses a random legal action for the rows, by their seeds.
func act(s env.Spec, b *env.Batch, rows []int32) {
	for _, row := range rows {
		r := prng.New(b.RowSeed[row])
		featuretest.Choose(b.Action[row:row+1], s.Heads, b.Mask[int(row)*s.MaskWords:], func(_, n int) int { return r.IntN(n) })
	}
}

// TestSequential plays the sequential form by actions and compares it with the
// form of whole turns, which plays the same orders, and with the turns that a
// FormView makes in it.
func TestSequential(t *testing.T) {
	const games = 3
	parts, whole := toysInForm(t, toyForm, games), toysInForm(t, "", games)
	s, p := whole.Spec(), parts.Spec()
	require.True(t, p.Sequential && !s.Sequential && p.Form == toyForm && s.Form == "cells" && len(s.Forms) == 2)
	a, b := env.NewBatch(p, games, everySlab), env.NewBatch(s, games, 0)
	view, err := whole.FormView(toyForm)
	require.NoError(t, err)
	seen := env.NewBatch(view.Spec(), games, everySlab)
	all := []int32{0, 1, 2, 3, 4, 5}
	for i := range games {
		parts.Reset(i, uint64(7+i))
		whole.Reset(i, uint64(7+i))
	}
	waited := 0
	for range 300 {
		parts.Observe(a)
		turns := [games]int32(a.Turn)
		open := []int32{}
		for row := range a.Rows {
			if parts.Waits(row) {
				waited++
				assert.Equal(t, uint64(1)<<p.Nothing, a.Mask[row], "a seat that waits has no choice")
			} else {
				open = append(open, int32(row))
			}
		}
		act(p, a, open)
		chosen := append([]int32(nil), a.Action...)
		parts.Step(a)
		for _, row := range open {
			assert.Equal(t, chosen[row], a.Played[row])
			if n := a.OrderLen[row]; a.Turn[row/2] != turns[row/2] || parts.Waits(int(row)) {
				b.OrderLen[row] = n
				copy(b.Orders[row*4:][:4], a.Orders[row*4:][:n])
			} else {
				assert.Zero(t, n, "orders of a turn that is not ended")
			}
		}
		for i := range games {
			if a.Turn[i] == turns[i] {
				assert.Zero(t, a.Reward[2*i])
			}
		}
		if a.Turn == nil || a.Turn[0] == turns[0] && a.Turn[1] == turns[1] && a.Turn[2] == turns[2] {
			continue
		}
		// The games do not move together, so each is played on its own.
		for i := range games {
			if a.Turn[i] == turns[i] {
				continue
			}
			rows := all[2*i : 2*i+2]
			view.Begin(rows)
			for open := rows; len(open) > 0; {
				view.Observe(seen, open)
				act(view.Spec(), seen, open)
				open = view.Take(seen, open, nil)
			}
			for _, row := range rows {
				assert.Equal(t, b.Orders[row*4:][:b.OrderLen[row]], view.AppendOrders([]sim.Order{}, row), "the view makes other orders")
			}
			one := toysInForm(t, "", 1)
			c := env.NewBatch(s, 1, 0)
			require.NoError(t, one.Restore(0, whole.AppendSnapshot(nil, i)))
			copy(c.Orders, b.Orders[8*i:8*i+8])
			copy(c.OrderLen, b.OrderLen[2*i:2*i+2])
			one.Step(c)
			require.NoError(t, whole.Restore(i, one.AppendSnapshot(nil, 0)))
			assert.Equal(t, a.Reward[2*i:2*i+2], c.Reward)
			assert.Equal(t, a.Status[i], c.Status[0])
			x, _ := env.States[simtest.ToyState](parts)
			y, _ := env.States[simtest.ToyState](whole)
			require.Equal(t, y[i], x[i])
			if c.Status[0] != sim.Running {
				parts.Reset(i, uint64(a.Turn[i]))
				whole.Reset(i, uint64(a.Turn[i]))
			}
		}
	}
	assert.Positive(t, waited)
}

// TestSequentialSnapshot restores games in the middle of turns, some of which
// were ended by orders. The restored game goes on as the game itself.
func TestSequentialSnapshot(t *testing.T) {
	v, w := toysInForm(t, toyForm, 1), toysInForm(t, toyForm, 1)
	s := v.Spec()
	a, b := env.NewBatch(s, 1, everySlab), env.NewBatch(s, 1, everySlab)
	rows := []int32{0, 1}
	for k := range 60 {
		snapshot := v.AppendSnapshot(nil, 0)
		require.NoError(t, w.Restore(0, snapshot))
		assert.Equal(t, v.Hash(0), w.Hash(0))
		for _, cut := range []int{1, 9, 20} {
			assert.Error(t, w.Restore(0, snapshot[:len(snapshot)-cut]))
		}
		v.Observe(a)
		w.Observe(b)
		assert.Equal(t, *a, *b)
		for _, x := range []*env.Batch{a, b} {
			act(s, x, rows)
			if k%5 == 1 { // seat 1 gives all its orders at once
				x.OrderLen[1] = 2
				copy(x.Orders[4:], []sim.Order{7, 3})
			}
		}
		v.Step(a)
		w.Step(b)
		assert.Equal(t, *a, *b)
		assert.Equal(t, v.Hash(0), w.Hash(0))
		if a.Status[0] != sim.Running {
			v.Reset(0, uint64(k))
		}
	}
	whole := toysInForm(t, "", 1)
	assert.Error(t, whole.Restore(0, v.AppendSnapshot(nil, 0)), "a snapshot of another form")
}

// TestSequentialOrders gives whole turns as orders: Action is the first action on
// the way to them, or −1 if no action leads there.
func TestSequentialOrders(t *testing.T) {
	v := toysInForm(t, toyForm, 1)
	b := env.NewBatch(v.Spec(), 1, everySlab)
	label := make([]int32, 1)
	for _, c := range []struct {
		orders []sim.Order
		action int32
	}{
		{[]sim.Order{5, 3}, 3},
		{nil, 0},
		{[]sim.Order{3, 5, 6}, 3},
	} {
		v.Reset(0, 1)
		v.Observe(b)
		v.Label(label, 0, 0, c.orders)
		assert.Equal(t, c.action, label[0])
		b.OrderLen[0], b.OrderLen[1] = int32(copy(b.Orders, c.orders)), 0
		v.Step(b)
		assert.Equal(t, c.action, b.Action[0])
		assert.Equal(t, c.action, b.Played[0])
		assert.Equal(t, int32(1), b.Turn[0])
		assert.Equal(t, c.orders, append([]sim.Order(nil), b.Orders[:b.OrderLen[0]]...))
	}
	// An order that comes before those given already cannot be expressed any more.
	v.Reset(0, 1)
	v.Observe(b)
	b.Action[0], b.Action[1] = 6, 0
	v.Step(b)
	assert.True(t, !v.Waits(0) && v.Waits(1))
	v.Label(label, 0, 0, []sim.Order{2, 6})
	assert.Equal(t, int32(-1), label[0])
}

// TestSequentialAllocations: no method allocates in a sequential form.
func TestSequentialAllocations(t *testing.T) {
	v := toysInForm(t, toyForm, 2)
	b := env.NewBatch(v.Spec(), 2, everySlab)
	view, err := v.FormView("cells")
	require.NoError(t, err)
	seen, rows, open := env.NewBatch(view.Spec(), 2, everySlab), []int32{0, 1, 2, 3}, make([]int32, 0, 4)
	orders := make([]sim.Order, 0, 4)
	k := int32(0)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		v.Observe(b)
		for row := range b.Action {
			b.Action[row] = (k + int32(row)) % 9
		}
		k++
		v.Step(b)
		view.Begin(rows)
		view.Observe(seen, rows)
		open = view.Take(seen, rows, open[:0])
		orders = view.AppendOrders(orders[:0], 2)
		for i, s := range b.Status {
			if s != sim.Running {
				v.Reset(i, uint64(k))
			}
		}
	}))
}
