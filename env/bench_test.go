package env_test

import (
	"testing"

	"moonfarm/env"
	"moonfarm/features"
	"moonfarm/sim"
)

// idle is a game whose methods do next to nothing, so that benchmarks measure
// the pool alone.
type idle struct{}

type idleState struct{ Turn uint64 }

func (idle) Info() sim.Info {
	return sim.Info{Name: "idle", Rules: "1", Players: 2, MaxTurns: 1 << 30, MaxOrders: 1}
}
func (idle) Reset(s *idleState, _ uint64) { s.Turn = 0 }
func (idle) Step(s *idleState, t *sim.Turn) sim.Status {
	s.Turn += uint64(t.Orders(0)[0] + t.Orders(1)[0])
	return sim.Running
}
func (idle) AppendOrders(dst []sim.Order, _ *idleState, _ sim.Player) []sim.Order {
	return append(dst, 0)
}
func (idle) Outcome(*idleState, sim.Player) sim.Outcome { return sim.Outcome{} }
func (idle) Hash(s *idleState) uint64                   { return s.Turn }

func (idle) Shape() features.Shape {
	return features.Shape{Planes: 1, Height: 1, Width: 8, Scalars: 1, Words: 1}
}
func (idle) Description() features.Description               { return features.Description{} }
func (idle) Planes(dst []uint8, s *idleState, _ sim.Player)  { dst[0] = uint8(s.Turn) }
func (idle) Packed(dst []uint64, s *idleState, _ sim.Player) { dst[0] = s.Turn }
func (idle) Scalars(dst []float32, s *idleState, _ sim.Player) {
	dst[0] = float32(s.Turn)
}

func (idle) Heads() []int                                  { return []int{64} }
func (idle) Doc() string                                   { return "none" }
func (idle) Mask(dst []uint64, s *idleState, _ sim.Player) { dst[0] = 1 }

type idleActions struct{ idle }

func (idleActions) AppendOrders(dst []sim.Order, a []int32, _ *idleState, _ sim.Player) []sim.Order {
	return append(dst, sim.Order(a[0]))
}
func (idleActions) Action(dst []int32, o []sim.Order, _ *idleState, _ sim.Player) bool {
	dst[0] = 0
	if len(o) > 0 {
		dst[0] = int32(o[0])
	}
	return true
}

// BenchmarkOverhead measures what the pool adds to a game and its encoder: the
// time per step of a game of two seats that does next to nothing.
func BenchmarkOverhead(b *testing.B) {
	for _, c := range []struct {
		name    string
		want    env.Want
		observe bool
		raw     bool
		reward  string
	}{
		{"step orders", 0, false, true, ""},
		{"step orders for actions", env.WantAction, false, true, ""},
		{"step actions", env.WantAction, false, false, ""},
		{"step reward", 0, false, true, "turn"},
		{"observe planes+scalars+mask", env.WantPlanes | env.WantScalars | env.WantMask | env.WantAction, true, false, ""},
		{"observe all", wantAll, true, false, ""},
	} {
		b.Run(c.name, func(b *testing.B) {
			const n = 64
			kit := features.Kit[idleState]{Encoder: idle{}, Actions: idleActions{}, Measures: []features.Measure[idleState]{{
				Name: "turn", Doc: "turn",
				Of: func(_ sim.Game[idleState], s *idleState, _ sim.Player) float64 { return float64(s.Turn) },
			}}}
			v, err := env.New[idleState](idle{}, kit, env.Settings{N: n, Reward: c.reward})
			if err != nil {
				b.Fatal(err)
			}
			batch := env.NewBatch(v.Spec(), n, c.want)
			for range b.N {
				if c.observe {
					v.Observe(batch)
				} else {
					for row := range batch.OrderLen {
						batch.OrderLen[row] = -1
					}
				}
				if c.raw {
					for row := range batch.OrderLen {
						batch.OrderLen[row] = 1
					}
				}
				v.Step(batch)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/game-step")
			b.ReportMetric(0, "ns/op")
		})
	}
}
