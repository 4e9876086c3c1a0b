package towerdefence_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"moonfarm/sim"
	"moonfarm/sim/towerdefence"
)

// Tests of the clauses of RULES.md, sections 2 and 3. The plain twin plays
// every match, too.

func TestClause_2_1_EightRowsAndTwoHalves(t *testing.T) {
	begin(t, "A energy 60\nB energy 60", nil).play("0,0,2", "0,0,2").play("7,7,2", "7,7,2").want(`
		0 E . . . . . . . | . . . . . . . E
		7 . . . . . . . E | E . . . . . . .`)
	for _, outside := range []string{"8,0,2", "0,8,2", "-1,0,2", "0,-1,2"} {
		begin(t, "", nil).play(outside, "").want("A energy 25 fails 1")
	}
}

func TestClause_2_2_HalvesAreMirrored(t *testing.T) {
	begin(t, "A energy 60\nB energy 60", nil).play("2,3,2", "2,3,2").play("6,1,1", "6,1,1").play("", "").want(`
		3 . . E . . . . . | . . . . . E . .
		1 . . . . . . A3 .< | .> A3 . . . . . .`)
	// TestMirror plays random games with the seats exchanged.
}

func TestClause_2_3_OneBuildingAndManyMissiles(t *testing.T) {
	m := begin(t, `
		round 9
		A energy 60
		4 . . . . A>< . . . | . . . . . . . .`, nil)
	m.play("4,4,0", "").want(`
		A energy 65 fails 1
		4 . . .< . A3 . .>> . | . . . . . . . .`)
}

func TestClause_2_4_Start(t *testing.T) {
	g, _ := towerdefence.New(towerdefence.DefaultRules())
	m := start(t, g).want("round 0\n" +
		"A energy 20 health 100 hits 0 score 0 curtain 0 ready no fails 0\n" +
		"B energy 20 health 100 hits 0 score 0 curtain 0 ready no fails 0\n" + emptyMap)
	// No missile can fly so early that the curtain shown as active would stop
	// it.
	m.idle(1).want("A curtain -1")
}

const emptyMap = `
	0 . . . . . . . . | . . . . . . . .
	1 . . . . . . . . | . . . . . . . .
	2 . . . . . . . . | . . . . . . . .
	3 . . . . . . . . | . . . . . . . .
	4 . . . . . . . . | . . . . . . . .
	5 . . . . . . . . | . . . . . . . .
	6 . . . . . . . . | . . . . . . . .
	7 . . . . . . . . | . . . . . . . .
`

func TestClause_3_1_CommandsComeFirstAndSpendOldEnergy(t *testing.T) {
	m := begin(t, "A energy 15\nB energy 20", nil)
	m.play("0,0,2", "0,0,2").want("A energy 20 fails 1\nB energy 5 fails 0") // the income of 15 and 5 comes too late
	m.play("0,0,2", "").want("A energy 5 fails 0")
}

func TestClause_3_2_ConstructionTimes(t *testing.T) {
	m := begin(t, "A energy 200", nil)
	m.play("0,0,0", "").play("0,1,1", "").play("0,2,2", "").play("0,3,4", "")
	m.want(`
		0 D . . . . . . . | . . . . . . . .
		2 E . . . . . . . | . . . . . . . .
		3 t9 . . . . . . . | . . . . . . . .`)
	m.idle(8).want("round 12\n3 t1 . . . . . . . | . . . . . . . .")
	m.idle(1).want("round 13\n3 T . . . . . . . | . . . . . . . .")
	// A building can be hit from the round on in which it acts: the missile
	// steps onto x = 5 and 4.
	begin(t, "round 20\n0 . . . . . d1 .< . | . . . . . . . .", nil).idle(1).want("0 . . . . .< D . . | . . . . . . . .")
	begin(t, "round 20\n0 . . . . . D .< . | . . . . . . . .", nil).idle(1).want("0 . . . . . D' . . | . . . . . . . .")
}

func TestClause_3_3_UnfinishedBuildings(t *testing.T) {
	m := begin(t, `
		round 40
		A energy 100
		B energy 100
		3 . . . . . . . T | t5> d2 . . . . . .`, nil)
	m.play("", "7,3,2").want(`
		A energy 5
		B energy 105 fails 1
		3 . . . . . . . T10 | t4 d1 .> . . . . .`)
}

