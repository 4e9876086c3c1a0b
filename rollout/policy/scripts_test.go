package policy_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/rollout"
	"moonfarm/rollout/arena"
	"moonfarm/rollout/policy"
	"moonfarm/sim"
	"moonfarm/sim/terminal"
)

// gameTests is what the tests of scripts need to know of a game.
type gameTests struct {
	name, rules string
	mix         string   // a nested mixture of scripts
	against     string   // a script to play against
	turns       int      // turns of a game, 0 for all
	episodes    uint64   // games to compare
	sizes       []int    // games at once
	frugal      []string // rules under which allocations are counted …
	until       int      // … in so many turns
	searches    []string // searches, with few simulations
}

// games are all games that have scripts.
var games = []gameTests{
	{"towerdefence", "", "mix(1*econ,1*mix(1*rush,2*tesla),1*playout)", "turtle", 0, 20, []int{1, 5, 32}, []string{""}, 60,
		[]string{"mcts(sims=10)", "mcts(sims=10,rollout=playout,horizon=10,node=regret)"}},
	{"terminal", "2026", "mix(1*starter,1*mix(1*maze,2*turtle),1*scatter)", "turtle", 0, 10, []int{1, 5}, terminal.RuleSets(), 20,
		[]string{"mcts(sims=4)", "mcts(sims=4,rollout=playout,horizon=2,node=regret)"}},
	{"codecraft", "finals", "mix(1*econ,1*mix(1*turtle,2*econ-near),1*quickstart,2*squads)", "turtle", 120, 4, []int{1, 3}, []string{"round1"}, 160, nil},
	{"tron", "", "mix(1*safe,1*mix(1*territory,2*random))", "safe", 0, 20, []int{1, 5, 32}, []string{"", "torus=true"}, 10, nil},
}

// long reports whether the tests may take their time.
func long() bool { return os.Getenv("MOONFARM_LONG") != "" }

// scripts are the names of the game's scripted policies: those without options.
func scripts(game string) (names []string) {
	all := policy.Names(game)
	for _, e := range all[2 : len(all)-1] { // TestNames knows the others
		if len(e.Options) == 0 {
			names = append(names, e.Name)
		}
	}
	return names
}

// quick are the scripts that take some microseconds for a turn, and not hundreds.
func quick(game string) []string {
	return slices.DeleteFunc(scripts(game), func(name string) bool { return game == "terminal" && name == "planner" })
}

