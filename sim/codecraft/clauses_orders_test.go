package codecraft_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"moonfarm/sim"
	"moonfarm/sim/codecraft"
)

// Tests of the clauses of RULES.md, section 4.

// action compares the stored action of an entity with the words after the cell in its line.
func (m *match) action(id uint32, want string) *match {
	m.t.Helper()
	u := m.s.Units[m.s.Find(id)]
	text := string(codecraft.AppendWindow(nil, m.g, &m.s, int(u.X), int(u.Y), 1, 1))
	line := ""
	for l := range strings.Lines(text) {
		if f := strings.Fields(l); f[0] == "unit" {
			line = strings.Join(f[4:], " ")
		}
	}
	if line != want {
		m.t.Fatalf("the action of %d is %q, want %q", id, line, want)
	}
	return m
}

const ordersText = `
	tick 0 next 40 first 30
	p1 resource 500
	13  . . . . . .
	12  . . . . . *
	11  .b1b1 .b2 .
	10  . . . . . .
	x10
	unit 5 b1 11,11
	unit 6 b1 12,11
	unit 7 b2 14,11`

func TestClause_4_1_Replace(t *testing.T) {
	m := begin(t, ordersText, nil)
	m.play(by(1, codecraft.Move(5, 50, 50, true, false))).action(5, "move 50,50 closest")
	m.play(by(1, codecraft.Auto(5, 9, 1<<codecraft.Resource))).action(5, "auto 9 Resource")
	m.play(by(1, codecraft.And(codecraft.Repair(5, 6)))).action(5, "auto 9 Resource repair 6")
	// A part replaces an existing part with all its values.
	m.play(by(1, codecraft.And(codecraft.Move(5, 3, 4, true, true)), codecraft.And(codecraft.Attack(5, 77)))).
		action(5, "move 3,4 closest break attack 77 auto 9 Resource repair 6")
	m.play(by(1, codecraft.And(codecraft.Move(5, 5, 4, false, false)), codecraft.And(codecraft.Auto(5, 2, 0)))).
		action(5, "move 5,4 attack 77 auto 2 any repair 6")
	m.play(by(1, codecraft.And(codecraft.Stop(5)))).action(5, "move 5,4 attack 77 auto 2 any repair 6")
	// Orders are stored one after the other; orders of other entities between them do not
	// matter.
	m.play(by(1, codecraft.Stop(5), codecraft.And(codecraft.Attack(5, 8)), codecraft.Move(6, 1, 1, false, false), codecraft.And(codecraft.Repair(5, 9)))).
		action(5, "attack 8 repair 9").action(6, "move 1,1")
	m.play(by(1, codecraft.Attack(5, 8), codecraft.Repair(5, 8))).action(5, "repair 8")
	m.play(by(1, codecraft.Stop(5))).action(5, "stop").tick(1).action(5, "stop")
	// And works without an action before.
	begin(t, ordersText, nil).play(by(1, codecraft.And(codecraft.Build(5, codecraft.House, 1, 2)))).action(5, "build House 1,2")
	// AppendOrders returns the orders of an action.
	s := begin(t, sampleText, nil).s
	for i := range s.Units[:s.N] {
		var a codecraft.Action
		a.Take(codecraft.Attack(1, 1))
		for _, o := range s.Acts[i].AppendOrders(nil, s.Units[i].ID) {
			a.Take(o)
		}
		want := s.Acts[i]
		want.Parts |= codecraft.Given
		assert.Truef(t, a == want, "the action %+v came back as %+v", want, a)
	}
}

func TestClause_4_2_Stay(t *testing.T) {
	m := begin(t, ordersText, nil).play(by(1, codecraft.Move(5, 11, 20, false, false), codecraft.Move(6, 12, 9, false, false)))
	m.tick(1).want("unit 5 b1 11,13\nunit 6 b1 12,9")
	m.play(by(1, codecraft.Stop(6)), by(2, codecraft.Stop(7))).want("unit 5 b1 11,14").tick(2).want("unit 5 b1 11,16").action(5, "move 11,20")
	// Order 0 changes nothing.
	m.play(by(1, codecraft.Nothing, codecraft.And(codecraft.Nothing))).action(5, "move 11,20").want("unit 5 b1 11,17")
	m.tick(5).want("unit 5 b1 11,20").action(5, "move 11,20")
}