func TestClause_3_4_CurtainsBecomeAvailable(t *testing.T) {
	m := begin(t, "round 29\nA energy 300\nB energy 300", nil)
	m.play("0,0,5", "").want("round 30\nA fails 1 ready no\nB ready no")
	m.play("0,0,5", "").want("round 31\nA fails 1 ready yes\nB ready yes")
	m.play("0,0,5", "").want("round 32\nA fails 0 ready no curtain 5\nB ready yes")
	m.idle(28).want("round 60\nA ready no\nB ready yes")
	m.idle(1).want("round 61\nA ready yes\nB ready yes")
	m.play("", "0,0,5").want("B ready no") // two resets, one curtain
	m.idle(8).play("", "0,0,5").want("B fails 1")
	begin(t, "A energy 100", nil).idle(1).want("A ready no") // the curtain is not reset in round 0
}

func TestClause_3_5_CurtainProtectsSixRounds(t *testing.T) {
	// In each round a missile is about to step onto the front column.
	row := "0 . . . . . . .> . | . . . . . . . .\n"
	for round := 40; round < 48; round++ {
		m := begin(t, "round 40\nB energy 100 ready yes", nil)
		for m.s.Round < int32(round) {
			command := ""
			if m.s.Round == 40 {
				command = "0,0,5"
			}
			m.play("", command)
		}
		text := strings.Replace(fastText(m.g, &m.s), "\n0 . . . . . . . . | . . . . . . . .\n", "\n"+row, 1)
		command, want := "", "0 . . . . . . . . | . . . . . . . ."
		if round == 40 {
			command = "0,0,5"
		}
		if round >= 46 {
			want = "0 . . . . . . . . | .> . . . . . . ."
		}
		begin(t, text, nil).play("", command).want(want)
	}
}

func TestClause_3_6_CurtainOfAResetRound(t *testing.T) {
	m := begin(t, "round 60\nA energy 500 ready yes", nil)
	m.play("0,0,5", "").want("A fails 0 curtain 5 ready yes energy 405")
	m.idle(4).play("0,0,5", "").want("round 66\nA fails 1 curtain 0 ready yes")
	m.play("0,0,5", "").want("round 67\nA fails 0 curtain 5 ready no")
	m.idle(5).want("round 72\nA curtain 0")
}

func TestClause_3_7_TowerPaysAndShoots(t *testing.T) {
	m := begin(t, "round 40\nA energy 1000\n3 T . . . . . . . | . . . . . . . .", nil)
	m.idle(1).want("A energy 905\n3 T10 . . . . . . . | . . . . . . . .")
	m.idle(10).want("round 51\nA energy 955\n3 T . . . . . . . | . . . . . . . .")
	m.idle(1).want("round 52\nA energy 860\n3 T10 . . . . . . . | . . . . . . . .")
}

func TestClause_3_8_TowerWithoutEnergy(t *testing.T) {
	m := begin(t, "round 40\nA energy 90\n3 T2 . . . . . . . | . . . . . . . .", nil)
	m.idle(2).want("A energy 100\n3 T . . . . . . . | . . . . . . . .")
	m.play("0,0,2", "").want("A energy 85\n3 T . . . . . . . | . . . . . . . .") // the command comes first
	m.idle(2).want("A energy 101\n3 T . . . . . . . | . . . . . . . .")
	m.idle(1).want("A energy 9\n3 T10 . . . . . . . | . . . . . . . .")
}

func TestClause_3_9_OldestTowerFirst(t *testing.T) {
	m := begin(t, `
		round 40
		A energy 199
		3 . . . . . T . . | . . . . . . . .
		4 . . . . T* . . . | . . . . . . . .`, nil)
	m.idle(1).want(`
		A energy 104
		3 . . . . . T . . | . . . . . . . .
		4 . . . . T*10 . . . | . . . . . . . .`)
	m.idle(1).want(`
		A energy 9
		3 . . . . . T10 . . | . . . . . . . .
		4 . . . . T*9 . . . | . . . . . . . .`)
	// The older tower hits the top of the column, the younger the next
	// building.
	begin(t, `
		round 40
		A energy 200
		1 . . . . . . . . | D . . . . . . .
		2 . . . . . . T* . | D . . . . . . .
		3 . . . . . . T . | D . . . . . . .`, nil).idle(1).want(`
		A energy 5 score 45
		1 . . . . . . . . | . . . . . . . .
		2 . . . . . . T*10 . | . . . . . . . .
		3 . . . . . . T10 . | D . . . . . . .`)
	begin(t, `
		round 40
		A energy 200
		1 . . . . . . . . | D . . . . . . .
		2 . . . . . . T . | D . . . . . . .
		3 . . . . . . T* . | D . . . . . . .`, nil).idle(1).want(`
		1 . . . . . . . . | . . . . . . . .
		2 . . . . . . T10 . | . . . . . . . .
		3 . . . . . . T*10 . | D . . . . . . .`)
}

