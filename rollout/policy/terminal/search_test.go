package terminal_test

import (
	"context"
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

// Under every rule set each order of each move of the search is carried out, the played move
// has the largest share, and the moves have many attacks.
func TestTerminalSearched(t *testing.T) {
	turn := sim.NewTurn(1)
	for _, rules := range terminal.RuleSets() {
		v := policytest.NewVector(t, "terminal", rules, 2, 0)
		states, _ := env.States[terminal.State](v)
		g, _ := env.Rules[terminal.State](v)
		p := policytest.NewPolicy(t, "terminal", "mcts(sims=6)", v.Spec()).(rollout.Searcher)
		foe := policytest.NewPolicy(t, "terminal", "starter", v.Spec())
		b := env.NewBatch(v.Spec(), 2, env.WantRowSeed)
		var ops [8]int
		for range 14 {
			v.Observe(b)
			p.Act(v, b, []int32{0, 3})
			foe.Act(v, b, []int32{1, 2})
			for _, row := range []int32{0, 3} {
				found := p.SearchResult(row)
				played := b.Orders[int(row)*v.Spec().Info.MaxOrders:][:b.OrderLen[row]]
				for k, share := range found.Shares {
					if share == slices.Max(found.Shares) {
						if !slices.Equal(found.OrdersOf(k), played) {
							t.Fatalf("%s: orders %x are played, move %d has the largest share", rules, played, k)
						}
						break
					}
				}
				for k := range found.Shares {
					after := states[row/2]
					for _, o := range found.OrdersOf(k) {
						ops[terminal.Decode(o).Op]++
						if !carriedOut(g.(*terminal.Game), &after, sim.Player(row&1), turn, o) {
							t.Fatalf("%s: move %d: %+v in turn %d is not carried out", rules, k, terminal.Decode(o), b.Turn[row])
						}
					}
				}
			}
			v.Step(b)
		}
		r, _ := terminal.RuleSet(rules)
		assert.Truef(t, ops[terminal.OpPlace] != 0 && ops[terminal.OpSpawn] >= 100 && r.Upgradable[terminal.Turret] == (ops[terminal.OpUpgrade] > 0), "%s: orders by op: %v", rules, ops)
	}
}

// The search beats the script maze.
func TestTerminalSearchBeatsMaze(t *testing.T) {
	for _, spec := range []string{"mcts(sims=40)", "mcts(sims=10,rollout=maze,horizon=2)"} {
		v := policytest.NewVector(t, "terminal", "", 2, 0)
		seats := []rollout.Policy{policytest.NewPolicy(t, "terminal", spec, v.Spec()), policytest.NewPolicy(t, "terminal", "maze", v.Spec())}
		won := 0
		sink := policytest.SinkFunc(func(e *rollout.Episode) error {
			if e.Outcome[0].Result > 0 {
				won++
			}
			return nil
		})
		require.NoError(t, rollout.Shard(context.Background(), v, seats, 3, 0, 4, sink))
		t.Logf("%s wins %d of 4 games against maze", spec, won)
		assert.GreaterOrEqualf(t, won, 3, "%s wins %d of 4 games against maze, want 3", spec, won)
	}
}

// With moves=strategist the first move at the root are the strategist's orders, each order of the
// moves that are added is carried out, and results do not depend on rows that were searched before.
func TestTerminalStrategistMoves(t *testing.T) {
	v := policytest.NewVector(t, "terminal", "2021", 3, 0)
	states, _ := env.States[terminal.State](v)
	g, _ := env.Rules[terminal.State](v)
	spec := "mcts(sims=8,moves=strategist)"
	all, plain := policytest.NewPolicy(t, "terminal", spec, v.Spec()).(rollout.Searcher), policytest.NewPolicy(t, "terminal", "mcts(sims=8)", v.Spec()).(rollout.Searcher)
	foe := policytest.NewPolicy(t, "terminal", "planner", v.Spec())
	b := env.NewBatch(v.Spec(), 3, env.WantRowSeed)
	turn, added := sim.NewTurn(1), 0
	for range 8 {
		v.Observe(b)
		plain.Act(v, b, []int32{0, 3, 4})
		foe.Act(v, b, []int32{1, 2, 5})
		all.Act(v, b, []int32{0, 3, 4})
		for _, row := range []int32{0, 3, 4} {
			alone := policytest.NewPolicy(t, "terminal", spec, v.Spec()).(rollout.Searcher)
			found := all.SearchResult(row)
			want := slices.Clone(found.Orders)
			alone.Act(v, b, []int32{row})
			require.Equal(t, want, alone.SearchResult(row).Orders, "orders of row %d, searched alone", row)
			n := len(found.Shares) - len(plain.SearchResult(row).Shares)
			require.GreaterOrEqual(t, n, 2, "moves that are added")
			added += n
			for k := range n {
				after := states[row/2]
				for _, o := range found.OrdersOf(k) {
					require.Truef(t, carriedOut(g.(*terminal.Game), &after, sim.Player(row&1), turn, o), "move %d: %+v is not carried out", k, terminal.Decode(o))
				}
			}
		}
		v.Step(b)
	}
	assert.Greater(t, added, 2*3*8, "moves that are added: none has another attack")
}

// Terminal's search has its own values of options.
func TestTerminalSearchOptions(t *testing.T) {
	_, err := policy.New("terminal", "mcts(rollout=econ)")
	assert.ErrorContainsf(t, err, "expected one of: none, maze, turtle, starter, playout", "error %v of a script of another game", err)
	s := policytest.NewVector(t, "terminal", "", 1, 0).Spec()
	assert.Equal(t, "mcts(horizon=0,rollout=playout)", policytest.NewPolicy(t, "terminal", "mcts( horizon=00, rollout=playout )", s).Name(), "the name")
	m := policytest.NewMaker(t, "terminal", "mcts")
	s.Info.MaxOrders = 10
	_, err = m(s)
	assert.ErrorContainsf(t, err, "mcts needs room for 96 orders, not 10", "error %v without room for orders", err)
	s.Info.Name = "toy"
	_, err = m(s)
	assert.ErrorContainsf(t, err, "mcts plays terminal, not toy", "error %v of another game", err)
}

// A search adds nothing to the recording of the game in which it plays.
func TestTerminalSearchRecordsNothing(t *testing.T) {
	v := policytest.NewVector(t, "terminal", "", 1, 0)
	g, _ := env.Rules[terminal.State](v)
	var record terminal.Record
	g.(*terminal.Game).Record(&record)
	p := policytest.NewPolicy(t, "terminal", "mcts(sims=3)", v.Spec())
	b := env.NewBatch(v.Spec(), 1, p.Wants())
	v.Observe(b)
	if p.Act(v, b, []int32{0}); b.OrderLen[0] == 0 || len(record.Ends) != 0 {
		t.Errorf("%d orders, %d frames recorded", b.OrderLen[0], len(record.Ends))
	}
}
