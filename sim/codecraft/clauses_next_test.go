package codecraft_test

import (
	"fmt"
	"strings"
	"testing"

	"moonfarm/sim/codecraft"
)

// Tests of the clauses of RULES.md, section 3: actions and next cells.

func TestClause_3_1_OneThing(t *testing.T) {
	// A builder that can attack, build, repair and move.
	const text = `
		tick 0 first 20
		p1 resource 100
		12  . * . . .
		11 W1b1 . . .
		10  . . . . .
		x10
		unit 5 b1 11,11 move 14,11 build Wall 11,10 attack 20 repair 6
		unit 6 W1 10,11 health 7`
	begin(t, text, nil).tick(1).attacks("5>20").want("p1 resource 101 score 1\nunit 5 b1 11,11\nunit 6 W1 10,11 health 7\n10 ...\nx10")
	// It has no target, so it builds.
	apart := strings.Replace(text, " . * . . .", " . . . . *", 1)
	begin(t, apart, nil).tick(1).attacks("").want(`
		p1 resource 90 score 0
		unit 5 b1 11,11
		unit 6 W1 10,11 health 7
		unit 21 W1 11,10 health 5 inactive`)
	// The square is occupied, so it repairs.
	taken := strings.Replace(apart, "10  . . . . .", "10  .W2 . . .", 1)
	begin(t, taken, nil).tick(1).attacks("").want(`
		p1 resource 100 score 0
		unit 5 b1 11,11
		unit 6 W1 10,11 health 8`)
	// Nothing needs a repair either, so it moves.
	whole := strings.Replace(taken, " health 7", "", 1)
	begin(t, whole, nil).tick(1).want("unit 5 b1 12,11")
	// Without a move action it stays.
	begin(t, strings.Replace(whole, "move 14,11 ", "", 1), nil).tick(1).want("unit 5 b1 11,11")
}

func TestClause_3_2_Inactive(t *testing.T) {
	// Six units that are active and act, or are inactive and do nothing.
	const text = `
		tick 0 first 30
		p1 resource 100
		14  .b1 . . . .
		13  . . .T1T1 .
		12  . . .T1T1m2
		11  * . . . . .
		10 b1b1W1b1 . .
		x10
		unit 5 b1 11,14 health 9 STATE move 13,14
		unit 6 T1 13,12 health 99 STATE auto 0 any
		unit 7 b1 10,10 health 9 STATE attack 30
		unit 8 b1 11,10 health 9 STATE build Wall 11,11
		unit 9 b1 13,10 health 9 STATE repair 10
		unit 10 W1 12,10 health 20
		unit 11 m2 15,12`
	m := begin(t, strings.ReplaceAll(text, "STATE", ""), nil).may(5, "+x").may(6, "", 11).may(7, "", 30).tick(1).attacks("6>11 7>30")
	m.want("unit 5 b1 12,14 health 9\nunit 10 W1 12,10 health 21\nunit 31 W1 11,11 health 5 inactive\np1 resource 91 score 1")
	m = begin(t, strings.ReplaceAll(text, "STATE", "inactive"), nil).may(5, "").may(6, "").may(7, "").tick(1).attacks("")
	m.want("unit 5 b1 11,14 health 9 inactive\nunit 10 W1 12,10 health 20\nno 31\n11 *.\nx10\ntick 1 next 31\np1 resource 100 score 0")
	// Inactive entities are attacked and repaired, block, and use population. (Clause 2.9 has
	// their sight, clause 3.20 the population that they do not provide.)
	m = begin(t, `
		p1 resource 100
		12 b1W1 .m2 .
		11  . .W1W1 .
		10 B1B1B1B1B1
		9  B1B1B1B1B1
		8  B1B1B1B1B1
		7  B1B1B1B1B1
		6  B1B1B1B1B1
		x10
		unit 5 b1 10,12 repair 6
		unit 6 W1 11,12 health 3 inactive
		unit 7 m2 13,12 auto 0 any move 13,10
		unit 8 W1 13,11 health 9 inactive
		unit 9 B1 10,6 build BuilderUnit 11,11`, func(r *codecraft.Rules) {
		r.Types[codecraft.Wall].PopUse = 2
	}).tick(1)
	m.attacks("7>8").want("unit 6 W1 11,12 health 4 inactive\nunit 8 W1 13,11 health 4 inactive\nunit 7 m2 13,12\n11 ..W1W1.\nx10")
}