func TestClause_3_10_RangeOfLightning(t *testing.T) {
	full := "D D D D D D D D\n"
	reach := []string{
		"0 T . . . . . . . | . . D D D D D D", "0 . T . . . . . . | . . . D D D D D",
		"0 . . T . . . . . | . . . . D D D D", "0 . . . T . . . . | . . . . . D D D",
		"0 . . . . T . . . | . . . . . . D D", "0 . . . . . T . . | . . . . . . . D",
		"0 . . . . . . T . | . . . . . . . .", "0 . . . . . . . T | . . . . . . . .",
	}
	for _, want := range reach {
		left, _, _ := strings.Cut(want, "|")
		m := begin(t, "round 40\nA energy 100\n"+left+"| "+full, nil)
		m.idle(1).want(strings.Replace(want, "T", "T10", 1))
	}
	// The topmost finished building of three rows.
	begin(t, `
		round 40
		A energy 100
		2 . . . . . . . . | E E E E E E E E
		3 . . . . . . . . | E . d1 . . . . .
		4 . . . . . . T . | E E E . . . . .
		5 . . . . . . . . | E E E E . . . .
		6 . . . . . . . . | E E E E E E E E`, nil).idle(1).want(`
		2 . . . . . . . . | E E E E E E E E
		3 . . . . . . . . | . . D . . . . .
		4 . . . . . . T10 . | E . . . . . . .
		5 . . . . . . . . | E E E . . . . .
		6 . . . . . . . . | E E E E E E E E`)
	// Rows outside of the map do not exist.
	begin(t, "round 40\nA energy 100\n0 . . . . . . T . | . . . . . . . .\n7 . . . . . . . . | E . . . . . . .", nil).idle(1).
		want("7 . . . . . . . . | E . . . . . . .")
}

func TestClause_3_11_BaseHitFromTheFront(t *testing.T) {
	begin(t, "round 40\nA energy 100\n0 . . . . . . . T | . . . . . . . .", nil).idle(1).
		want("A score 305 damage 300\nB health 80 hits 1")
	begin(t, "round 40\nA energy 100\n0 . . . . . . T . | . . . . . . . .", nil).idle(1).want("B health 100 hits 0")
	begin(t, "round 40\nB energy 100\n0 . . . . . . . . | T . . . . . . .", nil).idle(1).want("A health 80 hits 1")
	begin(t, "round 40\nA energy 100\n0 . . . . . . . T | . . . . . . . .", func(r *towerdefence.Rules) {
		r.Buildings[towerdefence.Tesla].Range = 0
	}).idle(1).want("B health 80 hits 1")
}

func TestClause_3_12_LightningIntoACurtain(t *testing.T) {
	begin(t, `
		round 40
		A energy 100
		B curtain 1
		0 . . . . . . . T | E E E E E E E E`, nil).idle(1).want(`
		A energy 5 score 5
		B health 100 hits 0
		0 . . . . . . . T10 | E E E E E E E E`)
}

func TestClause_3_13_VictimsOfLightningStillAct(t *testing.T) {
	begin(t, `
		round 40
		A energy 100
		B energy 100
		0 . . . . . . T . | A T . . . . . .`, nil).idle(1).want(`
		A energy 5
		B energy 5
		0 . . . . . . .< . | . . . . . . . .`)
}

func TestClause_3_14_AttackFiresEveryFourthRound(t *testing.T) {
	m := begin(t, "A energy 30", nil)
	m.play("0,0,1", "").want("0 A . . . . . . . | . . . . . . . .")
	m.idle(1).want("0 A3 . .> . . . . . | . . . . . . . .")
	m.idle(3).want("0 A . . . . . . . | .> . . . . . . .")
	m.idle(1).want("0 A3 . .> . . . . . | . . .> . . . . .")
}

func TestClause_3_15_MissilesMoveTwoCells(t *testing.T) {
	begin(t, "round 9\n0 .> .> . A . . . . | . . . . . .< . .", nil).idle(1).
		want("0 . . .> A3> . .> . . | . . . .< . . . .")
	// All missiles take the first step before any takes the second: the first
	// missile passes the energy building that the second has destroyed.
	begin(t, "round 9\n0 . . . . . . .> .> | E D''' . . . . . .", nil).idle(1).
		want("0 . . . . . . . . | .> D''' . . . . . .")
}

func TestClause_3_16_MissileAndCurtain(t *testing.T) {
	begin(t, `
		round 40
		B curtain 3
		0 . . . . . .> .> .> | . . . . . . . .
		1 . . . . . . . .> | E . . . . . . .
		2 . . . . . . . . | .> . E . . . . .
		3 . . . . . . . . | . .> . . . . . .>
		4 . . . . . . . A | . . . . . . . .`, nil).idle(1).want(`
		0 . . . . . . . .> | . . . . . . . .
		1 . . . . . . . . | E . . . . . . .
		3 . . . . . . . . | . . . .> . . . .
		4 . . . . . . . A3 | . . . . . . . .`)
}