func TestClause_4_3_Others(t *testing.T) {
	m := begin(t, ordersText, nil)
	m.play(by(2, codecraft.Move(5, 0, 0, false, false), codecraft.Stop(6)), by(1,
		codecraft.Move(7, 0, 0, false, false), codecraft.Move(30, 0, 0, false, false), codecraft.Move(99, 0, 0, false, false),
		codecraft.Move(1, 0, 0, false, false), codecraft.Move(0, 0, 0, false, false), codecraft.Move(codecraft.MaxID, 0, 0, false, false)),
		by(4, codecraft.Stop(5)))
	m.action(5, "").action(6, "").action(7, "").want("unit 5 b1 11,11\nunit 6 b1 12,11\nunit 7 b2 14,11")
	// These orders do not disturb the orders between them.
	m.play(by(1, codecraft.Attack(5, 9), codecraft.Move(7, 0, 0, false, false), codecraft.And(codecraft.Repair(5, 9)))).action(5, "attack 9 repair 9").action(7, "")
}

func TestClause_4_4_Inactive(t *testing.T) {
	m := begin(t, `
		12 b1 .
		11 b1 .
		x10
		unit 5 b1 10,11 health 8 inactive move 13,11
		unit 6 b1 10,12 repair 5`, nil)
	m.action(5, "health 8 inactive move 13,11").play(by(1, codecraft.Move(5, 12, 11, false, false))).action(5, "health 9 inactive move 12,11")
	m.tick(1).want("unit 5 b1 10,11").tick(1).want("unit 5 b1 11,11").tick(1).want("unit 5 b1 12,11")
}

func TestClause_4_5_Coordinates(t *testing.T) {
	// One unit of each player gets a move upwards, one after the other.
	m := begin(t, `
		40 b1 .b2 .b3 .b4
		x40
		unit 5 b1 40,40
		unit 6 b2 42,40
		unit 7 b3 44,40
		unit 8 b4 46,40`, nil)
	for p := range 4 {
		m.play(by(p+1, codecraft.Move(uint32(5+p), 40+2*p, 70, false, false)))
	}
	m.want("unit 5 b1 40,44\nunit 6 b2 42,43\nunit 7 b3 44,42\nunit 8 b4 46,41")
	for p, mark := range []string{"b1", "b2", "b3", "b4"} {
		m := begin(t, "p"+mark[1:]+" resource 10\n10 "+mark+"\nx10\nunit 5 "+mark+" 10,10\ntick 0 next 40 first 30", nil)
		m.play(by(p+1, codecraft.Build(5, codecraft.Wall, 11, 10))).want("unit 40 W" + mark[1:] + " 11,10 health 5 inactive")
	}
}

func TestClause_4_6_Outside(t *testing.T) {
	const text = `
		79  . .b1 . .
		78  . . . . .
		77  . . . . .
		x75
		unit 5 b1 77,79
		tick 0 next 40 first 30
		p1 resource 10`
	sent := func(x, y int, closest bool) *match {
		return begin(t, text, nil).play(by(1, codecraft.Move(5, x, y, closest, false)))
	}
	sent(78, 80, false).want("unit 5 b1 77,79").may(5, "")
	sent(78, 80, true).want("unit 5 b1 78,79").may(5, "").tick(1).want("unit 5 b1 78,79")
	sent(77, 80, true).want("unit 5 b1 77,79")
	sent(-100, 79, true).want("unit 5 b1 76,79").may(5, "-x")
	sent(100, 100, true).want("unit 5 b1 78,79").tick(3).want("unit 5 b1 79,79")
	sent(77, -5, true).want("unit 5 b1 77,78")
	// The nearest cell itself is not the target: the unit does not attack the entity on it.
	taken := strings.Replace(text, ".b1 .", ".b1b2", 1)
	begin(t, taken, nil).play(by(1, codecraft.Move(5, 78, 80, true, false))).attacks("").want("unit 5 b1 77,79")
	begin(t, taken, nil).play(by(1, codecraft.Move(5, 78, 79, true, false))).attacks("5>6")
	// With OutsideIgnored the move is ignored.
	ignored := begin(t, text, func(r *codecraft.Rules) { r.OutsideIgnored = true })
	ignored.play(by(1, codecraft.Move(5, 78, 80, true, false))).want("unit 5 b1 77,79").action(5, "move 78,80 closest")
	// Builds.
	for _, at := range [][2]int{{80, 79}, {77, 80}, {-1, 79}, {1 << 30, 79}, {65535 + 79, 79}} {
		begin(t, text, nil).play(by(1, codecraft.Build(5, codecraft.Wall, at[0], at[1]))).want("tick 1 next 41\np1 resource 10\nunit 5 b1 77,79").there(40, false)
	}
	begin(t, text, nil).play(by(1, codecraft.Build(5, codecraft.Wall, 78, 79))).there(40, true)
}