func TestClause_3_3_FromTheStart(t *testing.T) {
	// A wall that is destroyed in this tick still blocks; so does a unit that moves away.
	begin(t, `
		12 W1W1W1W1
		11 W1b1W1 .
		10 W1W1W1r2
		x10
		unit 5 b1 11,11 move 13,11
		unit 7 W1 12,11 health 5
		unit 8 r2 13,10 attack 7`, nil).may(5, "").tick(1).want("unit 5 b1 11,11\nno 7").may(5, "+x")
	begin(t, `
		12 W1W1W1W1W1W1
		11 W1b1b1 . . .
		10 W1W1W1W1W1W1
		x10
		unit 5 b1 11,11 move 13,11
		unit 6 b1 12,11 move 14,11`, nil).may(5, "").tick(1).want("unit 5 b1 11,11\nunit 6 b1 13,11").tick(1).may(5, "+x")
	// A unit that can attack by its action has no next cell, whatever its move.
	const text = `
		tick 0 first 20
		11  *b1 . . .
		x10
		unit 5 b1 11,11 move 14,11 `
	begin(t, text+"attack 20", nil).may(5, "", 20)
	begin(t, text+"auto 10 Resource", nil).may(5, "", 20)
	begin(t, text+"auto 10 any", nil).may(5, "+x").tick(1).attacks("")
}

func TestClause_3_4_Chase(t *testing.T) {
	// The resource is at distance 5: its neighbour cell is 4 steps away, plus the range makes
	// 5.
	const text = `
		14 b1 . . . . *
		13  . . . . . .
		x10
		unit 5 b1 10,14 move 10,0 auto RANGE Resource`
	ranged := func(text, n string) string { return strings.Replace(text, "RANGE", n, 1) }
	begin(t, ranged(text, "5"), nil).may(5, "+x")
	begin(t, ranged(text, "4"), nil).may(5, "-y")
	begin(t, ranged(text, "0"), nil).may(5, "-y")
	// The length of the path counts, not the distance: 6 steps around a wall.
	detour := strings.Replace(text, " . . . . *", " .W1 . . *", 1)
	begin(t, ranged(detour, "6"), nil).may(5, "-y")
	begin(t, ranged(detour, "7"), nil).may(5, "+x+y-y")
	// A chase never breaks through, whatever the move action.
	shut := `
		15 W2W2W2W2 . . .
		14 W2b1 .W2 . . *
		13 W2W2W2W2 . . .
		x9
		unit 5 b1 10,14 move 11,14 break auto 20 Resource`
	begin(t, shut, nil).may(5, "+x") // by the move: the cell is next to it
	begin(t, strings.Replace(shut, "move 11,14 break ", "", 1), nil).may(5, "")
	// The nearest target is by path, not by distance; ranges count from the edge of the target.
	begin(t, `
		15  .W1 . . . . . .
		14 W1 . . . . . . .
		13 m1W1 .H2H2H2 . .
		12  . . .H2H2H2 . .
		11  . . .H2H2H2 . .
		10  . . . . . . . .
		9   . . . . . . . .
		8  b2 . . . . . . .
		x10
		unit 5 m1 10,13 auto 30 any`, nil).may(5, "-y")
	// Ranged units stop at their range: 5 steps plus 7.
	far := `
		14 r1 . . . . . . . . . . .b2
		x10
		unit 5 r1 10,14 auto RANGE any`
	begin(t, ranged(far, "12"), nil).may(5, "+x")
	begin(t, ranged(far, "11"), nil).may(5, "")
	// Own entities and entities out of sight are no targets.
	begin(t, ranged(strings.Replace(far, "b2", "b1", 1), "40"), nil).may(5, "")
	begin(t, ranged(far, "40"), fog).may(5, "")
	begin(t, ranged(strings.Replace(far, ". .b2", ".b2", 1), "40"), fog).may(5, "")
	begin(t, ranged(strings.Replace(far, ". . .b2", ".b2", 1), "40"), fog).may(5, "+x")
	begin(t, ranged(far, "40"), func(r *codecraft.Rules) { r.Fog, r.ChaseUnseen = true, true }).may(5, "+x")
	// Turrets do not chase.
	begin(t, "11 T1T1 . . . . . . .b2\n10 T1T1\nx10\nunit 5 T1 10,10 auto 40 any", nil).may(5, "")
}

