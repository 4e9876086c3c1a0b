package policy_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/rollout"
	"moonfarm/rollout/policy"
	"moonfarm/rollout/policy/policytest"
	"moonfarm/sim"
)

// Options are read and rewritten in canonical form; wrong ones are refused.
func TestSearchOptions(t *testing.T) {
	s := policytest.NewVector(t, "towerdefence", "", 1, 0).Spec()
	for spec, want := range map[string]string{
		"mcts":                  "mcts",
		" mcts ( sims = 0400 )": "mcts(sims=400)",
		"mcts(rollout=turtle,c=0.50,memory=1,horizon=07,sims=9)": "mcts(rollout=turtle,c=0.5,memory=1,horizon=7,sims=9)",
		"mcts(c=-0)": "mcts(c=0)",
		"mcts(noise=.250,sampled=030,visit-temperature=1.0,full=0.25,cheap=9)": "mcts(noise=0.25,sampled=30,visit-temperature=1,full=0.25,cheap=9)",
		"mcts(gumbel=016)":                          "mcts(gumbel=16)",
		"mix(1*mcts(sims=1),2*mix(1*mcts(c=1e-3)))": "mix(1*mcts(sims=1),2*mix(1*mcts(c=0.001)))",
	} {
		t.Run(spec, func(t *testing.T) {
			p := policytest.NewPolicy(t, "towerdefence", spec, s)
			assert.Equalf(t, want, p.Name(), "%q is called", spec)
			again := policytest.NewPolicy(t, "towerdefence", want, s)
			assert.Equalf(t, want, again.Name(), "%q is called %q", want, again.Name())
		})
	}
	for spec, want := range map[string]string{
		"mcts(simulations=3)":       `character 6: no option "simulations"; there are: sims, ms, rollout, opponent, horizon, c, memory`,
		"mcts(sims=0)":              "character 6: sims=0, expected a whole number from 1 to 1000000",
		"mcts(ms=600001)":           "character 6: ms=600001, expected a whole number from 1 to 600000",
		"mcts(ms=5,sims=5)":         "character 6: sims and ms are both set, expected one budget",
		"mcts(sims=4e2)":            "character 6: sims=4e2, expected",
		"mcts(sims=3,sims=3)":       "character 13: sims is set twice",
		"mcts(c=-1)":                "character 6: c=-1, expected a number from 0 to 1000",
		"mcts(c=nan)":               "character 6: c=nan, expected a number from 0 to 1000",
		"mcts(sims=3, node=uct)":    `character 14: no option "node"`,
		"mcts(rollout=mcts)":        "character 6: rollout=mcts, expected one of: none, econ, turtle, rush, tesla, playout",
		"mcts(opponent=playout)":    "character 6: opponent=playout, expected one of: search, econ, turtle, rush, tesla",
		"mcts(memory=99999)":        "character 6: memory=99999, expected a whole number from 1 to 2047",
		"mix(1*mcts(horizon=x))":    "character 12: horizon=x, expected",
		"mcts(noise=2)":             "character 6: noise=2, expected a number from 0 to 1",
		"mcts(gumbel=1)":            "character 6: gumbel=1, expected a whole number from 2 to 1024",
		"mcts(full=-1)":             "character 6: full=-1, expected a number from 0 to 1",
		"mcts(cheap=5)":             "character 6: cheap is set without full",
		"mcts(visit-temperature=2)": "character 6: visit-temperature is set without sampled",
		"mcts(gumbel=8,noise=0.25)": "character 15: gumbel and noise are both set, expected one",
		"mcts(ms=5,gumbel=8)":       "character 11: ms and gumbel are both set, expected one",
		"mcts(ms=5,full=0.25)":      "character 11: ms and full are both set, expected one",
	} {
		t.Run(spec, func(t *testing.T) {
			_, err := policy.New("towerdefence", spec)
			assert.ErrorContainsf(t, err, want, "%q", spec)
		})
	}
	_, err := policy.New("tron", "mcts")
	assert.ErrorContainsf(t, err, `no policy "mcts" for tron`, "error %v of a search in a game without", err)
	s.Info.Name = "toy"
	_, err = policytest.NewMaker(t, "towerdefence", "mcts")(s)
	assert.ErrorContainsf(t, err, "mcts plays towerdefence, not toy", "error %v of a search that plays another game", err)
}

