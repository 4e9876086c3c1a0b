package protocol

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/wire/internal/wiretest"
)

// lines reads a compressed file of JSON lines into values of type T.
func lines[T any](t testing.TB, file string) (all []T) {
	t.Helper()
	for d := json.NewDecoder(bytes.NewReader(wiretest.Unpack(t, file))); d.More(); {
		var v T
		require.NoError(t, d.Decode(&v))
		all = append(all, v)
	}
	return all
}

// recordedMessages returns the messages that were recorded byte by byte.
func recordedMessages(t testing.TB) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for _, m := range lines[struct{ Source, Base64 string }](t, "raw-getaction-messages.jsonl.gz") {
		b, err := base64.StdEncoding.DecodeString(m.Base64)
		require.NoError(t, err, m.Source)
		all[m.Source] = b
	}
	return all
}

func TestRecordedMessages(t *testing.T) {
	var m ServerMessage // used again for all: nothing of one may be left in the next
	all := recordedMessages(t)
	require.Lenf(t, all, 6, "%d messages, want 6", len(all))
	for name, b := range all {
		t.Run(name, func(t *testing.T) {
			r := NewReader(bytes.NewReader(b))
			require.NoError(t, r.ServerMessage(&m), name)
			assert.Truef(t, r.End() && r.Offset() == int64(len(b)), "%s: read %d of %d bytes", name, r.Offset(), len(b))
			assert.Truef(t, m.Kind == GetAction && m.DebugAvailable && m.View.MapSize == codecraft.Side && len(m.View.EntityProperties) == codecraft.Types, "%s: %d, debug %v, side %d, %d types", name, m.Kind, m.DebugAvailable, m.View.MapSize, len(m.View.EntityProperties))
			assert.Truef(t, slices.IsSortedFunc(m.View.Players, func(a, b Standing) int { return int(a.ID - b.ID) }), "%s: players are not in the order of their ids", name)
			got := m.Append(nil)
			assert.Truef(t, bytes.Equal(got, b), "%s: written again it is another: %d bytes, want %d", name, len(got), len(b))
		})
	}
}

// everyAction returns a message with an action of every shape.
func everyAction() ClientMessage {
	m := ClientMessage{Kind: ActionMessage}
	for i := range int32(16) {
		var a EntityAction
		if i&1 != 0 {
			a.Move = Some(MoveAction{3, 79, i&2 != 0, true})
		}
		if i&2 != 0 {
			a.Build = Some(BuildAction{codecraft.House, 1 << 20, 2})
		}
		if i&4 != 0 {
			a.Attack = Some(AttackAction{Target: Some[int32](1<<31 - 1)})
			if i&1 != 0 {
				a.Attack.Value.Auto = Some(AutoAttack{20, []codecraft.Type{codecraft.Resource, codecraft.Wall, codecraft.Wall}[:i%4]})
			}
		}
		if i&8 != 0 {
			a.Repair = Some(RepairAction{i})
		}
		m.Action.EntityActions = append(m.Action.EntityActions, EntityOrder{i, a})
	}
	return m
}

// clientMessages returns a message of every shape.
func clientMessages() []ClientMessage {
	vertex := ColoredVertex{World: Some([2]float32{1, 2}), Screen: [2]float32{3, 4}, Color: [4]float32{0, 0.5, 1, 1}}
	add := func(d DebugData) ClientMessage {
		return ClientMessage{Kind: DebugMessage, Command: DebugCommand{Kind: CommandAdd, Data: d}}
	}
	return []ClientMessage{
		everyAction(),
		{Kind: ActionMessage},
		{Kind: DebugUpdateDone},
		{Kind: RequestDebugState},
		{Kind: DebugMessage, Command: DebugCommand{Kind: CommandClear}},
		{Kind: DebugMessage, Command: DebugCommand{Kind: CommandSetAutoFlush, Enable: true}},
		{Kind: DebugMessage, Command: DebugCommand{Kind: CommandFlush}},
		add(DebugData{Kind: DebugLog, Text: "schöne Grüße"}),
		add(DebugData{Kind: DebugPrimitives, Vertices: []ColoredVertex{vertex, {}}, Triangles: true}),
		add(DebugData{Kind: DebugPrimitives}),
		add(DebugData{Kind: DebugText, Vertices: []ColoredVertex{vertex}, Text: "x", Alignment: 0.5, Size: 12}),
	}
}

