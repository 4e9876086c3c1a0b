package analysis_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/features/featuretest"
	"moonfarm/rollout"
	"moonfarm/rollout/analysis"
	"moonfarm/sim"
	"moonfarm/sim/prng"
	"moonfarm/sim/simtest"
)

var game = simtest.Toy{Seats: 3, Orders: 2}

// newGame makes a Vector of one toy game with a turn limit.
func newGame(t *testing.T, maxTurns int) env.Vector {
	t.Helper()
	v, err := env.New(game, featuretest.ToyKit(game), env.Settings{N: 1, MaxTurns: maxTurns})
	require.NoError(t, err)
	return v
}

// greedy names the largest legal heaps, the first of equal ones. Its search result compares single
// heaps, gives that one the largest share, and values a position by what the seat has taken, plus a
// little that depends on the row's seed.
type greedy struct{ found rollout.SearchResult }

func (*greedy) Name() string    { return "greedy" }
func (*greedy) Wants() env.Want { return env.WantRowSeed }

func (g *greedy) Act(v env.Vector, b *env.Batch, rows []int32) {
	states, _ := env.States[simtest.ToyState](v)
	p := sim.Player(rows[0])
	g.found = rollout.SearchResult{Value: worth(&states[0], p, b.RowSeed[p])}
	best := bestHeap(&states[0], p)
	for o := sim.Order(0); o <= simtest.ToyHeaps; o++ {
		share := float32(0.05)
		if o == best {
			share = 0.6
		}
		g.found.Shares = append(g.found.Shares, share)
		g.found.Orders = append(g.found.Orders, o)
		g.found.Ends = append(g.found.Ends, int32(len(g.found.Orders)))
	}
}

func (g *greedy) SearchResult(int32) *rollout.SearchResult { return &g.found }

func worth(s *simtest.ToyState, p sim.Player, seed uint64) float64 {
	return float64(s.Taken[p])/100 + float64(seed%1000)/1e6
}

func bestHeap(s *simtest.ToyState, p sim.Player) (best sim.Order) {
	most := uint8(0)
	for _, o := range game.AppendOrders(nil, s, p)[1:] {
		if s.Heap[o-1] > most {
			best, most = o, s.Heap[o-1]
		}
	}
	return best
}

// random names up to two heaps by the row's seed, sometimes the best one; some of its orders name
// no heap.
type random struct{}

func (random) Name() string    { return "random" }
func (random) Wants() env.Want { return env.WantRowSeed }

func (random) Act(v env.Vector, b *env.Batch, rows []int32) {
	states, _ := env.States[simtest.ToyState](v)
	for _, row := range rows {
		seed := b.RowSeed[row]
		orders := b.Orders[2*row:][:2]
		orders[0], orders[1] = sim.Order(seed%20), sim.Order(seed>>32%20)
		if seed>>16%3 == 0 {
			orders[0], orders[1] = 0, bestHeap(&states[0], sim.Player(row))
		}
		b.OrderLen[row] = 2
	}
}

// episodes collects copies of episodes.
type episodes struct{ list []*rollout.Episode }

func (s *episodes) Episode(e *rollout.Episode) error {
	c := *e
	c.Orders, c.Ends = slices.Clone(e.Orders), slices.Clone(e.Ends)
	s.list = append(s.list, &c)
	return nil
}

// played plays episodes of random orders.
func played(t *testing.T, n uint64, maxTurns int) []*rollout.Episode {
	t.Helper()
	var s episodes
	err := rollout.Shard(t.Context(), newGame(t, maxTurns), []rollout.Policy{random{}, random{}, random{}}, 7, 0, n, &s)
	require.NoError(t, err)
	return s.list
}

// long returns an episode of 8 turns or more.
func long(t *testing.T) *rollout.Episode {
	t.Helper()
	for _, e := range played(t, 20, 0) {
		if e.Turns >= 8 {
			return e
		}
	}
	t.Fatal("no game is long enough")
	return nil
}

func options(t *testing.T, e *rollout.Episode, maxTurns int) analysis.Options {
	return analysis.Options{
		Game:   func() (env.Vector, error) { return newGame(t, maxTurns), nil },
		Policy: func(env.Spec) (rollout.Policy, error) { return &greedy{}, nil },
		Last:   e.Turns - 1, Every: 1, Workers: 1,
	}
}

