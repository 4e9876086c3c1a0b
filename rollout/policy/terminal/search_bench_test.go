package terminal

import (
	"testing"

	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/rollout/policy/search"
	"moonfarm/sim/prng"
	"moonfarm/sim/terminal"
)

// BenchmarkTerminalSearch measures the turns per second of playouts to the end, without a
// tree (plain) and within a search of the same state, and the simulations per second of a
// search whose leaves a script plays on (script).
func BenchmarkTerminalSearch(b *testing.B) {
	entry, err := catalog.Find("terminal")
	if err != nil {
		b.Fatal(err)
	}
	v, err := entry.New("", env.Settings{N: 1})
	if err != nil {
		b.Fatal(err)
	}
	for _, turns := range []int{0, 12} {
		o := Search.Defaults()
		script := newModel(o)
		o.Rollout, o.Horizon = "playout", 0
		bounds := Search.Options
		bounds.Simulations = 100
		g := newModel(o)
		g.Look(v)
		script.Look(v)
		var s terminal.State
		g.seat.Game.Reset(&s, 0)
		script.horizon = uint32(turns)
		r := prng.New(1)
		script.Evaluate(&s, &r)
		s = script.state
		script.horizon = uint32(Search.Horizon.Default)
		name := map[int]string{0: "first", 12: "later"}[turns]
		b.Run(name+"/plain", func(b *testing.B) {
			r, played := prng.New(2), 0
			for b.Loop() {
				g.Evaluate(&s, &r)
				played += int(g.state.Turn - s.Turn)
			}
			b.ReportMetric(float64(played)/b.Elapsed().Seconds()/1e3, "kturns/s")
		})
		b.Run(name+"/search", func(b *testing.B) {
			count := &countedTerminal{model: g}
			p := search.New(bounds, search.Model[terminal.State, Move](count))
			seed := uint64(0)
			for b.Loop() {
				seed++
				p.Search(&s, seed)
			}
			b.ReportMetric(float64(count.turns)/b.Elapsed().Seconds()/1e3, "kturns/s")
			b.Logf("value %.4f", p.Value(0))
		})
		b.Run(name+"/script", func(b *testing.B) {
			p := search.New(bounds, search.Model[terminal.State, Move](script))
			seed := uint64(0)
			for b.Loop() {
				seed++
				p.Search(&s, seed)
			}
			b.ReportMetric(float64(bounds.Simulations*b.N)/b.Elapsed().Seconds()/1e3, "ksims/s")
			b.Logf("value %.4f", p.Value(0))
		})
	}
}

// countedTerminal counts the turns of rollouts.
type countedTerminal struct {
	*model
	turns int
}

func (c *countedTerminal) Evaluate(s *terminal.State, r *prng.Rand) float64 {
	v := c.model.Evaluate(s, r)
	c.turns += int(c.state.Turn - s.Turn)
	return v
}
