package towerdefence_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"moonfarm/sim"
	"moonfarm/sim/prng"
	"moonfarm/sim/towerdefence"
)

// Tests of the clauses of RULES.md, section 7.

func TestClause_7_1_FourMissilesOnACell(t *testing.T) {
	for speed := 2; speed <= 15; speed++ { // at speed 16 no missile is left after a round
		change := func(r *towerdefence.Rules) {
			r.Buildings[towerdefence.Attack].Speed = speed
			r.Buildings[towerdefence.Attack].Cooldown = 0
			r.StartEnergy = 10_000
		}
		m := begin(t, "", change)
		highest := 0
		for x := range 8 { // a full row that fires in every round
			m.play(commandText(towerdefence.Build(towerdefence.Attack, 7-x, 0)), "")
		}
		for range 20 {
			m.idle(1)
			for cell := range towerdefence.Cells {
				highest = max(highest, m.s.Half[0].MissilesOwn(cell), m.s.Half[0].MissilesFar(cell))
			}
		}
		want := (8 + speed - 1) / speed
		assert.Truef(t, highest == want && highest <= towerdefence.MaxStack, "speed %d: %d missiles on a cell, want %d", speed, highest, want)
	}
}

// refused checks that the rules as modified by change are refused, and that the
// error names the key.
func refused(t *testing.T, change func(r *towerdefence.Rules)) {
	t.Helper()
	r := towerdefence.DefaultRules()
	change(&r)
	_, err := towerdefence.New(r)
	assert.Errorf(t, err, "rules are played: %+v", r)
}

func TestClause_7_2_AtMostFourMissilesAgainstABuilding(t *testing.T) {
	refused(t, func(r *towerdefence.Rules) { r.Buildings[towerdefence.Defense].Health = 21 })
	refused(t, func(r *towerdefence.Rules) { r.Buildings[towerdefence.Attack].Damage = 4 })
	begin(t, "round 9\n0 . . . . . . . .>>> | D . . . . . . .", func(r *towerdefence.Rules) {
		r.Buildings[towerdefence.Defense].Health = 16
	}).idle(1).want("0 . . . . . . . . | D''' . . . . . . .")
}

func TestClause_7_3_OneStrikeDestroys(t *testing.T) {
	refused(t, func(r *towerdefence.Rules) { r.Buildings[towerdefence.Tesla].Damage = 19 })
	begin(t, "round 40\nA energy 100\n0 . . . . . . T . | D . . . . . . .", nil).idle(1).want("0 . . . . . . T10 . | . . . . . . . .")
}

func TestClause_7_4_TowersDifferInAge(t *testing.T) {
	assert.Equalf(t, len(towerdefence.Half{}.Tesla), towerdefence.MaxTeslas, "%d towers in a half", len(towerdefence.Half{}.Tesla))
	m := begin(t, "A energy 900", nil).play("3,3,4", "").play("1,1,4", "")
	if h := m.s.Half[0]; h.PlacedIn(int(h.Tesla[0].Cell)) != 0 || h.PlacedIn(int(h.Tesla[1].Cell)) != 1 {
		t.Errorf("placed in %d and %d", h.PlacedIn(int(h.Tesla[0].Cell)), h.PlacedIn(int(h.Tesla[1].Cell)))
	}
}

func TestClause_7_5_RoundsFitNineBits(t *testing.T) {
	refused(t, func(r *towerdefence.Rules) { r.MaxRounds = 511 })
	late := func(r *towerdefence.Rules) {
		r.MaxRounds, r.StartEnergy, r.CurtainActiveRounds = 510, 10_000, 1000
		r.Buildings[towerdefence.Tesla].ConstructionTime, r.Buildings[towerdefence.Tesla].Cooldown = 1000, 1000
	}
	m := begin(t, "", late)
	m.play("0,0,2", "").idle(254).play("0,1,2", "").play("0,2,2", "").idle(252).play("1,1,4", "").ended(sim.Running)
	m.play("0,4,2", "").ended(sim.Over).want("round 511\n1 E t998 . . . . . . | . . . . . . . .")
	for cell, want := range map[int]int{0: 0, 8: 255, 16: 256, 9: 509, 32: 510} {
		assert.Equalf(t, want, m.s.Half[0].PlacedIn(cell), "the building on %d was placed", cell)
	}
	begin(t, "round 510\nA ready yes", late).play("0,0,5", "").want("A curtain 999")
	begin(t, "round 510\n1 T . . . . . . . | . . . . . . . .", func(r *towerdefence.Rules) {
		late(r)
		r.Buildings[towerdefence.Tesla].ConstructionTime = 1
	}).idle(1).want("1 T1000 . . . . . . . | . . . . . . . .")
}

