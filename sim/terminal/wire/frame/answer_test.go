package frame

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"moonfarm/sim"
	"moonfarm/sim/terminal"
	"moonfarm/sim/terminal/wire/config"
)

var names = config.Of(terminal.DefaultRules()).Shorthands

func TestParseAnswer(t *testing.T) {
	place, up, rm, spawn := terminal.Place, terminal.UpgradeAt, terminal.RemoveAt, terminal.Spawn
	const none = "[]"
	for _, c := range []struct {
		name, first, second string
		seat                sim.Player
		want                []sim.Order
		refused             []string
	}{
		{"nothing", none, none, 0, nil, nil},
		{"every command", `[["FF",0,13],["EF",1,13],["DF",2,13],["UP",0,13],["RM",1,13]]`, `[["PI",13,0],["EI",14,0],["SI",12,1]]`, 0,
			[]sim.Order{place(0, 0, 13), place(1, 1, 13), place(2, 2, 13), up(0, 13), rm(1, 13), spawn(3, 13, 0, 1), spawn(4, 14, 0, 1), spawn(5, 12, 1, 1)}, nil},
		{"player 2 sees the arena turned", `[["FF",0,13]]`, `[["PI",13,0]]`, 1, []sim.Order{place(0, 27, 14), spawn(3, 14, 27, 1)}, nil},
		{"equal mobile units", none, `[["PI",13,0],["PI",13,0],["PI",13,0],["PI",14,0],["PI",13,0]]`, 0,
			[]sim.Order{spawn(3, 13, 0, 3), spawn(3, 14, 0, 1), spawn(3, 13, 0, 1)}, nil},
		{"the other line", `[["PI",13,0]]`, `[["UP",0,13],["PI",13,0]]`, 0,
			[]sim.Order{terminal.Swap(spawn(3, 13, 0, 1)), terminal.Swap(up(0, 13)), spawn(3, 13, 0, 1)}, nil},
		{"equal mobile units in the other line", `[["PI",13,0],["PI",13,0]]`, none, 0, []sim.Order{terminal.Swap(spawn(3, 13, 0, 2))}, nil},
		{"what no command has", `[["FF",0,13],["FF",1,13,{"a":1,"a":2}]]`, "[[\"PI\",13,0,\"\xff\"],[\"\xff\",13,0]]", 0,
			[]sim.Order{place(0, 0, 13), place(0, 1, 13), spawn(3, 13, 0, 1)},
			[]string{`line 2, command 2: expected one of the shorthands ["FF" "EF" "DF" "PI" "EI" "SI" "RM" "UP"], found "\"\xff\""`}},
		{"white space and ends of line", " [ [ \"FF\" , 0 , 13 ] ] \r\n", "[]\n", 0, []sim.Order{place(0, 0, 13)}, nil},
		{"more in a command", `[["FF",0,13,"now",{}]]`, none, 0, []sim.Order{place(0, 0, 13)}, nil},
		{"whole floats", `[["FF",0.0,1.3e1]]`, none, 0, []sim.Order{place(0, 0, 13)}, nil},
		{"the foreign half is for the rules", `[["FF",0,14]]`, none, 0, []sim.Order{place(0, 0, 14)}, nil},
		{"no JSON", `[["FF",0,13],`, `hello`, 0, nil,
			[]string{`line 1: expected a JSON list of commands, found "[[\"FF\",0,13],"`, `line 2: expected a JSON list of commands, found "hello"`}},
		{"no list", `{"FF":[0,13]}`, `null`, 0, nil,
			[]string{`line 1: expected a JSON list of commands, found "{\"FF\":[0,13]}"`, `line 2: expected a JSON list of commands, found "null"`}},
		{"empty lines", "", "\n", 0, nil,
			[]string{`line 1: expected a JSON list of commands, found ""`, `line 2: expected a JSON list of commands, found ""`}},
		{"bad among good", `[["FF",0,13],["XX",1,13],["ff",1,13],["",1,13],["FF",1.5,13],["FF","1",13],["FF",99,13],["FF",1],"FF",[1,1,13],[null,1,13],7,null,["FF",1,13]]`, none, 0,
			[]sim.Order{place(0, 0, 13), place(0, 1, 13)},
			[]string{
				`line 1, command 2: expected one of the shorthands ["FF" "EF" "DF" "PI" "EI" "SI" "RM" "UP"], found "\"XX\""`,
				`line 1, command 3: expected one of the shorthands ["FF" "EF" "DF" "PI" "EI" "SI" "RM" "UP"], found "\"ff\""`,
				`line 1, command 4: expected one of the shorthands ["FF" "EF" "DF" "PI" "EI" "SI" "RM" "UP"], found "\"\""`,
				`line 1, command 5: expected a whole number, found "1.5"`,
				`line 1, command 6: expected a whole number, found "\"1\""`,
				`line 1, command 7: expected a cell of the arena, found (99, 13)`,
				`line 1, command 8: expected [shorthand, x, y], found "[\"FF\",1]"`,
				`line 1, command 9: expected [shorthand, x, y], found "\"FF\""`,
				`line 1, command 10: expected [shorthand, x, y], found "[1,1,13]"`,
				`line 1, command 11: expected [shorthand, x, y], found "[null,1,13]"`,
				`line 1, command 12: expected [shorthand, x, y], found "7"`,
				`line 1, command 13: expected [shorthand, x, y], found "null"`,
			}},
		{"cells that do not exist", `[["FF",0,0],["FF",-1,13],["FF",1e300,13],["FF",-9223372036854775808,-9223372036854775808]]`, none, 1, nil,
			[]string{
				`line 1, command 1: expected a cell of the arena, found (0, 0)`,
				`line 1, command 2: expected a cell of the arena, found (-1, 13)`,
				`line 1, command 3: expected a whole number, found "1e300"`,
				`line 1, command 4: expected a whole number, found "-9223372036854775808"`,
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, refused := ParseAnswer(nil, []byte(c.first), []byte(c.second), &names, c.seat)
			assert.Equal(t, shown(c.want), shown(got))
			var why []string
			for _, r := range refused {
				why = append(why, r.String())
			}
			assert.Equal(t, c.refused, why)
		})
	}
}

