package towerdefence_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"moonfarm/sim"
	"moonfarm/sim/towerdefence"
	"moonfarm/sim/towerdefence/internal/plain"
)

// Tests of the clauses of RULES.md, section 5.

func TestClause_5_1_Rounds(t *testing.T) {
	m := begin(t, "", nil)
	for range 400 {
		m.idle(1).ended(sim.Running)
	}
	m.idle(1).want("round 401").ended(sim.Over)
	if m.end != plain.MaxRounds || m.g.Info().MaxTurns != 401 {
		t.Errorf("ended by %q, turns %d", m.end, m.g.Info().MaxTurns)
	}
}

func TestClause_5_2_DeadBase(t *testing.T) {
	m := begin(t, "round 40\nA health 5\n0 . .< .< . . . . . | . . . . . . . .", nil)
	m.idle(1).want("A health 0").ended(sim.Over)
	begin(t, "round 40\nA health 6\n0 .< . . . . . . . | . . . . . . . .", nil).idle(1).want("A health 1").ended(sim.Running)
}

func TestClause_5_3_Failures(t *testing.T) {
	begin(t, "A fails 48", nil).play("x,y,z", "").ended(sim.Running).play("x,y,z", "").want("A fails 50").ended(sim.Over)
	begin(t, "B fails 49", nil).play("", "1,2").want("B fails 51").ended(sim.Over)
	begin(t, "B fails 49", nil).play("", "1,2,3").want("B fails 1").ended(sim.Running)
	m := begin(t, "A health 5 fails 49\n0 .< . . . . . . . | . . . . . . . .", nil).play("Exception", "").ended(sim.Over)
	assert.Equal(t, plain.Failed, m.end, "ended by")
}

// result compares the outcome with the twin's winner.
func (m *match) result(want float32) {
	m.t.Helper()
	winner, ok := m.twin.Winner()
	twin := float32(0)
	if ok {
		twin = []float32{1, -1}[winner]
	}
	a, b := m.g.Outcome(&m.s, 0), m.g.Outcome(&m.s, 1)
	if a.Result != want || b.Result != -want || twin != want {
		m.t.Errorf("results %v and %v, of the plain twin %v, want %v\n%s", a.Result, b.Result, twin, want, fastText(m.g, &m.s))
	}
	if a.Score != float64(m.twin.Players[0].Score) || b.Score != float64(m.twin.Players[1].Score) {
		m.t.Errorf("scores %v and %v\n%s", a.Score, b.Score, fastText(m.g, &m.s))
	}
}

func TestClause_5_4_Winner(t *testing.T) {
	for board, want := range map[string]float32{
		"A health 0 score 900\nB health 1 score 3":               -1,
		"A health 1 score 3\nB health 0 score 900":               1,
		"A health 0 score 7\nB health 0 score 8":                 -1,
		"A health 0 score 8\nB health 0 score 8":                 0,
		"round 401\nA score 9\nB score 8":                        1,
		"round 401\nA score 9 health 5\nB score 10":              -1,
		"round 401\nA score 9 health 5\nB score 9":               0,
		"round 60\nA fails 50 score 10\nB score 9":               1,
		"round 60\nA fails 50 score 9\nB score 9":                0,
		"round 60\nA fails 50 health 0 score 90\nB score 9":      -1,
		"round 60\nA health 0 fails 50\nB health 0 score 1":      -1,
		"round 60\nA energy 900 health 1\nB energy 1 health 100": 0,
	} {
		t.Run(board, func(t *testing.T) {
			begin(t, board, nil).result(want)
		})
	}
}

func TestClause_5_5_ScoreOfPlacing(t *testing.T) {
	m := begin(t, "round 40\nA energy 500 ready yes", nil)
	for command, want := range map[string]string{
		"0,0,0": "A score 15", "0,0,1": "A score 9", "0,0,2": "A score 8", "0,0,4": "A score 25", "0,0,5": "A score 25", "": "A score 5",
	} {
		t.Run(command, func(t *testing.T) {
			n := begin(t, fastText(m.g, &m.s), nil)
			n.play(command, "").want(want)
		})
	}
}

func TestClause_5_6_ScoreOfIncome(t *testing.T) {
	begin(t, "round 9\nA energy 0\n0 E E E E . . . . | . . . . . . . .", nil).idle(1).want("A score 17 energy 17").
		play("0,0,3", "").want("A score 31 energy 36")
	times := func(n int) func(r *towerdefence.Rules) {
		return func(r *towerdefence.Rules) { r.EnergyScoreMultiplier = n }
	}
	begin(t, "round 9\nA energy 300 score 7\n0 E E E E . . . . | . . . . . . . .", times(3)).idle(1).want("A score 58 energy 317").
		play("0,0,3", "").want("A score 100 energy 336").play("0,0,4", "").want("A score 162 energy 250")
	begin(t, "A energy 20 score 0", times(0)).play("0,0,2", "").want("A score 3 energy 5")
	begin(t, "A score 2147483000", times(1000)).idle(1).want("A score -2147479296") // wraps around like a Java int
}

func TestClause_5_7_ScoreOfDamage(t *testing.T) {
	for row, want := range map[string]string{
		"| . . . . . . . .>":        "A score 80 damage 75", // the base
		"| . .> E . . . . .":        "A score 10 damage 5",
		"| . .> D . . . . .":        "A score 10 damage 5",
		"| . .> D'' . . . . .":      "A score 10 damage 5",
		"| . .> t5 . . . . .":       "A score 5 damage 0",
		"| . .> T . . . . .":        "A score 55 damage 50",
		"| . .>>>> E . . . . .":     "A score 10 damage 5", // overkill flies on
		"| . .>>>> . . . . . T":     "A score 5 damage 0",
		"| . . . . . . .>>>> .>>>>": "A score 605 damage 600",
	} {
		t.Run(row, func(t *testing.T) {
			begin(t, "round 40\nB energy 0\n0 . . . . . . . . "+row, nil).idle(1).want(want)
		})
	}
	begin(t, "round 40\nB health 7\n0 . . . . . . . . | . . . . . . . .>>", nil).idle(1).want("A score 110") // 7 of 10
	begin(t, "round 40\nB curtain 2\n0 . . . . . . . .> | E . . . . . . .", nil).idle(1).want("A score 5")
	begin(t, "round 40\nA energy 100\nB energy 0\n0 . . . . . . T . | D' E d1 T . . . .", nil).idle(1).want("A score 75 damage 70")
}