func TestClause_3_17_MissileHitsTheFirstFinishedBuilding(t *testing.T) {
	begin(t, `
		round 40
		0 . . . . . .> E . | . . . . . . . .
		1 . . . . . . . .> | . D . . . . . .
		2 . . . . . . . .> | d1 D . . . . . .
		3 . . . . . . . .>> | E D . . . . . .
		4 . . . . . . . T | . . . . . . . .
		5 . . . . . . . . | E> E . . . . . .`, nil).idle(1).want(`
		0 . . . . . . E .> | . . . . . . . .
		1 . . . . . . . . | . D' . . . . . .
		2 . . . . . . . . | D D' . . . . . .
		3 . . . . . . . . | . D' . . . . . .
		5 . . . . . . . . | E . . . . . . .`)
	// Buildings destroyed by lightning in this round do not stop missiles.
	begin(t, `
		round 40
		A energy 100
		5 . . . . . . T .> | E . . . . . . .`, nil).idle(1).want(`
		5 . . . . . . T10 . | . .> . . . . . .`)
}

func TestClause_3_18_ManyMissilesOnOneBuilding(t *testing.T) {
	begin(t, `
		round 40
		0 . . . . . . . .>>> | E . . . . . . .
		1 . . . . . . . .>>>> | D'' . . . . . . .
		2 . . . . . . . .>>>> | D . . . . . . .`, nil).idle(1).want(`
		A score 40
		0 . . . . . . . . | . .>> . . . . . .
		1 . . . . . . . . | . .>> . . . . . .
		2 . . . . . . . . | . . . . . . . .`)
}

func TestClause_3_19_MissilesAtTheBase(t *testing.T) {
	begin(t, "round 40\nB health 12\n0 . . . . . . . . | . . . . . . .>> .>>", nil).idle(1).
		want("A score 185 damage 180\nB health 0 hits 4").ended(sim.Over)
	begin(t, "round 40\nB health 12\n0 . . . . . . . . | . . . . . .> .> .", nil).idle(1).
		want("B health 7 hits 1\n0 . . . . . . . . | . . . . . . . .>")
}

func TestClause_3_20_MissilesPassEachOther(t *testing.T) {
	begin(t, "round 40\n0 . . . . .> .< . . | . . . . . . . .", nil).idle(1).want("0 . . . .< . . .> . | . . . . . . . .")
	m := begin(t, "round 40\nA energy 0\n0 . . A . . . . . | . . . . . . . .", nil)
	m.idle(1).play("2,0,3", "").want("0 . . . . . . .> . | . . . . . . . .")
}

func TestClause_3_21_RemovalAtTheEnd(t *testing.T) {
	m := begin(t, "round 40\nB energy 100\n0 . . . . . . . .> | E . . . . . . .", nil)
	m.play("", "7,0,2").want("B fails 1\n0 . . . . . . . . | . . . . . . . .")
	m.play("", "7,0,2").want("B fails 0\n0 . . . . . . . . | E . . . . . . .")
}

func TestClause_3_22_Income(t *testing.T) {
	m := begin(t, "round 9\nA energy 20\n0 E E E . . . . . | .> . . . . . . E", nil)
	m.play("0,1,2", "").want("A energy 14 score 17\nB energy 28 score 8") // the new building does not pay yet
	m.idle(1).want("A energy 31 score 34\nB energy 36 score 16")
	begin(t, "round 9\n0 . . . . . . . .> | E E . . . . . .", nil).idle(1).want("B energy 28") // one of them was destroyed
	// Income returns it in advance, for a building that takes three rounds,
	// too.
	m = begin(t, "round 9\nA energy 20", func(r *towerdefence.Rules) { r.Buildings[towerdefence.Energy].ConstructionTime = 3 })
	m.play("0,0,2", "")
	for _, want := range []int32{5, 5, 8} {
		before, told := m.s.Half[0].Energy, m.g.Income(&m.s.Half[0])
		paid := m.idle(1).s.Half[0].Energy - before
		assert.Truef(t, paid == want && told == want, "round %d: an income of %d, announced as %d, want %d", m.s.Round-1, paid, told, want)
	}
}

func TestClause_3_23_BothBasesCanFall(t *testing.T) {
	begin(t, `
		round 40
		A health 5 energy 0
		B health 5 energy 0
		0 .< . . . . . . . | . . . . . . . .>`, nil).idle(1).
		want("A health 0 energy 5 score 80\nB health 0 energy 5 score 80").ended(sim.Over)
}
