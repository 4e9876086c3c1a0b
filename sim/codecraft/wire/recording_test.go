package wire

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/simtest"
)

// recordedGame is the recorded game of the official runner.
const recordedGame = "replay-round1-3p-ticks0-106.jsonl.gz"

// unpack reads a file of the recordings whole.
func unpack(t testing.TB, file string) []byte {
	t.Helper()
	return simtest.Text(t, simtest.Shared(t, "traces", "codecraft", file))
}

// openRecorded begins to read the recorded game.
func openRecorded(t testing.TB) *Recording {
	t.Helper()
	r, err := NewRecording(recordedGame, bytes.NewReader(unpack(t, recordedGame)))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// round1 are the rules that the recorded game is told to begin with.
func round1() codecraft.Rules {
	r, _ := codecraft.Preset("round1")
	return r
}

// restore makes a state of a world.
func restore(t testing.TB, w *World) (*codecraft.Game, *codecraft.State) {
	t.Helper()
	rules, err := w.Rules(round1())
	if err != nil {
		t.Fatal(err)
	}
	g := newGame(t, rules)
	var p codecraft.Position
	s := new(codecraft.State)
	if err := w.Position(&p, &rules); err != nil {
		t.Fatal(err)
	}
	if err := g.Restore(s, &p); err != nil {
		t.Fatal(err)
	}
	return g, s
}

// TestRecordedStates makes states of all worlds of the recorded game and
// worlds of these: they are equal, but for how the valid targets of an auto
// attack are listed.
func TestRecordedStates(t *testing.T) {
	r := openRecorded(t)
	want, _ := codecraft.Preset("round1-3")
	if rules, err := r.World.Rules(round1()); err != nil || rules != want {
		t.Errorf("error %v; not the rules of round 1", err)
	}
	ticks, entities := 0, 0
	for end := error(nil); end == nil; {
		if end = r.Next(); end != nil && end != io.EOF {
			t.Fatal(end)
		}
		g, s := restore(t, &r.World)
		var back World
		back.Fill(g, s)
		if !reflect.DeepEqual(back.Players, r.World.Players) || !reflect.DeepEqual(back.Entities, r.World.Entities) {
			t.Fatalf("tick %d: not the same world", r.World.CurrentTick)
		}
		if back.NextID != r.World.NextID || back.CurrentTick != r.World.CurrentTick || len(back.Actions) != len(r.World.Actions) {
			t.Fatalf("tick %d: not the same world", r.World.CurrentTick)
		}
		rules := g.Rules()
		for i := range back.Actions {
			a, b := &back.Actions[i], &r.World.Actions[i]
			if ActionOf(&a.EntityAction, 0, &rules) != ActionOf(&b.EntityAction, 0, &rules) || a.ID != b.ID || a.Move != b.Move || a.Build != b.Build || a.Repair != b.Repair {
				t.Fatalf("tick %d: action %+v, want %+v", r.World.CurrentTick, a, b)
			}
		}
		entities += len(back.Entities)
		ticks++
	}
	t.Logf("%d states, %d entities", ticks, entities)
	if ticks != 107 {
		t.Errorf("%d states, want 107: before and after each of 106 ticks", ticks)
	}
}

// oneTick is a recorded game of one tick, as small as can be.
func oneTick() string {
	props := make([]string, 0, codecraft.Types)
	for k := range codecraft.Type(codecraft.Types) {
		props = append(props, fmt.Sprintf(`"%s":{"size":1,"max_health":10}`, k))
	}
	return `{"kind":"initial","next_id":5,"map_size":80,"max_tick_count":1000,"max_pathfind_nodes":1000,"tick":0,` +
		`"properties":{` + strings.Join(props, ",") + `},"players":[{"id":1,"index":0},{"id":2,"index":1}],` +
		`"entities":[{"id":3,"player":1,"type":"House","x":4,"y":5,"health":9,"active":false},` +
		`{"id":4,"player":null,"type":"Resource","x":7,"y":8,"health":9,"active":true}],"actions":{}}` + "\n" +
		`{"kind":"tick","tick":1,"next_id":6,"players":[{"id":1,"index":0,"score":5}],"events":[{"type":"attack","attacker":3,"target":4}],` +
		`"actions_set":{"3":{"build":{"type":"House","position":[7,8]}}},"entities_removed":[4],` +
		`"entities_updated":[{"id":3,"player":1,"type":"House","x":4,"y":5,"health":8,"active":false}],` +
		`"entities_new":[{"id":5,"player":2,"type":"House","x":9,"y":9,"health":8,"active":true}]}` + "\n"
}

// TestRecordingErrors changes what is in a recording and reads what is said.
func TestRecordingErrors(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"", "", ""},
		{`"kind":"initial"`, `"kind":"view"`, `recording x: line 1: found a line of kind "view", want "initial"`},
		{`"map_size":80`, `"map_size":40`, "line 1: found map_size 40, want 80"},
		{`"Wall":`, `"Wal":`, `properties: found type "Wal"`},
		{`"type":"House"`, `"type":"Hous"`, `line 1: found type "Hous", want one like "House"`},
		{`"kind":"tick"`, `"kind":"initial"`, `line 2: found a line of kind "initial", want "tick"`},
		{`"type":"attack"`, `"type":"heal"`, `line 2: found an event of type "heal"`},
		{`"tick":1`, `"tick":2`, "line 2: found tick 2, want 1"},
		{`"players":[{"id":1,"index":0,"score":5}]`, `"players":[{"id":3}]`, "found player 3, want those of the first line"},
		{`"3":{"build"`, `"x":{"build"`, `found key "x", want the id of an entity`},
		{`"entities_removed":[4]`, `"entities_removed":[4,4]`, "tick 1: entity 4 is removed, but is not there"},
		{`"entities_removed":[4]`, `"entities_removed":[7]`, "entity 7 is removed, but is not there"},
		{`"entities_new":[{"id":5`, `"entities_new":[{"id":3`, "entity 3 is there twice"},
		{`"entities_updated":[{"id":3`, `"entities_updated":[{"id":8`, "entity 8 changes, but is not there"},
		{`"entities_new"`, `entities_new"`, "line 2: invalid character"},
	} {
		text := strings.Replace(oneTick(), c.old, c.new, 1)
		if c.old != "" && text == oneTick() {
			t.Fatalf("%s: not in the text", c.old)
		}
		r, err := NewRecording("x", strings.NewReader(text))
		for err == nil {
			err = r.Next()
		}
		if err == io.EOF {
			err = nil
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: error %v, want %q", c.new, err, c.want)
		}
	}
}