// A budget in milliseconds ends the search, and NewReproducible refuses policies with such a
// budget.
func TestClock(t *testing.T) {
	v := policytest.NewVector(t, "towerdefence", "", 1, 0)
	p := policytest.NewPolicy(t, "towerdefence", "mix(1*mcts(ms=060))", v.Spec())
	assert.Equal(t, "mix(1*mcts(ms=60))", p.Name(), "called")
	b := env.NewBatch(v.Spec(), 1, p.Wants())
	v.Observe(b)
	begin := time.Now()
	p.Act(v, b, []int32{0})
	// Without the budget the search would take hours.
	passed := time.Since(begin)
	assert.Truef(t, passed >= 60*time.Millisecond && passed <= 20*time.Second, "a search of 60 ms took %v", passed)
	for spec, want := range map[string]string{
		"mcts(ms=5)":                          `policy "mcts(ms=5)": character 6: ms=5: its games depend on the speed of the machine`,
		"mix(1*econ,2*mix(1*mcts(c=1,ms=5)))": "character 29: ms=5: ",
	} {
		t.Run(spec, func(t *testing.T) {
			_, err := policy.NewReproducible("towerdefence", spec)
			assert.ErrorContainsf(t, err, want, "%q", spec)
		})
	}
	for _, spec := range []string{"mix(1*econ,1*mcts(sims=5))", "mcts"} {
		_, err := policy.NewReproducible("towerdefence", spec)
		assert.NoErrorf(t, err, "%q", spec)
	}
}

// SearchResult has legal moves, their shares and a value; the played move is one with the
// largest share.
func TestSearched(t *testing.T) {
	for _, spec := range []string{"mcts(sims=40)", "mcts(sims=40,horizon=9)"} {
		v := policytest.NewVector(t, "towerdefence", "", 3, 0)
		p := policytest.NewPolicy(t, "towerdefence", spec, v.Spec()).(rollout.Searcher)
		b := env.NewBatch(v.Spec(), 3, p.Wants())
		choices := 0
		for range 40 {
			v.Observe(b)
			p.Act(v, b, []int32{4, 1, 3, 0})
			b.OrderLen[2], b.OrderLen[5] = 0, 0
			for _, row := range []int32{0, 1, 3, 4} {
				choices += checkSearched(t, spec, p.SearchResult(row), b.Orders[row])
			}
			if p.SearchResult(2) != nil {
				t.Fatalf("%s: has a result for a row that it has not searched", spec)
			}
			v.Step(b)
		}
		assert.GreaterOrEqualf(t, choices, 100, "%s: %d moves in all", spec, choices)
	}
}

// TestSearchAtOnce: rows that are searched at once have the results of rows that are searched one
// after the other: playouts to the end and to a horizon, with memory for too few trees, and by rules
// that no vector instructions play.
func TestSearchAtOnce(t *testing.T) {
	for _, c := range []struct{ options, rules string }{
		{"horizon=0", ""},
		{"horizon=7", ""},
		{"horizon=30,memory=1", ""},
		{"horizon=20", "game.config.attack.config.weapon-cooldown-period=4\n"},
	} {
		t.Run(c.options, func(t *testing.T) {
			spec := "mcts(sims=60,rollout=playout," + c.options + ")"
			const games = 9
			v := policytest.NewVector(t, "towerdefence", c.rules, games, 0)
			all, single := policytest.NewPolicy(t, "towerdefence", spec, v.Spec()).(rollout.Searcher), policytest.NewPolicy(t, "towerdefence", spec, v.Spec()).(rollout.Searcher)
			b := env.NewBatch(v.Spec(), games, all.Wants())
			rows := []int32{7, 0, 1, 2, 3, 4, 5, 6, 8, 9, 12, 10, 11, 14, 13, 15, 17, 16} // more than trees
			for range 12 {
				v.Observe(b)
				all.Act(v, b, rows)
				together := slices.Clone(b.Orders)
				for _, row := range rows {
					single.Act(v, b, []int32{row})
					require.Equal(t, *single.SearchResult(row), *all.SearchResult(row), "row %d", row)
				}
				require.Equal(t, b.Orders, together)
				v.Step(b)
			}
			v.Observe(b)
			assert.Zero(t, testing.AllocsPerRun(2, func() { all.Act(v, b, rows) }), "allocations")
		})
	}
}

