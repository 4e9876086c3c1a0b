package policy_test

import (
	"slices"
	"testing"

	"moonfarm/env"
	"moonfarm/features"
	terminalfeatures "moonfarm/features/terminal"
	towerfeatures "moonfarm/features/towerdefence"
	"moonfarm/sim"
	"moonfarm/sim/terminal"
	"moonfarm/sim/towerdefence"
)

// All that the planners order has a choice, and the choices stand for these orders
// and no others.
func TestPlannerLabels(t *testing.T) {
	g, _ := env.Rules[towerdefence.State](newGames(t, "towerdefence", "", 1, 0))
	plannerLabels(t, "towerdefence", "", g, towerfeatures.NewActions(g.(*towerdefence.Game)))
	h, _ := env.Rules[terminal.State](newGames(t, "terminal", "2020", 1, 0))
	plannerLabels(t, "terminal", "2020", h, terminalfeatures.NewActions(h.(*terminal.Game)))
}

// plannerLabels plays games of the planner, whose orders must have choices in a.
func plannerLabels[S any](t *testing.T, game, rules string, g sim.Game[S], a features.ActionSpace[S]) {
	t.Helper()
	turns, orders := 0, 0
	action := make([]int32, len(a.Heads()))
	eachTurn(t, game, rules, "planner", 4, func(_ sim.Game[S], s *S, p sim.Player, given []sim.Order) {
		turns, orders = turns+1, orders+len(given)
		if !a.Action(action, given, s, p) {
			t.Fatalf("%s: orders %x have no choice", game, given)
		}
		said := slices.Sorted(slices.Values(a.AppendOrders(nil, action, s, p)))
		if want := slices.Sorted(slices.Values(given)); len(given) > 0 && given[0] != 0 && !slices.Equal(said, want) {
			t.Fatalf("%s: orders %x are said as %x", game, want, said)
		}
	})
	t.Logf("%s: %d orders in %d turns", game, orders, turns)
	if turns < 50 || orders < turns {
		t.Errorf("%s: %d orders in %d turns are too few", game, orders, turns)
	}
}
