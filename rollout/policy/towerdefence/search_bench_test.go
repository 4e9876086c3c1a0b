package towerdefence

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/rollout/policy/search"
	"moonfarm/sim"
	"moonfarm/sim/prng"
	"moonfarm/sim/towerdefence"
)

// BenchmarkTowerdefenceSearch compares the speed of a search whose leaves are played to the
// end with as many playouts from the searched state without a tree. It reports the speed with
// the tree as a fraction of the speed without, in playouts and in rounds a second, as the
// median of all pairs; at the first round of a game, and at later rounds in which both seats
// have many moves.
func BenchmarkTowerdefenceSearch(b *testing.B) {
	entry, err := catalog.Find("towerdefence")
	if err != nil {
		b.Fatal(err)
	}
	v, err := entry.New("", env.Settings{N: 1})
	if err != nil {
		b.Fatal(err)
	}
	for _, rounds := range []int{0, 20, 40} {
		g := &model{scatter: true, horizon: 1 << 20}
		g.Look(v)
		var s towerdefence.State
		g.seat.Game.Reset(&s, 0)
		r := prng.New(1)
		for range rounds {
			g.seat.Game.Play(&s, g.seat.Game.Playout(&s, 0, &r), g.seat.Game.Playout(&s, 1, &r))
		}
		for _, sims := range []int{400, 1000, 4000, 10000} {
			b.Run(fmt.Sprintf("round=%d/sims=%d", rounds, sims), func(b *testing.B) { compareSearch(b, g, &s, sims) })
		}
	}
}

// compareSearch reports the fractions for one state.
func compareSearch(b *testing.B, g *model, s *towerdefence.State, sims int) {
	o := Search.Options
	o.Simulations = sims
	count := &countedSearch{model: g}
	p := search.New(o, search.Model[towerdefence.State, sim.Order](count))
	var playouts, played []float64
	seed, r, last := uint64(0), prng.New(2), time.Now()
	lap := func() float64 {
		now := time.Now()
		d := now.Sub(last)
		last = now
		return d.Seconds()
	}
	for b.Loop() {
		seed++
		count.rounds = 0
		lap()
		p.Search(s, seed)
		within, inside := lap(), count.rounds
		for range sims {
			count.Evaluate(s, &r)
		}
		alone := lap()
		playouts = append(playouts, alone/within)
		played = append(played, float64(inside)/within*alone/float64(count.rounds-inside))
	}
	slices.Sort(playouts)
	slices.Sort(played)
	b.ReportMetric(playouts[len(playouts)/2], "playouts")
	b.ReportMetric(played[len(played)/2], "rounds")
	b.Logf("value %.17g", p.Value(0))
}

// countedSearch counts the rounds of rollouts.
type countedSearch struct {
	*model
	rounds int
}

func (c *countedSearch) Evaluate(s *towerdefence.State, r *prng.Rand) float64 {
	v := c.model.Evaluate(s, r)
	c.rounds += int(c.state.Round - s.Round)
	return v
}
