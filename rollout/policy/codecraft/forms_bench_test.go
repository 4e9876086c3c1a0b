package codecraft_test

import (
	"slices"
	"testing"

	"moonfarm/features"
	craft "moonfarm/features/codecraft"
	"moonfarm/sim"
	"moonfarm/sim/codecraft"
)

// BenchmarkForms measures the observations of both forms side by side, the masks and the labels, in
// every fifteenth tick of a game of squads against econ. Every iteration takes the other seat, and
// another of 128 rows, as the rows of a Vector of 64 games.
func BenchmarkForms(b *testing.B) {
	const rows = 128
	var states []codecraft.State
	var orders [][]sim.Order
	var g *codecraft.Game
	scriptedGame(b, "finals", 5, 900, []string{"squads", "econ"}, func(game *codecraft.Game, s *codecraft.State, turn *sim.Turn) {
		if g = game; s.Tick%15 == 0 {
			states = append(states, *s)
			orders = append(orders, slices.Clone(turn.Orders(0)), slices.Clone(turn.Orders(1)))
		}
	})
	kit := craft.Kit(g)
	run := func(name string, call func(n int, s *codecraft.State, p sim.Player, row int)) {
		b.Run(name, func(b *testing.B) {
			for n := range b.N {
				call(n, &states[n/2%len(states)], sim.Player(n%2), n*7%rows)
			}
			b.ReportMetric(float64(len(states)), "states")
		})
	}
	heads := kit.Actions.Heads()
	words := features.MaskWords(heads)
	masks, action := make([]uint64, rows*words), make([]int32, len(heads))
	mask := func(_ int, s *codecraft.State, p sim.Player, row int) {
		kit.Actions.Mask(masks[row*words:][:words], s, p)
	}
	run("mask", mask)
	run("label", func(n int, s *codecraft.State, p sim.Player, _ int) {
		kit.Actions.Action(action, orders[n%len(orders)], s, p)
	})
	for _, f := range kit.All() {
		z := f.Encoder.Shape()
		planes, packed, scalars := make([]uint8, rows*z.PlaneBytes()), make([]uint64, rows*z.Words), make([]float32, z.Scalars)
		observe := func(_ int, s *codecraft.State, p sim.Player, row int) {
			f.Encoder.Planes(planes[row*z.PlaneBytes():][:z.PlaneBytes()], s, p)
		}
		run(f.Name+"/planes", observe)
		run(f.Name+"/packed", func(_ int, s *codecraft.State, p sim.Player, row int) {
			f.Encoder.Packed(packed[row*z.Words:][:z.Words], s, p)
		})
		run(f.Name+"/planes and mask", func(n int, s *codecraft.State, p sim.Player, row int) {
			observe(n, s, p, row)
			f.Encoder.Scalars(scalars, s, p)
			mask(n, s, p, row)
		})
	}
}