// TestSearchAtOnceUntil: rows that are searched at once are left alone once the context of Until is
// done. Afterwards the policy plays as before.
func TestSearchAtOnceUntil(t *testing.T) {
	const spec, games = "mcts(sims=90,rollout=playout,horizon=0)", 6
	v := policytest.NewVector(t, "towerdefence", "", games, 0)
	used, fresh := policytest.NewPolicy(t, "towerdefence", spec, v.Spec()), policytest.NewPolicy(t, "towerdefence", spec, v.Spec())
	ctx, stop := context.WithCancel(t.Context())
	stop()
	b := env.NewBatch(v.Spec(), games, used.Wants())
	v.Observe(b)
	rows := []int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
	rollout.Until(ctx, used)
	used.Act(v, b, rows)
	for _, row := range rows {
		require.Equal(t, int32(-1), b.OrderLen[row], "orders of row %d", row)
	}
	var found [2][]rollout.SearchResult
	for i, p := range []rollout.Policy{used, fresh} {
		rollout.Until(t.Context(), p)
		p.Act(v, b, rows)
		for _, row := range rows {
			found[i] = append(found[i], *p.(rollout.Searcher).SearchResult(row))
		}
	}
	assert.Equal(t, found[1], found[0])
}

// checkSearched checks a search result, and returns the number of its moves.
func checkSearched(t *testing.T, spec string, s *rollout.SearchResult, played sim.Order) int {
	t.Helper()
	sum, chosen := 0.0, -1
	for k, share := range s.Shares {
		sum += float64(share)
		if slices.Equal(s.OrdersOf(k), []sim.Order{played}) {
			chosen = k
		}
	}
	require.Truef(t, math.Abs(sum-1) <= 1e-5 && s.Value >= -1 && s.Value <= 1 && len(s.Ends) == len(s.Shares), "%s: shares %v, value %v, ends %v", spec, s.Shares, s.Value, s.Ends)
	require.Truef(t, chosen >= 0 && s.Shares[chosen] != 0 && s.Shares[chosen] == slices.Max(s.Shares), "%s: order %x is played of %x, shares %v", spec, played, s.Orders, s.Shares)
	return len(s.Shares)
}

// The search beats scripts, and games that differ only in their seeds are different games.
func TestSearchBeatsScripts(t *testing.T) {
	for spec, against := range map[string]string{"mcts(sims=100)": "planner", "mcts(sims=32,rollout=econ,horizon=30)": "econ", "mcts(sims=64,rollout=playout,horizon=30)": "econ"} {
		v := policytest.NewVector(t, "towerdefence", "", 2, 0)
		seats := []rollout.Policy{policytest.NewPolicy(t, "towerdefence", spec, v.Spec()), policytest.NewPolicy(t, "towerdefence", against, v.Spec())}
		won, games := 0, map[string]bool{}
		sink := policytest.SinkFunc(func(e *rollout.Episode) error {
			if e.Outcome[0].Result > 0 {
				won++
			}
			games[fmt.Sprint(e.Orders)] = true
			return nil
		})
		require.NoError(t, rollout.Shard(context.Background(), v, seats, 3, 0, 8, sink))
		t.Logf("%s wins %d of 8 games against %s", spec, won, against)
		assert.Truef(t, won >= 6 && len(games) >= 8, "%s wins %d of 8 games against %s, want 6; %d games differ, want 8", spec, won, against, len(games))
	}
}

