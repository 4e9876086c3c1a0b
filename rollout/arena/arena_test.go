package arena_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/features/featuretest"
	"moonfarm/rollout"
	"moonfarm/rollout/arena"
	"moonfarm/rollout/policy"
	"moonfarm/sim/prng"
	"moonfarm/sim/simtest"
)

// greedy names the largest legal heaps; with probability lazy it does nothing.
type greedy struct {
	spec env.Spec
	lazy float64
}

func (g greedy) Name() string { return "greedy" }
func (g greedy) Wants() env.Want {
	return env.WantPlanes | env.WantMask | env.WantAction | env.WantRowSeed
}

func (g greedy) Act(_ env.Vector, b *env.Batch, rows []int32) {
	heads := len(g.spec.Heads)
	for _, row := range rows {
		planes := b.Planes[int(row)*g.spec.Shape.PlaneBytes():]
		action := b.Action[int(row)*heads:][:heads]
		r := prng.New(b.RowSeed[row])
		clear(action)
		if r.Float64() < g.lazy {
			continue
		}
		named := 0
		for h := range action {
			best := 0
			for heap := range simtest.ToyHeaps {
				free := planes[simtest.ToyHeaps+heap] == 0 && named>>heap&1 == 0
				if free && planes[heap] > 0 && (best == 0 || planes[heap] > planes[best-1]) {
					best = heap + 1
				}
			}
			if best > 0 {
				named |= 1 << (best - 1)
			}
			action[h] = int32(best)
		}
	}
}

func entrant(t testing.TB, name string) arena.Entrant {
	t.Helper()
	switch name {
	case "greedy":
		return arena.Entrant{Name: name, New: func(s env.Spec) (rollout.Policy, error) { return greedy{s, 0.1}, nil }}
	case "lazy":
		return arena.Entrant{Name: name, New: func(s env.Spec) (rollout.Policy, error) { return greedy{s, 0.8}, nil }}
	}
	m, err := policy.New("toy", name)
	require.NoError(t, err)
	return arena.Entrant{Name: name, New: m}
}

// config returns a Config of the toy game whose workers play `games` games at once.
func config(t testing.TB, g simtest.Toy, games int, names ...string) arena.RunOptions {
	c := arena.RunOptions{
		Games: 60, Seed: 11, Workers: 1,
		Vector: func() (env.Vector, error) { return env.New(g, featuretest.ToyKit(g), env.Settings{N: games}) },
	}
	for _, n := range names {
		c.Policies = append(c.Policies, entrant(t, n))
	}
	return c
}

func run(t testing.TB, c arena.RunOptions) *arena.Report {
	t.Helper()
	r, err := arena.Run(context.Background(), c)
	require.NoError(t, err)
	return r
}

var duel = simtest.Toy{Seats: 2, Orders: 1}

func TestResult(t *testing.T) {
	r := run(t, config(t, duel, 4, "greedy", "random", "lazy"))
	require.Truef(t, r.Game == "toy" && r.Rules == "1" && r.Seats == 2 && r.Seeds == 30 && r.Games == 180 && len(r.Pairs) == 3, "%+v", r)
	for _, p := range r.Pairs {
		assert.Truef(t, p.Wins+p.Draws+p.Losses == 60 && p.MeanTurns >= 2 && p.MeanTurns <= simtest.ToyTurns, "%+v", p)
		want := (float64(p.Wins) + float64(p.Draws)/2) / 60
		assert.LessOrEqualf(t, math.Abs(p.Score-want), 1e-6, "score %v, want %v", p.Score, want)
		assert.Truef(t, p.ScoreLow < p.Score && p.Score < p.ScoreHigh || p.Score == 1 && p.ScoreHigh == 1, "interval %v … %v around %v", p.ScoreLow, p.ScoreHigh, p.Score)
	}
	sum := 0.0
	for _, s := range r.Players {
		assert.Equalf(t, 120, s.Wins+s.Draws+s.Losses, "%+v", s)
		sum += s.Elo
	}
	assert.LessOrEqualf(t, math.Abs(sum), 0.31, "ratings sum to %v", sum)
	g, l := r.Players[0], r.Players[2]
	assert.Truef(t, g.ScoreLow >= l.ScoreHigh && g.Elo >= l.Elo+100, "greedy %+v is not clearly better than lazy %+v", g, l)
	text, err := json.Marshal(r)
	require.NoError(t, err)
	for _, key := range []string{`"seeds":30`, `"pairs":[{"a":"greedy","b":"random","wins":`, `"elo":`, `"mean_turns":`, `"score_low":`} {
		assert.Containsf(t, string(text), key, "JSON lacks %s: %s", key, text)
	}
}

