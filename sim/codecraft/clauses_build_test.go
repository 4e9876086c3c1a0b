package codecraft_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"moonfarm/sim/codecraft"
)

// Tests of the clauses of RULES.md, section 3: builds, repairs, moves, clean-up.

// built returns the ids of the walls of two builders, by place.
func built(m *match) string {
	text := ""
	for _, u := range m.s.Units[:m.s.N] {
		if u.Type == codecraft.Wall && !u.Active {
			text += fmt.Sprintf("%d@%d,%d ", u.ID, u.X, u.Y)
		}
	}
	return strings.TrimSpace(text)
}

func TestClause_3_18_Builders(t *testing.T) {
	// Two entities build, one fails, one attacks, and one cannot build: the first three take
	// ids.
	const text = `
		tick 0 next 40 first 30
		p1 resource 100
		12 b1 . . .b1 *
		11  . . .b1 . .
		10  . .m1 . . .
		x10
		unit 5 b1 10,12 build Wall 11,12
		unit 6 b1 13,11 build Wall 14,11
		unit 7 b1 14,12 build Wall 13,12 attack 30
		unit 8 m1 12,10 build Wall 11,10`
	m := begin(t, text, nil)
	m.even(built, "40@11,12 41@14,11", "40@14,11 41@11,12")
	m.tick(1).attacks("7>30").want("tick 1 next 42\np1 resource 81").tick(1).want("tick 2 next 44\np1 resource 82")
	begin(t, text, func(r *codecraft.Rules) { r.UnableTakeID = true }).tick(1).want("tick 1 next 43")
	// The order of builds is not the order of attacks.
	both := begin(t, `
		p1 resource 100
		tick 0 next 40 first 30
		12 b1 . .b1 . .
		11 r1 . .r1b2 .
		x10
		unit 5 b1 10,12 build Wall 11,12
		unit 6 b1 13,12 build Wall 14,12
		unit 7 r1 10,11 attack 9
		unit 8 r1 13,11 attack 9
		unit 9 b2 14,11`, nil)
	both.even(func(m *match) string { return order(m) + " " + built(m) },
		"7 8 40@11,12 41@14,12", "7 8 40@14,12 41@11,12", "8 7 40@11,12 41@14,12", "8 7 40@14,12 41@11,12")
}

func TestClause_3_19_Success(t *testing.T) {
	const text = `
		p1 resource 1000
		14  . . . . . . .
		13  . . . . . . .
		12  . . . . . .W1
		11  . . .b1 . . .
		10  . . . . . . .
		9   . .b2 . . . .
		x10
		tick 0 next 40 first 30
		unit 5 b1 13,11 build TYPE CELL
		unit 6 W1 16,12
		unit 7 b2 12,9`
	at := func(kind, cell string) *match {
		return begin(t, strings.NewReplacer("TYPE", kind, "CELL", cell).Replace(text), nil).tick(1).want("tick 1 next 41\nunit 5 b1 13,11")
	}
	done := func(kind, cell string) { t.Helper(); at(kind, cell).there(40, true) }
	fails := func(kind, cell string) { t.Helper(); at(kind, cell).there(40, false) }
	// A house of side 3 has 12 places around a builder, and no others.
	for x := 9; x <= 15; x++ {
		for y := 7; y <= 13; y++ {
			dx, dy := max(13-(x+2), x-13, 0), max(11-(y+2), y-11, 0)
			free := !(x+2 >= 16 && y <= 12 && y+2 >= 12) && !(x <= 12 && x+2 >= 12 && y <= 9 && y+2 >= 9)
			if dx+dy == 1 && free {
				done("House", fmt.Sprintf("%d,%d", x, y))
			} else {
				fails("House", fmt.Sprintf("%d,%d", x, y))
			}
		}
	}
	done("Wall", "13,12")
	fails("Wall", "14,12") // diagonal
	fails("Wall", "13,11") // the builder itself
	done("Turret", "14,10")
	fails("BuilderUnit", "13,12") // no option
	fails("Resource", "13,12")
	fails("12", "13,12")
	fails("Wall", "255,255")
	// Large entities also build on all sides, and the edge of the map is a limit: a house
	// beside a builder in the corner.
	for cell, ok := range map[string]bool{"76,77": true, "75,77": false, "76,78": false, "76,76": false, "77,76": true, "78,76": false, "77,75": false} {
		t.Run("house on "+cell, func(t *testing.T) {
			m := begin(t, "p1 resource 90\n79  . .b1\nx77\ntick 0 next 40 first 30\nunit 5 b1 79,79 build House "+cell, nil).tick(1)
			m.there(40, ok)
		})
	}
	for cell, ok := range map[string]bool{"9,10": true, "9,14": true, "9,15": false, "15,12": true, "12,15": true, "14,9": true, "15,9": false, "12,12": false, "16,12": false} {
		t.Run("unit on "+cell, func(t *testing.T) {
			m := begin(t, strings.Replace(`
			p1 resource 90
			14 B1B1B1B1B1
			13 B1B1B1B1B1
			12 B1B1B1B1B1
			11 B1B1B1B1B1
			10 B1B1B1B1B1
			x10
			tick 0 next 40 first 30
			unit 5 B1 10,10 build BuilderUnit CELL`, "CELL", cell, 1), nil).tick(1)
			m.there(40, ok)
		})
	}
	buildOnWhat(t)
}