// TestRecordingBreaksOff reads a recording whose reader fails in a line: the
// reader's error is told, not what is wrong with half a line.
func TestRecordingBreaksOff(t *testing.T) {
	text := oneTick()
	for _, n := range []int{10, strings.IndexByte(text, '\n') + 20} {
		broken := errors.New("broken disk")
		r, err := NewRecording("x", io.MultiReader(strings.NewReader(text[:n]), iotest.ErrReader(broken)))
		if err == nil {
			err = r.Next()
		}
		if !errors.Is(err, broken) {
			t.Errorf("after %d bytes: error %v, want %v", n, err, broken)
		}
	}
}

// TestWorldErrors has worlds that are no states.
func TestWorldErrors(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"", "", ""},
		{`{"id":2,"index":1}`, `{"id":2,"index":2}`, "id 2 and index 2"},
		{`{"id":2,"index":1}`, `{"id":1,"index":0}`, "player 1 is there twice"},
		{`[{"id":1,"index":0},{"id":2,"index":1}]`, `[]`, "found 0 players, want 1 to 4"},
		{`"x":4`, `"x":-1`, "(-1, 5) lies outside of the map"},
		{`"x":4`, `"x":80`, "(80, 5) lies outside of the map"},
		{`"health":9`, `"health":99999`, "health 99999"},
		{`"health":9`, `"health":11`, "its health is 11, want 1 to 10"},
		{`"player":1,`, ``, "resources, and only they, have no player"},
		{`"player":1,`, `"player":3,`, "player 3, want 1 to 2"},
		{`"player":null`, `"player":2`, "resources, and only they, have no player"},
		{`"id":3,"player":1`, `"id":99999999,"player":1`, "want ids up to"},
		{`"y":8,"health":9,"active":true`, `"y":8,"health":9`, "a resource that is not active"},
		{`"Wall":{"size":1`, `"Wall":{"size":6`, "Wall.size is 6, want 1 to 5"},
		{`"Wall":{`, `"Wall":{"build":{"options":["House","House"]},`, "Wall: build.options: House is there twice"},
		{`"Wall":{`, `"Wall":{"build":{"init_health":0},`, "Wall: build.init_health is 0"},
		{`"Wall":{`, `"Wall":{"repair":{"valid_targets":["House","House"]},`, "Wall: repair.valid_targets: House is there twice"},
		{`"Wall":{"size":1,"max_health":10},`, ``, "found properties of 9 types, want 10"},
	} {
		_, _, err := LoadState("x", strings.NewReader(strings.Replace(oneTick(), c.old, c.new, 1)), round1())
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: error %v, want %q", c.new, err, c.want)
		}
	}
}