// TestParseAnswerBounds reads answers that are far too long.
func TestParseAnswerBounds(t *testing.T) {
	long := "[" + strings.Repeat(" ", maxAnswerLine) + "]"
	if o, why := ParseAnswer(nil, []byte(long), []byte("[]"), &names, 0); o != nil || len(why) != 1 ||
		why[0].String() != "line 1: expected at most 1048576 bytes, found 1048578" {
		t.Errorf("a long line: %v, %v", o, why)
	}
	many := "[" + strings.Repeat(`["PI",13,0],`, 20000) + `["PI",13,0]]`
	o, why := ParseAnswer(nil, []byte("[]"), []byte(many), &names, 0)
	if !slices.Equal(o, []sim.Order{terminal.Spawn(terminal.Scout, 13, 0, maxAnswerCommands)}) || len(why) != 1 ||
		why[0].String() != "line 2, command 16385: expected at most 16384 commands, found 20001 in this line" {
		t.Errorf("many commands: %v, %v", shown(o), why)
	}
	bad := "[" + strings.Repeat(`7,`, 5000) + `7]`
	if o, why := ParseAnswer(nil, []byte(bad), []byte("[]"), &names, 0); o != nil || len(why) != maxRefusals {
		t.Errorf("much that is refused: %v, %d refusals", o, len(why))
	}
	deep := strings.Repeat("[", 500000)
	if o, why := ParseAnswer(nil, []byte(deep), []byte(deep), &names, 0); o != nil || len(why) != 2 {
		t.Errorf("a deep list: %v, %v", o, why)
	}
}

