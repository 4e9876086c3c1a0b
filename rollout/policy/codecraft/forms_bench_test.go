package codecraft_test

import (
	"slices"
	"testing"

	"moonfarm/features"
	craft "moonfarm/features/codecraft"
	"moonfarm/sim"
	"moonfarm/sim/codecraft"
)

// BenchmarkForms measures the observations, the masks and the labels of both forms side by side, in
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
	for _, f := range kit.All() {
		z, heads := f.Encoder.Shape(), f.Actions.Heads()
		masked := features.MaskWords(heads[:len(heads)-features.UnmaskedHeads(f.Actions)])
		planes, packed, masks := make([]uint8, rows*z.PlaneBytes()), make([]uint64, rows*z.Words), make([]uint64, rows*masked)
		scalars, action := make([]float32, z.Scalars), make([]int32, len(heads))
		observe := func(s *codecraft.State, p sim.Player, row int) {
			f.Encoder.Planes(planes[row*z.PlaneBytes():][:z.PlaneBytes()], s, p)
		}
		mask := func(s *codecraft.State, p sim.Player, row int) {
			f.Actions.Mask(masks[row*masked:][:masked], s, p)
		}
		for _, c := range []struct {
			name string
			call func(n int, s *codecraft.State, p sim.Player, row int)
		}{
			{"planes", func(_ int, s *codecraft.State, p sim.Player, row int) { observe(s, p, row) }},
			{"packed", func(_ int, s *codecraft.State, p sim.Player, row int) {
				f.Encoder.Packed(packed[row*z.Words:][:z.Words], s, p)
			}},
			{"mask", func(_ int, s *codecraft.State, p sim.Player, row int) { mask(s, p, row) }},
			{"planes and mask", func(_ int, s *codecraft.State, p sim.Player, row int) {
				observe(s, p, row)
				f.Encoder.Scalars(scalars, s, p)
				mask(s, p, row)
			}},
			{"label", func(n int, s *codecraft.State, p sim.Player, _ int) {
				f.Actions.Action(action, orders[n%len(orders)], s, p)
			}},
		} {
			b.Run(f.Name+"/"+c.name, func(b *testing.B) {
				for n := range b.N {
					c.call(n, &states[n/2%len(states)], sim.Player(n%2), n*7%rows)
				}
				b.ReportMetric(float64(len(states)), "states")
			})
		}
	}
}