// TestActions turns actions of players into stored ones and back.
func TestActions(t *testing.T) {
	rules := round1()
	var a EntityAction
	a.Move = Some(MoveAction{3, 90, true, true})
	a.Build = Some(BuildAction{codecraft.House, 2, 4})
	a.Attack.Given = true
	a.Attack.Value.Target = Some(int32(77))
	a.Attack.Value.Auto = Some(AutoAttack{99999, []codecraft.Type{codecraft.Turret, codecraft.Wall, codecraft.Turret}})
	a.Repair = Some(RepairAction{55})
	for p, want := range []struct{ mx, my, bx, by uint8 }{{3, 79, 2, 4}, {76, 0, 75, 73}, {0, 3, 73, 2}, {79, 76, 4, 75}} {
		c := ActionOf(&a, sim.Player(p), &rules)
		if c.MoveX != want.mx || c.MoveY != want.my || c.BuildX != want.bx || c.BuildY != want.by {
			t.Errorf("player %d: %+v, want %v", p, c, want)
		}
		if c.Target != 77 || c.Repair != 55 || c.Range != 65535 || c.Valid != 1<<codecraft.Turret|1<<codecraft.Wall {
			t.Errorf("player %d: %+v", p, c)
		}
		every := codecraft.Given | codecraft.HasMove | codecraft.FindClosest | codecraft.BreakThrough | codecraft.MoveOutside |
			codecraft.HasBuild | codecraft.HasTarget | codecraft.HasAuto | codecraft.HasRepair
		if c.Parts != every {
			t.Errorf("player %d: parts %b, want %b", p, c.Parts, every)
		}
		back := entityActionOf(&c)
		if again := ActionOf(&back, 0, &rules); again != c {
			t.Errorf("player %d: %+v, want %+v", p, again, c)
		}
	}
	none := EntityAction{}
	if c := ActionOf(&none, 2, &rules); c != (codecraft.Action{Parts: codecraft.Given}) {
		t.Errorf("no parts: %+v", c)
	}
	none.Attack.Given, none.Attack.Value.Auto.Given = true, true
	if c := ActionOf(&none, 2, &rules); c.Valid != codecraft.EveryType&^(1<<codecraft.Resource) || c.Parts != codecraft.Given|codecraft.HasAuto {
		t.Errorf("auto attack of all: %+v", c)
	}
	for _, v := range []int32{76, 78, 80, 1 << 30} { // turned round they are below 0
		none.Build = Some(BuildAction{codecraft.BuilderBase, v, 5})
		if c := ActionOf(&none, 1, &rules); c.BuildX != 255 || c.BuildY != 255 {
			t.Errorf("to build at %d: %+v", v, c)
		}
	}
	for v, want := range map[int32]uint8{-1: 255, 76: 76, 79: 79, 80: 255} {
		none.Build = Some(BuildAction{codecraft.BuilderBase, v, 5})
		if c := ActionOf(&none, 0, &rules); c.BuildX != want {
			t.Errorf("to build at %d: %+v, want %d", v, c, want)
		}
	}
}