// newGames returns n games under the rules, cut after so many turns (0: never).
func newGames(t testing.TB, game, rules string, n, turns int) env.Vector {
	t.Helper()
	g, err := catalog.Find(game)
	if err != nil {
		t.Fatal(err)
	}
	v, err := g.New(rules, env.Settings{N: n, MaxTurns: turns})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// sinkFunc is called with every episode.
type sinkFunc func(e *rollout.Episode) error

func (f sinkFunc) Episode(e *rollout.Episode) error { return f(e) }

// league plays every pair of the named policies, n games at once, and logs the
// results.
func league(t *testing.T, game, rules string, n, games int, names ...string) []arena.Pair {
	t.Helper()
	c := arena.RunOptions{Games: games, Seed: 1, Workers: 2, Vector: func() (env.Vector, error) { return newGames(t, game, rules, n, 0), nil }}
	for _, name := range names {
		c.Policies = append(c.Policies, arena.Entrant{Name: name, New: newMaker(t, game, name)})
	}
	r, err := arena.Run(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range r.Pairs {
		t.Logf("%s: %10s – %-10s %3d won %2d drawn %3d lost, score %.3f, %5.1f turns", rules, p.A, p.B, p.Wins, p.Draws, p.Losses, p.Score, p.MeanTurns)
	}
	return r.Pairs
}

// eachTurn plays n games of two seats to the end: the script at alternate seats,
// against random and all quick scripts. Of every running game it shows the state and
// the orders that the script gives there.
func eachTurn[S any](t *testing.T, game, rules, script string, n int, show func(g sim.Game[S], s *S, p sim.Player, orders []sim.Order)) {
	t.Helper()
	v := newGames(t, game, rules, n, 0)
	g, _ := env.Rules[S](v)
	states, _ := env.States[S](v)
	b := env.NewBatch(v.Spec(), n, env.WantMask|env.WantAction|env.WantRowSeed)
	p := newPolicy(t, game, script, v.Spec())
	var opponents []rollout.Policy
	for _, name := range append([]string{"random"}, quick(game)...) {
		opponents = append(opponents, newPolicy(t, game, name, v.Spec()))
	}
	for i := range n {
		v.Reset(i, uint64(i))
	}
	for range v.Spec().MaxTurns {
		v.Observe(b)
		for i := range n {
			row := 2*i + i%2
			p.Act(v, b, []int32{int32(row)})
			opponents[i%len(opponents)].Act(v, b, []int32{int32(row ^ 1)})
		}
		before := slices.Clone(states)
		status := slices.Clone(b.Status)
		v.Step(b) // now choices are orders, too
		for i := range n {
			row := 2*i + i%2
			if status[i] == sim.Running {
				show(g, &before[i], sim.Player(row&1), b.Orders[row*v.Spec().Info.MaxOrders:][:b.OrderLen[row]])
			}
		}
	}
}

// What is chosen depends on the row alone: not on the games beside it, nor on
// those played before.
func TestScriptsArePure(t *testing.T) {
	for _, c := range games {
		for _, name := range slices.Concat([]string{"random", c.mix}, scripts(c.name), c.searches) {
			var want []sim.Order
			for _, n := range c.sizes {
				v := newGames(t, c.name, c.rules, n, c.turns)
				seats := []rollout.Policy{newPolicy(t, c.name, name, v.Spec()), newPolicy(t, c.name, c.against, v.Spec())}
				var got []sim.Order
				sink := sinkFunc(func(e *rollout.Episode) error { got = append(got, e.Orders...); return nil })
				if err := rollout.Shard(context.Background(), v, seats, 2, 0, c.episodes, sink); err != nil {
					t.Fatal(err)
				}
				if want == nil {
					want = got
				}
				if len(got) == 0 || !slices.Equal(got, want) {
					t.Errorf("%s: %s: other orders with %d games at once", c.name, name, n)
				}
			}
		}
	}
}

// Choosing costs no memory, early and late.
func TestScriptsAllocateNothing(t *testing.T) {
	for _, c := range games {
		for _, rules := range c.frugal {
			for _, name := range slices.Concat([]string{"random"}, scripts(c.name), c.searches) {
				v := newGames(t, c.name, rules, 2, 0)
				p := newPolicy(t, c.name, name, v.Spec())
				b := env.NewBatch(v.Spec(), 2, p.Wants())
				rows := numbers(b.Rows)
				for turn := range c.until {
					v.Observe(b)
					if turn%(c.until/5) == 0 {
						if n := testing.AllocsPerRun(3, func() { p.Act(v, b, rows) }); n != 0 {
							t.Errorf("%s %s: %s: %v allocations in turn %d", c.name, rules, name, n, turn)
						}
					}
					p.Act(v, b, rows)
					v.Step(b)
				}
			}
		}
	}
}

func TestScriptsPlayTheirGameOnly(t *testing.T) {
	for _, c := range games {
		for _, name := range scripts(c.name) {
			s := newGames(t, c.name, c.rules, 1, 0).Spec()
			fails := func(game, spec, want string) {
				t.Helper()
				m, err := policy.New(game, spec)
				if err == nil {
					_, err = m(s)
				}
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s for %s: error %v, want one with %q", spec, game, err, want)
				}
			}
			fails("toy", "mix(1*random,1*"+name+")", fmt.Sprintf("character 16: no policy %q for toy", name))
			s.Info.MaxOrders = 0
			fails(c.name, name, name+" needs room for ")
			s.Info.Name = "toy"
			fails(c.name, name, fmt.Sprintf("%s plays %s, not toy", name, c.name))
		}
	}
}

// BenchmarkEpisodes records whole episodes: choosing, stepping and recording,
// per game and turn.
func BenchmarkEpisodes(b *testing.B) {
	for _, c := range games {
		for _, name := range append([]string{"random"}, scripts(c.name)...) {
			b.Run(c.name+"/"+name, func(b *testing.B) {
				v := newGames(b, c.name, c.rules, 16, 0)
				seats := []rollout.Policy{newPolicy(b, c.name, name, v.Spec()), newPolicy(b, c.name, name, v.Spec())}
				games, err := rollout.NewGames(v, seats, 0)
				if err != nil {
					b.Fatal(err)
				}
				turns, sum := 0, uint64(0)
				sink := sinkFunc(func(e *rollout.Episode) error {
					turns += e.Turns
					for _, o := range e.Orders {
						sum = sum*31 + uint64(o)
					}
					return nil
				})
				b.ReportAllocs()
				first := uint64(0)
				for turns < b.N {
					if err := games.Play(context.Background(), 1, first, 16, sink); err != nil {
						b.Fatal(err)
					}
					first += 16
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(turns), "ns/turn")
				b.Logf("%s: %d turns in %d episodes, checksum %x", name, turns, first, sum)
			})
		}
	}
}

// BenchmarkTurns measures what a script takes for a turn, on average and at most,
// in games against the script that others are tested against.
func BenchmarkTurns(b *testing.B) {
	for _, c := range games {
		for _, name := range scripts(c.name) {
			b.Run(c.name+"/"+name, func(b *testing.B) {
				v := newGames(b, c.name, c.rules, 2, c.turns)
				p, foe := newPolicy(b, c.name, name, v.Spec()), newPolicy(b, c.name, c.against, v.Spec())
				batch := env.NewBatch(v.Spec(), 2, env.WantMask|env.WantRowSeed)
				longest, sum := time.Duration(0), uint64(0)
				v.Reset(0, 1)
				v.Reset(1, 2)
				for n := 0; n < b.N; n += 2 {
					v.Observe(batch)
					for i := range int32(2) {
						before := b.Elapsed()
						p.Act(v, batch, []int32{3 * i})
						longest = max(longest, b.Elapsed()-before)
						b.StopTimer()
						foe.Act(v, batch, []int32{1 + i})
						b.StartTimer()
						sum += uint64(batch.OrderLen[3*i])
					}
					b.StopTimer()
					v.Step(batch)
					for i := range 2 {
						if batch.Status[i] != sim.Running {
							v.Reset(i, uint64(n+i))
						}
					}
					b.StartTimer()
				}
				b.ReportMetric(float64(longest.Nanoseconds()), "ns-longest")
				b.Logf("%s: %d turns, %d orders", name, b.N, sum)
			})
		}
	}
}
