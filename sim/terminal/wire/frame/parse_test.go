package frame

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim/simtest"
	"moonfarm/sim/terminal"
	"moonfarm/sim/terminal/wire/config"
	"moonfarm/sim/terminal/wire/internal/wiretest"
)

// pos returns a cell.
func pos(x, y uint8) terminal.Pos { return terminal.Pos{X: x, Y: y} }

// rich returns a frame with every list and key that files since 2020 have, and its line.
func rich() (*Frame, string) {
	f := &Frame{Phase: PhaseEnd, Turn: 7, Number: 31, Index: 402}
	f.Stats = [2]Stats{{-2, 12.5, 0.1, 0}, {30, 7, 99.9, 15001}}
	for p := range f.Units {
		for k := range f.Units[p] {
			f.Units[p][k] = []Unit{}
		}
	}
	f.Units[0][terminal.Wall] = []Unit{{pos(13, 0), 60, 1}, {pos(0, 13), 43.559998, 12}}
	f.Units[0][terminal.Upgrade] = []Unit{{pos(0, 13), 0, 12}}
	f.Units[1][terminal.Scout] = []Unit{{pos(27, 14), 2.1000004, terminal.MaxID}}
	f.Units[1][terminal.Removal] = []Unit{{pos(14, 27), 2, 3}}
	e := &f.Events
	e.SelfDestructs = []terminal.SelfDestructEvent{
		{At: pos(13, 13), Kind: terminal.Scout, Player: 0, ID: 5, Damage: 15, First: 0, Count: 2},
		{At: pos(13, 14), Kind: terminal.Interceptor, Player: 1, ID: 6, Damage: 40, First: 2, Count: 0},
	}
	e.Targets = []terminal.Pos{pos(14, 13), pos(14, 14)}
	e.Breaches = []terminal.BreachEvent{{At: pos(14, 27), Kind: terminal.Demolisher, Player: 0, ID: 7, Damage: 1}}
	e.Damages = []terminal.DamageEvent{{At: pos(14, 13), Kind: terminal.Turret, Player: 1, ID: 8, Damage: 15}}
	e.Shields = []terminal.ShieldEvent{{From: pos(1, 12), To: pos(2, 12), Kind: terminal.Support, Player: 0, ID: 9, Unit: 5, Amount: 3.4}}
	e.Moves = []terminal.MoveEvent{{From: pos(1, 12), To: pos(1, 13), Kind: terminal.Scout, Player: 0, ID: 5}}
	e.Spawns = []terminal.SpawnEvent{{At: pos(3, 10), Kind: terminal.Removal, Player: 0, ID: 1}, {At: pos(3, 10), Kind: terminal.Upgrade, Player: 1, ID: 11}}
	e.Deaths = []terminal.DeathEvent{{At: pos(3, 10), Kind: terminal.Wall, Player: 0, ID: 2, Removed: true}, {At: pos(4, 10), Kind: terminal.Wall, Player: 1, ID: 4}}
	e.Attacks = []terminal.AttackEvent{{From: pos(5, 10), To: pos(6, 10), Kind: terminal.Turret, Player: 1, ID: 13, Target: 14, Damage: 6}}
	f.End = &EndStats{Duration: 12345, Winner: 2, Turns: 7, Frames: 395, Players: [2]PlayerEnd{
		{Name: `a "b"` + "\\\x01é", Crashed: true, Time: 17, TimeDamage: 1, Points: 10, MobileSpent: 1, MobileLost: 2, MobileSpoiled: 3.5, StructureSpent: 4, StructureLeft: 5},
		{Name: "python-algo", TimeoutDeath: true, Time: 18, Points: 42},
	}}
	return f, wiretest.RichLine
}