// buildOnWhat checks that every entity on the square prevents a build, also dead entities and
// entities built in this tick.
func buildOnWhat(t *testing.T) {
	t.Helper()
	const text = `
		p1 resource 90
		tick 0 next 40 first 30
		12 b1MKb1
		11  .r1 .
		x10
		unit 5 b1 10,12 build Wall 11,12
		unit 6 b1 12,12
		unit 7 r1 11,11 attack 20`
	for _, mark := range []string{" *", "b1", "b2", "W3"} {
		begin(t, strings.Replace(text, "MK", mark, 1), nil).tick(1).there(40, false).want("tick 1 next 41")
	}
	begin(t, strings.Replace(text, "MK", " :", 1), nil).tick(1).there(40, true)
	dying := strings.Replace(text, "MK", "b2", 1) + "\nunit 20 b2 11,12 health 1"
	begin(t, dying, nil).tick(1).there(20, false).there(40, false).tick(1).there(41, true)
	// Two builders want the same place: one of them succeeds.
	two := strings.Replace(strings.Replace(text, "MK", " .", 1), "unit 6 b1 12,12", "unit 6 b1 12,12 build Wall 11,12", 1)
	begin(t, two, nil).even(built, "40@11,12").tick(1).want("p1 resource 80\ntick 1 next 42")
}

// there checks whether an entity exists.
func (m *match) there(id uint32, want bool) *match {
	m.t.Helper()
	if got := m.exists(fmt.Sprint(id)); got != want {
		m.t.Fatalf("there is an entity %d: %v, want %v\n%s", id, got, want, m.text())
	}
	return m
}

