package codecraft

import (
	"math/bits"
	"testing"

	"moonfarm/features"
	"moonfarm/sim"
	cc "moonfarm/sim/codecraft"
)

// BenchmarkForms measures an observation with the scalars and the mask of one seat in both forms, in
// the middle of a game and in a crowd. Every iteration writes another of 64 rows, as a Vector does.
func BenchmarkForms(b *testing.B) {
	g := newGame(b, rules(b, "finals"))
	kit := Kit(g)
	for _, where := range []string{"played", "crowd"} {
		s := new(cc.State)
		if where == "crowd" {
			crowd(b, g, s, 4, 1200)
		} else {
			play(g, s, 3, 400, func(int) {})
		}
		for _, f := range kit.All() {
			const rows = 64
			z, words := f.Encoder.Shape(), features.MaskWords(f.Actions.Heads()[:len(f.Actions.Heads())-features.UnmaskedHeads(f.Actions)])
			planes, packed := make([]uint8, rows*z.PlaneBytes()), make([]uint64, rows*z.Words)
			scalars, mask := make([]float32, z.Scalars), make([]uint64, rows*words)
			for _, c := range []struct {
				name string
				call func(k int)
			}{
				{"planes", func(k int) { f.Encoder.Planes(planes[k*z.PlaneBytes():][:z.PlaneBytes()], s, 0) }},
				{"packed", func(k int) { f.Encoder.Packed(packed[k*z.Words:][:z.Words], s, 0) }},
				{"mask", func(k int) { f.Actions.Mask(mask[k*words:][:words], s, 0) }},
				{"all", func(k int) {
					f.Encoder.Planes(planes[k*z.PlaneBytes():][:z.PlaneBytes()], s, 0)
					f.Encoder.Scalars(scalars, s, 0)
					f.Actions.Mask(mask[k*words:][:words], s, 0)
				}},
			} {
				b.Run(where+"/"+f.Name+"/"+c.name, func(b *testing.B) {
					for n := range b.N {
						c.call(n % rows)
					}
					b.ReportMetric(float64(s.N), "entities")
				})
			}
		}
	}
}

// BenchmarkObserve measures each part of an observation of one seat in two positions: in a game
// played by random choices, which has few entities, and in a crowd of entities all over the map,
// nearly all of which are in sight.
func BenchmarkObserve(b *testing.B) {
	g := newGame(b, rules(b, "finals"))
	e, a := NewEncoder(g), NewActions(g)
	played, crowded := new(cc.State), new(cc.State)
	play(g, played, 3, 400, func(int) {})
	crowd(b, g, crowded, 4, 1200)
	planes, packed, scalars := make([]uint8, boardBytes), make([]uint64, words), make([]float32, scalars)
	u, err := features.NewUnpacker(e.Shape(), e.Description().PackedLayout)
	if err != nil {
		b.Fatal(err)
	}
	mask, action := make([]uint64, slots), make([]int32, heads)
	orders := make([]sim.Order, 0, g.Info().MaxOrders)
	for _, c := range []struct {
		name string
		s    *cc.State
	}{{"played", played}, {"crowd", crowded}} {
		for _, f := range []struct {
			name string
			call func(s *cc.State, p sim.Player)
		}{
			{"planes", func(s *cc.State, p sim.Player) { e.Planes(planes, s, p) }},
			{"packed", func(s *cc.State, p sim.Player) { e.Packed(packed, s, p) }},
			{"unpack", func(*cc.State, sim.Player) { u.Unpack(planes, packed) }}, // of the position before
			{"scalars", func(s *cc.State, p sim.Player) { e.Scalars(scalars, s, p) }},
			{"mask", func(s *cc.State, p sim.Player) { a.Mask(mask, s, p) }},
			{"all", func(s *cc.State, p sim.Player) {
				e.Planes(planes, s, p)
				e.Scalars(scalars, s, p)
				a.Mask(mask, s, p)
			}},
			{"orders", func(s *cc.State, p sim.Player) { orders = a.AppendOrders(orders[:0], action, s, p) }},
			{"action", func(s *cc.State, p sim.Player) { a.Action(action, orders, s, p) }},
		} {
			b.Run(c.name+"/"+f.name, func(b *testing.B) {
				a.Mask(mask, c.s, 0)
				for h, m := range mask { // the last choice of all
					action[h] = int32(bits.Len64(m) - 1)
				}
				orders = a.AppendOrders(orders[:0], action, c.s, 0)
				b.ResetTimer()
				for range b.N {
					f.call(c.s, 0)
				}
				b.ReportMetric(float64(c.s.N), "entities")
			})
		}
	}
}