// beta returns a frame with the lists and keys of 2018, and its line.
func beta() (*Frame, string) {
	f := &Frame{Phase: PhaseAction, Turn: 3, Number: 0, Index: -1}
	f.Stats = [2]Stats{{30, 1, 2, 3}, {29, 4, 5, 6}}
	for p := range f.Units {
		for k := range terminal.Upgrade {
			f.Units[p][k] = []Unit{}
		}
	}
	f.Events.Moves = []terminal.MoveEvent{
		{From: pos(13, 0), To: pos(13, 1), Kind: terminal.Scout, ID: 5},
		{From: pos(14, 0), To: pos(14, 1), Kind: terminal.Scout, ID: 6},
	}
	f.Events.Planned = []terminal.Pos{pos(13, 2), {}}
	f.Events.Deaths = []terminal.DeathEvent{{At: pos(13, 1), Kind: terminal.Scout, ID: 5}}
	f.Events.Unflagged = true
	f.Events.Melees = []terminal.AttackEvent{{From: pos(1, 13), To: pos(1, 14), Kind: terminal.Wall, Player: 1, ID: 9}}
	f.End = &EndStats{Winner: 1, Players: [2]PlayerEnd{{absent: 1<<3 | 1<<5 | 1<<8}, {absent: 1<<len(playerKeys) - 1}}}
	return f, wiretest.OldLine
}

// blank returns an empty frame and its line.
func blank() (*Frame, string) {
	f := new(Frame)
	f.Clear()
	return f, wiretest.BlankLine
}

// TestFrames writes one frame of each kind, and reads them into the same Frame, field by field.
func TestFrames(t *testing.T) {
	used := new(Frame)
	for _, c := range []struct {
		make  func() (*Frame, string)
		style config.Style
	}{{rich, config.Local}, {blank, config.Local}, {beta, config.Web}, {blank, config.Local}, {rich, config.Local}} {
		f, line := c.make()
		assert.Equal(t, line, string(f.Append(nil, c.style)), "written")
		for _, text := range []string{line, spaced(line)} {
			if err := Parse(used, []byte(text)); err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			got := *used
			if !reflect.DeepEqual(tidy(&got), tidy(f)) {
				t.Errorf("read\n%+v\nwant\n%+v", got, *f)
			}
		}
	}
}

// spaced puts white space between all tokens of a line, but not into strings.
func spaced(line string) string {
	var b strings.Builder
	in := false
	for i, c := range line {
		if c == '"' && (i == 0 || line[i-1] != '\\') {
			in = !in
		}
		if !in && strings.ContainsRune("[]{},:", c) {
			b.WriteString(" \t" + string(c) + "\r\n ")
			continue
		}
		b.WriteRune(c)
	}
	return b.String()
}

func TestFrameClear(t *testing.T) {
	_, want := blank()
	for _, of := range []func() (*Frame, string){rich, beta} {
		f, _ := of()
		f.Clear()
		assert.Equal(t, want, string(f.Append(nil, config.Local)), "cleared")
	}
}