func TestClause_7_6_EnergyFits(t *testing.T) {
	const most = towerdefence.MaxEnergy + 511*(65*1000+1000)
	assert.Lessf(t, int64(most), int64(1<<31), "energy up to %d", most)
	m := begin(t, "round 1\n"+strings64("E"), func(r *towerdefence.Rules) { // the largest possible income
		r.MaxRounds, r.StartEnergy, r.RoundIncome = 510, towerdefence.MaxEnergy, 1000
		r.Buildings[towerdefence.Energy].EnergyPerTurn = 1000
	})
	m.idle(510).ended(sim.Over)
	got := int(m.s.Half[0].Energy)
	assert.Truef(t, got == towerdefence.MaxEnergy+510*65_000 && got <= most, "energy %d", got)
}

func TestClause_7_7_LedgersFit(t *testing.T) {
	const exposed = 1_000_000 + 511*1_000_000
	assert.Truef(t, exposed < 1<<32 && 1_000_000+511*4000 < 1<<31, "exposed up to %d", exposed)
	change := func(r *towerdefence.Rules) {
		r.MaxRounds, r.StartEnergy, r.StartHealth, r.HealthScoreMultiplier, r.RoundIncome = 510, towerdefence.MaxEnergy, 1000, 1000, 1000
		r.Buildings[towerdefence.Attack].Damage, r.Buildings[towerdefence.Tesla].Damage = 400, 1000
		r.TeslaEnergyPerShot, r.Buildings[towerdefence.Tesla].Cooldown, r.DeconstructionRefund = 1000, 0, 1000
		for _, k := range towerdefence.Kinds {
			b := &r.Buildings[k]
			b.Health, b.DestroyMultiplier, b.Price, b.ConstructionScore, b.ConstructionTime = 1000, 1000, 1000, 1000, 1
		}
	}
	for seed := range uint64(4) {
		r := prng.New(seed)
		m := begin(t, "", change)
		for m.status == sim.Running { // A builds and sometimes removes, B destroys, and the twin keeps the scores
			x, y := r.IntN(8), r.IntN(8)
			a := towerdefence.Build(towerdefence.Kinds[[]int{0, 2}[r.IntN(2)]], x, y)
			if r.IntN(8) == 0 {
				a = towerdefence.Deconstruct(x, y)
			}
			m.play(commandText(a), commandText(towerdefence.Build(towerdefence.Kinds[1+2*r.IntN(2)], 2+r.IntN(6), r.IntN(8))))
		}
	}
}

func TestClause_7_8_BlowsInARound(t *testing.T) {
	assert.Less(t, int64(1000*66*511), int64(1<<31), "too many blows")
	var rows strings.Builder
	for y := range 8 {
		tower := "."
		if y == 2 || y == 5 {
			tower = map[int]string{2: "T*", 5: "T"}[y]
		}
		rows.WriteString(string(rune('0'+y)) + " . . . . . . . " + tower + " | . . . . . . .>>>> .>>>>\n")
	}
	begin(t, "round 40\nA energy 200\nB health 1000\n"+rows.String(), nil).idle(1).
		want("A score 5405\nB health 640 hits 66") // 64 missiles, 2 strikes
	begin(t, "round 40\nA energy 200\nB health 1000\n"+rows.String(), func(r *towerdefence.Rules) {
		r.Buildings[towerdefence.Attack].Damage, r.Buildings[towerdefence.Tesla].Damage = 1000, 1000
	}).idle(1).want("A score 15005\nB health 0 hits 66").ended(sim.Over)
}

func TestClause_7_9_FailuresFit(t *testing.T) {
	refused(t, func(r *towerdefence.Rules) { r.MaxDoNothings = 251 })
	m := begin(t, "A fails 249", func(r *towerdefence.Rules) { r.MaxDoNothings = 250 })
	m.playOrders([2]sim.Order{towerdefence.Failed(towerdefence.Nothing, 3)})
	m.want("A fails 252").ended(sim.Over)
}