// TestActionLayout compares the bytes of a message with the layout in the published clients.
func TestActionLayout(t *testing.T) {
	m := ClientMessage{Kind: ActionMessage, Action: Action{[]EntityOrder{{7, EntityAction{
		Move:   Some(MoveAction{1, 2, true, false}),
		Build:  Some(BuildAction{codecraft.Turret, 3, 4}),
		Attack: Some(AttackAction{Some[int32](5), Some(AutoAttack{6, []codecraft.Type{codecraft.Resource}})}),
		Repair: Some(RepairAction{9}),
	}}}}}
	want := "\x01\x00\x00\x00" + "\x01\x00\x00\x00" + "\x07\x00\x00\x00" +
		"\x01" + "\x01\x00\x00\x00" + "\x02\x00\x00\x00" + "\x01\x00" +
		"\x01" + "\x09\x00\x00\x00" + "\x03\x00\x00\x00" + "\x04\x00\x00\x00" +
		"\x01" + "\x01\x05\x00\x00\x00" + "\x01\x06\x00\x00\x00" + "\x01\x00\x00\x00\x08\x00\x00\x00" +
		"\x01" + "\x09\x00\x00\x00"
	got := m.Append(nil)
	assert.Equalf(t, want, string(got), "found\n%x", got)
}

func TestRefusedMessages(t *testing.T) {
	const one, minus, many = "\x01\x00\x00\x00", "\xff\xff\xff\xff", "\xff\xff\xff\x7f"
	for _, c := range []struct{ name, data, want string }{
		{"nothing", "", "byte 0: message of a client: EOF"},
		{"a part of a tag", "\x01\x00", "byte 0: message of a client: unexpected EOF"},
		{"an unknown tag", "\x04\x00\x00\x00", "byte 0: message of a client: found tag 4, expected 0 to 3"},
		{"a negative tag", minus, "found tag -1"},
		{"a negative count", one + minus, "byte 4: entity_actions: found -1, expected 0 or more"},
		{"a huge count", one + many, "byte 4: entity_actions: found a count of 2147483647, which takes more than the 563204 bytes that are allowed"},
		{"more entities than cells", one + "\x01\x19\x00\x00" + minus, "byte 4: entity_actions: found a count of 6401, expected at most 6400"},
		{"a negative id", one + one + minus, "byte 8: id of an entity: found -1, expected 0 or more"},
		{"a bool of 2", one + one + one + "\x02", "byte 12: move_action: found byte 2, expected 0 or 1"},
		{"a negative x", one + one + one + "\x01" + minus, "byte 13: x of a move: found -1"},
		{"a negative y", one + one + one + "\x01" + one + minus, "byte 17: y of a move: found -1"},
		{"an unknown type", one + one + one + "\x00\x01\x0a\x00\x00\x00", "byte 14: type to build: found tag 10, expected 0 to 9"},
		{"a negative range", one + one + one + "\x00\x00\x01\x00\x01" + minus, "pathfind_range: found -1"},
		{"a negative target", one + one + one + "\x00\x00\x00\x01" + minus, "target of a repair: found -1"},
		{"an action cut short", one + one + one + "\x00\x00\x00", "byte 15: repair_action: EOF"},
		{"a string that is no UTF-8", "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\xff", "text of a log: not UTF-8"},
		{"a string cut short", "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x09\x00\x00\x00abc", "byte 19: text of a log: unexpected EOF"},
		{"a huge string", "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" + many, "text of a log: found a count of 2147483647"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := NewReader(strings.NewReader(c.data))
			var m ClientMessage
			err := r.ClientMessage(&m)
			assert.ErrorContains(t, err, c.want, c.name)
			again := r.ClientMessage(&m)
			assert.Truef(t, again == err, "%s: the error does not stick: %v", c.name, again)
		})
	}
}

