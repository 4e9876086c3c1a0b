package codecraft_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"moonfarm/sim/codecraft"
)

// Tests of the clauses of RULES.md, section 3: repairs, moves, clean-up.

func TestClause_3_22_Repair(t *testing.T) {
	const text = `
		14  . . . . . .
		13  . . .H1H1H1
		12  .r1 .H1H1H1
		11 W1b1MKH1H1H1
		10  . . . . . .
		x10
		tick 0 next 40 first 30
		unit 5 b1 11,11 repair ID move 11,10
		unit 6 W1 10,11 health 20
		unit 7 r1 11,12 health 9
		unit 8 H1 13,11 health 20 inactive
		`
	at := func(id, mark string) string { return strings.NewReplacer("ID", id, "MK", mark).Replace(text) }
	const stayed, moved = "unit 5 b1 11,11", "unit 5 b1 11,10"
	begin(t, at("6", " ."), nil).tick(1).want(stayed + "\nunit 6 W1 10,11 health 21")
	begin(t, at("7", " ."), nil).tick(1).want(stayed + "\nunit 7 r1 11,12").tick(1).want(moved) // full now
	begin(t, at("8", " ."), nil).tick(1).want(moved + "\nunit 8 H1 13,11 health 20 inactive")   // two away
	begin(t, at("5", " ."), nil).tick(1).want(moved)
	begin(t, strings.Replace(at("5", " ."), "b1 11,11", "b1 11,11 health 5", 1), nil).tick(1).want(moved + " health 5") // itself
	begin(t, at("99", " ."), nil).tick(1).want(moved)
	begin(t, at("1", " ."), nil).tick(1).want(moved)
	begin(t, at("30", " *")+"health 12,11=5", nil).tick(1).want(moved + "\nhealth 12,11=5") // a resource
	// Entities of other players only with RepairOthers.
	enemy := at("9", "b2") + "unit 9 b2 12,11 health 3"
	begin(t, enemy, nil).tick(1).want(moved + "\nunit 9 b2 12,11 health 3")
	begin(t, enemy, func(r *codecraft.Rules) { r.RepairOthers = true }).tick(1).want(stayed + "\nunit 9 b2 12,11 health 4")
	// An entity with full health is not repaired, and the repairer moves on, except with
	// RepairFull.
	full := strings.Replace(at("6", " ."), "W1 10,11 health 20", "W1 10,11", 1)
	begin(t, full, nil).tick(1).want(moved)
	begin(t, full, func(r *codecraft.Rules) { r.RepairFull = true }).tick(1).want(stayed + "\nunit 6 W1 10,11")
	// Only types of the list are repaired, only by repairers, and never dead entities.
	begin(t, at("6", " ."), func(r *codecraft.Rules) {
		r.Types[codecraft.BuilderUnit].Repairs = codecraft.ListOf(codecraft.House)
	}).tick(1).want(moved)
	ranged := strings.Replace(at("5", " ."), "unit 7 r1 11,12 health 9", "unit 7 r1 11,12 repair 5 move 11,13", 1)
	begin(t, strings.Replace(ranged, "b1 11,11", "b1 11,11 health 5", 1), nil).tick(1).want("unit 7 r1 11,13\nunit 5 b1 11,10 health 5")
}

