package codecraft_test

import (
	"fmt"
	"strings"
	"testing"

	"moonfarm/sim/codecraft"
)

// Tests of the clauses of RULES.md, section 3: attacks.

// order returns the attackers of the last tick in the order of their attacks.
func order(m *match) string {
	var ids []string
	for _, h := range m.rec.Attacks {
		ids = append(ids, fmt.Sprint(h.Attacker))
	}
	return strings.Join(ids, " ")
}

func TestClause_3_12_Order(t *testing.T) {
	m := begin(t, `
		11  .r1 .b2
		10 m1 * .T2T2
		9   * . .T2T2
		x10
		unit 5 r1 11,11 auto 5 any
		unit 6 m1 10,10 attack 10
		unit 7 T2 13,9 auto 0 RangedUnit`, nil)
	m.even(order, "5 6 7", "5 7 6", "6 5 7", "6 7 5", "7 5 6", "7 6 5")
	// Entities that do nothing do not change the order.
	m = begin(t, `
		11 m1 .H1H1H1
		10  * *H1H1H1
		9  m1 .H1H1H1
		8  b1b1b1b1m2
		x10
		unit 5 m1 10,11 attack 30
		unit 6 m1 10,9 attack 30
		tick 0 first 30`, nil)
	m.even(order, "5 6", "6 5")
	// Each attack takes effect before the next: the second of two attacks kills and gets the
	// score.
	m = begin(t, `
		11 m1b3m2
		x10
		unit 5 m1 10,11 attack 6
		unit 6 b3 11,11 health 7
		unit 7 m2 12,11 attack 6`, nil)
	m.even(func(m *match) string { return fmt.Sprint(order(m), " ", m.s.Score[0], " ", m.s.Score[1]) }, "5 7 0 100", "7 5 100 0")
}

func TestClause_3_13_Target(t *testing.T) {
	const text = `
		tick 0 first 30
		13  . . . . *
		12  . . . . .
		11 r1r1b2 . .
		10  . . . . .
		9   . .H2H2H2
		8   . .H2H2H2
		7   . .H2H2H2
		x10
		unit 5 r1 10,11 attack ID
		unit 6 r1 11,11
		unit 7 b2 12,11
		unit 8 H2 12,7`
	at := func(id string) string { return strings.Replace(text, "ID", id, 1) }
	begin(t, at("7"), nil).may(5, "", 7).tick(1).attacks("5>7").want("unit 7 b2 12,11 health 5")
	begin(t, at("8"), nil).may(5, "", 8).tick(1).want("unit 8 H2 12,7 health 45")
	// The target may be an own entity, but not the attacker itself, an unknown id or an entity
	// out of range.
	begin(t, at("6"), nil).may(5, "", 6).tick(1).attacks("5>6").want("unit 6 r1 11,11 health 5").tick(1).want("no 6\np1 score 0\np2 score 0")
	begin(t, at("5"), nil).may(5, "").tick(1).attacks("")
	begin(t, at("30"), nil).may(5, "").tick(1).attacks("") // 4 + 2
	begin(t, at("30"), func(r *codecraft.Rules) { r.Types[codecraft.RangedUnit].Range = 6 }).may(5, "", 30)
	begin(t, at("9"), nil).may(5, "").tick(1).attacks("")
	begin(t, at("1"), nil).may(5, "") // the id of a player
	begin(t, at("4294967295"), nil).may(5, "")
	begin(t, at("8"), func(r *codecraft.Rules) { r.Types[codecraft.RangedUnit].Range = 3 }).may(5, "")
	// The target comes before the auto attack, which counts if the target is out of range.
	begin(t, at("7 auto 0 House"), nil).may(5, "", 7)
	begin(t, at("30 auto 0 House"), nil).may(5, "", 8)
	// The target is not chased, with or without fog.
	begin(t, at("30"), nil).tick(1).want("unit 5 r1 10,11")
	begin(t, at("8"), func(r *codecraft.Rules) {
		r.Fog = true
		r.Types[codecraft.RangedUnit].Sight = 1
	}).may(5, "", 8)
}

