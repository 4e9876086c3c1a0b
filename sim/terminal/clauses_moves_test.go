package terminal_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"moonfarm/sim"
	"moonfarm/sim/terminal"
)

// Tests of the clauses of RULES.md, section 3: movement.

// harmless removes the weapons of all mobile units.
func harmless(r *terminal.Rules) {
	for k := terminal.Scout; k <= terminal.Interceptor; k++ {
		r.Units[k].AttackRange = 0
	}
}

func TestClause_3_1_StepsAddUp(t *testing.T) {
	m := begin(t, "p1 bits 20", nil).deploy("interceptor 13,0; demolisher 13,0; scout 13,0", "scout 14,27")
	m.frame(1).wantEvents("move", "move 3 13,0 13,1\nmove 4 14,27 14,26")
	m.frame(1).wantEvents("move", "move 2 13,0 13,1\nmove 3 13,1 14,1\nmove 4 14,26 13,26")
	m.frame(1).wantEvents("move", "move 3 14,1 14,2\nmove 4 13,26 13,25")
	m.frame(1).wantEvents("move", "move 1 13,0 13,1\nmove 2 13,1 14,1\nmove 3 14,2 15,2\nmove 4 13,25 12,25")
	m.frame(4).wantEvents("move", "move 1 13,1 14,1\nmove 2 14,2 15,2\nmove 3 16,4 17,4\nmove 4 11,23 10,23")
	// Sums of 0.3 are not exact: the first step takes four frames, later steps three or four.
	m = begin(t, "", func(r *terminal.Rules) { r.Units[terminal.Scout].Speed = 0.3 }).deploy("scout 13,0", "")
	var frames []int
	for f := range 21 {
		if m.frame(1); len(m.rec.Frame(f).Moves) > 0 {
			frames = append(frames, f)
		}
	}
	sum, want := float32(0), []int(nil)
	for f := range 21 {
		if sum += 0.3; sum >= 1 {
			sum--
			want = append(want, f)
		}
	}
	assert.Equalf(t, fmt.Sprint(want), fmt.Sprint(frames), "steps in frames %v, want %v", frames, want)
}

// fence returns a line of structures on cells.
func fence(letter string, cells ...[2]int) string {
	line := "\n" + letter
	for _, c := range cells {
		line += fmt.Sprintf(" %d,%d", c[0], c[1])
	}
	return line + "\n"
}

// edge lists the cells of an edge: ±1 for right or left, up or down.
func edge(dx, dy int) (cells [][2]int) {
	for i := range 14 {
		x, y := 14+i, 27-i
		if dx < 0 {
			x = 13 - i
		}
		if dy < 0 {
			y = i
		}
		cells = append(cells, [2]int{x, y})
	}
	return cells
}

func TestClause_3_2_WhereTheyGo(t *testing.T) {
	// Only one cell of the edge is free, which would not be the nearest.
	right := edge(1, 1)
	m := begin(t, fence("w", append(right[:13:13], [2]int{26, 13})...), harmless).deploy("scout 13,0", "").action()
	m.wantEvents("breach", "breach 15 p1 damage 1").want("p2 health 29")
	if moves := m.rec.Moves; moves[len(moves)-1].To != (terminal.Pos{X: 27, Y: 14}) {
		t.Errorf("it breached on %v", moves[len(moves)-1].To)
	}
	// No cell is free: the unit goes to the highest cell; of two, to the one on the side of the edge.
	closed := fence("w", append(edge(1, 1), edge(-1, 1)...)...)
	begin(t, closed, harmless).deploy("scout 13,0", "").frame(27).want("at 14,26 ^")
	begin(t, closed, harmless).deploy("scout 14,0", "").frame(27).want("at 13,26 ^")
	// Only the target edge is closed: the highest cell is the corner of the other edge.
	begin(t, fence("w", edge(1, 1)...), harmless).deploy("scout 13,0", "").frame(27).want("at 13,27 ^")
	// Player 2 goes down.
	closed = fence("w", append(edge(1, -1), edge(-1, -1)...)...)
	begin(t, closed, harmless).deploy("", "scout 13,27").frame(27).want("at 14,1 v")
	begin(t, closed, harmless).deploy("", "scout 14,27").frame(27).want("at 13,1 v")
	// A pocket below the middle.
	begin(t, "w 12,2 13,2 14,2 15,1 11,2", harmless).deploy("scout 13,0", "").frame(2).want("at 14,1 ^")
	begin(t, "w 12,2 13,2 14,2 15,1 11,2", harmless).deploy("scout 14,0", "").frame(3).want("at 12,1 ^")
}

