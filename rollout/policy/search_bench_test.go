package policy

import (
	"slices"
	"testing"

	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/rollout/search"
	"moonfarm/sim"
	"moonfarm/sim/prng"
	"moonfarm/sim/towerdefence"
)

// BenchmarkTowerdefenceSearch counts the rounds of playouts to the end that are
// played a second: by themselves from the state searched (plain), and within the
// search of that state. From the first round of the game, and from one in which
// both seats have many moves.
func BenchmarkTowerdefenceSearch(b *testing.B) {
	entry, err := catalog.Find("towerdefence")
	if err != nil {
		b.Fatal(err)
	}
	v, err := entry.New("", env.Config{N: 1})
	if err != nil {
		b.Fatal(err)
	}
	for _, rounds := range []int{0, 40} {
		g := &towerdefenceSearch{scatter: true, horizon: 1 << 20}
		g.look(v)
		var s towerdefence.State
		g.seat.game.Reset(&s, 0)
		r := prng.New(1)
		for range rounds {
			g.seat.game.Play(&s, g.seat.game.Playout(&s, 0, &r), g.seat.game.Playout(&s, 1, &r))
		}
		name := map[int]string{0: "first", 40: "later"}[rounds]
		b.Run(name+"/plain", func(b *testing.B) {
			r, played := prng.New(2), 0
			for b.Loop() {
				g.Evaluate(&s, nil, &r)
				played += int(g.state.Round - s.Round)
			}
			b.ReportMetric(float64(played)/b.Elapsed().Seconds()/1e6, "Mrounds/s")
		})
		b.Run(name+"/search", func(b *testing.B) {
			o := towerdefenceSearches.defaults.Options
			o.Simulations = 1000
			count := &countedSearch{towerdefenceSearch: g}
			p := makeSearcher[towerdefence.State, sim.Order]("", o, count).(*searcher[towerdefence.State, sim.Order])
			key := uint64(0)
			for b.Loop() {
				key++
				p.tree.Search(&s, key)
			}
			b.ReportMetric(float64(count.rounds)/b.Elapsed().Seconds()/1e6, "Mrounds/s")
			b.Logf("value %.4f", p.tree.Value(0))
		})
	}
}

// countedSearch counts the rounds of rollouts.
type countedSearch struct {
	*towerdefenceSearch
	rounds int
}

func (c *countedSearch) Evaluate(s *towerdefence.State, m *[2][]search.Choice[sim.Order], r *prng.Rand) float64 {
	v := c.towerdefenceSearch.Evaluate(s, m, r)
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
				if got, want := c.tree.Moves(other), foe.rush(); len(got) != 1 || got[0] != want {
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
