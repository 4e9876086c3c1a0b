package recording

import (
	"bytes"
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

// recordedReplay returns the recorded game as a replay file of the original; the recording was
// decoded from such a file.
func recordedReplay(t testing.TB) []byte {
	t.Helper()
	r := openRecorded(t)
	file := r.World.Append(nil)
	for r.Next() == nil {
		file = r.Delta.Append(file, r.Events)
	}
	return file
}

// TestReplayFile writes the recorded game as a replay file, reads this and compares the games.
// Written again, the game must have the same bytes.
func TestReplayFile(t *testing.T) {
	file := recordedReplay(t)
	want := openRecorded(t)
	got, err := NewReader("replay", iotest.OneByteReader(bytes.NewReader(file)))
	require.NoError(t, err)
	again := got.World.Append(nil)
	for ticks := 0; ; ticks++ {
		require.Equalf(t, want.World, got.World, "before tick %d: not the same world", ticks)
		err, err2 := want.Next(), got.Next()
		require.Truef(t, err == err2, "%v %v", err, err2)
		if err == io.EOF {
			assert.Equalf(t, 106, ticks, "%d ticks, want 106", ticks)
			break
		}
		again = got.Delta.Append(again, got.Events)
		require.Truef(t, reflect.DeepEqual(want.Events, got.Events) && sameDelta(&want.Delta, &got.Delta), "tick %d is not the same", ticks)
	}
	assert.True(t, bytes.Equal(again, file), "written again the file has other bytes")
}

// sameDelta compares two deltas; nil and empty lists are equal.
func sameDelta(a, b *Delta) bool {
	return bytes.Equal(a.Append(nil, nil), b.Append(nil, nil))
}

// TestReplayLayout compares a replay file with the layout, number by number.
func TestReplayLayout(t *testing.T) {
	w := World{
		NextID: 7, Header: protocol.Header{MapSize: 80, FogOfWar: true, MaxTickCount: 1000, MaxPathfindNodes: 900, CurrentTick: 3}, Reserved: -1,
		Players: []PlayerRecord{{1, 0, 50, 60}},
		Entities: []protocol.Entity{
			{ID: 5, PlayerID: protocol.Some(int32(1)), Type: codecraft.House, X: 8, Y: 9, Health: 10, Active: true},
			{ID: 6, Type: codecraft.Resource, X: 1, Y: 2, Health: 3, Active: true},
		},
		Actions: []protocol.EntityOrder{{ID: 5, EntityAction: protocol.EntityAction{Repair: protocol.Some(protocol.RepairAction{Target: 6})}}},
	}
	n := func(list ...int32) (b []byte) {
		for _, v := range list {
			b = protocol.AppendNumber(b, v)
		}
		return b
	}
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	one, zero := []byte{1}, []byte{0}
	house := join(n(5), one, n(1, 1, 8, 9, 10), one)
	vein := join(n(6), zero, n(8, 1, 2, 3), one)
	repairs := join(n(5), zero, zero, zero, one, n(6))
	state := join(n(7, 80), one, n(0), n(1000, 900, 3, -1), n(1, 1, 1, 0, 50, 60), n(2, 5), house, n(6), vein, n(1), repairs)
	got := w.Append(nil)
	assert.Truef(t, bytes.Equal(got, state), "the state is\n%v, want\n%v", got, state)
	d := Delta{NextID: 9, Header: protocol.Header{MapSize: 80, FogOfWar: true, MaxTickCount: 1000, MaxPathfindNodes: 900, CurrentTick: 4}, Reserved: -1}
	d.Players.Changed = w.Players
	d.Entities = Changes[protocol.Entity]{New: w.Entities[:1], Removed: []int32{3, 4}, Changed: w.Entities[1:]}
	d.Actions = Changes[protocol.EntityOrder]{New: w.Actions, Removed: []int32{3}, Changed: w.Actions}
	tick := join(n(1, 0, 5, 6), n(9, 80), one, n(1000, 900, 4, -1),
		n(0), n(0), n(1, 1, 1, 0, 50, 60),
		n(1), house, n(2, 3, 4), n(1, 6), vein,
		n(1), repairs, n(1, 3), n(1, 5), repairs)
	got = d.Append(nil, []Event{{5, 6}})
	assert.Truef(t, bytes.Equal(got, tick), "the tick is\n%v, want\n%v", got, tick)
	r, err := NewReader("x", bytes.NewReader(join(state, tick)))
	if err != nil || !reflect.DeepEqual(r.World.Entities, w.Entities) || !reflect.DeepEqual(r.World.Actions, w.Actions) {
		t.Fatalf("error %v, world %+v", err, r.World)
	}
	if err := r.Next(); err != nil || !reflect.DeepEqual(r.Delta, d) {
		t.Errorf("error %v, delta %+v, want %+v", err, r.Delta, d)
	}
}

// TestReplayEnds cuts a replay file at every byte of its two ticks. Only the cuts between ticks
// give complete files.
func TestReplayEnds(t *testing.T) {
	file := shortReplay(t)
	whole := 0
	for n := range len(file) + 1 {
		r, err := NewReader("cut", bytes.NewReader(file[:n]))
		for err == nil {
			err = r.Next()
		}
		if err == io.EOF {
			whole++
		} else if !strings.HasPrefix(err.Error(), "recording cut: ") {
			t.Fatalf("cut at %d: error %v", n, err)
		}
	}
	assert.Equalf(t, 3, whole, "whole at %d places, want 3: before and after each of 2 ticks", whole)
}

// shortReplay returns a replay file of two ticks with few entities.
func shortReplay(t testing.TB) []byte {
	t.Helper()
	r := codecraft.DefaultRules()
	r.Generator.MinShare, r.Generator.MaxShare = 1, 1
	g, s := wiretest.NewGame(t, r), new(codecraft.State)
	g.Reset(s, 1)
	var b bytes.Buffer
	rec := NewRecorder(&b, g, s)
	turn := sim.NewTurn(4)
	turn.Set(0, []sim.Order{codecraft.Move(4, 20, 20, true, false), codecraft.Build(3, codecraft.BuilderUnit, 10, 7)})
	turn.Set(1, []sim.Order{codecraft.Move(6, 95, 20, true, true), codecraft.And(codecraft.Auto(6, 10, 0)), codecraft.Stop(5)})
	for range 2 {
		g.Step(s, turn)
		require.NoError(t, rec.Tick(s))
		turn.Clear()
	}
	require.NoError(t, rec.Close())
	return b.Bytes()
}

// TestReplayRefused reads bytes that are no replay file.
func TestReplayRefused(t *testing.T) {
	for want, file := range map[string][]byte{
		"next_id: EOF":                                  nil,
		"map_size: found 81, expected 80":               protocol.AppendNumber(protocol.AppendNumber(nil, 5), 81),
		"fog_of_war: found byte 2, expected 0 or 1":     append(protocol.AppendNumber(protocol.AppendNumber(nil, 5), 80), 2),
		"entities: found 65536, expected at most 32768": manyEntities(),
		"found id 2 under key 1":                        twoIDs(),
	} {
		t.Run(want, func(t *testing.T) {
			_, err := NewReader("x", bytes.NewReader(file))
			assert.ErrorContains(t, err, want)
		})
	}
}

// manyEntities returns a state whose count of entities is above the limit.
func manyEntities() []byte {
	w := World{Header: protocol.Header{MapSize: 80}}
	b := w.Append(nil)
	b = b[:len(b)-8] // without the counts of entities and actions
	return protocol.AppendNumber(b, 1<<16)
}

// TestReplayLimit reads a state with more bytes than the limit.
func TestReplayLimit(t *testing.T) {
	w := World{Header: protocol.Header{MapSize: 80}, EntityProperties: make([]protocol.TypeProperties, maxBytes/40)}
	_, err := NewReader("x", bytes.NewReader(w.Append(nil)))
	assert.ErrorContains(t, err, "bytes that are allowed")
}

// twoIDs returns a state with a player under the key of another.
func twoIDs() []byte {
	w := World{Header: protocol.Header{MapSize: 80}, Players: []PlayerRecord{{1, 0, 0, 0}}}
	b := w.Append(nil)
	b[len(b)-8-16] = 2 // the id after the key
	return b
}

// FuzzRecording reads any bytes. A recording that can be read must have the same bytes when it is
// written again, and its states must either be states of a game or give an error.
func FuzzRecording(f *testing.F) {
	f.Add([]byte(wiretest.OneTick()))
	f.Add(shortReplay(f))
	f.Fuzz(func(t *testing.T, file []byte) {
		r, err := NewReader("x", bytes.NewReader(file))
		if err != nil {
			return
		}
		again := r.World.Append(nil)
		for ticks := 0; ; ticks++ {
			rules, err := r.World.Rules(wiretest.Round1())
			if err == nil {
				var p codecraft.Position
				if err := r.World.Position(&p, &rules); err == nil {
					if g, err := codecraft.New(rules); err == nil && ticks == 0 {
						g.Restore(new(codecraft.State), &p)
					}
				}
			}
			if err := r.Next(); err != nil {
				break
			}
			again = r.Delta.Append(again, r.Events)
		}
		if r.lines == nil && !bytes.HasPrefix(file, again) {
			t.Errorf("read and written again it differs")
		}
	})
}