// TestSymmetry: the order of the players does not matter, and a policy that meets itself scores
// exactly ½, because both sides get the same seats on the same seeds.
func TestSymmetry(t *testing.T) {
	ab := run(t, config(t, duel, 4, "greedy", "random")).Pairs[0]
	ba := run(t, config(t, duel, 4, "random", "greedy")).Pairs[0]
	assert.Truef(t, ab.Wins == ba.Losses && ab.Draws == ba.Draws && ab.Losses == ba.Wins && ab.MeanTurns == ba.MeanTurns && math.Abs(ab.ScoreLow+ba.ScoreHigh-1) <= 2e-6, "%+v, seen from the other side %+v", ab, ba)
	for _, name := range []string{"random", "lazy"} {
		p := run(t, config(t, duel, 4, name, name)).Pairs[0]
		assert.Truef(t, p.Wins == p.Losses && p.Score == 0.5, "%s against itself: %+v", name, p)
	}
}

// TestDeterminism: the report does not depend on the number of workers or of games at once, and a
// pair's result does not depend on the other players.
func TestDeterminism(t *testing.T) {
	for _, g := range []simtest.Toy{duel, {Seats: 3, Orders: 2}, {Seats: 4, Orders: 2}} {
		t.Run(fmt.Sprintf("%d seats", g.Seats), func(t *testing.T) {
			c := config(t, g, 1, "greedy", "random", "lazy", "random")
			want := run(t, c)
			for workers := 1; workers < 6; workers += 2 {
				for _, games := range []int{3, 50} {
					c := config(t, g, games, "greedy", "random", "lazy", "random")
					c.Workers = workers
					if got := run(t, c); !reflect.DeepEqual(got, want) {
						t.Errorf("%v: %d workers, %d games:\n%+v, want\n%+v", g, workers, games, got, want)
					}
				}
			}
		})
	}
	three := run(t, config(t, duel, 4, "greedy", "random", "lazy"))
	two := run(t, config(t, duel, 4, "greedy", "random"))
	assert.Truef(t, two.Pairs[0].Tally == three.Pairs[0].Tally, "%+v alone, %+v with a third", two.Pairs[0], three.Pairs[0])
}

// TestManySeats: with more than two seats, every set of policies plays in every order; fewer
// policies than seats are repeated.
func TestManySeats(t *testing.T) {
	g := simtest.Toy{Seats: 4, Orders: 1}
	r := run(t, config(t, g, 8, "greedy", "lazy"))
	assert.Truef(t, r.Games == 60 && r.Seeds == 10, "two policies at four seats: %d games on %d seeds", r.Games, r.Seeds)
	p := r.Pairs[0]
	assert.Truef(t, p.Wins+p.Draws+p.Losses == 60*4 && p.Score >= 0.6, "two policies at four seats: %+v", p)
	r = run(t, config(t, simtest.Toy{Seats: 3, Orders: 1}, 8, "greedy", "random", "lazy", "random"))
	assert.Truef(t, r.Games == 4*20*3 && len(r.Pairs) == 6, "four policies at three seats: %d games, %d pairs", r.Games, len(r.Pairs))
	// Each pair meets in two of the four lineups.
	p = r.Pairs[0]
	assert.Equalf(t, 2*20*3, p.Wins+p.Draws+p.Losses, "four policies at three seats: %+v", p)
}