func TestLimit(t *testing.T) {
	m := everyAction()
	data := m.Append(nil)
	for n := range int64(len(data)) {
		r := NewReader(bytes.NewReader(data))
		r.Limit(n)
		require.Truef(t, r.ClientMessage(&m) != nil && r.Offset() <= n, "limit %d of %d: error %v after %d bytes", n, len(data), r.Err(), r.Offset())
	}
}

func TestErrorsOfTheSource(t *testing.T) {
	gone := errors.New("gone")
	broken := func(data []byte) *Reader {
		return NewReader(io.MultiReader(bytes.NewReader(data), iotest.ErrReader(gone)))
	}
	data := (&ClientMessage{Kind: DebugUpdateDone}).Append(nil)
	r := broken(data)
	var m ClientMessage
	require.NoError(t, r.ClientMessage(&m))
	assert.Truef(t, r.End() && errors.Is(r.Err(), gone), "error %v, want %v", r.Err(), gone)
	r = broken(data[:2])
	assert.ErrorIs(t, r.ClientMessage(&m), gone)
}

func TestDecodingTakesNoMemory(t *testing.T) {
	m := everyAction()
	data := m.Append(nil)
	in := bytes.NewReader(data)
	r := NewReader(in)
	buffer := make([]byte, 0, len(data))
	n := testing.AllocsPerRun(100, func() {
		in.Reset(data)
		if err := r.ClientMessage(&m); err != nil {
			t.Fatal(err)
		}
		buffer = m.Append(buffer[:0])
	})
	assert.Zerof(t, n, "%v allocations, want none", n)
}

func FuzzClientMessage(f *testing.F) {
	for _, m := range clientMessages() {
		f.Add(m.Append(nil))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := NewReader(bytes.NewReader(data))
		r.Limit(int64(len(data)))
		var m ClientMessage
		if r.ClientMessage(&m) != nil {
			return
		}
		if got := m.Append(nil); !bytes.Equal(got, data[:r.Offset()]) {
			t.Errorf("read  %x\nwrote %x", data[:r.Offset()], got)
		}
	})
}

func FuzzServerMessage(f *testing.F) {
	f.Add((&ServerMessage{Kind: Finish}).Append(nil))
	f.Add((&ServerMessage{Kind: GetAction, View: PlayerView{
		EntityProperties: []TypeProperties{{codecraft.BuilderUnit, EntityProperties{
			Size:   1,
			Build:  Some(BuildProperties{[]codecraft.Type{codecraft.House}, Some[int32](5)}),
			Attack: Some(AttackProperties{1, 1, true}),
			Repair: Some(RepairProperties{[]codecraft.Type{codecraft.Wall}, 1}),
		}}},
		Players:  []Standing{{1, 2, 3}},
		Entities: []Entity{{ID: 4, Type: codecraft.Resource, Health: 30, Active: true}, {ID: 3, PlayerID: Some[int32](1)}},
	}}).Append(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := NewReader(bytes.NewReader(data))
		r.Limit(int64(len(data)))
		var m ServerMessage
		if r.ServerMessage(&m) != nil {
			return
		}
		if got := m.Append(nil); !bytes.Equal(got, data[:r.Offset()]) {
			t.Errorf("read  %x\nwrote %x", data[:r.Offset()], got)
		}
	})
}