func TestClause_3_14_Auto(t *testing.T) {
	const text = `
		tick 0 first 30
		13  . . . . .
		12  .m2 . . .
		11 r1r1b2W3 *
		10  . . . .b4
		9   . .H2H2H2
		8   . .H2H2H2
		7   . .H2H2H2
		x10
		unit 5 r1 10,11 auto 10 TYPES
		unit 6 r1 11,11
		unit 7 b2 12,11
		unit 8 H2 12,7
		unit 9 W3 13,11
		unit 10 b4 14,10
		unit 11 m2 11,12`
	types := func(s string) string { return strings.Replace(text, "TYPES", s, 1) }
	begin(t, types("any"), nil).may(5, "", 7, 8, 9, 10, 11)
	begin(t, types("Resource"), nil).may(5, "", 30)
	begin(t, types("Resource,House"), nil).may(5, "", 8, 30)
	begin(t, types("BuilderUnit"), nil).may(5, "", 7, 10)
	begin(t, types("RangedUnit"), nil).may(5, "")
	begin(t, types("Turret,Wall,MeleeUnit"), nil).may(5, "", 9, 11)
	// All targets are equally likely, near or far.
	m := begin(t, types("any"), nil)
	m.even(func(m *match) string { return fmt.Sprint(m.rec.Attacks) }, "[{5 7}]", "[{5 8}]", "[{5 9}]", "[{5 10}]", "[{5 11}]")
	// With NearestVictim only the nearest count: at distance 2 the builder and the melee unit.
	near := begin(t, types("any"), func(r *codecraft.Rules) { r.NearestVictim = true }).may(5, "", 7, 11)
	near.even(func(m *match) string { return fmt.Sprint(m.rec.Attacks) }, "[{5 7}]", "[{5 11}]")
	// The pathfind range matters only with RangeGates.
	short := strings.Replace(types("any"), "auto 10", "auto 2", 1)
	begin(t, short, nil).may(5, "", 7, 8, 9, 10, 11)
	begin(t, short, func(r *codecraft.Rules) { r.RangeGates = true }).may(5, "", 7, 11)
	begin(t, strings.Replace(short, "auto 2", "auto 0", 1), nil).may(5, "", 7, 8, 9, 10, 11)
	// Only with ChaseUnseen does auto attack have targets that the player does not see.
	blind := func(r *codecraft.Rules) {
		r.Fog = true
		r.Types[codecraft.RangedUnit].Sight = 3
	}
	begin(t, types("any"), blind).may(5, "", 7, 8, 9, 11) // of the house one cell, by unit 6
	begin(t, types("any"), func(r *codecraft.Rules) { blind(r); r.ChaseUnseen = true }).may(5, "", 7, 8, 9, 10, 11)
	// Without auto attack and target the unit does not shoot.
	begin(t, strings.Replace(types("any"), "auto 10 any", "", 1), nil).may(5, "").tick(1).attacks("")
}

func TestClause_3_15_TheWay(t *testing.T) {
	const text = `
		tick 0 first 30
		12 W1W1W1W1W1W1
		11 W1b1MK . . .
		10 W1W1W1W1W1W1
		x9
		unit 5 b1 10,11 `
	at := func(mark, action string) string { return strings.Replace(text, "MK", mark, 1) + action }
	// The target is a neighbour cell, with or without break through, without an attack action.
	for _, more := range []string{"", " break", " closest", " attack 99", " auto 0 Turret"} {
		begin(t, at(" *", "move 11,11"+more), nil).tick(1).attacks("5>30").want("p1 resource 1 score 1\nhealth 11,11=29")
		begin(t, at("b2", "move 11,11"+more)+"\nunit 20 b2 11,11", nil).tick(1).attacks("5>20").want("unit 20 b2 11,11 health 9")
		begin(t, at("W2", "move 11,11"+more)+"\nunit 20 W2 11,11", nil).tick(1).attacks("5>20")
		begin(t, at("W1", "move 11,11"+more)+"\nunit 20 W1 11,11", nil).tick(1).attacks("").want("unit 5 b1 10,11")
	}
	// For a target further away only the entities on the path count.
	begin(t, at("b2", "move 13,11 break")+"\nunit 20 b2 11,11", nil).tick(1).attacks("5>20")
	begin(t, at("b2", "move 13,11")+"\nunit 20 b2 11,11", nil).tick(1).attacks("").want("unit 5 b1 10,11")
	// The unit attacks a blocked way, and moves in the tick after the way is free.
	begin(t, at(" *", "move 11,11")+"\nhealth 11,11=1", nil).tick(1).want("unit 5 b1 10,11\nno 30").tick(1).want("unit 5 b1 11,11")
	// The first step of a chase leads to an entity that fog hid: the sight of the unit is 2.
	blind := func(r *codecraft.Rules) {
		r.Fog = true
		r.Types[codecraft.BuilderUnit].Sight = 0
		r.Types[codecraft.Wall].Sight = 0
	}
	begin(t, at("b2", "move 14,11")+"\nunit 20 b2 11,11", blind).may(5, "+x").tick(1).attacks("5>20")
	// Units without an attack wait.
	begin(t, at("b2", "move 11,11")+"\nunit 20 b2 11,11", func(r *codecraft.Rules) {
		u := &r.Types[codecraft.BuilderUnit]
		u.CanAttack, u.Collects, u.Range, u.Damage = false, false, 0, 0
	}).may(5, "+x").tick(1).attacks("").want("unit 5 b1 10,11\nunit 20 b2 11,11")
}