// TestActionLines writes all actions of the recorded game as JSON and reads
// them again.
func TestActionLines(t *testing.T) {
	n := 0
	for r := openRecorded(t); r.Next() == nil; {
		var read map[string]EntityAction
		if err := json.Unmarshal(AppendActions(nil, r.Delta.Actions.Changed), &read); err != nil {
			t.Fatal(err)
		}
		back, err := appendOrders(nil, read)
		if err != nil || len(back) != len(r.Delta.Actions.Changed) {
			t.Fatalf("error %v, %d actions, want %d", err, len(back), len(r.Delta.Actions.Changed))
		}
		for i := range back {
			if want := &r.Delta.Actions.Changed[i]; back[i].ID != want.ID || !equalOrders(&back[i], want) {
				t.Fatalf("%+v, want %+v", back[i], want)
			}
			n++
		}
	}
	if n < 500 {
		t.Errorf("only %d actions", n)
	}
}

// blankGzip is a small gzip file: a text, then 256 MB of blank lines.
func blankGzip(t *testing.T, text string) []byte {
	t.Helper()
	var file bytes.Buffer
	for _, part := range []string{text, strings.Repeat("\n", 1<<24)} {
		z := gzip.NewWriter(&file)
		if _, err := io.WriteString(z, part); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		if part == text {
			text = file.String()
			file.Reset()
		}
	}
	return append([]byte(text), bytes.Repeat(file.Bytes(), 16)...)
}

// counted counts what is read.
type counted struct {
	io.Reader
	n int
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += n
	return n, err
}

// TestBlankLines: some blank lines are skipped, and a small file that grows to
// gigabytes of them is refused at once.
func TestBlankLines(t *testing.T) {
	first, tick, _ := strings.Cut(oneTick(), "\n")
	view := `{"kind":"view","my_id":1,"map_size":80}` + "\n"
	readAll := func(in io.Reader) error {
		r, err := NewRecording("x", in)
		for err == nil {
			err = r.Next()
		}
		return err
	}
	readViews := func(in io.Reader) error {
		r, v, err := NewViewReader("x", in), PlayerView{}, error(nil)
		for err == nil {
			err = r.Next(&v)
		}
		return err
	}
	blank := strings.Repeat(" \r\n", 1000)
	if err := readAll(strings.NewReader(first + "\n" + blank + tick + blank)); err != io.EOF {
		t.Errorf("a thousand blank lines: %v", err)
	}
	for _, c := range []struct {
		name, text, want string
		read             func(io.Reader) error
	}{
		{"game", oneTick(), "recording x: line 65539: found more than 65536 bytes of blank lines, want an object or the end", readAll},
		{"views", view, "views x: line 65538: found more than 65536 bytes of blank lines, want an object or the end", readViews},
	} {
		file := blankGzip(t, c.text)
		z, err := gzip.NewReader(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		in := counted{Reader: z}
		if err := c.read(&in); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
		if in.n > 1<<20 {
			t.Errorf("%s: read %d bytes of a file of %d", c.name, in.n, len(file))
		}
	}
}

// TestTicksAfterTheEnd: a recording has no more ticks than its rules say.
func TestTicksAfterTheEnd(t *testing.T) {
	text := strings.Replace(oneTick(), `"max_tick_count":1000`, `"max_tick_count":1`, 1)
	r, err := NewRecording("x", strings.NewReader(text+`{"kind":"tick","tick":2,"next_id":6}`+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Next(); err != nil {
		t.Fatal(err)
	}
	if err, want := r.Next(), "recording x: line 3: found tick 2, want the end: max_tick_count is 1"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