func TestClause_3_3_StructuresBlock(t *testing.T) {
	begin(t, "w 13,1", nil).deploy("scout 13,0", "").frame(1).want("at 14,0 ^")
	// Enemy structures block too: from 2,13 the cells above are blocked.
	begin(t, "w 2,14", harmless).deploy("scout 1,12", "").frame(1).want("at 1,13 ^").frame(1).want("at 2,13 ^").frame(1).want("at 3,13 ^")
	begin(t, "", harmless).deploy("scout 1,12", "").frame(3).want("at 2,14 ^")
	// Mobile units do not block: the scout goes through the interceptors of both players.
	m := begin(t, "w 13,1", harmless).deploy("interceptor 14,0; scout 13,0", "")
	m.frame(1).want("unit 2 p1 interceptor 14,0 health 40\nunit 3 p1 scout 14,0 health 15").frame(1).want("unit 3 p1 scout 14,1 health 15")
}

func TestClause_3_4_ZigZag(t *testing.T) {
	m := begin(t, "", nil).deploy("scout 13,0; scout 14,0", "scout 13,27; scout 14,27")
	m.frame(1).want("unit 1 p1 scout 13,1 health 15\nunit 2 p1 scout 14,1 health 15\nunit 3 p2 scout 13,26 health 15\nunit 4 p2 scout 14,26 health 15")
	m.frame(1).want("unit 1 p1 scout 14,1 health 15\nunit 2 p1 scout 13,1 health 15\nunit 3 p2 scout 14,26 health 15\nunit 4 p2 scout 13,26 health 15")
	m.frame(1).want("unit 1 p1 scout 14,2 health 15\nunit 2 p1 scout 13,2 health 15\nunit 3 p2 scout 14,25 health 15\nunit 4 p2 scout 13,25 health 15")
	// After a detour to the right the unit goes up.
	m = begin(t, "w 13,1 14,1", nil).deploy("scout 13,0", "")
	m.frame(1).want("at 14,0 ^").frame(1).want("no unit")
	begin(t, "w 12,2", nil).deploy("scout 12,1", "").frame(1).want("at 13,1 ^").frame(1).want("at 13,2 ^").frame(1).want("at 14,2 ^")
	// A wall is destroyed far away in frame 0: the previous step up still counts.
	m = begin(t, "w 13,13\nhealth 13,13=8", func(r *terminal.Rules) {
		harmless(r)
		r.Units[terminal.Demolisher].AttackRange, r.Units[terminal.Demolisher].DamageMobile = 40, 0
	}).deploy("scout 13,0", "demolisher 13,27")
	m.frame(1).want("at 13,13 .\nat 13,1 ^").frame(1).want("at 14,1 ^")
}

