package stepper_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/features/featuretest"
	"moonfarm/rollout"
	"moonfarm/rollout/policy"
	"moonfarm/rollout/stepper"
	"moonfarm/sim"
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
	heads := len(s.Heads) - s.Unmasked
	for row := range b.Rows {
		r := prng.New(prng.StreamSeed(1, turn, 0, uint64(row), prng.PurposePolicy))
		featuretest.Choose(b.Action[row*len(s.Heads):], s.Heads[:heads], heads, b.Mask[row*s.MaskWords:], func(_, n int) int { return r.IntN(n) })
	}
}

// BenchmarkAsk compares Asker.Ask with the cost of the same policy as an opponent: to observe what
// it wants, and Act (act). played adds the conversion of its orders to an action, which Step makes
// for an opponent, too. All choose for all rows of games that the policy plays against itself, turn
// after turn; each time is the quickest of five.
func BenchmarkAsk(b *testing.B) {
	turns := map[string]int{"codecraft": 200, "tron": 12}
	for game, games := range map[string]int{"towerdefence": 256, "terminal": 64, "codecraft": 8, "tron": 256} {
		specs := []string{"mcts(sims=20)"}
		for _, e := range policy.Names(game) {
			if e.Name != "mcts" {
				specs = append(specs, e.Name)
			}
		}
		for _, spec := range specs {
			maker, err := policy.NewReproducible(game, spec)
			if err != nil {
				continue
			}
			g, err := catalog.Find(game)
			if err != nil {
				b.Fatal(err)
			}
			v, err := g.New("", env.Settings{N: games})
			if err != nil {
				b.Fatal(err)
			}
			for _, form := range v.Spec().Forms {
				b.Run(game+"/"+form.Form+"/"+spec, func(b *testing.B) {
					n := games
					if p, err := maker(v.Spec()); err == nil {
						if _, slow := p.(rollout.Interruptible); slow || strings.Contains(spec, "net") {
							n = 2
						}
					}
					v, err := g.New("", env.Settings{N: n, Form: form.Form})
					if err != nil {
						b.Fatal(err)
					}
					compareAsk(b, v, maker, max(40, turns[game]))
				})
			}
		}
	}
}

// compareAsk measures for BenchmarkAsk.
func compareAsk(b *testing.B, v env.Vector, maker rollout.Maker, turns int) {
	s := v.Spec()
	p, err := maker(s)
	if err != nil {
		b.Skip(err)
	}
	a, err := rollout.NewAsker(v, maker)
	if err != nil {
		b.Fatal(err)
	}
	batch := env.NewBatch(s, s.Games, p.Wants()|env.WantAction)
	var rows []int32 // of games that have not ended
	answers := make([]int32, batch.Rows*len(s.Heads))
	labels, heads, room := env.Unwrap(v).(env.Labeller), len(s.Heads), s.Info.MaxOrders
	quick := func(f func()) time.Duration {
		best := time.Hour
		for range 5 {
			begun := time.Now()
			f()
			best = min(best, time.Since(begun))
		}
		return best
	}
	var act, played, ask time.Duration
	each := 0
	for range turns {
		v.Observe(batch)
		rows = rows[:0]
		for row := range batch.Rows {
			if batch.Status[row/s.Info.Players] == sim.Running {
				rows = append(rows, int32(row))
			}
		}
		each += len(rows)
		act += quick(func() {
			if p.Wants() != 0 {
				v.Observe(batch)
			}
			p.Act(v, batch, rows)
		})
		played += quick(func() {
			if p.Wants() != 0 {
				v.Observe(batch)
			}
			p.Act(v, batch, rows)
			for _, row := range rows {
				orders := batch.Orders[int(row)*room:][:max(0, batch.OrderLen[row])]
				labels.Label(answers[int(row)*heads:][:heads], int(row)/s.Info.Players, sim.Player(int(row)%s.Info.Players), orders)
			}
		})
		ask += quick(func() {
			a.Forget()
			a.Ask(answers, rows)
		})
		v.Step(batch)
	}
	b.ReportMetric(float64(act.Nanoseconds())/float64(each), "act-ns/row")
	b.ReportMetric(float64(played.Nanoseconds())/float64(each), "played-ns/row")
	b.ReportMetric(float64(ask.Nanoseconds())/float64(each), "ask-ns/row")
	b.ReportMetric(ask.Seconds()/act.Seconds(), "ask/act")
	b.ReportMetric(ask.Seconds()/played.Seconds(), "ask/played")
	b.ReportMetric(0, "ns/op")
}
