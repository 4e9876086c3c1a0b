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
	"moonfarm/rollout/arena/schedule"
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

// cup is a round robin of the toy game.
type cup struct {
	arena.Tournament
	games int // of each lineup, at least
}

// config returns a cup whose workers play `side` games at once.
func config(t testing.TB, g simtest.Toy, side int, names ...string) *cup {
	c := &cup{games: 60}
	c.Seed, c.Workers = 11, 1
	c.Vector = func(int) (env.Vector, error) { return env.New(g, featuretest.ToyKit(g), env.Settings{N: side}) }
	for _, n := range names {
		c.Players = append(c.Players, entrant(t, n))
	}
	return c
}

func run(t testing.TB, c *cup) *arena.Report {
	t.Helper()
	v, err := c.Vector(0)
	require.NoError(t, err)
	c.Schedule = schedule.NewRoundRobin(len(c.Players), v.Spec().Info.Players, c.games)
	games, err := c.Play(t.Context())
	require.NoError(t, err)
	var names []string
	for _, p := range c.Players {
		names = append(names, p.Name)
	}
	r, err := arena.Evaluate(names, games, -1)
	require.NoError(t, err)
	return r
}

var duel = simtest.Toy{Seats: 2, Orders: 1}

func TestResult(t *testing.T) {
	r := run(t, config(t, duel, 4, "greedy", "random", "lazy"))
	require.Truef(t, r.Seats == 2 && r.Seeds == 30 && r.Games == 180 && len(r.Pairs) == 3, "%+v", r)
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

// TestErrors: a tournament ends at the error of a policy, and at the end of its context with the games
// before the first missing one.
func TestErrors(t *testing.T) {
	c := config(t, duel, 1, "random", "greedy")
	c.Schedule = schedule.RoundRobin{Players: 2, Seats: 2, Seeds: 300}
	whole, err := c.Play(t.Context())
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := 0
	c.Done = func(*arena.Played) error {
		if done++; done == 3 {
			cancel()
		}
		return nil
	}
	games, err := c.Play(ctx)
	assert.ErrorIs(t, err, context.Canceled)
	assert.Less(t, len(games), len(whole))
	assert.Equal(t, whole[:len(games)], games)
	c.Players[1].New = func(env.Spec) (rollout.Policy, error) { return nil, errors.New("no such network") }
	_, err = c.Play(t.Context())
	assert.EqualError(t, err, "no such network")
}

// TestRepeats: the report marks pairs whose games are the same on all seeds.
func TestRepeats(t *testing.T) {
	r := run(t, config(t, duel, 3, "empty", "random", "empty"))
	for _, p := range r.Pairs {
		assert.Equalf(t, p.A == "empty" && p.B == "empty", p.Repeats, "%s and %s: repeats", p.A, p.B)
	}
	c := config(t, duel, 3, "empty", "empty")
	c.games = 2
	assert.False(t, run(t, c).Pairs[0].Repeats, "one seed cannot repeat")
}

func ExampleTournament() {
	random, _ := policy.New("toy", "random")
	mixed, _ := policy.New("toy", "mix(1*random,1*random)")
	g := simtest.Toy{Seats: 2, Orders: 1}
	c := arena.Tournament{
		Vector:   func(int) (env.Vector, error) { return env.New(g, featuretest.ToyKit(g), env.Settings{N: 16}) },
		Players:  []arena.Entrant{{Name: "random", New: random}, {Name: "mixed", New: mixed}},
		Schedule: schedule.NewRoundRobin(2, 2, 100),
		Seed:     1, Workers: 2,
	}
	games, err := c.Play(context.Background())
	if err != nil {
		panic(err)
	}
	r, err := arena.Evaluate([]string{"random", "mixed"}, games, -1)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%d games, score %.2f\n", r.Games, r.Pairs[0].Score)
	// Output: 100 games, score 0.50
}