func TestParseErrors(t *testing.T) {
	_, line := rich()
	swap := func(old, to string) string {
		t.Helper()
		require.Equalf(t, 1, strings.Count(line, old), "%q is there %d times", old, strings.Count(line, old))
		return strings.Replace(line, old, to, 1)
	}
	simtest.Refuses(t, strings.Contains, func(text string) error { return Parse(new(Frame), []byte(text)) }, map[string]string{
		`{}`:        `column 2: expected the key p2Units, found "}"`,
		`{"hat":1}`: `column 2: expected one of the keys ["p2Units" "turnInfo" "p1Stats" "endStats" "p1Units" "p2Stats" "events"], found "\"hat\""`,
		`{"turnInfo":[0,0,0],"turnInfo":[0,0,0]}`:                  `column 21: expected each key once, found "\"turnInfo\""`,
		swap(`[2,7,31,402]`, `[3,7,31,402]`):                       `turnInfo: expected a phase from 0 to 2, found "3"`,
		swap(`[2,7,31,402]`, `[2,7,-2,402]`):                       `turnInfo: expected a frame number from -1 on, found "-2"`,
		swap(`[2,7,31,402]`, `[2,7,31,-1]`):                        `turnInfo: expected an index from 0 on, found "-1"`,
		swap(`[2,7,31,402]`, `[2,7,31,402,1]`):                     `turnInfo: expected ']', found ","`,
		swap(`[2,7,31,402]`, `[2,7,"31",402]`):                     `turnInfo: expected a frame number from -1 on, found "\"31\""`,
		swap(`[-2.0,`, `["x",`):                                    `p1Stats: expected health, found "\"x\""`,
		swap(`[-2.0,`, `[1e39,`):                                   `p1Stats: expected health within the range of float32, found "1e39"`,
		swap(`99.9,15001`, `99.9`):                                 `p2Stats: expected ',', found "]"`,
		swap(`[],[[27,14`, `[[28,14`):                              `p2Units: expected a coordinate, found "28"`,
		swap(`[27,14`, `[0,0`):                                     `p2Units: expected a cell of the arena, found "0"`,
		swap(`[27,14`, `[-1,14`):                                   `p2Units: expected a coordinate, found "-1"`,
		swap(`"16777215"`, `"16777216"`):                           `p2Units: expected an id up to 16777215, found "\"16777216\""`,
		swap(`"16777215"`, `""`):                                   `p2Units: expected an id up to 16777215, found "\"\""`,
		swap(`"16777215"`, `16`):                                   `p2Units: expected '"', found "16"`,
		swap(`"16777215"`, `"1x"`):                                 `p2Units: expected an id up to 16777215, found "\"1x\""`,
		swap(`"16777215"`, `"007"`):                                `p2Units: expected an id up to 16777215, found "\"007\""`,
		swap(`[[14,27,2.0,"3"]],[]]`, `[[14,27,2.0,"3"]],[],[]]`):  `p2Units: expected ']', found ","`,
		swap(`"p2Units":[[],[],`, `"p2Units":[`):                   `p2Units: expected ',', found "]"`,
		swap(`[[13,0,60.0,"1"]`, `[[13,0,60.0,"1",]`):              `p1Units: expected ']', found ","`,
		swap(`"winner":2`, `"winner":-1`):                          `endStats.winner: expected 0 (nobody) or player 1 or 2, found "-1"`,
		swap(`"winner":2`, `"winner":3`):                           `endStats.winner: expected 0 (nobody) or player 1 or 2, found "3"`,
		swap(`"duration":12345,`, ``):                              `endStats: expected the key duration, found "}"`,
		swap(`"python-algo"`, `7`):                                 `endStats.player2.name: expected a name, found "7"`,
		swap(`,"melee":[]`, ``):                                    `events: expected the key melee, found "}"`,
		swap(`"melee":[]`, `"melee":{}`):                           `events.melee: expected '[', found "{"`,
		swap(`[[[14,27],1.0,4,"7",1]]`, `[[[14,27],1.0,6,"7",1]]`): `events.breach: expected a kind of unit, found "6"`,
		swap(`[[3,10],7,"11",2]`, `[[3,10],8,"11",2]`):             `events.spawn: expected a kind of unit, found "8"`,
		swap(`"4",2,false]`, `"4",2]`):                             `events.death: expected ',', found "]"`,
		swap(`"2",1,true]`, `"2",1]`):                              `events.death: expected ']', found ","`,
		swap(`"4",2,false]`, `"4",2,0]`):                           `events.death: expected true or false, found "0"`,
		swap(`[0,0],3`, `[0,1],3`):                                 `events.move: expected a cell of the arena, found "0"`,
		swap(`[0,0],3`, `[],3`):                                    `events.move: expected a coordinate, found "]"`,
		swap(`"13","14",2]`, `"13",2]`):                            `events.attack: expected '"', found "2"`,
	})
	for i := range line { // cut off anywhere
		require.Errorf(t, Parse(new(Frame), []byte(line[:i])), "no error for the first %d bytes", i)
	}
}

