package recording

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/wire/internal/wiretest"
	"moonfarm/sim/codecraft/wire/protocol"
)

// openRecorded opens the recorded game.
func openRecorded(t testing.TB) *Reader {
	t.Helper()
	r, err := NewReader(wiretest.RecordedGame, bytes.NewReader(wiretest.Unpack(t, wiretest.RecordedGame)))
	require.NoError(t, err)
	return r
}

// TestRecordedStates makes states of all worlds of the recorded game, and worlds of these states.
// The worlds must be equal, except for the order of the valid targets of an auto attack.
func TestRecordedStates(t *testing.T) {
	r := openRecorded(t)
	want, _ := codecraft.Preset("round1-3")
	rules, err := r.World.Rules(wiretest.Round1())
	require.NoError(t, err)
	assert.True(t, rules == want, "error; not the rules of round 1")
	ticks, entities := 0, 0
	for end := error(nil); end == nil; {
		end = r.Next()
		require.True(t, end == nil || end == io.EOF, end)
		g, s := wiretest.Restore(t, &r.World)
		var back World
		back.Fill(g, s)
		require.Truef(t, reflect.DeepEqual(back.Players, r.World.Players) && reflect.DeepEqual(back.Entities, r.World.Entities), "tick %d: not the same world", r.World.CurrentTick)
		require.Truef(t, back.NextID == r.World.NextID && back.CurrentTick == r.World.CurrentTick && len(back.Actions) == len(r.World.Actions), "tick %d: not the same world", r.World.CurrentTick)
		rules := g.Rules()
		for i := range back.Actions {
			a, b := &back.Actions[i], &r.World.Actions[i]
			if protocol.ActionOf(&a.EntityAction, 0, &rules) != protocol.ActionOf(&b.EntityAction, 0, &rules) || a.ID != b.ID || a.Move != b.Move || a.Build != b.Build || a.Repair != b.Repair {
				t.Fatalf("tick %d: action %+v, want %+v", r.World.CurrentTick, a, b)
			}
		}
		entities += len(back.Entities)
		ticks++
	}
	t.Logf("%d states, %d entities", ticks, entities)
	assert.Equalf(t, 107, ticks, "%d states, want 107: before and after each of 106 ticks", ticks)
}

// TestRecordingErrors changes a recording and checks the errors.
func TestRecordingErrors(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"", "", ""},
		{`"kind":"initial"`, `"kind":"view"`, `recording x: line 1: found a line of kind "view", expected "initial"`},
		{`"map_size":80`, `"map_size":40`, "line 1: found map_size 40, expected 80"},
		{`"Wall":`, `"Wal":`, `properties: found type "Wal"`},
		{`"type":"House"`, `"type":"Hous"`, `line 1: found type "Hous", expected one like "House"`},
		{`"kind":"tick"`, `"kind":"initial"`, `line 2: found a line of kind "initial", expected "tick"`},
		{`"type":"attack"`, `"type":"heal"`, `line 2: found an event of type "heal"`},
		{`"tick":1`, `"tick":2`, "line 2: found tick 2, expected 1"},
		{`"max_tick_count":1000`, `"max_tick_count":0`, "line 2: found tick 1, expected the end: max_tick_count is 0"},
		{`"players":[{"id":1,"index":0,"score":5}]`, `"players":[{"id":3}]`, "found player 3, expected those of the first line"},
		{`"3":{"build"`, `"x":{"build"`, `found key "x", expected the id of an entity`},
		{`"entities_removed":[4]`, `"entities_removed":[4,4]`, "tick 1: entity 4 is removed, but does not exist"},
		{`"entities_removed":[4]`, `"entities_removed":[7]`, "entity 7 is removed, but does not exist"},
		{`"entities_new":[{"id":5`, `"entities_new":[{"id":3`, "entity 3 appears twice"},
		{`"entities_updated":[{"id":3`, `"entities_updated":[{"id":8`, "entity 8 changes, but does not exist"},
		{`"entities_new"`, `entities_new"`, "line 2: invalid character"},
	} {
		t.Run(c.old+" becomes "+c.new, func(t *testing.T) {
			text := strings.Replace(wiretest.OneTick(), c.old, c.new, 1)
			require.Truef(t, c.old == "" || text != wiretest.OneTick(), "%s: not in the text", c.old)
			r, err := NewReader("x", strings.NewReader(text))
			for err == nil {
				err = r.Next()
			}
			if err == io.EOF {
				err = nil
			}
			assert.Truef(t, (c.want != "" || err == nil) && (c.want == "" || err != nil && strings.Contains(err.Error(), c.want)), "%s: error %v, want %q", c.new, err, c.want)
		})
	}
}