func TestClause_3_20_Price(t *testing.T) {
	const base = `
		14 B1B1B1B1B1 .
		13 B1B1B1B1B1b1
		12 B1B1B1B1B1b1
		11 B1B1B1B1B1 .
		10 B1B1B1B1B1 .
		x10
		tick 0 next 40 first 30
		unit 5 B1 10,10 build BuilderUnit 15,10
		unit 6 b1 15,13
		unit 7 b1 15,12
		`
	// A builder unit costs 10, and one more for each of two existing ones.
	begin(t, base+"p1 resource 12", nil).tick(1).there(40, true).want("p1 resource 0 score 10")
	begin(t, base+"p1 resource 11", nil).tick(1).there(40, false).want("p1 resource 11 score 0")
	// A dying entity counts, except with DeadAreFree; so do inactive entities.
	killed := base + "unit 8 m2 16,12 attack 7\n12 B1B1B1B1B1b1m2\n"
	killed = strings.Replace(killed, "12 B1B1B1B1B1b1\n", "", 1)
	killed = strings.Replace(killed, "unit 7 b1 15,12", "unit 7 b1 15,12 health 3", 1)
	begin(t, killed+"p1 resource 11", nil).tick(1).there(40, false).there(7, false)
	begin(t, killed+"p1 resource 11", func(r *codecraft.Rules) { r.DeadAreFree = true }).tick(1).there(40, true).there(7, false).want("p1 resource 0")
	begin(t, strings.Replace(base, "unit 7 b1 15,12", "unit 7 b1 15,12 health 3 inactive", 1)+"p1 resource 11", nil).tick(1).there(40, false)
	// Other types and other players do not count, and buildings keep their price.
	for _, mark := range []string{"m1", "b2"} {
		others := strings.NewReplacer("B1b1", "B1"+mark, "b1 15,1", mark+" 15,1").Replace(base)
		begin(t, others+"p1 resource 10", nil).tick(1).there(40, true).want("p1 resource 0")
	}
	// Entities built in the same tick count: two bases have 21 for units of 10 and 11.
	pair := `
		14 B1B1B1B1B1 .B1B1B1B1B1
		13 B1B1B1B1B1 .B1B1B1B1B1
		12 B1B1B1B1B1 .B1B1B1B1B1
		11 B1B1B1B1B1 .B1B1B1B1B1
		10 B1B1B1B1B1 .B1B1B1B1B1
		x10
		tick 0 next 40 first 30
		unit 5 B1 10,10 build BuilderUnit 15,10
		unit 6 B1 16,10 build BuilderUnit 15,14
		p1 resource `
	begin(t, pair+"21", nil).tick(1).there(40, true).there(41, true).want("p1 resource 0")
	begin(t, pair+"20", nil).tick(1).there(40, true).there(41, false).want("p1 resource 10")
	walls := strings.Replace(base, "unit 6 b1 15,13", "unit 6 b1 15,13 build Wall 16,13", 1)
	begin(t, strings.Replace(walls, " build BuilderUnit 15,10", "", 1)+"p1 resource 10", nil).tick(1).there(40, true).want("p1 resource 0")
	// Resource collected in the tick can be spent in it.
	vein := strings.Replace(strings.Replace(base, "13 B1B1B1B1B1b1", "13 B1B1B1B1B1b1 *", 1), "unit 6 b1 15,13", "unit 6 b1 15,13 attack 30", 1)
	begin(t, vein+"p1 resource 11", nil).tick(1).there(40, true).want("p1 resource 0 score 11")
	population(t)
}