// TestFrameBounds reads frames with as many units and events as are allowed, and with more.
func TestFrameBounds(t *testing.T) {
	_, line := rich()
	many := func(at, entry string, n int) []byte {
		return []byte(strings.Replace(line, at, `[`+strings.Repeat(entry+",", n-1)+entry+`]`, 1))
	}
	const unit, events = `[13,0,1,"1"]`, `[[13,0],1,0,"1",1]`
	for _, c := range []struct {
		name string
		text []byte
		want string
	}{
		{"most units", many(`[[27,14,2.1000004,"16777215"]]`, unit, MaxUnits-4), ""},
		{"one unit more", many(`[[27,14,2.1000004,"16777215"]]`, unit, MaxUnits-3), `p1Units: expected at most 65536 units in a frame, found more`},
		{"a million units", many(`[[27,14,2.1000004,"16777215"]]`, unit, 1_000_000), `p2Units: expected at most 65536 units in a frame, found more`},
		{"most events", many(`[[[14,13],15.0,2,"8",2]]`, events, MaxEvents-12), ""},
		{"one event more", many(`[[[14,13],15.0,2,"8",2]]`, events, MaxEvents-11), `expected at most 262144 events in a frame, found more`},
		{"too many targets", many(`[[14,13],[14,14]]`, "[13,0]", MaxEvents), `events.selfDestruct: expected at most 262144 events in a frame, found more`},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := Parse(new(Frame), c.text)
			if c.want == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, c.want)
			}
		})
	}
}

func TestParseAllocatesNothing(t *testing.T) {
	f, _ := rich()
	f.End = nil
	line := f.Append(nil, config.Local)
	var into Frame
	var out []byte
	n := testing.AllocsPerRun(100, func() {
		if err := Parse(&into, line); err != nil {
			t.Fatal(err)
		}
		out = into.Append(out[:0], config.Local)
	})
	assert.Zerof(t, n, "%v allocations for reading and writing a frame", n)
	assert.True(t, bytes.Equal(out, line), "it was not written as it was read")
}

// tidy sets empty lists to nil, except the last list of units, which is nil in old files alone.
func tidy(f *Frame) *Frame {
	for p := range f.Units {
		for k := range terminal.Upgrade {
			if len(f.Units[p][k]) == 0 {
				f.Units[p][k] = nil
			}
		}
	}
	e := reflect.ValueOf(&f.Events).Elem()
	for _, field := range reflect.VisibleFields(e.Type()) {
		if list := e.FieldByIndex(field.Index); list.Kind() == reflect.Slice && list.Len() == 0 {
			list.SetZero()
		}
	}
	return f
}

// again reads a line, writes the frame and reads it: both frames must be equal.
func again(line []byte, s config.Style) error {
	var a, b Frame
	if err := Parse(&a, line); err != nil {
		return nil
	}
	text := a.Append(nil, s)
	if err := Parse(&b, text); err != nil {
		return fmt.Errorf("%w in what was written: %s", err, text)
	}
	if !reflect.DeepEqual(tidy(&a), tidy(&b)) {
		return fmt.Errorf("read %+v\nand after writing %+v", a, b)
	}
	if second := b.Append(nil, s); !bytes.Equal(text, second) {
		return fmt.Errorf("written first %s\nthen %s", text, second)
	}
	return nil
}

func FuzzParse(f *testing.F) {
	for _, of := range []func() (*Frame, string){rich, beta, blank} {
		_, line := of()
		f.Add([]byte(line), true)
		f.Add([]byte(spaced(line)), false)
	}
	f.Fuzz(func(t *testing.T, line []byte, web bool) {
		style := config.Local
		if web {
			style = config.Web
		}
		if err := again(line, style); err != nil {
			t.Fatal(err)
		}
	})
}