// TestRecordingBreaksOff reads a recording whose reader fails in a line. The error must be the
// reader's, not the error of an incomplete line.
func TestRecordingBreaksOff(t *testing.T) {
	text := wiretest.OneTick()
	for _, n := range []int{10, strings.IndexByte(text, '\n') + 20} {
		broken := errors.New("broken disk")
		r, err := NewReader("x", io.MultiReader(strings.NewReader(text[:n]), iotest.ErrReader(broken)))
		if err == nil {
			err = r.Next()
		}
		assert.ErrorIsf(t, err, broken, "after %d bytes", n)
	}
}

// TestWorldErrors reads worlds that are no states.
func TestWorldErrors(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"", "", ""},
		{`{"id":2,"index":1}`, `{"id":2,"index":2}`, "id 2 and index 2"},
		{`{"id":2,"index":1}`, `{"id":1,"index":0}`, "player 1 appears twice"},
		{`[{"id":1,"index":0},{"id":2,"index":1}]`, `[]`, "found 0 players, expected 1 to 4"},
		{`"x":4`, `"x":-1`, "(-1, 5) lies outside of the map"},
		{`"x":4`, `"x":80`, "(80, 5) lies outside of the map"},
		{`"health":9`, `"health":99999`, "health 99999"},
		{`"health":9`, `"health":11`, "its health is 11, expected 1 to 10"},
		{`"player":1,`, ``, "resources, and only they, have no player"},
		{`"player":1,`, `"player":3,`, "player 3, expected 1 to 2"},
		{`"player":null`, `"player":2`, "resources, and only they, have no player"},
		{`"id":3,"player":1`, `"id":99999999,"player":1`, "expected ids up to"},
		{`"y":8,"health":9,"active":true`, `"y":8,"health":9`, "a resource that is not active"},
		{`"Wall":{"size":1`, `"Wall":{"size":6`, "Wall.size is 6, expected 1 to 5"},
		{`"Wall":{`, `"Wall":{"build":{"options":["House","House"]},`, "Wall: build.options: House appears twice"},
		{`"Wall":{`, `"Wall":{"build":{"init_health":0},`, "Wall: build.init_health is 0"},
		{`"Wall":{`, `"Wall":{"repair":{"valid_targets":["House","House"]},`, "Wall: repair.valid_targets: House appears twice"},
		{`"Wall":{"size":1,"max_health":10},`, ``, "found properties of 9 types, expected 10"},
	} {
		t.Run(c.old+" becomes "+c.new, func(t *testing.T) {
			_, _, err := loadState("x", []byte(strings.Replace(wiretest.OneTick(), c.old, c.new, 1)), wiretest.Round1())
			assert.Truef(t, (c.want != "" || err == nil) && (c.want == "" || err != nil && strings.Contains(err.Error(), c.want)), "%s: error %v, want %q", c.new, err, c.want)
		})
	}
}

// TestBlankLines checks that readers skip some blank lines, but not any number of them.
func TestBlankLines(t *testing.T) {
	first, tick, _ := strings.Cut(wiretest.OneTick(), "\n")
	read := func(blank string) (err error) {
		r, err := NewReader("x", strings.NewReader(first+"\n"+blank+tick+blank))
		for err == nil {
			err = r.Next()
		}
		return err
	}
	assert.Equal(t, io.EOF, read(strings.Repeat(" \r\n", 1000)))
	assert.EqualError(t, read(strings.Repeat("\n", 1<<20)), "recording x: line 65538: found more than 65536 bytes of blank lines, expected an object or the end")
}

// TestOrdersOfNobody checks that actions of unknown entities, of resources and of unknown players
// give no orders.
func TestOrdersOfNobody(t *testing.T) {
	rules := wiretest.Round1()
	w := World{Entities: []protocol.Entity{{ID: 5, Type: codecraft.Resource}, {ID: 6, PlayerID: protocol.Some(int32(9)), Type: codecraft.House}, {ID: 7, PlayerID: protocol.Some(int32(2))}}}
	d := Delta{Actions: Changes[protocol.EntityOrder]{New: []protocol.EntityOrder{{ID: 4}, {ID: 5}}, Changed: []protocol.EntityOrder{{ID: 6}, {ID: 7}}}}
	turn := sim.NewTurn(4)
	d.Orders(turn, &w, &rules)
	for p := range sim.Player(4) {
		orders := turn.Orders(p)
		assert.Truef(t, (p == 1 || len(orders) == 0) && (p != 1 || len(orders) == 1 && orders[0] == codecraft.Stop(7)), "player %d: %v", p+1, orders)
	}
}
