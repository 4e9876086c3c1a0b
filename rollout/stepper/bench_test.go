package stepper_test

import (
	"slices"
	"testing"
	"time"

	"moonfarm/env"
	"moonfarm/features/featuretest"
	"moonfarm/rollout/stepper"
	"moonfarm/sim/prng"
)

// BenchmarkStep compares a Stepper, with 1 worker and with 2, with one Vector
// under an Autoreset. All three play the same games with the same actions, in
// turns of 32 steps each, and observe planes, scalars and masks of both seats.
// Each figure is the first percentile of the times of single steps, so that
// other work on the machine disturbs it little. ofVector is the speed of 1
// worker relative to the Vector's, twice the speed of 2 workers relative to
// that of 1. At the end all three show the same observations.
func BenchmarkStep(b *testing.B) {
	const run = 32
	for game, games := range map[string]int{"towerdefence": 1024, "terminal": 256, "codecraft": 16, "tron": 1024} {
		b.Run(game, func(b *testing.B) {
			c := config(b, game, games, stepper.AllSeats)
			c.Env.MaxTurns = 0
			v, err := c.Vector(c.Env)
			if err != nil {
				b.Fatal(err)
			}
			auto, err := env.NewAutoreset(v, env.NextStep, newReference(b, c).begin, nil)
			if err != nil {
				b.Fatal(err)
			}
			spec := v.Spec()
			batch := env.NewBatch(spec, games, env.WantPlanes|env.WantScalars|env.WantMask|env.WantAction)
			auto.Observe(batch)
			var steppers [2]*stepper.Stepper
			var slabs [2]*stepper.Slabs
			for k := range steppers {
				c.Workers = k + 1
				steppers[k], slabs[k] = open(b, c)
				all := slabs[k]
				slabs[k] = &stepper.Slabs{
					Planes: all.Planes, Scalars: all.Scalars, Mask: all.Mask, Action: all.Action,
					Reward: all.Reward, Terminated: all.Terminated, Truncated: all.Truncated,
				}
				if err := steppers[k].Bind(slabs[k]); err != nil {
					b.Fatal(err)
				}
			}
			var times [3][]time.Duration
			var moves [run][]int32 // the actions of each step
			for from := 0; from < b.N; from += run {
				turns := moves[:min(run, b.N-from)]
				for k := range turns {
					act(spec, batch, uint64(from+k))
					turns[k] = append(turns[k][:0], batch.Action...)
					begun := time.Now()
					auto.Step(batch)
					auto.Observe(batch)
					times[0] = append(times[0], time.Since(begun))
				}
				for k, s := range steppers {
					for _, actions := range turns {
						copy(slabs[k].Action, actions)
						begun := time.Now()
						if err := s.Step(); err != nil {
							b.Fatal(err)
						}
						times[k+1] = append(times[k+1], time.Since(begun))
					}
				}
			}
			for k := range slabs {
				if !slices.Equal(slabs[k].Planes, batch.Planes) || !slices.Equal(slabs[k].Mask, batch.Mask) {
					b.Fatalf("%d workers have played other games than the Vector", k+1)
				}
			}
			var quick [3]float64
			for k := range times {
				slices.Sort(times[k])
				quick[k] = times[k][len(times[k])/100].Seconds()
			}
			b.ReportMetric(float64(batch.Rows)/quick[0], "vector-rows/s")
			b.ReportMetric(float64(batch.Rows)/quick[2], "2-workers-rows/s")
			b.ReportMetric(quick[0]/quick[1], "ofVector")
			b.ReportMetric(quick[1]/quick[2], "twice")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// act draws actions that the masks allow.
func act(s env.Spec, b *env.Batch, turn uint64) {
	for row := range b.Rows {
		r := prng.New(prng.StreamSeed(1, turn, 0, uint64(row), prng.PurposePolicy))
		featuretest.Choose(b.Action[row*len(s.Heads):], s.Heads, b.Mask[row*s.MaskWords:], func(_, n int) int { return r.IntN(n) })
	}
}