// TestLongestAction reads the longest message of a client that names every entity once; a longer
// message is an error.
func TestLongestAction(t *testing.T) {
	var all []codecraft.Type
	for k := range codecraft.Type(codecraft.Types) {
		all = append(all, k)
	}
	m := ClientMessage{Kind: ActionMessage}
	for id := range int32(codecraft.Cells) {
		m.Action.EntityActions = append(m.Action.EntityActions, EntityOrder{id, EntityAction{
			Move: Some(MoveAction{}), Build: Some(BuildAction{}), Repair: Some(RepairAction{}),
			Attack: Some(AttackAction{Some(id), Some(AutoAttack{1, all})}),
		}})
	}
	data := m.Append(nil)
	assert.Equalf(t, 4+MaxAction, len(data), "%d bytes, want %d", len(data), 4+MaxAction)
	var got ClientMessage
	if err := NewReader(bytes.NewReader(data)).ClientMessage(&got); err != nil || !bytes.Equal(got.Append(nil), data) {
		t.Errorf("read again: %v", err)
	}
	first := &m.Action.EntityActions[0].Attack.Value.Auto.Value
	first.ValidTargets = append(first.ValidTargets, codecraft.Wall)
	err := NewReader(bytes.NewReader(m.Append(nil))).ClientMessage(&got)
	assert.ErrorContains(t, err, "more than the 563204 bytes that are allowed", "a byte more")
}

// TestLongMessagesTakeLittleMemory reads messages of the greatest length, which may take only some
// megabytes of memory.
func TestLongMessagesTakeLittleMemory(t *testing.T) {
	number := func(n int) string { return string(AppendNumber(nil, int32(n))) }
	list := (MaxAction - 100) / 4
	texts := (MaxDebug - 12)
	points := (MaxDebug - 16) / (vertexSize - 8)
	for name, data := range map[string]string{
		"many actions":        number(1) + number(maxActions) + strings.Repeat("\x01"+strings.Repeat("\x00", 7), maxActions),
		"a long list":         number(1) + number(1) + number(1) + "\x00\x00\x01\x00\x01" + number(1) + number(list) + strings.Repeat(number(8), list) + "\x00",
		"a long text":         number(0) + number(0) + number(0) + number(texts) + strings.Repeat("x", texts),
		"many points":         number(0) + number(0) + number(1) + number(points) + strings.Repeat("\x00", points*(vertexSize-8)) + number(1),
		"more than is read":   number(0) + number(0) + number(0) + number(1<<30) + strings.Repeat("x", 1<<20),
		"points that are not": number(0) + number(0) + number(1) + number(points) + number(1),
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			var m ClientMessage
			r := NewReader(strings.NewReader(data))
			for range 3 {
				r.ClientMessage(&m)
			}
			runtime.ReadMemStats(&after)
			if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 {
				t.Errorf("%s: %d bytes of memory for %d", name, took, len(data))
			} else {
				t.Logf("%s: %d KB of memory for %d KB", name, took>>10, len(data)>>10)
			}
			runtime.KeepAlive(&m)
		})
	}
}

// TestDebugStateLayout compares the bytes of the state with the layout in the published clients.
func TestDebugStateLayout(t *testing.T) {
	d := DebugState{
		WindowSize: [2]int32{1, 2}, MouseWindow: [2]float32{1, 0}, MouseWorld: [2]float32{0, 1}, PressedKeys: []string{"A", "Up"},
		Camera: Camera{Center: [2]float32{1, 0}, Rotation: 1, Attack: 0, Distance: 1, Perspective: true}, PlayerIndex: 3,
	}
	const one, zero = "\x00\x00\x80\x3f", "\x00\x00\x00\x00"
	want := "\x01\x00\x00\x00\x02\x00\x00\x00" + one + zero + zero + one +
		"\x02\x00\x00\x00" + "\x01\x00\x00\x00A" + "\x02\x00\x00\x00Up" +
		one + zero + one + zero + one + "\x01" + "\x03\x00\x00\x00"
	got := d.Append(nil)
	assert.Equalf(t, want, string(got), "found\n%x", got)
	if got := len((&DebugState{}).Append(nil)); got != 53 {
		t.Errorf("an empty one has %d bytes, want 53", got)
	}
}
