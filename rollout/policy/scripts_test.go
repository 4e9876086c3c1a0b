package policy_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/rollout"
	"moonfarm/rollout/policy"
	"moonfarm/rollout/policy/policytest"
	"moonfarm/sim"
	"moonfarm/sim/terminal"
)

// gameTests are the parameters of the tests of a game's scripts.
type gameTests struct {
	name, rules string
	mix         string   // a nested mixture of scripts
	against     string   // a script to play against
	turns       int      // turns of a game, 0 for all
	episodes    uint64   // games to compare
	sizes       []int    // games at once
	frugal      []string // rules under which allocations are counted
	until       int      // turns in which allocations are counted
	searches    []string // searches, with few simulations
}

// games are all games that have scripts.
var games = []gameTests{
	{"towerdefence", "", "mix(1*econ,1*mix(1*rush,2*tesla),1*playout)", "turtle", 0, 20, []int{1, 5, 32}, []string{""}, 60,
		[]string{"mcts(sims=10)", "mcts(sims=10,rollout=playout,horizon=10)"}},
	{"terminal", "2026", "mix(1*starter,1*mix(1*maze,2*turtle),1*scatter)", "turtle", 0, 10, []int{1, 5}, terminal.RuleSets(), 20,
		[]string{"mcts(sims=4)", "mcts(sims=4,rollout=playout,horizon=2)", "mcts(sims=4,moves=strategist)"}},
	{"codecraft", "finals", "mix(1*econ,1*mix(1*turtle,2*econ-near),1*quickstart,2*squads)", "turtle", 120, 4, []int{1, 3}, []string{"round1"}, 160, []string{"pgs(sims=12)"}},
	{"tron", "", "mix(1*safe,1*mix(1*territory,2*random))", "safe", 0, 20, []int{1, 5, 32}, []string{"", "torus=true"}, 10, nil},
}

// The orders of a policy depend only on the row: neither on the other games of the batch nor
// on earlier games.
func TestScriptsArePure(t *testing.T) {
	for _, c := range games {
		for _, name := range slices.Concat([]string{"random", c.mix}, policytest.Scripts(c.name), c.searches) {
			t.Run(c.name+" "+name, func(t *testing.T) {
				episodes := c.episodes
				if name == "strategist" || slices.Contains(c.searches, name) { // they are slow
					episodes = max(3, episodes/3)
				}
				var want []sim.Order
				for _, n := range c.sizes {
					v := policytest.NewVector(t, c.name, c.rules, n, c.turns)
					seats := []rollout.Policy{policytest.NewPolicy(t, c.name, name, v.Spec()), policytest.NewPolicy(t, c.name, c.against, v.Spec())}
					var got []sim.Order
					sink := policytest.SinkFunc(func(e *rollout.Episode) error { got = append(got, e.Orders...); return nil })
					require.NoError(t, rollout.Shard(context.Background(), v, seats, 2, 0, episodes, sink))
					if want == nil {
						want = got
					}
					assert.Truef(t, len(got) != 0 && slices.Equal(got, want), "other orders with %d games at once", n)
				}
			})
		}
	}
}

// Act allocates nothing, early and late in a game.
func TestScriptsAllocateNothing(t *testing.T) {
	for _, c := range games {
		for _, rules := range c.frugal {
			for _, name := range slices.Concat([]string{"random"}, policytest.Scripts(c.name), c.searches) {
				t.Run(c.name+" "+rules+" "+name, func(t *testing.T) {
					v := policytest.NewVector(t, c.name, rules, 2, 0)
					p := policytest.NewPolicy(t, c.name, name, v.Spec())
					b := env.NewBatch(v.Spec(), 2, p.Wants())
					rows := numbers(b.Rows)
					for turn := range c.until {
						v.Observe(b)
						if turn%(c.until/5) == 0 {
							n := testing.AllocsPerRun(3, func() { p.Act(v, b, rows) })
							assert.Zerof(t, n, "%v allocations in turn %d", n, turn)
						}
						p.Act(v, b, rows)
						v.Step(b)
					}
				})
			}
		}
	}
}

func TestScriptsPlayTheirGameOnly(t *testing.T) {
	for _, c := range games {
		for _, name := range policytest.Scripts(c.name) {
			t.Run(c.name+" "+name, func(t *testing.T) {
				s := policytest.NewVector(t, c.name, c.rules, 1, 0).Spec()
				fails := func(game, spec, want string) {
					t.Helper()
					m, err := policy.New(game, spec)
					if err == nil {
						_, err = m(s)
					}
					assert.ErrorContainsf(t, err, want, "%s for %s", spec, game)
				}
				fails("toy", "mix(1*random,1*"+name+")", fmt.Sprintf("character 16: no policy %q for toy", name))
				s.Info.MaxOrders = 0
				fails(c.name, name, name+" needs room for ")
				s.Info.Name = "toy"
				fails(c.name, name, fmt.Sprintf("%s plays %s, not toy", name, c.name))
			})
		}
	}
}