func TestClause_3_5_Move(t *testing.T) {
	const text = `
		12  . * . . .
		11 b2b1 . . .
		10  .W1 . . .
		x10
		unit 5 b1 11,11 move `
	begin(t, text+"11,11 closest break", nil).may(5, "").tick(1).want("unit 5 b1 11,11")
	// The target is a neighbour cell, whatever covers it.
	begin(t, text+"12,11", nil).may(5, "+x").tick(1).want("unit 5 b1 12,11")
	begin(t, text+"11,12", nil).may(5, "+y").tick(1).attacks("5>8").want("unit 5 b1 11,11")
	begin(t, text+"10,11", nil).may(5, "-x").tick(1).attacks("5>7").want("unit 5 b1 11,11\nunit 7 b2 10,11 health 9")
	begin(t, text+"11,10", nil).may(5, "-y").tick(1).attacks("").want("unit 5 b1 11,11")
	// A target further away has a best path.
	begin(t, text+"13,11", nil).may(5, "+x")
	begin(t, text+"13,12", nil).may(5, "+x").tick(1).want("unit 5 b1 12,11").may(5, "+x+y").tick(2).want("unit 5 b1 13,12")
	begin(t, text+"11,13", nil).may(5, "+x") // around the resource, not around the wall
	// Without a move action there is no next cell.
	begin(t, strings.TrimSuffix(text, " move "), nil).may(5, "")
	begin(t, text[:len(text)-len("move ")]+"stop", nil).may(5, "")
	// Buildings do not move.
	begin(t, "11 T1T1 . .\n10 T1T1\nx10\nunit 5 T1 10,10 move 14,10", nil).may(5, "").tick(1).want("unit 5 T1 10,10")
}

func TestClause_3_6_WhatBlocks(t *testing.T) {
	// A corridor with one cell, which is closed by different entities.
	for _, c := range []struct{ mark, more string }{
		{"b1", ""}, {"W1", ""}, {"W1", "inactive health 1"}, {"b2", ""}, {"W2", ""}, {"b2", "inactive health 1"}, {"b1", "move 12,12"}, {" *", ""}, {" .", ""},
	} {
		t.Run(c.mark+" "+c.more, func(t *testing.T) {
			text := fmt.Sprintf(`
			12 W1W1W1 .W1W1
			11 W1b1 .%s . .
			10 W1W1W1W1W1W1
			x9
			unit 5 b1 10,11 move 14,11`, c.mark)
			if c.more != "" {
				text += fmt.Sprintf("\nunit 40 %s 12,11 %s", c.mark, c.more)
			}
			steps := ""
			if c.mark == " ." {
				steps = "+x"
			}
			begin(t, text, nil).may(5, steps)
			begin(t, text, fog).may(5, steps)
		})
	}
	// The edges of the map.
	begin(t, "1  . .\n0 b1W1\nunit 5 b1 0,0 move 3,0", nil).may(5, "+y")
	begin(t, "79 W1b1\n78  . .\nx78\nunit 5 b1 79,79 move 77,79", nil).may(5, "-y")
	// Large entities block with all their cells.
	begin(t, `
		15  . .B2B2B2B2B2
		14  . .B2B2B2B2B2
		13 b1 .B2B2B2B2B2 . .
		12  . .B2B2B2B2B2
		11  . .B2B2B2B2B2
		x10
		unit 5 b1 10,13 move 18,13`, nil).may(5, "+x+y-y")
}