// population checks the limit of population: a base provides 5.
func population(t *testing.T) {
	t.Helper()
	const text = `
		p1 resource 1000
		15 m1m1m1m1MKH1H1H1
		14 B1B1B1B1B1H1H1H1
		13 B1B1B1B1B1H1H1H1
		12 B1B1B1B1B1 .
		11 B1B1B1B1B1 .
		10 B1B1B1B1B1 .
		x10
		tick 0 next 40 first 39
		unit 5 B1 10,10 build BuilderUnit 15,10
		unit 6 H1 15,13 `
	at := func(mark, more string) string { return strings.Replace(text, "MK", mark, 1) + more }
	begin(t, at(" .", "health 9 inactive"), nil).tick(1).there(40, true)
	begin(t, at("m1", "health 9 inactive"), nil).tick(1).there(40, false) // a house that is not active provides nothing
	begin(t, at("m1", ""), nil).tick(1).there(40, true)
	begin(t, at("m2", "health 9 inactive"), nil).tick(1).there(40, true)
	begin(t, at("m1", "health 9 inactive\nunit 20 m1 14,15 health 9 inactive"), nil).tick(1).there(40, false)
	// A destroyed house still provides population, and a dead unit still uses it.
	attacked := strings.Replace(at("m1", "health 3"), "H1H1H1\n\t\t13", "H1H1H1m2\n\t\t13", 1) + "\nunit 20 m2 18,14 attack 6"
	begin(t, attacked, nil).tick(1).there(6, false).there(40, true)
	begin(t, attacked, func(r *codecraft.Rules) { r.DeadAreFree = true }).tick(1).there(6, false).there(40, false)
	// An inactive house provided nothing, so its end changes nothing.
	unbuilt := strings.NewReplacer("m1m1m1m1m1", "m1m1m1m1 .", "health 3", "health 3 inactive").Replace(attacked)
	begin(t, unbuilt, func(r *codecraft.Rules) { r.DeadAreFree = true }).tick(1).there(6, false).there(40, true)
	dying := at("m1", "health 9 inactive\nunit 20 m1 14,15 health 3\nunit 21 m2 14,16 attack 20\n16  . . . .m2")
	begin(t, dying, nil).tick(1).there(20, false).there(40, false)
	begin(t, dying, func(r *codecraft.Rules) { r.DeadAreFree = true }).tick(1).there(20, false).there(40, true)
	// Types that use no population need no room, except with PopulationAll.
	crowd := `
		p1 resource 1000
		11 b1b1b1
		x10
		tick 0 next 40 first 30
		unit 5 b1 10,11 build House 10,12`
	begin(t, crowd, nil).tick(1).there(40, true)
	begin(t, crowd, func(r *codecraft.Rules) { r.PopulationAll = true }).tick(1).there(40, false)
}

func TestClause_3_21_Built(t *testing.T) {
	m := begin(t, `
		p1 resource 600
		15  . . . . . .
		14 B1B1B1B1B1 .
		13 B1B1B1B1B1 .
		12 B1B1B1B1B1 .
		11 B1B1B1B1B1 .
		10 B1B1B1B1B1 .
		9   . .b1 . . .
		8   . . . . . .
		x10
		tick 0 next 40 first 30
		unit 5 B1 10,10 build BuilderUnit 15,10 move 0,0
		unit 6 b1 12,9 build House 12,6 move 0,0`, nil)
	m.tick(1)
	house, unit := uint32(40), uint32(41)
	if m.s.Units[m.s.Find(40)].Type != codecraft.House {
		house, unit = 41, 40
	}
	// The unit is complete and active at the end of the tick, the house is not. The builder has
	// acted and did not move.
	m.want(fmt.Sprintf("unit %d b1 15,10\nunit %d H1 12,6 health 5 inactive\nunit 6 b1 12,9\np1 resource 539 score 10\ntick 1 next 42", unit, house))
	assert.True(t, m.s.Acts[m.s.Find(unit)] == (codecraft.Action{}) && m.s.Acts[m.s.Find(house)] == (codecraft.Action{}), "what is built has an action")
	// The new unit does nothing in its first tick; it can have an action in the next one.
	m.play(by(1, codecraft.Move(unit, 15, 5, false, false), codecraft.Stop(5))).want(fmt.Sprintf("unit %d b1 15,9", unit))
	// The init health of a builder is limited to full health.
	wall := `
		p1 resource 600
		9  b1 .
		x12
		tick 0 next 40 first 30
		unit 6 b1 12,9 build Wall 12,10`
	begin(t, wall, func(r *codecraft.Rules) { r.Types[codecraft.Wall].MaxHealth = 4 }).tick(1).want("unit 40 W1 12,10\np1 score 10")
	begin(t, wall, func(r *codecraft.Rules) { r.Types[codecraft.BuilderUnit].InitHealth = 0 }).tick(1).want("unit 40 W1 12,10\np1 score 10")
	begin(t, wall, func(r *codecraft.Rules) { r.Types[codecraft.BuilderUnit].InitHealth = 49 }).tick(1).want("unit 40 W1 12,10 health 49 inactive\np1 score 0")
}
