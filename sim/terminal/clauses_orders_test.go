package terminal_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"moonfarm/sim"
	"moonfarm/sim/terminal"
)

// Tests of the clauses of RULES.md, section 4.

func TestClause_4_1_LineByLine(t *testing.T) {
	m := begin(t, "", nil).deploy("scout 13,0; wall 13,5; scout 14,0; wall 14,5", "scout 13,27; wall 13,20").frame(1)
	m.wantEvents("spawn", `
		spawn wall 13,5 p1 1
		spawn wall 14,5 p1 2
		spawn wall 13,20 p2 3
		spawn scout 13,0 p1 4
		spawn scout 14,0 p1 5
		spawn scout 13,27 p2 6`)
	// Swapped orders are carried out in the other line, in its order.
	m = begin(t, "", nil).deploy("~ wall 13,5; scout 14,0; wall 14,5; ~ scout 13,0", "~ scout 13,27; wall 13,20").frame(1)
	m.wantEvents("spawn", `
		spawn wall 14,5 p1 1
		spawn scout 13,0 p1 2
		spawn scout 13,27 p2 3
		spawn wall 13,20 p2 4
		spawn wall 13,5 p1 5
		spawn scout 14,0 p1 6`)
	// Orders of a line see the effect of the orders before them.
	begin(t, "p1 cores 6", nil).deploy("up 13,5; turret 13,5; up 13,5", "").want("at 13,5 T\np1 cores 0\nturn 0 next 3")
}

func TestClause_4_2_IDs(t *testing.T) {
	m := begin(t, "w 13,5", nil).deploy("wall 14,5; rm 14,5; up 13,5; wall 14,5; 2 scout 13,0", "scout 13,27").frame(1)
	m.wantEvents("spawn", `
		spawn wall 14,5 p1 2
		spawn removal 14,5 p1 2
		spawn upgrade 13,5 p1 3
		spawn scout 13,0 p1 4
		spawn scout 13,0 p1 5
		spawn scout 13,27 p2 6`).want("turn 0 next 7\nid 14,5=2 13,5=3")
	// The first id of a match is 1; turns do not reset the counter.
	begin(t, "", nil).play("wall 13,5", "wall 13,20").play("wall 14,5", "").want("turn 2 next 4\nid 13,5=1 13,20=2 14,5=3")
	// In 2019 the event has id 2, the wall id 3 and the removal's event id 4.
	m = begin(t, "w 13,5", rules("2019")).deploy("wall 14,5; rm 14,5; scout 13,0", "wall 13,20").frame(1)
	m.wantEvents("spawn", `
		spawn wall 14,5 p1 2
		spawn removal 14,5 p1 4
		spawn wall 13,20 p2 5
		spawn scout 13,0 p1 7`).want("turn 0 next 8\nid 13,5=1 14,5=3 13,20=6")
}

func TestClause_4_3_Purses(t *testing.T) {
	// A command that the player cannot pay for is skipped; the next one is carried out.
	begin(t, "p1 cores 3.9 bits 3.5", nil).deploy("support 13,5; turret 14,5; turret 12,5; wall 13,6; 2 demolisher 13,0; 5 scout 14,0", "").want(`
		at 13,5 .
		at 14,5 t
		at 12,5 .
		at 13,6 w
		p1 cores 0.9 bits 0.5
		unit 3 p1 demolisher 13,0 health 5`)
	// A price equal to the cores can be paid. Paying rounds to tenths.
	begin(t, "p1 cores 1.04 bits 1", nil).deploy("wall 13,5; scout 13,0", "").want("at 13,5 w\np1 cores 0 bits 0")
	begin(t, "p1 cores 1.26 bits 0.99", nil).deploy("wall 13,5; scout 13,0", "").want("at 13,5 w\np1 cores 0.3 bits 0.99\nno unit")
	// Half a tenth is rounded up; walls of 2022 cost 0.5.
	begin(t, "p1 cores 1.25", rules("2022")).deploy("wall 13,5", "").want("p1 cores 0.8")
	begin(t, "p1 cores 1", func(r *terminal.Rules) { r.Units[terminal.Wall].Cores = 0 }).deploy("wall 13,5; wall 14,5", "").want("p1 cores 1\nat 14,5 w")
}

func TestClause_4_4_Place(t *testing.T) {
	m := begin(t, "w 13,5", nil).deploy("turret 13,13; wall 13,5; support 13,14", "turret 13,14")
	m.want("at 13,13 t\nat 13,14 t\nat 13,5 w\np1 cores 38\np2 cores 38\nturn 0 next 4\nno health")
	// A structure blocks and shoots in its first frame.
	begin(t, "", wide).deploy("wall 13,1; turret 13,13", "scout 13,27").frame(1).wantEvents("attack", "attack 2 3 5\nattack 3 2 2")
	// A structure cannot be placed on a mobile unit; only swapped lines allow the attempt.
	begin(t, "", nil).deploy("~ scout 13,0; ~ wall 13,0; ~ wall 14,0", "").want("at 13,0 ^\nat 14,0 w\np1 cores 39")
}