// Games of the search against itself differ.
func TestSearchVaries(t *testing.T) {
	v := policytest.NewVector(t, "towerdefence", "", 4, 0)
	search := policytest.NewPolicy(t, "towerdefence", "mcts(sims=50)", v.Spec())
	games := map[string]bool{}
	sink := policytest.SinkFunc(func(e *rollout.Episode) error { games[fmt.Sprint(e.Orders)] = true; return nil })
	require.NoError(t, rollout.Shard(context.Background(), v, []rollout.Policy{search, search}, 3, 0, 4, sink))
	assert.GreaterOrEqualf(t, len(games), 4, "of 4 games %d differ", len(games))
}

// A mixture returns the search result of the member that played a row, if that member
// searches. A mixture without searches is not a Searcher.
func TestMixturesTellWhatWasFound(t *testing.T) {
	v := policytest.NewVector(t, "towerdefence", "", 5, 0)
	p := policytest.NewPolicy(t, "towerdefence", "mix(1*mcts(sims=2),1*mix(1*econ,1*mcts(sims=3)))", v.Spec())
	chooser := p.(rollout.Mixture)
	b := env.NewBatch(v.Spec(), 5, p.Wants())
	counts := [3]int{}
	for range 30 {
		v.Observe(b)
		p.Act(v, b, []int32{9, 1, 3, 0})
		clear(b.OrderLen[4:9])
		b.OrderLen[2] = 0
		for _, row := range []int32{0, 1, 3, 9} {
			member, found := chooser.Chosen(b, row), rollout.ResultOf(p, b, row)
			counts[member]++
			if (found != nil) != (member != 1) {
				t.Fatalf("member %d chose and found %v", member, found)
			}
			if found != nil {
				checkSearched(t, p.Name(), found, b.Orders[int(row)])
			}
		}
		require.Nil(t, rollout.ResultOf(p, b, 2), "has a result for a row that it has not searched")
		v.Step(b)
	}
	assert.NotEqualf(t, 0, min(counts[0], counts[1], counts[2]), "members chose %v times", counts)
	assert.True(t, rollout.Has[rollout.Searcher](p))
	assert.False(t, rollout.Has[rollout.Searcher](policytest.NewPolicy(t, "towerdefence", "mix(1*econ,1*random)", v.Spec())), "a mixture without searches")
}

// A search that would take hours ends when the context of Until is done, also as a member of a
// mix, and delivers no episode. Afterwards the policy plays as before.
func TestSearchUntil(t *testing.T) {
	for _, spec := range []string{"mcts(sims=1000000)", "mix(1*mix(1*mcts(sims=1000000)),1*random)"} {
		v := policytest.NewVector(t, "terminal", "", 4, 0)
		seats := []rollout.Policy{policytest.NewPolicy(t, "terminal", spec, v.Spec()), policytest.NewPolicy(t, "terminal", "random", v.Spec())}
		cause := errors.New("enough")
		ctx, stop := context.WithCancelCause(t.Context())
		time.AfterFunc(50*time.Millisecond, func() { stop(cause) })
		sink := policytest.SinkFunc(func(e *rollout.Episode) error {
			t.Errorf("%s: episode %d of %d turns", spec, e.ID, e.Turns)
			return nil
		})
		err := rollout.Shard(ctx, v, seats, 1, 0, 8, sink)
		assert.Truef(t, err == cause, "%s: error %v", spec, err)
	}
	v := policytest.NewVector(t, "towerdefence", "", 1, 0)
	used, fresh := policytest.NewPolicy(t, "towerdefence", "mcts(sims=50)", v.Spec()), policytest.NewPolicy(t, "towerdefence", "mcts(sims=50)", v.Spec())
	ctx, stop := context.WithCancel(t.Context())
	stop()
	b := env.NewBatch(v.Spec(), 1, used.Wants())
	v.Observe(b)
	rollout.Until(ctx, used)
	used.Act(v, b, []int32{0, 1})
	var found [2]rollout.SearchResult
	for i, p := range []rollout.Policy{used, fresh} {
		rollout.Until(t.Context(), p)
		p.Act(v, b, []int32{0, 1})
		found[i] = *p.(rollout.Searcher).SearchResult(1)
	}
	assert.Equalf(t, found[1], found[0], "after an interrupt %v, else %v", found[0], found[1])
}