// value returns the value of the state after a turn by greedy, or by the rules at the end.
func value(e *rollout.Episode, s *simtest.ToyState, status sim.Status, p sim.Player) float64 {
	if status == sim.Over {
		return float64(game.Outcome(s, p).Result)
	}
	return worth(s, p, prng.StreamSeed(e.Seed, 0, uint64(s.Turn), uint64(p), prng.PurposePolicy))
}

// checkTurn compares the analysis of a turn with the game itself.
func checkTurn(t *testing.T, e *rollout.Episode, before *simtest.ToyState, turn analysis.TurnAnalysis) (bests int) {
	t.Helper()
	step := func(change sim.Player, orders []sim.Order) (s simtest.ToyState, status sim.Status) {
		all := turnOf(e, turn.Turn)
		all.Set(change, orders)
		s = *before
		return s, game.Step(&s, all)
	}
	for p := range sim.Player(3) {
		mine := e.OrdersOf(turn.Turn, p)
		best := bestHeap(before, p)
		now, status := step(p, mine)
		other, otherStatus := step(p, []sim.Order{best})
		want := analysis.Assessment{
			Value:  value(e, before, sim.Running, p),
			Played: analysis.Choice{Orders: mine, Share: -1, Value: value(e, &now, status, p)},
			Best:   analysis.Choice{Orders: []sim.Order{best}, Share: float64(float32(0.6)), Value: value(e, &other, otherStatus, p)},
		}
		want.Loss = want.Best.Value - want.Played.Value
		if mine[0]*mine[1] == 0 && mine[0]+mine[1] <= simtest.ToyHeaps { // one heap, or none
			want.Played.Share = float64(float32(0.05))
			if mine[0]+mine[1] == best {
				want.Played.Share, want.Loss = want.Best.Share, 0
				bests++
			}
		}
		got := turn.Seats[p]
		require.Truef(t, reflect.DeepEqual(got, want) && got.BestPlayed() == (want.Played.Share == want.Best.Share), "episode %d, turn %d, seat %d:\ngot  %+v\nwant %+v", e.ID, turn.Turn, p, got, want)
	}
	return bests
}

// outcomes returns the outcomes after the last turn.
func outcomes(e *rollout.Episode) (all [sim.MaxPlayers]sim.Outcome) {
	var s simtest.ToyState
	game.Reset(&s, e.Seed)
	for i := range e.Turns {
		game.Step(&s, turnOf(e, i))
	}
	for p := range sim.Player(3) {
		all[p] = game.Outcome(&s, p)
	}
	return all
}

// turnOf returns the orders of a turn.
func turnOf(e *rollout.Episode, i int) *sim.Turn {
	t := sim.NewTurn(2)
	for p := range sim.Player(3) {
		t.Set(p, e.OrdersOf(i, p))
	}
	return t
}

// TestRun compares the analysis of each turn with the game itself: in games that the rules end, in
// games that are cut, and where a recording stops.
func TestRun(t *testing.T) {
	bests, over, lost := 0, 0, 0
	for _, maxTurns := range []int{0, 4} {
		for _, e := range played(t, 20, maxTurns) {
			limit := maxTurns
			if e.ID%3 == 0 && e.Turns > 2 {
				e.Turns--
				e.Ends = e.Ends[:3*e.Turns]
				e.Orders = e.Orders[:e.Ends[len(e.Ends)-1]]
				e.Status, e.Stopped, limit = sim.Cut, "it broke off", 0
				e.Outcome = outcomes(e)
			}
			if e.Status == sim.Over {
				over++
			}
			found, err := analysis.Run(t.Context(), e, options(t, e, limit))
			if err != nil || len(found) != e.Turns {
				t.Fatalf("episode %d: %d of %d turns, error %v", e.ID, len(found), e.Turns, err)
			}
			var s simtest.ToyState
			game.Reset(&s, e.Seed)
			for i, turn := range found {
				if turn.Turn != i {
					t.Fatalf("turn %d at index %d", turn.Turn, i)
				}
				bests += checkTurn(t, e, &s, turn)
				game.Step(&s, turnOf(e, i))
				for p := range sim.Player(3) {
					if turn.Seats[p].Loss > 0 {
						lost++
					}
				}
			}
		}
	}
	assert.Truef(t, bests >= 50 && over >= 5 && lost >= 50, "the best orders were played %d times, %d games were over, %d times something was lost: too few to test", bests, over, lost)
}

