package policy

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/sim"
	"moonfarm/sim/prng"
	"moonfarm/sim/towerdefence"
)

// BenchmarkTowerdefenceSearch compares playouts to the end within a search with as many
// from the state searched, without a tree, one after the other: the share of playouts a
// second, and of their rounds, that the search leaves, the median of all pairs. From the
// first round of a game, and from later ones in which both seats have many moves.
func BenchmarkTowerdefenceSearch(b *testing.B) {
	entry, err := catalog.Find("towerdefence")
	if err != nil {
		b.Fatal(err)
	}
	v, err := entry.New("", env.Config{N: 1})
	if err != nil {
		b.Fatal(err)
	}
	for _, rounds := range []int{0, 20, 40} {
		g := &towerdefenceSearch{scatter: true, horizon: 1 << 20}
		g.look(v)
		var s towerdefence.State
		g.seat.game.Reset(&s, 0)
		r := prng.New(1)
		for range rounds {
			g.seat.game.Play(&s, g.seat.game.Playout(&s, 0, &r), g.seat.game.Playout(&s, 1, &r))
		}
		for _, sims := range []int{400, 1000, 4000, 10000} {
			b.Run(fmt.Sprintf("round=%d/sims=%d", rounds, sims), func(b *testing.B) { compareSearch(b, g, &s, sims) })
		}
	}
}

// compareSearch reports the shares of one state.
func compareSearch(b *testing.B, g *towerdefenceSearch, s *towerdefence.State, sims int) {
	o := towerdefenceSearches.defaults
	o.Simulations = sims
	count := &countedSearch{towerdefenceSearch: g}
	p := makeSearcher[towerdefence.State, sim.Order]("", o, count).(*searcher[towerdefence.State, sim.Order])
	var playouts, played []float64
	key, r, last := uint64(0), prng.New(2), time.Now()
	lap := func() float64 {
		now := time.Now()
		d := now.Sub(last)
		last = now
		return d.Seconds()
	}
	for b.Loop() {
		key++
		count.rounds = 0
		lap()
		p.trees[0].Search(s, key)
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
	b.Logf("value %.17g", p.trees[0].Value(0))
}

// countedSearch counts the rounds of rollouts.
type countedSearch struct {
	*towerdefenceSearch
	rounds int
}

func (c *countedSearch) Evaluate(s *towerdefence.State, r *prng.Rand) float64 {
	v := c.towerdefenceSearch.Evaluate(s, r)
	c.rounds += int(c.state.Round - s.Round)
	return v
}

// The seat that the search is not for has one move at every node, that of the script.
func TestOpponent(t *testing.T) {
	entry, err := catalog.Find("towerdefence")
	if err != nil {
		t.Fatal(err)
	}
	v, err := entry.New("", env.Config{N: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range []string{"mcts(sims=60,opponent=rush)", "mcts(sims=60,opponent=rush,rollout=playout,horizon=0)"} {
		m, err := New("towerdefence", spec)
		if err != nil {
			t.Fatal(err)
		}
		made, err := m(v.Spec())
		if err != nil {
			t.Fatal(err)
		}
		c := made.(*searcher[towerdefence.State, sim.Order])
		b := env.NewBatch(v.Spec(), 1, env.WantKey|env.WantPlanes)
		v.Reset(0, 1)
		for range 12 {
			v.Observe(b)
			states, _ := env.States[towerdefence.State](v)
			c.Act(v, b, []int32{0})
			first := slices.Clone(c.found[0].Shares)
			for seat := range sim.Player(2) {
				c.Act(v, b, []int32{int32(seat)})
				other := seat ^ 1
				foe := c.game.(*towerdefenceSearch).turn(&states[0], other)
				foe.random = prng.New(uint64(states[0].Round)<<1 | uint64(other))
				if got, want := c.trees[0].Moves(other), foe.rush(); len(got) != 1 || got[0] != want {
					t.Fatalf("%s, round %d: moves %x of the opponent, want %x", spec, states[0].Round, got, want)
				}
			}
			c.Act(v, b, []int32{1, 0})
			if again := c.found[1].Shares; !slices.Equal(again, first) {
				t.Fatalf("%s, round %d: shares %v behind another row, %v before it", spec, states[0].Round, again, first)
			}
			v.Step(b)
		}
	}
}