func TestClause_3_7_BreakThrough(t *testing.T) {
	// A wall of health h in a corridor, with a path of 12 steps around it: with damage 5 the
	// unit breaks through if ⌈h / 5⌉ + 3 is less; with 12 both paths are equally good.
	const text = `
		15 W1 . . . . .
		14 W1 .W1W1W1 .
		13 W1 .W1W1W1 .
		12 W1 .W1W1W1 .
		11 W1m1W2 . . .
		10 W1W1W1W1W1W1
		x10
		unit 5 m1 11,11 move 15,11 break
		unit 60 W2 12,11 health `
	for health, steps := range map[int]string{1: "+x", 40: "+x", 41: "+x+y", 45: "+x+y", 46: "+y", 50: "+y"} {
		t.Run(fmt.Sprintf("wall of %d", health), func(t *testing.T) {
			begin(t, text+fmt.Sprint(health), nil).may(5, steps)
		})
	}
	floor := func(r *codecraft.Rules) { r.BreakFloor = true }
	for health, steps := range map[int]string{1: "+x", 44: "+x", 45: "+x+y", 49: "+x+y", 50: "+y"} {
		t.Run(fmt.Sprintf("wall of %d, rounded down", health), func(t *testing.T) {
			begin(t, text+fmt.Sprint(health), floor).may(5, steps)
		})
	}
	// Without the flag the unit goes around. With it, the unit attacks the wall on its path.
	begin(t, strings.Replace(text+"1", " break", "", 1), nil).may(5, "+y")
	begin(t, text+"12", nil).tick(1).attacks("5>60").want("unit 60 W2 12,11 health 7\nunit 5 m1 11,11")
	// Own entities block; resources can be broken through.
	begin(t, strings.Replace(text+"1", "W2", "W1", 2), nil).may(5, "+y")
	vein := strings.Replace(text[:strings.Index(text, "unit 60")], "W2", " *", 1) + "health 12,11="
	for health, steps := range map[int]string{30: "+x", 3: "+x"} {
		t.Run(fmt.Sprintf("resource of %d", health), func(t *testing.T) {
			begin(t, vein+fmt.Sprint(health), nil).may(5, steps)
		})
	}
	// Each cell of a large entity costs: 3 · 3 + 2 against 13, and 3 · 4 + 2.
	house := `
		15 W1 . . . . . .
		14 W1 .W1W1W1W1 .
		13 W1 .H2H2H2W1 .
		12 W1 .H2H2H2W1 .
		11 W1m1H2H2H2 . .
		10 W1W1W1W1W1W1W1
		x10
		unit 5 m1 11,11 move 16,11 break
		unit 60 H2 12,11 health `
	for health, steps := range map[int]string{1: "+x", 15: "+x", 16: "+y", 50: "+y"} {
		t.Run(fmt.Sprintf("house of %d", health), func(t *testing.T) {
			begin(t, house+fmt.Sprint(health), nil).may(5, steps)
		})
	}
	// A unit without an attack cannot break through.
	begin(t, text+"1", func(r *codecraft.Rules) {
		u := &r.Types[codecraft.MeleeUnit]
		u.CanAttack, u.Range, u.Damage = false, 0, 0
	}).may(5, "+y")
}

func TestClause_3_8_Fog(t *testing.T) {
	// An enemy wall of 17 cells, 11 to the right of a builder with sight 10.
	var rows strings.Builder
	for y := 28; y >= 12; y-- {
		mark := " ."
		if y == 20 {
			mark = "b1"
		}
		fmt.Fprintf(&rows, "%d %s%sW2", y, mark, strings.Repeat(" .", 10))
		if y >= 19 && y <= 21 {
			rows.WriteString(strings.Repeat(" .", 12) + "H2H2H2")
		}
		rows.WriteString("\n")
	}
	text := rows.String() + "x10\nunit 5 b1 10,20 move 30,20 "
	begin(t, text, nil).may(5, "+x+y-y")
	begin(t, text, fog).may(5, "+x")
	// The builder sees one cell of the wall first, and goes around the cells that it sees.
	begin(t, text, fog).tick(1).want("unit 5 b1 11,20").may(5, "+x+y-y")
	// All own entities count for sight: with one of them near, the whole wall is known.
	near := strings.Replace(text, "b1 . . . . . . . . . .W2", "b1 . . . . . . . . .m1W2", 1)
	begin(t, near, fog).may(5, "+x+y-y")
	// A chase also treats unseen cells as empty. A builder behind the house sees the way.
	chase := strings.Replace(text, "H2H2H2\n19", "H2H2H2b1\n19", 1) + "auto 60 House"
	begin(t, chase, fog).may(5, "+x")
	begin(t, chase, nil).may(5, "+x+y-y")
	begin(t, strings.Replace(chase, "H2b1", "H2 .", 1), fog).may(5, "+x") // by the move
	begin(t, strings.Replace(strings.Replace(chase, "H2b1", "H2 .", 1), "move 30,20 ", "", 1), fog).may(5, "")
}

