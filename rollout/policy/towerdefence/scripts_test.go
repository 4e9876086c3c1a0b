package towerdefence_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout"
	"moonfarm/rollout/policy/policytest"
	"moonfarm/sim"
	"moonfarm/sim/towerdefence"
)

// The scripts beat random clearly, and all other scripts beat playout; turtle wins some games
// against econ and loses some; planner beats all.
func TestTowersAgainstEachOther(t *testing.T) {
	for _, p := range policytest.League(t, "towerdefence", "", 32, 200, append([]string{"random"}, policytest.Scripts("towerdefence")...)...) {
		decided := float64(p.Wins + p.Losses)
		assert.Truef(t, (p.A != "random" || float64(p.Losses) >= 0.9*decided) && (p.A != "playout" || float64(p.Losses) >= 0.85*decided), "%s wins only %d of %.0f games against %s", p.B, p.Losses, decided, p.A)
		assert.Truef(t, p.A != "econ" || p.B != "turtle" || p.Score >= 0.2 && p.Score <= 0.9 && p.Score != 0.5, "econ scores %v against turtle", p.Score)
		assert.Truef(t, p.B != "planner" || float64(p.Losses) >= 0.9*decided, "planner wins only %d of %.0f games against %s", p.Losses, decided, p.A)
	}
}

// share returns the fraction of each kind among a script's buildings.
func share(t *testing.T, spec string) (part [5]float64) {
	t.Helper()
	v := policytest.NewVector(t, "towerdefence", "", 16, 0)
	seats := []rollout.Policy{policytest.NewPolicy(t, "towerdefence", spec, v.Spec()), policytest.NewPolicy(t, "towerdefence", "playout", v.Spec())}
	all := 0.0
	count := policytest.SinkFunc(func(e *rollout.Episode) error {
		for turn := range e.Turns {
			switch op := towerdefence.Decode(e.OrdersOf(turn, 0)[0]).Op; op {
			case towerdefence.OpDefense, towerdefence.OpAttack, towerdefence.OpEnergy, towerdefence.OpTesla:
				part[op-1]++
				all++
			}
		}
		return nil
	})
	require.NoError(t, rollout.Shard(context.Background(), v, seats, 4, 0, 60, count))
	for k := range part {
		part[k] /= all
	}
	return part
}

func TestStyles(t *testing.T) {
	styles := map[string][5]float64{}
	for _, name := range policytest.Scripts("towerdefence") {
		styles[name] = share(t, name)
		t.Logf("%8s: defense %.2f, attack %.2f, energy %.2f, tesla %.2f", name,
			styles[name][0], styles[name][1], styles[name][2], styles[name][4])
	}
	more := func(k towerdefence.Kind, name string, than ...string) {
		for _, other := range than {
			assert.GreaterOrEqualf(t, styles[name][k], styles[other][k]+0.03, "%s builds no more %v than %s", name, k, other)
		}
	}
	more(towerdefence.Defense, "turtle", "econ", "rush")
	more(towerdefence.Attack, "rush", "econ", "turtle", "tesla")
	more(towerdefence.Energy, "econ", "rush")
	more(towerdefence.Tesla, "tesla", "econ", "rush", "turtle")
}

// The orders of a script are legal, in games against every kind of opponent.
func TestTowersAreLegal(t *testing.T) {
	var legal []sim.Order
	for _, name := range append([]string{"random", "mcts(sims=3)"}, policytest.Scripts("towerdefence")...) {
		policytest.EachTurn(t, "towerdefence", "", name, policytest.Scripts("towerdefence"), 24, func(g sim.Game[towerdefence.State], s *towerdefence.State, p sim.Player, orders []sim.Order) {
			legal = g.AppendOrders(legal[:0], s, p)
			if len(orders) > 0 && !slices.Contains(legal, orders[0]) {
				t.Fatalf("%s orders %x in round %d, which is not legal", name, orders[0], s.Round)
			}
		})
	}
}
