package codecraft_test

import (
	"testing"

	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/simtest"
)

// flipped flips every choice that no recording decides.
func flipped(r *codecraft.Rules) {
	for _, c := range choices(r) {
		*c = !*c
	}
	r.BonusOver = 100
}

// TestConformance holds the game against the promises of sim.Game: the three
// presets, other numbers of players, a game that ends, and the finals with all
// choices flipped.
//
// With MOONFARM_LONG=1 there are more games, and longer ones.
//
// There is no Mirror: random draws depend on ids and cells, which differ from player to player, so
// the rules are symmetric only in distribution (RULES.md, 2.10).
func TestConformance(t *testing.T) {
	for _, c := range []struct {
		name, preset string
		change       func(r *codecraft.Rules)
		games, turns int
	}{
		{"finals", "finals", nil, 2, 100},
		{"round1", "round1", nil, 1, 60},
		{"round2-3", "round2-3", nil, 2, 60},
		{"ends", "round1-1", func(r *codecraft.Rules) { r.MaxTurns = 40 }, 1, 0},
		{"flipped", "finals", flipped, 2, 100},
	} {
		if long() {
			c.games, c.turns = 2*c.games, 3*c.turns
		}
		t.Run(c.name, func(t *testing.T) {
			simtest.Run(t, func() sim.Game[codecraft.State] { return mustGame(t, c.preset, c.change) },
				simtest.Options[codecraft.State]{Games: c.games, Turns: c.turns})
		})
	}
}