func TestClause_3_23_Together(t *testing.T) {
	const text = `
		12 b1 . .
		11 W1b1 .
		10 b1 . .
		x10
		unit 5 b1 10,12 repair 8 move 11,12
		unit 6 b1 11,11 repair 8 move 11,12
		unit 7 b1 10,10 repair 8 move 11,10
		unit 8 W1 10,11 health HEALTH`
	at := func(health string) string { return strings.Replace(text, "HEALTH", health, 1) }
	begin(t, at("20"), nil).tick(1).want("unit 8 W1 10,11 health 23\nunit 5 b1 10,12\nunit 6 b1 11,11\nunit 7 b1 10,10")
	begin(t, at("49"), nil).tick(1).want("unit 8 W1 10,11\nunit 5 b1 10,12\nunit 6 b1 11,11\nunit 7 b1 10,10").tick(1).want("unit 7 b1 11,10")
	begin(t, at("40"), func(r *codecraft.Rules) { r.Types[codecraft.BuilderUnit].Power = 7 }).tick(1).want("unit 8 W1 10,11")
	begin(t, at("10"), func(r *codecraft.Rules) { r.Types[codecraft.BuilderUnit].Power = 7 }).tick(1).want("unit 8 W1 10,11 health 31")
	// An attack in the same tick comes before the repair.
	hurt := at("20") + "\nunit 9 m2 9,11 attack 8\n11 m2W1b1 .\n12  .b1 . .\n10  .b1 . .\nx9"
	for _, row := range []string{"12 b1 . .", "11 W1b1 .", "10 b1 . .", "x10"} {
		hurt = strings.Replace(hurt, "\t\t"+row+"\n", "", 1)
	}
	begin(t, hurt, nil).tick(1).attacks("9>8").want("unit 8 W1 10,11 health 18")
}

func TestClause_3_24_Rounds(t *testing.T) {
	// Three units want one cell: each gets it equally often.
	const text = `
		12  .b1 .
		11 b1 .b2
		10  . . .
		x10
		unit 5 b1 11,12 move 11,11
		unit 6 b1 10,11 move 11,11
		unit 7 b2 12,11 move 11,11`
	first := begin(t, text, nil)
	first.even(func(m *match) string { return fmt.Sprint(m.s.At[codecraft.CellOf(11, 11)]) }, "1", "2", "3")
	// A loser stays where it is, even if another cell next to it becomes free.
	m := begin(t, `
		11 b1b1b1b1 .
		10  . . . . .
		x10
		unit 5 b1 10,11 move 11,11
		unit 6 b1 11,11 move 12,11
		unit 7 b1 12,11 move 13,11
		unit 8 b1 13,11 move 14,11`, nil)
	m.tick(1).want("11 .b1b1b1b1\nx10\nunit 5 b1 11,11\nunit 8 b1 14,11")
	// A contest for a cell that becomes free in a later round.
	later := begin(t, `
		13  . .b1 . .
		12  . . . . .
		11  .b1b1 . .
		10  . .b1 . .
		x10
		unit 5 b1 11,11 move 12,11
		unit 6 b1 12,11 move 13,11
		unit 7 b1 12,10 move 12,11
		unit 8 b1 12,13 move 12,12`, nil)
	later.even(func(m *match) string { return where(5)(m) + " " + where(7)(m) }, "12,11 12,10", "11,11 12,11")
	later.tick(1).want("unit 6 b1 13,11\nunit 8 b1 12,12")
	// Units that have acted do not move.
	begin(t, "11 b1 * .\nx10\ntick 0 first 30\nunit 5 b1 10,11 attack 30 move 10,12", nil).tick(1).attacks("5>30").want("unit 5 b1 10,11")
}

func TestClause_3_25_NoSwaps(t *testing.T) {
	begin(t, "11 b1b1\nx10\nunit 5 b1 10,11 move 11,11\nunit 6 b1 11,11 move 10,11", nil).tick(3).want("unit 5 b1 10,11\nunit 6 b1 11,11")
	// Four units in a ring do not move either.
	ring := `
		12 b1b1
		11 b1b1
		x10
		unit 5 b1 10,11 move 11,11
		unit 6 b1 11,11 move 11,12
		unit 7 b1 11,12 move 10,12
		unit 8 b1 10,12 move 10,11`
	begin(t, ring, nil).tick(2).want("unit 5 b1 10,11\nunit 6 b1 11,11\nunit 7 b1 11,12\nunit 8 b1 10,12")
	// Units follow a unit that leaves, even into its cell.
	begin(t, strings.Replace(ring, "b1 10,12 move 10,11", "b1 10,12 move 9,12", 1), nil).tick(1).
		want("unit 5 b1 11,11\nunit 6 b1 11,12\nunit 7 b1 10,12\nunit 8 b1 9,12")
	// A killed unit blocks until the end of the tick, and does not move.
	const dying = `
		11 b1b1 . .
		10  .m2 . .
		x10
		unit 5 b1 10,11 move 11,11
		unit 6 b1 11,11 health 5 move 12,11
		unit 7 m2 11,10 attack 6`
	begin(t, dying, nil).tick(1).want("unit 5 b1 10,11\nno 6\n11 b1...\nx10").tick(1).want("unit 5 b1 11,11")
	begin(t, dying, func(r *codecraft.Rules) { r.DeadMove = true }).tick(1).want("unit 5 b1 11,11\nno 6")
}

