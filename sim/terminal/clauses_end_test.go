package terminal_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"moonfarm/sim"
	"moonfarm/sim/terminal"
)

// Tests of the clauses of RULES.md, section 5.

func TestClause_5_1_NoHealthLeft(t *testing.T) {
	m := begin(t, "p2 health 1\np1 cores 0 bits 3", nil).deploy("scout 13,0; interceptor 14,0", "").action()
	m.want("unit 2 p1 interceptor 11,4 health 40\nturn 0\np2 health 0").restore().ended(sim.Over, 1)
	m.want("turn 0\np1 cores 1 bits 1") // no restore
	begin(t, "p2 health 2", nil).play("scout 13,0", "").ended(sim.Running, 1).want("turn 1\np2 health 1")
}

func TestClause_5_2_WhoHasWon(t *testing.T) {
	both := "p1 health 1 time 500\np2 health 1 time 700"
	begin(t, both, nil).play("scout 13,0", "").ended(sim.Over, 1)
	begin(t, both, nil).play("", "scout 13,27").ended(sim.Over, -1)
	// Both players lose all health in one frame: time decides, not how far below 0 they are.
	attack := func(r *terminal.Rules) { harmless(r) }
	begin(t, both, attack).play("2 scout 13,0", "3 scout 13,27").want("p1 health -2\np2 health -1").ended(sim.Over, 1)
	begin(t, both, attack).play("3 scout 13,0; clock 200", "2 scout 13,27; clock 1").want("p1 health -1\np2 health -2").ended(sim.Over, 1)
	begin(t, both, attack).play("2 scout 13,0; clock 202", "2 scout 13,27; clock 1").ended(sim.Over, -1)
	// A player without health loses against one with health, whatever the times.
	begin(t, "p1 health 0.1 time 900\np2 health 1", attack).play("scout 13,0", "").ended(sim.Over, 1)
}

func TestClause_5_3_TurnLimit(t *testing.T) {
	m := begin(t, "turn 98\np1 health 5 time 9\np2 health 4", nil).play("", "").ended(sim.Running, 1)
	m.want("p1 cores 45 bits 17.8").play("", "").ended(sim.Over, 1).want("turn 100\np1 cores 50 bits 28.4") // turn 99 has a restore too
	begin(t, "turn 99\np1 time 9\np2 time 10", nil).play("", "").ended(sim.Over, 1)
	begin(t, "turn 99\np1 time 11\np2 time 10", nil).play("", "").ended(sim.Over, -1)
	begin(t, "", func(r *terminal.Rules) { r.MaxTurns = 1 }).play("scout 13,0", "").ended(sim.Over, 1)
	// The turn before the last removes marked structures. The last turn neither removes nor
	// refunds; structures to be removed later keep their marks.
	m = begin(t, "turn 98\np1 cores 0\nw 13,5\nw 14,5", nil).play("rm 13,5", "").want("at 13,5 .\np1 cores 5.8")
	m.play("rm 14,5", "").ended(sim.Over, 0).want("turn 100\nat 14,5 w1\np1 cores 10.8")
	assert.Empty(t, m.rec.Removed, "removed")
	begin(t, "turn 98\np1 cores 0\nw 13,5", rules("2026")).play("rm 13,5", "").want("at 13,5 w1").play("", "").ended(sim.Over, 0).want("at 13,5 w1\np1 cores 8")
	if g := mustGame(t, "2026"); g.Info().MaxTurns != 100 {
		t.Errorf("Info says %d turns", g.Info().MaxTurns)
	}
}

func TestClause_5_4_EqualTimes(t *testing.T) {
	begin(t, "turn 99", nil).play("", "").ended(sim.Over, 0)
	begin(t, "p1 health 1\np2 health 1", harmless).play("scout 13,0; clock 5", "scout 13,27; clock 5").ended(sim.Over, 0)
	// Under moonfarm.firstWins player 1 wins unless player 2 is faster.
	first := func(r *terminal.Rules) { harmless(r); r.FirstWins = true }
	begin(t, "turn 99", first).play("", "").ended(sim.Over, 1)
	for clock, won := range map[int]float32{4: -1, 5: 1, 6: 1} {
		begin(t, "p1 health 1\np2 health 1", first).play("scout 13,0; clock 5", fmt.Sprintf("scout 13,27; clock %d", clock)).ended(sim.Over, won)
	}
}

func TestClause_5_5_Penalties(t *testing.T) {
	rules, _ := terminal.RuleSet("2025b")
	for ms, want := range map[uint32]float32{0: 0, 5000: 0, 5999: 0, 6000: 1, 6999: 1, 7000: 2, 9999: 4, 34999: 29, 35000: 30, 35_999: 30, 36_000: 31, 4_000_000_000: 3_999_995} {
		t.Run(fmt.Sprint(ms), func(t *testing.T) {
			assert.Equalf(t, want, rules.TimePenalty(ms), "%d ms cost", ms)
		})
	}
	rules.MaxTime = 0
	assert.Equal(t, float32(60), rules.TimePenalty(65_000), "without a limit 65 s cost")
	latest := terminal.DefaultRules() // 15 s cost nothing, 35 s cost 40 health
	a, b, c := latest.TimePenalty(16_999), latest.TimePenalty(35_000), latest.CrashPenalty()
	assert.Truef(t, a == 1 && b == 40 && c == 41, "2026: %v, %v and %v", a, b, c)
	// Player 1 crashes: the orders of player 2 are carried out, and one frame is played.
	m := begin(t, "p1 health 29", nil).give([]sim.Order{terminal.Penalty(rules.CrashPenalty())}, orders(t, "wall 13,20; scout 13,27")).action()
	m.want("p1 health -2\nat 13,20 w\nunit 2 p2 scout 13,26 health 15").restore().ended(sim.Over, -1)
	assert.Equalf(t, 1, m.frames, "%d frames", m.frames)
	// In 2018 each penalty pays the other player a core before any command, here for a wall. In 2019
	// it pays nothing.
	poor := "p1 cores 0\np2 cores 0"
	begin(t, poor, rules2018).deploy("wall 13,5; penalty 2", "penalty 1; penalty 1").want("p1 health 28 cores 1\np2 health 28 cores 1\nat 13,5 w")
	begin(t, poor, func(r *terminal.Rules) { *r, _ = terminal.RuleSet("2019") }).deploy("wall 13,5; penalty 2", "penalty 1; penalty 1").want("p1 health 28 cores 0\np2 health 28 cores 0\nat 13,5 .")
	begin(t, poor, nil).deploy("wall 13,5; penalty 2", "penalty 1; penalty 1").want("p1 health 28 cores 0\np2 health 28 cores 0\nat 13,5 .")
}

// rules2018 returns the rules of 2019 with penalties that pay the other player.
func rules2018(r *terminal.Rules) {
	*r, _ = terminal.RuleSet("2019")
	r.FreePenalties = false
}

func TestClause_5_6_Score(t *testing.T) {
	m := begin(t, "p2 health 29.5", nil).play("2 scout 13,0", "penalty 4")
	if a, b := m.g.Outcome(&m.s, 0).Score, m.g.Outcome(&m.s, 1).Score; a != 6.5 || b != 0 {
		t.Errorf("scores %v and %v\n%s", a, b, m.text())
	}
}