func TestClause_3_9_Limit(t *testing.T) {
	// A search without success: the target is in a box, so the search closes cells up to the
	// limit. It ends with the level in which it reaches the limit.
	limit := func(n int32) func(r *codecraft.Rules) {
		return func(r *codecraft.Rules) { r.MaxNodes = n }
	}
	// A corridor with a dead end of k cells: the sum of the target is 12, and only the cells of
	// the dead end have smaller sums.
	const text = `
		14 W1W1W1W1W1W1W1W1
		13 W1 . . . .W1 .W1
		12 W1b1W1W1W1 . .W1
		11 W1 .W1W1W1 .W1W1
		10 W1 . . . . .W1W1
		9  W1W1W1W1W1W1W1W1
		x10
		unit 5 b1 11,12 move 16,13`
	// The distance is 6. To the right, 11,13 (6), 12,13, 13,13 and 14,13 have the sum 6 and are
	// a dead end. Downwards, the sums are 8 on 11,11 and 10 on 11,10, 12,10 … 15,10, 15,11,
	// 15,12, 16,12 and 16,13. Cells with sums below 10: the start, 4, and 11,11, so 6 cells.
	begin(t, text, limit(6)).may(5, "")
	begin(t, text, limit(7)).may(5, "-y")
	begin(t, text, limit(1000)).may(5, "-y")
	// With closest position, at the limit: of the cells closed in the levels 6 and 8 the
	// nearest is 14,13, as before the level of the target.
	for n, steps := range map[int32]string{1: "+y", 5: "+y", 6: "+y", 7: "-y"} {
		t.Run(fmt.Sprintf("limit %d", n), func(t *testing.T) {
			begin(t, text+" closest", limit(n)).may(5, steps)
		})
	}
	// A level is always closed as a whole: with a limit of 1, the level of the start.
	begin(t, text+" closest", limit(1)).tick(4).want("unit 5 b1 14,13")
	// Breaking through has the same levels with costs.
	begin(t, strings.Replace(text, "unit 5 b1 11,12 move 16,13", "unit 5 b1 11,12 move 16,13 break", 1), limit(6)).may(5, "")
	chaseLimit(t, limit)
}

func chaseLimit(t *testing.T, limit func(n int32) func(r *codecraft.Rules)) {
	t.Helper()
	// In a corridor each layer is a single cell: the goal is the 6th cell after the start, so 6
	// cells come before it.
	const text = `
		12 W1W1W1W1W1W1W1W1W1W1
		11 W1b1 . . . . . . *W1
		10 W1W1W1W1W1W1W1W1W1W1
		x10
		unit 5 b1 11,11 auto 20 Resource`
	begin(t, text, limit(6)).may(5, "")
	begin(t, text, limit(7)).may(5, "+x")
}