func TestClause_4_5_Upgrade(t *testing.T) {
	m := begin(t, "w 13,5 14,5\nt 13,6\nhealth 13,5=12.5", nil).deploy("up 13,5; up 13,5; up 13,20; up 12,5; up 13,6", "up 14,5")
	m.want("at 13,5 W\nat 14,5 w\nat 13,6 T\nid 14,5=2 13,5=4 13,6=5\nhealth 13,5=72.5\np1 cores 35\np2 cores 40")
	// Among equal turrets the upgraded one now shoots last.
	begin(t, "t 13,5 14,5", wide).deploy("up 13,5", "scout 13,27").frame(1).wantEvents("attack", "attack 2 4 5\nattack 3 4 16\nattack 4 3 2")
	// The upgrade removes the mark, which can be set again.
	begin(t, "w1 13,5\nw1 14,5", nil).deploy("up 13,5; up 14,5; rm 14,5", "").want("at 13,5 W\nat 14,5 W1")
	lesser := func(r *terminal.Rules) {
		wide(r)
		r.Units[terminal.Turret].Health, r.Upgraded[terminal.Turret].Health = 75, 10
	}
	// The upgraded form has 65 less health: 75 becomes 10, 66 becomes 1, and 65 becomes 0. The
	// structure is then dead: it cannot be shot at in the first frame, in which it still shoots,
	// and it is removed at the end of the frame.
	m = begin(t, "t 13,5 14,5 12,5\nhealth 14,5=66 12,5=65", lesser).deploy("up 13,5; up 14,5; up 12,5", "demolisher 13,27")
	m.want("health 14,5=1 12,5=0\np1 cores 28").frame(1).wantEvents("death", "death turret 6\ndeath demolisher 7").wantEvents("attack", "attack 4 7 16\nattack 7 4 8")
	m.want("at 12,5 .\nat 13,5 T\nat 14,5 T\nhealth 13,5=2 14,5=1")
	// The same in a turn without mobile units. A structure placed there afterwards is alive.
	m = begin(t, "w 13,5\nhealth 13,5=40", func(r *terminal.Rules) { r.Upgraded[terminal.Wall].Health = 10 }).play("up 13,5", "").want("at 13,5 .")
	m.play("wall 13,5", "").want("at 13,5 w\nno health")
	// The event of February 2020 has the kind of the structure.
	m = begin(t, "w 13,5\nt 14,20", rules("2020-02")).deploy("wall 12,5; up 13,5; up 12,5", "up 14,20").frame(1)
	m.wantEvents("spawn", "spawn wall 12,5 p1 3\nspawn wall 13,5 p1 4\nspawn wall 12,5 p1 5\nspawn turret 14,20 p2 6")
	// No upgraded form, and not enough cores.
	begin(t, "w 13,5", rules("2019")).deploy("up 13,5", "").want("at 13,5 w\nturn 0 next 2")
	begin(t, "t 13,5\np1 cores 3.9", nil).deploy("up 13,5", "").want("at 13,5 t\np1 cores 3.9\nturn 0 next 2")
}

func TestClause_4_6_Remove(t *testing.T) {
	m := begin(t, "w 13,5\nw 14,20\nT 13,6", rules("2026")).deploy("rm 13,5; rm 13,5; rm 14,20; rm 13,6; rm 12,5; wall 13,5", "").frame(1)
	m.want("at 13,5 w2\nat 14,20 w\nat 13,6 T3\nturn 0 next 4\np1 cores 8").wantEvents("spawn", "spawn removal 13,5 p1 1\nspawn removal 13,6 p1 2")
	// A marked turret shoots, and can be shot at, until it is removed.
	begin(t, "t 13,5", wide).deploy("rm 13,5", "scout 13,27").frame(1).wantEvents("attack", "attack 1 2 5\nattack 2 1 2").want("at 13,5 t1\nhealth 13,5=73")
	// A structure placed in this turn can be marked too.
	begin(t, "", nil).play("wall 13,5; rm 13,5", "").want("at 13,5 .\np1 cores 44.8").play("wall 13,5", "").want("at 13,5 w")
}

