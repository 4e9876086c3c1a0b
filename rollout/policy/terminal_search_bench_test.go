package policy

import (
	"testing"

	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/sim/prng"
	"moonfarm/sim/terminal"
)

// BenchmarkTerminalSearch counts the turns of playouts to the end that are played
// a second: by themselves from the state searched (plain), and within the search
// of that state; and the simulations of a search that plays on with a script.
func BenchmarkTerminalSearch(b *testing.B) {
	entry, err := catalog.Find("terminal")
	if err != nil {
		b.Fatal(err)
	}
	v, err := entry.New("", env.Config{N: 1})
	if err != nil {
		b.Fatal(err)
	}
	for _, turns := range []int{0, 12} {
		o := terminalSearches.defaults
		script := makeTerminalSearch(o)
		o.rollout, o.horizon, o.Simulations = "playout", 0, 100
		g := makeTerminalSearch(o)
		g.look(v)
		script.look(v)
		var s terminal.State
		g.seat.game.Reset(&s, 0)
		script.horizon = uint32(turns)
		r := prng.New(1)
		script.Evaluate(&s, &r)
		s = script.state
		script.horizon = uint32(terminalSearches.defaults.horizon)
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
			count := &countedTerminal{terminalSearch: g}
			p := makeSearcher[terminal.State, terminalMove]("", o, count).(*searcher[terminal.State, terminalMove])
			key := uint64(0)
			for b.Loop() {
				key++
				p.trees[0].Search(&s, key)
			}
			b.ReportMetric(float64(count.turns)/b.Elapsed().Seconds()/1e3, "kturns/s")
			b.Logf("value %.4f", p.trees[0].Value(0))
		})
		b.Run(name+"/script", func(b *testing.B) {
			p := makeSearcher[terminal.State, terminalMove]("", o, script).(*searcher[terminal.State, terminalMove])
			key := uint64(0)
			for b.Loop() {
				key++
				p.trees[0].Search(&s, key)
			}
			b.ReportMetric(float64(o.Simulations*b.N)/b.Elapsed().Seconds()/1e3, "ksims/s")
			b.Logf("value %.4f", p.trees[0].Value(0))
		})
	}
}

// countedTerminal counts the turns of rollouts.
type countedTerminal struct {
	*terminalSearch
	turns int
}

func (c *countedTerminal) Evaluate(s *terminal.State, r *prng.Rand) float64 {
	v := c.terminalSearch.Evaluate(s, r)
	c.turns += int(c.state.Turn - s.Turn)
	return v
}