func TestClause_3_26_TheDeadGo(t *testing.T) {
	m := begin(t, `
		tick 4 next 40 first 30
		p1 score 3
		14  .H1H1H1 .
		13  .H1H1H1 .
		12  .H1H1H1 .
		11 b1 *m2 . .
		x10
		unit 5 b1 10,11 attack 30
		unit 6 H1 11,12 health 5
		unit 7 m2 12,11 attack 6
		health 11,11=1`, nil)
	m.tick(1).want("tick 5 next 40\n14 .....\n13 .....\n12 .....\n11 b1:m2..\nx10\nno 6 30\np1 score 4 resource 1\np2 score 500")
	if m.s.N != 2 || m.s.Acts[2] != (codecraft.Action{}) || m.s.Units[2] != (codecraft.Unit{}) || fmt.Sprint(m.rec.Died) != "[6 30]" {
		t.Errorf("died %v\n%s", m.rec.Died, m.text())
	}
	assert.Truef(t, m.s.Count[0] == [codecraft.Types]int16{codecraft.BuilderUnit: 1} && m.s.PopProvide[0] == 0 && m.s.PopUse[0] == 1, "count %v, population %d of %d", m.s.Count[0], m.s.PopUse[0], m.s.PopProvide[0])
}

func TestClause_3_27_Active(t *testing.T) {
	const text = `
		13 b1 . . .
		12 b1H1H1H1
		11 b1H1H1H1
		10  .H1H1H1
		x10
		unit 5 b1 10,12 repair 8
		unit 6 b1 10,11 repair 8
		unit 8 H1 11,10 health HEALTH inactive`
	at := func(health string) string { return strings.Replace(text, "HEALTH", health, 1) }
	begin(t, at("47"), nil).tick(1).want("unit 8 H1 11,10 health 49 inactive\np1 score 0").tick(1).want("unit 8 H1 11,10\np1 score 50").tick(1).want("p1 score 50")
	m := begin(t, at("48"), nil).tick(1).want("unit 8 H1 11,10\np1 score 50")
	assert.Equal(t, int32(5), m.s.PopProvide[0], "the house provides")
	// An entity stays active when it is damaged and repaired, and scores only once.
	hurt := strings.Replace(at("48"), "13 b1 . . .", "13 b1m2 . .", 1) + "\nunit 9 m2 11,13 attack 8"
	m = begin(t, hurt, nil).tick(1).want("unit 8 H1 11,10 health 45 inactive").tick(1)
	m.play(by(2, codecraft.Stop(9))).tick(10).want("unit 8 H1 11,10\np1 score 50")
	m.play(by(2, codecraft.Attack(9, 8)), by(1, codecraft.Stop(5), codecraft.Stop(6))).want("unit 8 H1 11,10 health 45\np1 score 50")
	m.play(by(2, codecraft.Stop(9)), by(1, codecraft.Repair(5, 8), codecraft.Repair(6, 8))).tick(4).want("unit 8 H1 11,10\np1 score 50")
	// Attacks and repairs of the same tick count before.
	begin(t, strings.Replace(hurt, "health 48", "health 50", 1), nil).tick(1).want("unit 8 H1 11,10 health 47 inactive")
}
