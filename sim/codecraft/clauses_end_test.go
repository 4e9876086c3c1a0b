package codecraft_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"moonfarm/sim"
	"moonfarm/sim/codecraft"
)

// Tests of the clauses of RULES.md, section 5.

func TestClause_5_1_Limit(t *testing.T) {
	const text = "tick 997 next 40 first 30\n10 b1 .b2 .b3\nx10"
	begin(t, text, nil).tick(2).ended(sim.Running).tick(1).ended(sim.Over).want("tick 1000")
	begin(t, "10 b1 .b2 .b3\nx10", func(r *codecraft.Rules) { r.MaxTurns = 1 }).tick(1).ended(sim.Over)
	// At the tick limit there is no bonus.
	begin(t, text+"\np1 score 5\np2 score 9", func(r *codecraft.Rules) { r.Bonus = true }).tick(3).ended(sim.Over).want("p1 score 5\np2 score 9")
}

func TestClause_5_2_OneLeft(t *testing.T) {
	const text = `
		11 MK . . . .
		10 r1b1 . .W3
		x10
		unit 5 r1 10,10 attack 20
		unit 6 b1 11,10
		unit 20 MK 10,11 health 5 MORE
		unit 21 W3 14,10 health 5
		`
	at := func(mark, more string) string {
		return strings.NewReplacer("MK", mark, "MORE", more).Replace(text)
	}
	m := begin(t, at("b2", ""), nil).tick(1).there(20, false).ended(sim.Running)
	m.play(by(1, codecraft.Attack(5, 21))).there(21, false).ended(sim.Over)
	// Any entity keeps a player in the game, even an inactive wall.
	alive := begin(t, at("b2", "")+"12 W4\nunit 22 W4 10,12 health 1 inactive", nil).play(by(1, codecraft.Attack(5, 21))).tick(1)
	alive.play(by(1, codecraft.Attack(5, 20))).there(20, false).there(21, false).ended(sim.Running)
	walls := begin(t, at("b2", ""), func(r *codecraft.Rules) { r.WallsDoNotLive = true })
	walls.tick(1).there(20, false).there(21, true).ended(sim.Over)
	begin(t, at("b2", ""), func(r *codecraft.Rules) { r.WallsDoNotLive = true }).play(by(1, codecraft.Stop(5))).ended(sim.Running)
	begin(t, "10 W1 .H2H2H2\n11  . .H2H2H2\n12  . .H2H2H2\nx10", func(r *codecraft.Rules) { r.WallsDoNotLive = true }).tick(1).ended(sim.Over)
	begin(t, "10 W1 .T2T2\n11  . .T2T2\nx10", func(r *codecraft.Rules) { r.WallsDoNotLive = true }).tick(1).ended(sim.Over)
	begin(t, "10 T1T1T2T2\n11 T1T1T2T2\nx10", func(r *codecraft.Rules) { r.WallsDoNotLive = true }).tick(1).ended(sim.Running)
	// The last two players can lose their last entities in the same tick, and resources keep no
	// player in the game.
	begin(t, "10 r1b2 *\nx10\nunit 5 r1 10,10 attack 6\nunit 6 b2 11,10 health 5 attack 5\n", func(r *codecraft.Rules) {
		r.Types[codecraft.BuilderUnit].Damage = 10
	}).tick(1).ended(sim.Over).there(5, false).there(6, false)
}

func TestClause_5_3_Alone(t *testing.T) {
	one := func(r *codecraft.Rules) { r.Players = 1 }
	begin(t, "tick 998 first 5 next 9\n10 b1 .\nx10", one).tick(1).ended(sim.Running).tick(1).ended(sim.Over)
	begin(t, "", one).tick(1).ended(sim.Running) // even with nothing
	begin(t, "10 b1 .\nx10", func(r *codecraft.Rules) { one(r); r.SoloEnds = true }).tick(1).ended(sim.Over)
}

