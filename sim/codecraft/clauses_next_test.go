package codecraft_test

import (
	"fmt"
	"strings"
	"testing"

	"moonfarm/sim/codecraft"
)

// Tests of the clauses of RULES.md, section 3: who may do what, next cells.

func TestClause_3_1_OneThing(t *testing.T) {
	// A builder that could attack, build, repair and move.
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
	// Nothing to attack: it builds.
	apart := strings.Replace(text, " . * . . .", " . . . . *", 1)
	begin(t, apart, nil).tick(1).attacks("").want(`
		p1 resource 90 score 0
		unit 5 b1 11,11
		unit 6 W1 10,11 health 7
		unit 21 W1 11,10 health 5 inactive`)
	// The place is taken: it repairs.
	taken := strings.Replace(apart, "10  . . . . .", "10  .W2 . . .", 1)
	begin(t, taken, nil).tick(1).attacks("").want(`
		p1 resource 100 score 0
		unit 5 b1 11,11
		unit 6 W1 10,11 health 8`)
	// Nothing to repair either: it moves.
	whole := strings.Replace(taken, " health 7", "", 1)
	begin(t, whole, nil).tick(1).want("unit 5 b1 12,11")
	// And without a move it stays.
	begin(t, strings.Replace(whole, "move 14,11 ", "", 1), nil).tick(1).want("unit 5 b1 11,11")
}

func TestClause_3_2_Inactive(t *testing.T) {
	// Six that are active and do something, or are not and do nothing.
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
	// Inactive ones are attacked and repaired, block, and use population. (That
	// they see: 2.9; that they do not provide: 3.20.)
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
	// A wall that is destroyed in this tick still blocks; so does a unit that goes
	// away.
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
	// One that can attack by its action goes nowhere, wherever it is sent.
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
	// The resource is 5 away: its neighbour cell 4 steps, with the range 5.
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
	// Nothing is broken through, whatever the move says.
	shut := `
		15 W2W2W2W2 . . .
		14 W2b1 .W2 . . *
		13 W2W2W2W2 . . .
		x9
		unit 5 b1 10,14 move 11,14 break auto 20 Resource`
	begin(t, shut, nil).may(5, "+x") // by the move: the cell is next to it
	begin(t, strings.Replace(shut, "move 11,14 break ", "", 1), nil).may(5, "")
	// The nearest by path, not by distance; ranges count from the target's edge.
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
	// Ranged units stop at their range: 5 steps to 7 further.
	far := `
		14 r1 . . . . . . . . . . .b2
		x10
		unit 5 r1 10,14 auto RANGE any`
	begin(t, ranged(far, "12"), nil).may(5, "+x")
	begin(t, ranged(far, "11"), nil).may(5, "")
	// Own ones are no targets, nor what the player does not see.
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
	// Next to it, whatever is there.
	begin(t, text+"12,11", nil).may(5, "+x").tick(1).want("unit 5 b1 12,11")
	begin(t, text+"11,12", nil).may(5, "+y").tick(1).attacks("5>8").want("unit 5 b1 11,11")
	begin(t, text+"10,11", nil).may(5, "-x").tick(1).attacks("5>7").want("unit 5 b1 11,11\nunit 7 b2 10,11 health 9")
	begin(t, text+"11,10", nil).may(5, "-y").tick(1).attacks("").want("unit 5 b1 11,11")
	// Further away: the best path.
	begin(t, text+"13,11", nil).may(5, "+x")
	begin(t, text+"13,12", nil).may(5, "+x").tick(1).want("unit 5 b1 12,11").may(5, "+x+y").tick(2).want("unit 5 b1 13,12")
	begin(t, text+"11,13", nil).may(5, "+x") // around the resource, not around the wall
	// Without a move there is none.
	begin(t, strings.TrimSuffix(text, " move "), nil).may(5, "")
	begin(t, text[:len(text)-len("move ")]+"stop", nil).may(5, "")
	// Buildings do not move.
	begin(t, "11 T1T1 . .\n10 T1T1\nx10\nunit 5 T1 10,10 move 14,10", nil).may(5, "").tick(1).want("unit 5 T1 10,10")
}

func TestClause_3_6_WhatBlocks(t *testing.T) {
	// A corridor with one cell that is closed by one of each.
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
	// Large ones with all their cells.
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
	// A wall of health h in a corridor, with a way around of 12 steps: with damage 5
	// it is broken if ⌈h / 5⌉ + 3 is less; at 12 both are as good.
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
	// Without the flag it goes around. What it goes for it then attacks.
	begin(t, strings.Replace(text+"1", " break", "", 1), nil).may(5, "+y")
	begin(t, text+"12", nil).tick(1).attacks("5>60").want("unit 60 W2 12,11 health 7\nunit 5 m1 11,11")
	// Own ones block, resources can be passed too.
	begin(t, strings.Replace(text+"1", "W2", "W1", 2), nil).may(5, "+y")
	vein := strings.Replace(text[:strings.Index(text, "unit 60")], "W2", " *", 1) + "health 12,11="
	for health, steps := range map[int]string{30: "+x", 3: "+x"} {
		t.Run(fmt.Sprintf("resource of %d", health), func(t *testing.T) {
			begin(t, vein+fmt.Sprint(health), nil).may(5, steps)
		})
	}
	// Each cell of a large one costs: 3 · 3 + 2 against 13, and 3 · 4 + 2.
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
	// Who has no attack breaks nothing.
	begin(t, text+"1", func(r *codecraft.Rules) {
		u := &r.Types[codecraft.MeleeUnit]
		u.CanAttack, u.Range, u.Damage = false, 0, 0
	}).may(5, "+y")
}

