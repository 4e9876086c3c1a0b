package terminal_test

import (
	"testing"

	"moonfarm/sim"
	"moonfarm/sim/simtest"
	"moonfarm/sim/terminal"
)

// TestConformance checks that the game keeps the promises of sim.Game, under the default rules and the
// sets that differ most from them: 2020, in which supports give bits, and 2019, with other ids and
// decaying shields.
//
// Mirror is not set, because the rules are not symmetric: player 1 gets its ids, which decide the order
// of shots, first, and ties of paths depend on absolute directions (RULES.md, 2.6).
func TestConformance(t *testing.T) {
	for _, name := range []string{"2026", "2020", "2019"} {
		t.Run(name, func(t *testing.T) {
			simtest.Run(t, func() sim.Game[terminal.State] { return mustGame(t, name) }, simtest.Options[terminal.State]{Games: 6})
		})
	}
}