func TestClause_4_7_Parts(t *testing.T) {
	const text = `
		12  . .W1 .
		11 T1T1r1 *
		10 T1T1b2 .
		x10
		unit 5 T1 10,10
		unit 6 r1 12,11
		unit 7 W1 12,12 health 20
		unit 8 b2 12,10
		tick 0 next 40 first 30
		p1 resource 100`
	all := func(id uint32) []sim.Order {
		return []sim.Order{
			codecraft.Build(id, codecraft.Wall, 13, 12), codecraft.And(codecraft.Repair(id, 7)), codecraft.And(codecraft.Move(id, 12, 9, false, false)),
			codecraft.And(codecraft.Attack(id, 99)), codecraft.And(codecraft.Auto(id, 0, 1<<codecraft.BuilderUnit)),
		}
	}
	const words = "move 12,9 build Wall 13,12 attack 99 auto 0 BuilderUnit repair 7"
	// A turret can only attack; the target is out of range, so the auto attack counts.
	begin(t, text, nil).play(by(1, all(5)...)).attacks("5>8").action(5, words).want("unit 7 W1 12,12 health 20\ntick 1 next 40\nunit 5 T1 10,10")
	begin(t, text, nil).play(by(1, all(6)...)).attacks("6>8").action(6, words).want("unit 7 W1 12,12 health 20\ntick 1 next 40\nunit 6 r1 12,11")
	// A wall can execute no part.
	begin(t, text, nil).play(by(1, all(7)...)).attacks("").action(7, "health 20 "+words).want("tick 1 next 40")
	begin(t, text, func(r *codecraft.Rules) { r.UnableTakeID = true }).play(by(1, all(7)...)).want("tick 1 next 41").there(40, false)
}

func TestClause_4_8_Nonsense(t *testing.T) {
	const text = ordersText
	// Builds of unknown types take an id and do nothing else.
	for kind := codecraft.Type(codecraft.Types); kind < 16; kind++ {
		begin(t, text, nil).play(by(1, codecraft.Build(5, kind, 11, 12))).there(40, false).want("tick 1 next 41\np1 resource 500")
	}
	// Op 7, and op 0 with other bits set.
	for _, o := range []sim.Order{7 | 5<<4, 7 | 1<<3 | 5<<4 | 1<<40, 5 << 4, 1<<3 | 5<<4, ^sim.Order(7) &^ 7} {
		begin(t, text, nil).play(by(1, codecraft.Move(5, 3, 3, false, false), o)).action(5, "move 3,3")
	}
	// Bits without a meaning are ignored.
	for op, bits := range map[sim.Order]sim.Order{
		codecraft.Stop(5):                       (1<<36 - 1) << 28,
		codecraft.Move(5, 3, 3, false, false):   1<<30 | 1<<31, // (3, 3) is not at the edge
		codecraft.Attack(5, 8):                  15 << 28,
		codecraft.Repair(5, 8):                  15 << 28,
		codecraft.Auto(5, 3, 1<<codecraft.Wall): 15<<28 | 63<<42,
	} {
		var plain, more codecraft.Action
		plain.Take(op)
		more.Take(op | bits)
		assert.Truef(t, plain == more, "order %#x is %+v, with bits %#x %+v", uint64(op), plain, uint64(bits), more)
	}
	var a codecraft.Action
	a.Take(codecraft.Auto(5, 3, 63<<10))
	assert.Equal(t, codecraft.EveryType&^(1<<codecraft.Resource), a.Valid, "types that do not exist")
}