func TestClause_3_5_TiesOnOneAxis(t *testing.T) {
	// The unit comes from below, and left and right are equally short: it goes towards the edge. The
	// scout leaves a column at 13,5 under walls on 12,6 to 14,6.
	chimney := "w 12,7 13,7 14,7 12,1 14,1 12,2 14,2 12,3 14,3 12,4 14,4 12,5 14,5"
	roof := func(start string) *match {
		return begin(t, chimney+" 11,7 15,7 16,7 10,7", harmless).deploy(start, "")
	}
	right := roof("scout 13,0").frame(6).want("at 13,6 ^")
	right.frame(1).want("at 14,6 ^")
	left := begin(t, strings.ReplaceAll(flipped(chimney), "\n", " ")+" 11,7 16,7 17,7", harmless).deploy("scout 14,0", "")
	left.frame(6).want("at 14,6 ^").frame(1).want("at 13,6 ^")
	// The unit comes along the axis: it goes left, for both players and both edges.
	for _, turned := range []bool{false, true} {
		for _, mirrored := range []bool{false, true} {
			m := corridor(t, turned, mirrored)
			before := mobileAt(m)
			m.frame(1)
			if after := mobileAt(m); after.X != before.X-1 || after.Y != before.Y {
				t.Errorf("turned %v, mirrored %v: from %v to %v", turned, mirrored, before, after)
			}
		}
	}
	// Up before down: player 2's scout goes down a column in player 1's half when a wall is destroyed
	// beside the demolisher behind it.
	shaft := "w 13,4 16,5 15,4"
	for x := range terminal.Side {
		if x != 13 {
			shaft += fmt.Sprintf(" %d,13", x)
		}
	}
	for y := 4; y < 13; y++ {
		shaft += fmt.Sprintf(" 12,%d", y)
		if y != 5 {
			shaft += fmt.Sprintf(" 14,%d", y)
		}
	}
	m := begin(t, shaft+"\nhealth 14,9=1", func(r *terminal.Rules) {
		harmless(r)
		d := &r.Units[terminal.Demolisher]
		d.Speed, d.AttackRange, d.DamageStruct = 0.97, 1, 1
	}).deploy("", "scout 13,27; demolisher 13,27")
	for m.cell("14,9") != "." {
		m.frame(1)
	}
	m.want("unit 48 p2 scout 13,8 health 15\nunit 49 p2 demolisher 13,9 health 5")
	m.frame(1).want("unit 48 p2 scout 13,9 health 15\nunit 49 p2 demolisher 14,9 health 5")
}

// flipped mirrors the x of a line of cells.
func flipped(line string) string {
	f := strings.Fields(line)
	for i, at := range f[1:] {
		var x, y int
		fmt.Sscanf(at, "%d,%d", &x, &y)
		f[i+1] = fmt.Sprintf("%d,%d", 27-x, y)
	}
	return strings.Join(f, " ")
}

// mobileAt returns the cell of the scout.
func mobileAt(m *match) terminal.Pos {
	for p := range sim.Player(2) {
		for _, c := range m.g.AppendMobile(nil, p) {
			if c.Kind == terminal.Scout {
				return c.At
			}
		}
	}
	m.t.Fatal("no scout")
	return terminal.Pos{}
}

func TestClause_3_6_Breach(t *testing.T) {
	// 28 steps, and the breach one frame later.
	m := begin(t, "", func(r *terminal.Rules) {
		r.Units[terminal.Scout].BreachDamage, r.Units[terminal.Scout].BreachCores = 0.75, 0.2
	}).deploy("2 scout 13,0", "")
	m.frame(28).want("p1 cores 40\np2 health 30\nat 27,14 ^\nunit 1–2 p1 scout 27,14 health 15")
	m.frame(1).wantEvents("move breach damage death attack", `
		breach 1 p1 damage 0.75
		breach 2 p1 damage 0.75
		death scout 1
		death scout 2`).want("p1 cores 40.4\np2 health 28.5\nno unit")
	assert.False(t, m.more, "the action phase goes on")
	// The units are removed before a turret, which has shot at them before, can shoot again.
	m = begin(t, "t 25,15\np2 health 1", func(r *terminal.Rules) { harmless(r); r.Units[terminal.Turret].DamageMobile = 0.5 })
	m.deploy("2 scout 13,0", "").frame(28).wantEvents("attack", "attack 1 3 0.5").frame(1).wantEvents("attack", "").want("p2 health -1").restore().ended(sim.Over, 1)
	// With half the speed, two frames after the arrival.
	begin(t, "", nil).deploy("demolisher 13,0", "").frame(57).want("at 27,14 ^").frame(1).want("no unit\np2 health 29")
}