// TestRunPart: an analysis of some turns is part of the analysis of all, for any number of workers.
func TestRunPart(t *testing.T) {
	e := long(t)
	o := options(t, e, 0)
	all, err := analysis.Run(t.Context(), e, o)
	require.NoErrorf(t, err, "%d turns", e.Turns)
	for _, c := range []struct{ first, last, every, workers int }{{0, e.Turns - 1, 1, 3}, {1, 6, 2, 1}, {2, 7, 3, 2}, {e.Turns - 1, e.Turns - 1, 5, 2}} {
		t.Run(fmt.Sprintf("every %d from %d to %d", c.every, c.first, c.last), func(t *testing.T) {
			o.First, o.Last, o.Every, o.Workers = c.first, c.last, c.every, c.workers
			var want []analysis.TurnAnalysis
			for turn := c.first; turn <= c.last; turn += c.every {
				want = append(want, all[turn])
			}
			got, err := analysis.Run(t.Context(), e, o)
			require.NoErrorf(t, err, "%+v", c)
			assert.Equalf(t, want, got, "%+v, got %d turns", c, len(got))
		})
	}
}

// TestRunStopped: a stopped run returns the turns that it has finished.
func TestRunStopped(t *testing.T) {
	e := long(t)
	o := options(t, e, 0)
	all, _ := analysis.Run(t.Context(), e, o)
	stop := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	o.Progress = func(done, of int) {
		assert.Truef(t, of == e.Turns+1 || of == e.Turns, "%d positions of %d turns", of, e.Turns)
		if done == 5 {
			cancel(stop)
		}
	}
	got, err := analysis.Run(ctx, e, o)
	assert.Truef(t, errors.Is(err, stop) && len(got) == 4 && reflect.DeepEqual(got, all[:4]), "error %v, %d turns: %+v", err, len(got), got)
}

// blind is a policy that does not search.
type blind struct{ greedy }

func (*blind) SearchResult(int32) *rollout.SearchResult { return nil }

func TestRunErrors(t *testing.T) {
	for want, change := range map[string]func(e *rollout.Episode, o *analysis.Options){
		"turns 0 to 99, every 1: the episode has turns 0 to ": func(_ *rollout.Episode, o *analysis.Options) { o.Last = 99 },
		"turns 3 to 2, every 1":                               func(_ *rollout.Episode, o *analysis.Options) { o.First, o.Last = 3, 2 },
		"every 0":                                             func(_ *rollout.Episode, o *analysis.Options) { o.Every = 0 },
		"a recording with an unknown random seed":             func(e *rollout.Episode, _ *analysis.Options) { e.Recording = []byte{1} },
		"random does not search": func(_ *rollout.Episode, o *analysis.Options) {
			o.Policy = func(env.Spec) (rollout.Policy, error) { return random{}, nil }
		},
		"turn 0, seat 0: greedy has not searched the position": func(_ *rollout.Episode, o *analysis.Options) {
			o.Policy = func(env.Spec) (rollout.Policy, error) { return &blind{}, nil }
		},
		"no toys today": func(_ *rollout.Episode, o *analysis.Options) {
			o.Game = func() (env.Vector, error) { return nil, errors.New("no toys today") }
		},
		"recorded as": func(e *rollout.Episode, _ *analysis.Options) { e.Outcome[1].Score++ },
	} {
		t.Run(want, func(t *testing.T) {
			e := played(t, 1, 0)[0]
			o := options(t, e, 0)
			change(e, &o)
			_, err := analysis.Run(t.Context(), e, o)
			assert.ErrorContains(t, err, want)
		})
	}
}

// TestWorst: the worst turns of a seat have the largest losses, the first of equal ones first;
// turns without a loss are left out.
func TestWorst(t *testing.T) {
	var turns []analysis.TurnAnalysis
	for i, lost := range []float64{0.1, 0, 0.3, -0.2, 0.3, 0.2} {
		turns = append(turns, analysis.TurnAnalysis{Turn: 10 * i, Seats: []analysis.Assessment{{}, {Loss: lost}}})
	}
	for n, want := range [][]int{{}, {20}, {20, 40}, {20, 40, 50}, {20, 40, 50, 0}, {20, 40, 50, 0}} {
		assert.Truef(t, slices.Equal(analysis.Worst(turns, 1, n), want), "%d worst", n)
	}
	assert.Empty(t, analysis.Worst(turns, 0, 9), "seat 0 lost nothing")
}
