package policy_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/features"
	terminalfeatures "moonfarm/features/terminal"
	towerfeatures "moonfarm/features/towerdefence"
	"moonfarm/rollout/policy/policytest"
	"moonfarm/sim"
	"moonfarm/sim/terminal"
	"moonfarm/sim/towerdefence"
)

// Choices encode all orders of the planners, and decode to the same orders.
func TestPlannerLabels(t *testing.T) {
	g, _ := env.Rules[towerdefence.State](policytest.NewVector(t, "towerdefence", "", 1, 0))
	plannerLabels(t, "towerdefence", "", "planner", g, towerfeatures.NewActions(g.(*towerdefence.Game)))
	h, _ := env.Rules[terminal.State](policytest.NewVector(t, "terminal", "2020", 1, 0))
	for _, script := range []string{"planner", "strategist"} {
		plannerLabels(t, "terminal", "2020", script, h, terminalfeatures.NewActions(h.(*terminal.Game)))
	}
}

// plannerLabels plays games of a script, whose orders a must encode.
func plannerLabels[S any](t *testing.T, game, rules, script string, g sim.Game[S], a features.ActionSpace[S]) {
	t.Helper()
	turns, orders := 0, 0
	against := slices.DeleteFunc(policytest.Scripts(game), func(name string) bool { return name == script })
	action := make([]int32, len(a.Heads()))
	policytest.EachTurn(t, game, rules, script, against, 4, func(_ sim.Game[S], s *S, p sim.Player, given []sim.Order) {
		turns, orders = turns+1, orders+len(given)
		require.Truef(t, a.Action(action, given, s, p), "%s: no choices encode the orders %x", game, given)
		decoded := slices.Sorted(slices.Values(a.AppendOrders(nil, action, s, p)))
		want := slices.Sorted(slices.Values(given))
		require.Truef(t, len(given) == 0 || given[0] == 0 || slices.Equal(decoded, want), "%s: orders %x are decoded as %x", game, want, decoded)
	})
	t.Logf("%s: %d orders in %d turns", game, orders, turns)
	assert.Truef(t, turns >= 50 && orders >= turns, "%s: %d orders in %d turns are too few", game, orders, turns)
}