func TestClause_4_7_Spawn(t *testing.T) {
	m := begin(t, "w 12,1", nil).deploy("scout 12,1; scout 13,1; scout 13,27; interceptor 0,13; scout 27,13; demolisher 14,0", "scout 13,0; 3 scout 0,14")
	m.want(`
		unit 2 p1 interceptor 0,13 health 40
		unit 3 p1 scout 27,13 health 15
		unit 4 p1 demolisher 14,0 health 5
		unit 5–7 p2 scout 0,14 health 15
		p1 bits 0
		p2 bits 2`)
	// A structure placed in the same turn blocks the cell; an enemy structure elsewhere does not matter.
	begin(t, "", nil).deploy("scout 13,0; wall 13,0", "").want("no unit\nat 13,0 w\np1 bits 5")
	// A count is carried out for as many units as the player can pay for, before the next order.
	begin(t, "p1 bits 4.6", nil).deploy("99 scout 13,0; scout 14,0", "").want("unit 1–4 p1 scout 13,0 health 15\np1 bits 0.6")
	begin(t, "p1 bits 4.6", nil).give([]sim.Order{terminal.Spawn(terminal.Scout, 13, 0, -1)}, nil).want("unit 1–4 p1 scout 13,0 health 15")
	begin(t, "", nil).give([]sim.Order{terminal.Spawn(terminal.Scout, 13, 0, 0)}, nil).want("unit 1 p1 scout 13,0 health 15")
}

func TestClause_4_8_ClockAndPenalty(t *testing.T) {
	begin(t, "p1 time 10", nil).deploy("wall 13,5; clock 500; clock 7", "penalty 2.5").want("p1 time 517 health 30\np2 time 0 health 27.5\nat 13,5 w")
	begin(t, "p1 time 4294967290", nil).deploy("clock 100", "").want("p1 time 4294967295")
	for _, bad := range []float32{0, -1, float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 10_000_001} {
		begin(t, "", nil).give([]sim.Order{terminal.Penalty(bad)}, nil).want("p1 health 30")
	}
	assert.Equal(t, float32(-9_999_970), begin(t, "", nil).give([]sim.Order{terminal.Penalty(10_000_000)}, nil).s.Health[0], "a penalty of 10,000,000 leaves")
	// Clocks and penalties come first, wherever they are in the list; commands are still carried out.
	m := begin(t, "", nil).deploy("wall 13,5; scout 13,0; penalty 30", "scout 13,27").want("p1 health 0\nat 13,5 w\nunit 2 p1 scout 13,0 health 15").frame(1)
	assert.False(t, m.more, "the action phase goes on")
}

func TestClause_4_9_Refused(t *testing.T) {
	want := "p1 cores 40 bits 5 health 30\nturn 0 next 2\nno unit\nat 13,5 w"
	for _, o := range []sim.Order{
		terminal.Place(terminal.Scout, 13, 6), terminal.Place(7, 13, 6), terminal.Place(15, 13, 6), terminal.Spawn(terminal.Wall, 13, 0, 1),
		terminal.Spawn(terminal.Removal, 13, 0, 1), terminal.Spawn(15, 13, 0, 1), terminal.Place(terminal.Wall, 13, 5),
		terminal.Place(terminal.Wall, 12, 0), terminal.Place(terminal.Wall, 31, 31), terminal.Place(terminal.Wall, 32, 5), terminal.Place(terminal.Wall, -1, 5),
		terminal.Place(terminal.Wall, 13, 14), terminal.UpgradeAt(0, 0), terminal.UpgradeAt(31, 13), terminal.RemoveAt(12, 5), terminal.RemoveAt(28, 14),
		terminal.Spawn(terminal.Scout, 13, 1, 1), terminal.Spawn(terminal.Scout, 14, 27, 1), 7, 15, 1 << 63, terminal.Nothing, terminal.Swap(terminal.Nothing),
	} {
		begin(t, "w 13,5", nil).give([]sim.Order{o}, nil).want(want)
		// The rest of the line is carried out.
		begin(t, "w 13,5", nil).give([]sim.Order{o, terminal.Place(terminal.Wall, 13, 7), o}, nil).want("at 13,7 w\nturn 0 next 3")
	}
	// Bits without a meaning are ignored.
	const noise = 0xfff8_0000
	begin(t, "", nil).give([]sim.Order{terminal.Place(terminal.Wall, 13, 6) | noise | 77<<32, terminal.UpgradeAt(13, 6) | noise | 15<<4}, nil).want("at 13,6 W")
}

func TestClause_4_10_MaxOrders(t *testing.T) {
	g := mustGame(t, "2025b")
	rules, most := g.Rules(), g.Info().MaxOrders
	if most != rules.MaxOrders() {
		t.Errorf("Info says %d orders, the rules %d", most, rules.MaxOrders())
	}
	for _, extra := range []int{0, 1} {
		var s terminal.State
		g.Reset(&s, 0)
		turn := sim.NewTurn(most + 1)
		for range most - 1 + extra {
			turn.Add(0, terminal.Nothing)
		}
		turn.Add(0, terminal.Place(terminal.Wall, 13, 5))
		g.Step(&s, turn)
		_, built := s.At(13, 5)
		assert.Equalf(t, extra == 0, built, "order %d of %d is carried out", most+extra, most)
	}
}