func TestClause_5_4_Bonus(t *testing.T) {
	const text = `
		10 r1b2 .
		x10
		unit 5 r1 10,10 attack 6
		unit 6 b2 11,10 health 5
		p1 score 0
		p2 score POINTS
		p3 score 7`
	at := func(points string) string { return strings.Replace(text, "POINTS", points, 1) }
	bonus := func(r *codecraft.Rules) { r.Bonus = true }
	begin(t, at("500"), bonus).tick(1).ended(sim.Over).want("p1 score 501\np2 score 500\np3 score 7")
	begin(t, at("100"), bonus).tick(1).ended(sim.Over).want("p1 score 101")
	begin(t, at("99"), bonus).tick(1).want("p1 score 100") // the blow alone is enough
	begin(t, at("0"), bonus).tick(1).want("p1 score 100")
	begin(t, at("500"), nil).tick(1).ended(sim.Over).want("p1 score 100")
	begin(t, at("500"), func(r *codecraft.Rules) { bonus(r); r.BonusOver = 40 }).tick(1).want("p1 score 540")
	begin(t, at("500"), func(r *codecraft.Rules) { bonus(r); r.BonusOver = 0 }).tick(1).want("p1 score 500")
	// No player is left: no player gets the bonus.
	begin(t, "p1 score 3\np2 score 5", bonus).tick(1).ended(sim.Over).want("p1 score 3\np2 score 5")
}

func TestClause_5_5_Points(t *testing.T) {
	// All kinds of points in one game: 3 collected, a wall and a builder that become active, an
	// enemy wall destroyed; building costs no points.
	m := begin(t, `
		p1 resource 50
		tick 0 next 40 first 30
		12 b1 * . .W2 . .
		11 b1 . . .r1 . .
		10 b1W1 . . . . .
		9  B1B1B1B1B1 . .
		8  B1B1B1B1B1 . .
		7  B1B1B1B1B1 . .
		6  B1B1B1B1B1 . .
		5  B1B1B1B1B1 . .
		x10
		unit 5 b1 10,12 attack 30
		unit 6 b1 10,10 repair 7
		unit 7 W1 11,10 health 49 inactive
		unit 8 B1 10,5 build BuilderUnit 15,5
		unit 9 r1 14,11 attack 10
		unit 10 W2 14,12 health 12
		unit 11 b1 10,11`, nil)
	m.tick(1).want("p1 score 21 resource 38").play(by(1, codecraft.Stop(8))).want("p1 score 22 resource 39").tick(1).want("p1 score 33 resource 40\np2 score 0").there(10, false)
	// The death of an entity costs no points.
	lost := begin(t, "p1 score 70 resource 4\n10 b1r2\nx10\nunit 5 b1 10,10\nunit 6 r2 11,10 attack 5", nil).tick(2)
	lost.there(5, false).want("p1 score 70 resource 4\np2 score 100")
}

func TestClause_5_6_Places(t *testing.T) {
	for _, c := range []struct {
		points  string
		players int
		want    string
	}{
		{"5 9", 2, "-1 1"},
		{"9 9", 2, "0 0"},
		{"4 3 2 1", 4, "1 0.33333334 -0.33333334 -1"},
		{"4 4 2 1", 4, "0.6666667 0.6666667 -0.33333334 -1"},
		{"1 4 4 4", 4, "-1 0.33333334 0.33333334 0.33333334"},
		{"1 1 1 1", 4, "0 0 0 0"},
		{"8 2 8", 3, "0.5 -1 0.5"},
		{"8", 1, "0"},
	} {
		t.Run(c.points, func(t *testing.T) {
			text := ""
			for i, n := range strings.Fields(c.points) {
				text += fmt.Sprintf("p%d score %s\n", i+1, n)
			}
			m := begin(t, text, func(r *codecraft.Rules) { r.Players = int32(c.players) })
			var got []string
			for p := range sim.Player(c.players) {
				o := m.g.Outcome(&m.s, p)
				if o.Score != float64(m.s.Score[p]) || o != m.twin.Outcome(int(p)) {
					t.Errorf("%s: outcome %+v, of the plain twin %+v", c.points, o, m.twin.Outcome(int(p)))
				}
				got = append(got, fmt.Sprint(o.Result))
			}
			assert.Equalf(t, c.want, strings.Join(got, " "), "%s: results", c.points)
		})
	}
}