func TestClause_3_16_Effect(t *testing.T) {
	const text = `
		tick 0 first 30
		p1 score 7 resource 9
		11 m1MK
		10 r1 .
		9  b1 .
		x10
		unit 5 m1 10,11 attack 20
		unit 6 r1 10,10
		unit 7 b1 10,9`
	at := func(mark, more string) string {
		return strings.Replace(text, "MK", mark, 1) + "\nunit 20 " + mark + " 11,11 " + more
	}
	begin(t, at("m2", ""), nil).tick(1).want("unit 20 m2 11,11 health 45\np1 score 7 resource 9")
	begin(t, at("m2", "health 6"), nil).tick(1).want("unit 20 m2 11,11 health 1\np1 score 7")
	begin(t, at("m2", "health 5"), nil).tick(1).want("no 20\np1 score 207 resource 9\np2 score 0")
	begin(t, at("m2", "health 2"), nil).tick(1).want("no 20\np1 score 207")
	begin(t, at("m2", "health 2 inactive"), nil).tick(1).want("no 20\np1 score 207")
	begin(t, at("W4", "health 2"), nil).tick(1).want("no 20\np1 score 17")
	begin(t, at("b3", "health 2"), nil).tick(1).want("no 20\np1 score 107")
	begin(t, at("r3", "health 2"), nil).tick(1).want("no 20\np1 score 307")
	begin(t, at("m1", "health 2"), nil).tick(1).want("no 20\np1 score 7")
	// Only a collector gets resource, and only for the health that it takes.
	vein := `
		p1 score 7 resource 9
		11 MK *
		x10
		tick 0 first 30
		unit 5 MK 10,11 attack 30
		health 11,11=`
	vein2 := func(mark, health string) string { return strings.ReplaceAll(vein, "MK", mark) + health }
	begin(t, vein2("b1", "9"), nil).tick(1).want("p1 score 8 resource 10\nhealth 11,11=8")
	begin(t, vein2("b1", "1"), nil).tick(1).want("p1 score 8 resource 10\nno 30")
	begin(t, vein2("m1", "9"), nil).tick(1).want("p1 score 7 resource 9\nhealth 11,11=4")
	begin(t, vein2("m1", "5"), nil).tick(1).want("p1 score 7 resource 9\nno 30")
	rich := func(r *codecraft.Rules) {
		r.Types[codecraft.BuilderUnit].Damage = 4
		r.Types[codecraft.Resource].Yield, r.Types[codecraft.Resource].DestroyScore = 3, 50
	}
	begin(t, vein2("b1", "9"), rich).tick(1).want("p1 score 19 resource 21\nhealth 11,11=5")
	begin(t, vein2("b1", "3"), rich).tick(1).want("p1 score 16 resource 18\nno 30")
	// Collectors also get resource for the health of enemies, by the yield of their type.
	begin(t, `
		11 b1H2H2H2
		10  .H2H2H2
		9   .H2H2H2
		x10
		unit 5 b1 10,11 attack 6
		unit 6 H2 11,9`, func(r *codecraft.Rules) { r.Types[codecraft.House].Yield = 5 }).tick(1).want("p1 score 5 resource 5\nunit 6 H2 11,9 health 49")
}

func TestClause_3_17_TheDead(t *testing.T) {
	// Two units kill each other, whichever attacks first.
	const text = `
		11 m1m2
		x10
		unit 5 m1 10,11 health 5 attack 6
		unit 6 m2 11,11 health 5 attack 5`
	both := begin(t, text, nil)
	both.even(order, "5 6", "6 5")
	both.tick(1).attacks("5>6 6>5").want("no 5 6\np1 score 200\np2 score 200")
	rest := begin(t, text, func(r *codecraft.Rules) { r.DeadRest = true })
	rest.even(func(m *match) string { return fmt.Sprint(order(m), m.s.Score) }, "5[200 0 0 0]", "6[0 200 0 0]")
	// Attacks on dead entities are wasted and score nothing.
	waste := begin(t, `
		11 m1b2m3
		x10
		unit 5 m1 10,11 attack 6
		unit 6 b2 11,11 health 1
		unit 7 m3 12,11 attack 6`, nil)
	waste.even(func(m *match) string { return fmt.Sprint(order(m), m.s.Score) }, "5 7[100 0 0 0]", "7 5[0 0 100 0]")
	// Dead entities are among the candidates of auto attack.
	auto := begin(t, `
		12  .b2 .
		11 m1b2m1
		x10
		unit 5 m1 10,11 attack 6
		unit 6 b2 11,11 health 1
		unit 7 m1 12,11 auto 0 any
		unit 8 b2 11,12`, nil)
	auto.tick(1).attacks("5>6 7>6")
	// Dead entities build and repair, except with DeadRest.
	const builds = `
		p1 resource 50
		12  .b1W1 .
		11 m2b1 .m2
		x10
		unit 5 b1 11,12 repair 6
		unit 6 W1 12,12 health 20
		unit 7 b1 11,11 build Wall 12,11
		unit 8 m2 10,11 attack 7
		unit 9 m2 13,11 attack 5`
	reach := func(r *codecraft.Rules) {
		r.Types[codecraft.MeleeUnit].Range, r.Types[codecraft.MeleeUnit].Damage = 3, 10
	}
	begin(t, builds, reach).tick(1).want("no 5 7\nunit 6 W1 12,12 health 21\nunit 10 W1 12,11 health 5 inactive\np1 resource 40\ntick 1 next 11")
	begin(t, builds, func(r *codecraft.Rules) { reach(r); r.DeadRest = true }).tick(1).want("no 5 7 10\nunit 6 W1 12,12 health 20\np1 resource 50\ntick 1 next 10")
}