func TestErrors(t *testing.T) {
	for want, change := range map[string]func(c *arena.RunOptions){
		"arena: 1 policies, want 2 or more":    func(c *arena.RunOptions) { c.Policies = c.Policies[:1] },
		"arena: 0 games, want 1 or more":       func(c *arena.RunOptions) { c.Games = 0 },
		`arena: New of policy "greedy" is nil`: func(c *arena.RunOptions) { c.Policies[1].New = nil },
		"arena: RunOptions.Vector is nil":      func(c *arena.RunOptions) { c.Vector = nil },
		"no such network": func(c *arena.RunOptions) {
			c.Policies[1].New = func(env.Spec) (rollout.Policy, error) { return nil, errors.New("no such network") }
		},
	} {
		t.Run(want, func(t *testing.T) {
			c := config(t, duel, 1, "random", "greedy")
			change(&c)
			_, err := arena.Run(context.Background(), c)
			assert.EqualError(t, err, want)
		})
	}
	ctx, cancel := context.WithCancel(context.Background())
	c := config(t, duel, 1, "random", "greedy")
	c.Progress = func(played, all int) {
		assert.Truef(t, all == 60 && played <= all, "%d of %d games", played, all)
		cancel()
	}
	_, err := arena.Run(ctx, c)
	assert.ErrorIsf(t, err, context.Canceled, "error %v after cancelling", err)
}

// TestStopped: a stopped run has the report of its first seeds, equal to a shorter run's.
func TestStopped(t *testing.T) {
	for _, after := range []int{1, 100, 400, 700} {
		t.Run(fmt.Sprintf("after %d games", after), func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			c := config(t, duel, 3, "greedy", "random", "lazy")
			c.Games = 600
			c.Progress = func(played, _ int) {
				if played >= after {
					cancel()
				}
			}
			got, err := arena.Run(ctx, c)
			require.ErrorIsf(t, err, context.Canceled, "stopped after %d games", after)
			if got == nil {
				assert.LessOrEqualf(t, after, 2*3*2*64, "stopped after %d games: no result", after)
				return
			}
			if *got.Complete || got.Seeds < 1 || got.Games != 6*got.Seeds || got.Games > 2*after+6*64 {
				t.Fatalf("stopped after %d games: %d seeds, %d games, complete: %v", after, got.Seeds, got.Games, *got.Complete)
			}
			c = config(t, duel, 3, "greedy", "random", "lazy")
			c.Games = 2 * got.Seeds
			want := run(t, c)
			assert.True(t, *want.Complete, "a run to the end is not complete")
			want.Complete = got.Complete
			assert.Equalf(t, want, got, "stopped after %d games", after)
		})
	}
}

// TestRepeats: the report marks pairs whose games are the same on all seeds.
func TestRepeats(t *testing.T) {
	r := run(t, config(t, duel, 3, "empty", "random", "empty"))
	for _, p := range r.Pairs {
		assert.Equalf(t, p.A == "empty" && p.B == "empty", p.Repeats, "%s and %s: repeats", p.A, p.B)
	}
	c := config(t, duel, 3, "empty", "empty")
	c.Games = 2
	assert.False(t, run(t, c).Pairs[0].Repeats, "one seed cannot repeat")
}

func ExampleRun() {
	random, _ := policy.New("toy", "random")
	mixed, _ := policy.New("toy", "mix(1*random,1*random)")
	g := simtest.Toy{Seats: 2, Orders: 1}
	r, err := arena.Run(context.Background(), arena.RunOptions{
		Vector:   func() (env.Vector, error) { return env.New(g, featuretest.ToyKit(g), env.Settings{N: 16}) },
		Policies: []arena.Entrant{{Name: "random", New: random}, {Name: "mixed", New: mixed}},
		Games:    100, Seed: 1, Workers: 2,
	})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%d games, score %.2f\n", r.Games, r.Pairs[0].Score)
	// Output: 100 games, score 0.50
}