// TestParseAnswerWork: the work of a command that is ignored does not depend on how many there were before. It counts
// allocations, which the texts of refusals and lists of entries need.
func TestParseAnswerWork(t *testing.T) {
	list := func(n int, command string) []byte {
		return []byte("[" + strings.Repeat(command+",", n-1) + command + "]")
	}
	for _, c := range []string{
		`["XX",13,13]`, `["FF",13,13]`, `["FF",99,13]`, `["FF",1.5,13]`, `["FF","1",13]`, `["FF",13,"1"]`, `["FF"]`, `[[],1,1]`, `7`, `"FF"`, `[]`, `{}`, `null`,
		`["PI",13,0],["EI",14,0]`, `["FF",13,13,1,[2]]`, `["FF",13,99]`,
	} {
		allocs := func(n int) float64 {
			first, second := list(n, c), list(n, c)
			return testing.AllocsPerRun(1, func() { ParseAnswer(nil, first, second, &names, 1) })
		}
		few, many := allocs(200), allocs(maxAnswerLine/(len(c)+1)-2)
		assert.LessOrEqual(t, many, few+50, "%s: allocations of a long line", c)
	}
	fields := []byte(`[["FF",` + strings.Repeat("1,", maxAnswerLine/2-10) + `1]]`)
	assert.LessOrEqual(t, testing.AllocsPerRun(1, func() { ParseAnswer(nil, fields, fields, &names, 0) }), 50.0, "a command with many fields")
}

// TestAppendAnswer checks that an answer has the commands of all orders, and skips orders that
// are no commands of a player.
func TestAppendAnswer(t *testing.T) {
	orders := []sim.Order{
		terminal.Clock(5), terminal.Penalty(1), terminal.Nothing, terminal.Place(terminal.Wall, 27, 14), terminal.UpgradeAt(27, 14),
		terminal.Swap(terminal.RemoveAt(20, 14)), terminal.Spawn(terminal.Scout, 14, 27, 2), terminal.Swap(terminal.Spawn(terminal.Scout, 14, 27, 1)),
		sim.Order(terminal.OpPlace) | 3<<4, // a structure of the kind of scouts
	}
	const want = "[[\"FF\",0,13],[\"UP\",0,13],[\"PI\",13,0]]\n[[\"RM\",7,13],[\"PI\",13,0],[\"PI\",13,0]]\n"
	assert.Equal(t, want, string(AppendAnswer(nil, orders, &names, 1)), "answer")
}

func FuzzParseAnswer(f *testing.F) {
	f.Add([]byte(`[["FF",0,13],["UP",0,13]]`), []byte(`[["PI",13,0],["PI",13,0]]`), false)
	f.Add([]byte(`[["PI",13.0,0],["XX",1.5,"a"],[],7,null]`), []byte(`{"a":[1,2]}`), true)
	f.Add([]byte(`[[`), []byte(``), true)
	f.Fuzz(func(t *testing.T, first, second []byte, turned bool) {
		seat := sim.Player(0)
		if turned {
			seat = 1
		}
		orders, refused := ParseAnswer(nil, first, second, &names, seat)
		if len(orders) > maxAnswerCommands || len(refused) > maxRefusals {
			t.Fatalf("%d orders, %d refusals", len(orders), len(refused))
		}
		for _, r := range refused {
			if len(r.String()) > 400 {
				t.Fatalf("a refusal of %d bytes: %s", len(r.String()), r)
			}
		}
		lines := bytes.SplitAfter(AppendAnswer(nil, orders, &names, seat), []byte("\n"))
		again, refused := ParseAnswer(nil, lines[0], lines[1], &names, seat)
		if !slices.Equal(again, orders) || len(refused) > 0 {
			t.Fatalf("%s and %s are %v, written and read %v, refused %v", first, second, shown(orders), shown(again), fmt.Sprint(refused))
		}
	})
}

// shown returns the fields of orders as text.
func shown(orders []sim.Order) (list []string) {
	for _, o := range orders {
		list = append(list, fmt.Sprintf("%+v", terminal.Decode(o)))
	}
	return list
}