func TestClause_3_8_Fog(t *testing.T) {
	// An enemy wall of 17 cells, 11 to the right of a builder that sees 10 far.
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
	// It sees the wall from one cell on, and goes around what it sees.
	begin(t, text, fog).tick(1).want("unit 5 b1 11,20").may(5, "+x+y-y")
	// Own entities see: with one of them near, the whole wall is known.
	near := strings.Replace(text, "b1 . . . . . . . . . .W2", "b1 . . . . . . . . .m1W2", 1)
	begin(t, near, fog).may(5, "+x+y-y")
	// The chase takes what it does not see as empty too. A builder behind the house
	// sees that.
	chase := strings.Replace(text, "H2H2H2\n19", "H2H2H2b1\n19", 1) + "auto 60 House"
	begin(t, chase, fog).may(5, "+x")
	begin(t, chase, nil).may(5, "+x+y-y")
	begin(t, strings.Replace(chase, "H2b1", "H2 .", 1), fog).may(5, "+x") // by the move
	begin(t, strings.Replace(strings.Replace(chase, "H2b1", "H2 .", 1), "move 30,20 ", "", 1), fog).may(5, "")
}

func TestClause_3_9_Limit(t *testing.T) {
	// A closed search: the target is in a box, so everything is closed until the
	// limit. What counts is where the search ends: at the level of the sum with
	// which the limit is reached.
	limit := func(n int32) func(r *codecraft.Rules) {
		return func(r *codecraft.Rules) { r.MaxNodes = n }
	}
	// In a corridor with a dead end of k cells: the target's sum is 12, and the
	// cells with a smaller one are those of the dead end.
	const text = `
		14 W1W1W1W1W1W1W1W1
		13 W1 . . . .W1 .W1
		12 W1b1W1W1W1 . .W1
		11 W1 .W1W1W1 .W1W1
		10 W1 . . . . .W1W1
		9  W1W1W1W1W1W1W1W1
		x10
		unit 5 b1 11,12 move 16,13`
	// Distance 6. To the right: 11,13 (6), 12,13, 13,13, 14,13 with sum 6 each:
	// a dead end. Down: 11,11 (8), 11,10 (10), then 12,10 … 15,10, 15,11, 15,12,
	// 16,12, 16,13 (10). With sums below 10: the start, 4, and 11,11: 6 cells.
	begin(t, text, limit(6)).may(5, "")
	begin(t, text, limit(7)).may(5, "-y")
	begin(t, text, limit(1000)).may(5, "-y")
	// With closest position, at the limit: of the cells closed with the levels 6
	// and 8 the nearest is 14,13, before the target's level the same.
	for n, steps := range map[int32]string{1: "+y", 5: "+y", 6: "+y", 7: "-y"} {
		t.Run(fmt.Sprintf("limit %d", n), func(t *testing.T) {
			begin(t, text+" closest", limit(n)).may(5, steps)
		})
	}
	// Whole levels: with a limit of 1 the level of the start is closed all the same.
	begin(t, text+" closest", limit(1)).tick(4).want("unit 5 b1 14,13")
	// Breaking through pays: the same levels with costs.
	begin(t, strings.Replace(text, "unit 5 b1 11,12 move 16,13", "unit 5 b1 11,12 move 16,13 break", 1), limit(6)).may(5, "")
	chaseLimit(t, limit)
}

func chaseLimit(t *testing.T, limit func(n int32) func(r *codecraft.Rules)) {
	t.Helper()
	// In a corridor the layers are single cells: the goal is the 6th after the
	// start, so 6 come before it.
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
	// The target is a resource in the open: next to it, by the ways of least cost.
	const text = `
		14  . . . . .
		13  . . * . .
		12  . . . . .
		11 b1 . . . .
		x10
		unit 5 b1 10,11 move 12,13`
	begin(t, text, nil).may(5, "")
	begin(t, text+" closest", nil).may(5, "+x+y")
	// Behind a wall: the cell nearest to the target as the crow flies, not by path.
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
	// As near as any: it stays.
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
	// Cells as near as each other: those of least cost, all of them together.
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
	// The own cell is as near as any other: it stays.
	begin(t, strings.NewReplacer("TARGET", "14,13", "b1W1", " .b1", "b1 10,13", "b1 11,13").Replace(two), nil).may(5, "")
	// At the edge of the map the cells there are as good as others: one step to either.
	begin(t, "11  .b1\n10  * .\nx78\nunit 5 b1 79,11 move 78,10 closest", nil).may(5, "-x-y")
	begin(t, "11 b1 .\n10  . *\nx0\nunit 5 b1 0,11 move 1,10 closest", nil).may(5, "+x-y")
	// Breaking through gets to everything but own ones.
	begin(t, shut+" closest break", nil).may(5, "+y")
	begin(t, strings.ReplaceAll(shut, "W1", "W2")+" closest break", nil).may(5, "+y") // through one wall, not two
}

func TestClause_3_11_FirstSteps(t *testing.T) {
	// Ten paths begin to the right and one upwards: each is as likely.
	m := begin(t, `
		13  . . . . .
		12  . . . . .
		11 b1 . . . .
		x10
		unit 5 b1 10,11 move 13,12`, nil)
	m.may(5, "+x+y").even(where(5), "11,11", "10,12")
	// Four ways to four targets, and three to places as near.
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
	// However the distance is split between the axes.
	for to, steps := range map[string][2]string{
		"50,50": {"41,40", "40,41"}, "60,41": {"41,40", "40,41"}, "41,79": {"41,40", "40,41"}, "20,35": {"39,40", "40,39"},
	} {
		t.Run(to, func(t *testing.T) {
			begin(t, "40 b1\nx40\nunit 5 b1 40,40 move "+to, nil).even(where(5), steps[:]...)
		})
	}
}
