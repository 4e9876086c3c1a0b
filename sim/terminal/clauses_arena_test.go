package terminal_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"moonfarm/sim"
	"moonfarm/sim/terminal"
)

// Tests of the clauses of RULES.md, section 2.

func TestClause_2_1_DiamondOf420Cells(t *testing.T) {
	cells := 0
	for y := -3; y < 32; y++ {
		for x := -3; x < 32; x++ {
			want := x+y >= 13 && x+y <= 41 && x-y >= -14 && x-y <= 14
			if got := terminal.Inside(x, y); got != want {
				t.Errorf("%d,%d is inside: %v", x, y, got)
			}
			if want {
				cells++
			}
		}
	}
	assert.Equalf(t, 420, cells, "%d cells", cells)
	begin(t, "", nil).deploy("wall 13,0; wall 0,13; wall 27,13", "wall 14,27; wall 0,14; wall 27,14").want(`
		27 . w
		14 w . . . . . . . . . . . . . . . . . . . . . . . . . . w
		13 w . . . . . . . . . . . . . . . . . . . . . . . . . . w
		0 w .`)
}

func TestClause_2_2_HalvesAndLocal(t *testing.T) {
	for local, at := range map[int][2]string{0: {"13,0", "14,27"}, 1: {"14,0", "13,27"}, 2: {"12,1", "15,26"}, 5: {"15,1", "12,26"},
		182: {"0,13", "27,14"}, 209: {"27,13", "0,14"}} {
		t.Run(fmt.Sprint(local), func(t *testing.T) {
			for p := range sim.Player(2) {
				x, y := terminal.LocalXY(local, p)
				assert.Equalf(t, at[p], fmt.Sprintf("%d,%d", x, y), "player %d's cell %d is %d,%d", p+1, local, x, y)
			}
		})
	}
	for p := range sim.Player(2) {
		for local := range terminal.HalfCells {
			x, y := terminal.LocalXY(local, p)
			if terminal.Owner(y) != p || !terminal.Inside(x, y) || terminal.Local(x, y) != local {
				t.Errorf("player %d's cell %d is %d,%d, whose number is %d", p+1, local, x, y, terminal.Local(x, y))
			}
		}
	}
	begin(t, "", nil).deploy("wall 5,13; wall 5,14", "wall 6,13; wall 6,14").want("at 5,13 w\nat 5,14 .\nat 6,13 .\nat 6,14 w")
}

func TestClause_2_3_FromEdgeToEdge(t *testing.T) {
	for i := range 14 {
		for _, c := range []struct {
			player       int
			x, y, dx, dy int // start, and the corner at which the target edge begins, as seen from the middle
		}{
			{0, 13 - i, i, 1, 1}, {0, 14 + i, i, -1, 1},
			{1, 13 - i, 27 - i, 1, -1}, {1, 14 + i, 27 - i, -1, -1},
		} {
			var given [2]string
			given[c.player] = fmt.Sprintf("scout %d,%d", c.x, c.y)
			m := begin(t, "", nil).deploy(given[0], given[1]).action()
			moves := m.rec.Moves
			end := moves[len(moves)-1].To
			x, y := 2*int(end.X)-27, 2*int(end.Y)-27 // from the middle
			if x*c.dx+y*c.dy != 28 || len(m.rec.Breaches) != 1 {
				t.Errorf("from %d,%d it went to %v", c.x, c.y, end)
			}
		}
	}
}

func TestClause_2_4_OneStructureOrManyMobileUnits(t *testing.T) {
	begin(t, "", nil).deploy("wall 5,13; turret 5,13", "").want("at 5,13 w\nturn 0 next 2")
	m := begin(t, "", func(r *terminal.Rules) { r.Units[terminal.Scout].DamageMobile = 0 })
	m.deploy("2 scout 13,0", "2 scout 27,14").frame(14).want(`
		at 20,7 x
		unit 1–2 p1 scout 20,7 health 15
		unit 3–4 p2 scout 20,7 health 15`)
}

func TestClause_2_5_Start(t *testing.T) {
	begin(t, "", rules("2026")).want(`
		turn 0 next 1
		p1 health 40 cores 8 bits 1 time 0
		p2 health 40 cores 8 bits 1 time 0
		14 . . . . . . . . . . . . . . . . . . . . . . . . . . . .
		no id
		no unit`)
}

func TestClause_2_6_NotQuiteSymmetric(t *testing.T) {
	begin(t, "", nil).deploy("scout 13,0", "scout 14,27").want(`
		unit 1 p1 scout 13,0 health 15
		unit 2 p2 scout 14,27 health 15`)
	// The corridor of 3.5, turned by 180°: again the unit goes left.
	corridor(t, true, false).frame(1).want("at 17,15 v")
	corridor(t, false, false).frame(1).want("at 8,12 ^")
}

// corridor returns a position in which a scout has just moved along a corridor and a wall behind it was
// destroyed, so that both directions are equally short. The scout belongs to player 1, is on row 12
// and moves right, towards 9,12. If mirrored, it moves left, towards 18,12. If turned, the players are
// swapped.
func corridor(t *testing.T, turned, mirrored bool) *match {
	t.Helper()
	const weak, exit = 8, 20 // columns of the gaps
	at := func(x, y int) string {
		if mirrored {
			x = 27 - x
		}
		if turned {
			x, y = 27-x, 27-y
		}
		return fmt.Sprintf(" %d,%d", x, y)
	}
	walls := "w"
	for x := range terminal.Side {
		if x != exit {
			walls += at(x, 13)
		}
		if x > 1 && x < 26 {
			walls += at(x, 11)
		}
	}
	walls += at(exit, 15) + at(exit+1, 14) // the path through the exit is longer by two
	m := begin(t, walls+"\nhealth"+at(weak, 13)+"=64", func(r *terminal.Rules) {
		r.Units[terminal.Wall].Health = 100
		r.Units[terminal.Scout].AttackRange = 0
		slow := &r.Units[terminal.Demolisher] // shoots at the nearest structure, the weak wall, eight times
		slow.Speed, slow.AttackRange, slow.DamageStruct, slow.DamageMobile = 0.01, 40, 8, 0
	})
	given := [2]string{"scout" + at(1, 12), "demolisher" + at(weak, 22)}
	if turned {
		given[0], given[1] = given[1], given[0]
	}
	m.deploy(given[0], given[1]).frame(8)
	mark := "^"
	if turned {
		mark = "v"
	}
	return m.want("at" + at(weak+1, 12) + " " + mark + "\nat" + at(weak, 13) + " .")
}
