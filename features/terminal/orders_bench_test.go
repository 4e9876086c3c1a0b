package terminal

import (
	"testing"

	"moonfarm/features"
	"moonfarm/sim"
	"moonfarm/sim/prng"
	tm "moonfarm/sim/terminal"
)

// BenchmarkOrders measures the parts of a turn in the form of single orders: random orders in
// positions of random games.
func BenchmarkOrders(b *testing.B) {
	g := newGame(b, rules(b, "2026"))
	f := Kit(g).Forms[0]
	t := f.NewDrafts(1).(*drafts)
	z := f.Encoder.Shape()
	var states []tm.State
	structures := 0
	visit(g, 6, 400, func(s *tm.State) {
		if n := s.Own[0].Count() + s.Own[1].Count(); n > 40 && n < 70 && len(states) < 64 {
			states = append(states, *s)
			structures += n
		}
	})
	r := prng.New(5)
	lists, actions := make([][]sim.Order, len(states)), make([][]int32, len(states))
	given := 0
	action := make([]int32, 1)
	for i := range states {
		lists[i] = g.Playout(nil, &states[i], 0, &r)
		t.Begin(0, &states[i], 0)
		for ended := false; !ended; {
			t.Action(action, lists[i], 0)
			actions[i] = append(actions[i], action[0])
			ended = t.Take(0, action)
		}
		given += len(actions[i])
	}
	n := len(states)
	run := func(name string, f func(i int)) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				f(i % n)
				i++
			}
			b.ReportMetric(float64(structures)/float64(n), "structures")
			b.ReportMetric(float64(given)/float64(n), "actions")
		})
	}
	dst := features.Rows{Planes: make([]uint8, z.PlaneBytes()), Packed: make([]uint64, z.Words), Scalars: make([]float32, z.Scalars)}
	mask, orders := make([]uint64, choiceWords), make([]sim.Order, 0, g.Info().MaxOrders)
	t.Begin(0, &states[0], 0)
	for _, c := range actions[0][:len(actions[0])-1] {
		action[0] = c
		t.Take(0, action)
	}
	run("planes", func(int) { t.Observe(features.Rows{Planes: dst.Planes}, 0) })
	run("packed", func(int) { t.Observe(features.Rows{Packed: dst.Packed}, 0) })
	run("scalars", func(int) { t.Observe(features.Rows{Scalars: dst.Scalars}, 0) })
	run("mask", func(int) { t.Mask(mask, 0) })
	run("begin", func(i int) { t.Begin(0, &states[i], 0) })
	run("turn", func(i int) {
		t.Begin(0, &states[i], 0)
		for _, c := range actions[i] {
			action[0] = c
			t.Take(0, action)
		}
		orders = t.AppendOrders(orders[:0], 0)
	})
	run("labels", func(i int) {
		t.Begin(0, &states[i], 0)
		for ended := false; !ended; {
			t.Action(action, lists[i], 0)
			ended = t.Take(0, action)
		}
	})
}