func TestClause_3_10_Closest(t *testing.T) {
	// The target is a resource on open ground: the unit goes next to it, by the cheapest paths.
	const text = `
		14  . . . . .
		13  . . * . .
		12  . . . . .
		11 b1 . . . .
		x10
		unit 5 b1 10,11 move 12,13`
	begin(t, text, nil).may(5, "")
	begin(t, text+" closest", nil).may(5, "+x+y")
	// Behind a wall: the nearest cell is by distance to the target, not by path.
	shut := `
		15 W1W1W1W1W1W1W1
		14 W1 . . .W1 .W1
		13 W1 .W1 .W1 .W1
		12 W1b1W1 .W1 .W1
		11 W1W1W1W1W1W1W1
		x10
		unit 5 b1 11,12 move 15,12`
	begin(t, shut, nil).may(5, "")
	begin(t, shut+" closest", nil).may(5, "+y").tick(5).want("unit 5 b1 13,13").tick(3).want("unit 5 b1 13,12")
	// The unit is as near as any other closed cell, so it stays.
	begin(t, `
		13 W1W1W1W1
		12 W1b1W1 .
		11 W1W1W1W1
		x10
		unit 5 b1 11,12 move 13,12 closest`, nil).may(5, "").tick(1).want("unit 5 b1 11,12")
	begin(t, `
		13  . . . .
		12  .b1W1 .
		11  . . . .
		x10
		unit 5 b1 11,12 move 12,12 closest`, nil).may(5, "+x") // next to it: 3.5
	// Among equally near cells all with the least cost count.
	two := `
		16  . . . . . . .
		15  . .B2B2B2B2B2
		14  . .B2B2B2B2B2
		13 b1W1B2B2B2B2B2
		12  . .B2B2B2B2B2
		11  . .B2B2B2B2B2
		10  . . . . . . .
		x10
		unit 5 b1 10,13 move TARGET closest`
	for target, steps := range map[string]string{
		"14,13": "+y-y", // 14,16 and 14,10, at 7 steps; 17,13 is as near, and further
		"14,14": "+y",   // 14,16 alone
		"14,12": "-y",
		"12,14": "+y", // 11,14
	} {
		t.Run(target, func(t *testing.T) {
			begin(t, strings.Replace(two, "TARGET", target, 1), nil).may(5, steps)
		})
	}
	// The own cell is as near as any other, so the unit stays.
	begin(t, strings.NewReplacer("TARGET", "14,13", "b1W1", " .b1", "b1 10,13", "b1 11,13").Replace(two), nil).may(5, "")
	// Cells at the edge of the map count as all others: one step to either side.
	begin(t, "11  .b1\n10  * .\nx78\nunit 5 b1 79,11 move 78,10 closest", nil).may(5, "-x-y")
	begin(t, "11 b1 .\n10  . *\nx0\nunit 5 b1 0,11 move 1,10 closest", nil).may(5, "+x-y")
	// Breaking through passes all entities but own ones.
	begin(t, shut+" closest break", nil).may(5, "+y")
	begin(t, strings.ReplaceAll(shut, "W1", "W2")+" closest break", nil).may(5, "+y") // through one wall, not two
}

func TestClause_3_11_FirstSteps(t *testing.T) {
	// Ten paths begin to the right and one upwards: both steps are equally likely.
	m := begin(t, `
		13  . . . . .
		12  . . . . .
		11 b1 . . . .
		x10
		unit 5 b1 10,11 move 13,12`, nil)
	m.may(5, "+x+y").even(where(5), "11,11", "10,12")
	// Four paths to four targets, and three to equally near places.
	m = begin(t, `
		13  . . * . .
		12  . . . . .
		11  * .b1 . *
		10  . . . . .
		9   . . * . .
		x10
		unit 5 b1 12,11 auto 10 Resource`, nil)
	m.may(5, "+x-x+y-y").even(where(5), "13,11", "11,11", "12,12", "12,10")
	m = begin(t, `
		13  . . . . .
		12 W1W1 .W1W1
		11  . .b1 . .
		10 B2B2B2B2B2
		9  B2B2B2B2B2
		8  B2B2B2B2B2
		7  B2B2B2B2B2
		6  B2B2B2B2B2
		x10
		unit 5 b1 12,11 move 12,7 closest`, nil)
	m.may(5, "+x-x").even(where(5), "13,11", "11,11") // to 15,7 and 9,7
	// The split of the distance between the axes does not matter.
	for to, steps := range map[string][2]string{
		"50,50": {"41,40", "40,41"}, "60,41": {"41,40", "40,41"}, "41,79": {"41,40", "40,41"}, "20,35": {"39,40", "40,39"},
	} {
		t.Run(to, func(t *testing.T) {
			begin(t, "40 b1\nx40\nunit 5 b1 40,40 move "+to, nil).even(where(5), steps[:]...)
		})
	}
}
