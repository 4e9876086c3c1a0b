package terminal_test

import (
	"testing"

	"moonfarm/sim"
	"moonfarm/sim/simtest"
	"moonfarm/sim/terminal"
)

// TestConformance holds the game against the promises of sim.Game, under the
// default rules and those that differ most from them: 2020, where supports give
// bits, and 2019, with its other ids and its fading shields.
//
// There is no Mirror: the rules are not symmetric. Ids, which decide who shoots
// first, are handed out to player 1 first, and a tie of ways goes by absolute
// directions (RULES.md, 2.6).
func TestConformance(t *testing.T) {
	for _, name := range []string{"2026", "2020", "2019"} {
		t.Run(name, func(t *testing.T) {
			simtest.Run(t, func() sim.Game[terminal.State] { return mustGame(t, name) }, simtest.Options[terminal.State]{Games: 6})
		})
	}
}
