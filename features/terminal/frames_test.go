package terminal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/features"
	"moonfarm/features/featuretest"
	"moonfarm/sim"
	"moonfarm/sim/prng"
	"moonfarm/sim/simtest"
	tm "moonfarm/sim/terminal"
	"moonfarm/sim/terminal/wire/frame"
	"moonfarm/sim/terminal/wire/replay"
)

// counted has the entities of a scene, and the sums of its events by owner and kind.
type counted struct {
	entities map[featuretest.OwnedKind]int
	events   map[featuretest.OwnedKind]float64
}

var mobileNames = []string{"scout", "demolisher", "interceptor"}

func countScene(s *features.Scene) counted {
	c := counted{featuretest.CountEntities(s, mobileNames...), map[featuretest.OwnedKind]float64{}}
	for _, e := range s.Events {
		c.events[featuretest.OwnedKind{Owner: int(e.Owner), Kind: e.Kind}] += float64(e.Amount)
	}
	return c
}

// countEvents counts the events of a frame, without the scene's code.
func countEvents(f *frame.Events) map[featuretest.OwnedKind]float64 {
	sums := map[featuretest.OwnedKind]float64{}
	add := func(kind string, p sim.Player, amount float32) {
		sums[featuretest.OwnedKind{Owner: int(p), Kind: kind}] += float64(amount)
	}
	for _, e := range f.Spawns {
		switch e.Kind {
		case tm.Upgrade:
			add("upgrade", e.Player, 1)
		case tm.Removal:
			add("removal", e.Player, 1)
		default:
			add("spawn", e.Player, 1)
		}
	}
	for _, e := range f.Breaches {
		add("breach", e.Player, e.Damage)
	}
	for _, e := range f.Shields {
		add("shield", e.Player, e.Amount)
	}
	for _, e := range f.SelfDestructs {
		add("self-destruct", e.Player, float32(e.Count)*e.Damage)
	}
	for _, e := range f.Attacks {
		add("attack", e.Player, e.Damage)
	}
	for _, e := range f.Damages {
		add("damage", e.Player, e.Damage)
	}
	died := map[uint32]bool{}
	for _, e := range f.Deaths {
		switch {
		case e.Removed:
			add("removed", e.Player, 1)
		case !died[e.ID]:
			add("death", e.Player, 1)
		}
		died[e.ID] = true
	}
	return sums
}

// merge adds sums to others.
func merge(a, b map[featuretest.OwnedKind]float64) map[featuretest.OwnedKind]float64 {
	for k, n := range b {
		a[k] += n
	}
	return a
}

// sameSums compares sums of amounts, which are rounded in the order of the events.
func sameSums(t *testing.T, want, got map[featuretest.OwnedKind]float64, where string) {
	t.Helper()
	if len(want) != len(got) {
		t.Fatalf("%s: events %v, want %v", where, got, want)
	}
	for k, n := range want {
		if d := got[k] - n; d > 1e-3*(1+n) || d < -1e-3*(1+n) {
			t.Fatalf("%s: %v has %v, want %v", where, k, got[k], n)
		}
	}
}

// TestSceneFrames compares the scenes of random turns with a game that is played
// frame by frame and with its Record.
func TestSceneFrames(t *testing.T) {
	r := rules(t, "2022")
	k, twin := Kit(newGame(t, r)), newGame(t, r)
	random, turn := prng.New(4), sim.NewTurn(tm.PlayoutOrders)
	seen := map[string]bool{}
	smooth := 0
	g := newGame(t, r)
	visit(g, 12, 60, func(s *tm.State) {
		for p := range sim.Player(2) {
			turn.Set(p, g.Playout(nil, s, p, &random))
		}
		if s.Turn == 0 { // the unit is walled in and explodes
			turn.Set(0, []sim.Order{tm.Place(tm.Wall, 13, 1), tm.Place(tm.Wall, 14, 0), tm.Spawn(tm.Interceptor, 13, 0, 1)})
		}
		var record tm.Record
		twin.Record(&record)
		want, got := *s, *s
		twin.Deploy(&want, turn)
		at, more, ended := -1, true, false
		last := map[uint32]tm.Pos{}
		k.Frames(&got, turn, features.Spectator, func(dst *features.Scene) {
			var events frame.Events
			switch {
			case at < 0:
				events.Spawns = record.Spawns
			case more:
				more = twin.Frame(&want)
				f := record.Frame(at)
				events.Events = f
				events.Spawns = nil
			default:
				twin.Restore(&want)
				events.Deaths, ended = record.Removed, true
			}
			entities := map[featuretest.OwnedKind]int{}
			ids := map[uint32]tm.Pos{}
			for p := range sim.Player(2) {
				pieces := want.AppendStructures(nil, p)
				if !ended {
					pieces = twin.AppendMobile(pieces, p)
				}
				for _, c := range pieces {
					entities[featuretest.OwnedKind{Owner: int(p), Kind: c.Kind.String()}]++
					ids[c.ID] = c.At
				}
			}
			c := countScene(dst)
			require.Equal(t, entities, c.entities, "turn %d, %s", s.Turn, dst.Title)
			sameSums(t, countEvents(&events), c.events, dst.Title)
			for _, e := range dst.Entities {
				at := tm.Pos{X: uint8(e.X), Y: uint8(e.Y)}
				require.Equal(t, ids[e.ID], at, "the id of %+v", e)
				if before, ok := last[e.ID]; ok && before != at {
					smooth++
				}
				last[e.ID] = at
			}
			for _, e := range dst.Events {
				seen[e.Kind] = true
			}
			at++
		})
		twin.Record(nil)
		require.True(t, ended && !more, "the turn has a scene for each frame")
		require.Equal(t, "", simtest.Diff(&want, &got))
	})
	assert.Positive(t, smooth, "entities that move from one scene to the next")
	for _, kind := range []string{"spawn", "upgrade", "removal", "breach", "shield", "self-destruct", "attack", "damage", "death"} {
		assert.True(t, seen[kind], "no %s", kind)
	}
}

// TestAddEvents adds up the amounts of units that do the same, and draws an
// explosion without targets at its own cell.
func TestAddEvents(t *testing.T) {
	at, wall := tm.Pos{X: 13, Y: 0}, tm.Pos{X: 13, Y: 3}
	var dst features.Scene
	dst.Begin(tm.Side, tm.Side)
	AddEvents(&dst, &tm.Events{
		Spawns:  []tm.SpawnEvent{{At: at, Kind: tm.Scout, ID: 1}, {At: at, Kind: tm.Scout, ID: 2}, {At: wall, Kind: tm.Removal, Player: 1, ID: 3}},
		Attacks: []tm.AttackEvent{{From: at, To: wall, Kind: tm.Scout, ID: 1, Target: 3, Damage: 2}, {From: at, To: wall, Kind: tm.Scout, ID: 2, Target: 3, Damage: 2}},
		SelfDestructs: []tm.SelfDestructEvent{
			{At: at, Kind: tm.Scout, ID: 1, Damage: 15}, {At: at, Kind: tm.Scout, ID: 2, Damage: 15, First: 0, Count: 1},
		},
		Targets: []tm.Pos{wall},
		Deaths:  []tm.DeathEvent{{At: at, Kind: tm.Scout, ID: 1}, {At: at, Kind: tm.Scout, ID: 1, Repeated: true}},
	})
	assert.Equal(t, []features.Event{
		{Kind: "spawn", X1: 13.5, Y1: 0.5, X2: 13.5, Y2: 0.5, Amount: 2, Note: "scout"},
		{Kind: "removal", Owner: 1, X1: 13.5, Y1: 3.5, X2: 13.5, Y2: 3.5, Amount: 1},
		{Kind: "self-destruct", X1: 13.5, Y1: 0.5, X2: 13.5, Y2: 0.5, Note: "scout"},
		{Kind: "self-destruct", X1: 13.5, Y1: 0.5, X2: 13.5, Y2: 3.5, Amount: 15, Note: "scout"},
		{Kind: "attack", X1: 13.5, Y1: 0.5, X2: 13.5, Y2: 3.5, Amount: 4, Note: "scout"},
		{Kind: "death", X1: 13.5, Y1: 0.5, X2: 13.5, Y2: 0.5, Amount: 1, Note: "scout"},
	}, dst.Events)
}

// TestRecordedSceneFrames plays recordings by their orders and compares the entities
// and events of the scenes with those of the recorded frames: of all recordings if
// MOONFARM_LONG is set, else of every fifteenth. It leaves out recordings that cannot
// be read, those that differ when they are played here, and those of 2018 and 2019,
// whose events have other entries.
func TestRecordedSceneFrames(t *testing.T) {
	var names []string
	for _, folder := range []string{"terminal", "terminal-edge", "terminal-more"} {
		names = append(names, simtest.SharedFiles(t, "replays", folder, "*.replay.gz")...)
	}
	frames, drawn, tried := 0, 0, 0
	for i, name := range names {
		if i%15 != 0 && os.Getenv("MOONFARM_LONG") == "" {
			continue
		}
		text := simtest.Text(t, name)
		m, report, err := replay.Verify(filepath.Base(name), bytes.NewReader(text), nil)
		if tried++; err != nil || report.Different > 0 || m.Config.Rules.OldIDs {
			continue
		}
		recorded, err := replay.NewReader(filepath.Base(name), bytes.NewReader(text))
		require.NoError(t, err)
		frames += sameFrames(t, m, recorded)
		drawn++
	}
	t.Logf("%d frames of %d of %d recordings", frames, drawn, tried)
	assert.Greater(t, drawn*10, tried*6)
	assert.Positive(t, frames)
}

// sameFrames plays a match and returns the number of frames.
func sameFrames(t *testing.T, m *replay.Match, recorded *replay.Reader) (frames int) {
	g := newGame(t, m.Config.Rules)
	k := Kit(g)
	var s tm.State
	g.Reset(&s, 0)
	turn := sim.NewTurn(64)
	for i := range m.Turns {
		var scenes []counted
		m.Turn(turn, i)
		k.Frames(&s, turn, features.Spectator, func(dst *features.Scene) { scenes = append(scenes, countScene(dst)) })
		require.Greater(t, len(scenes), 2)
		for n := 0; n < len(scenes)-2; {
			var f frame.Frame
			if err := recorded.Next(&f); errors.Is(err, io.EOF) {
				return frames // it broke off
			} else {
				require.NoError(t, err)
			}
			if f.Phase != frame.PhaseAction {
				continue
			}
			require.True(t, f.Turn == i && f.Number == n, "turn %d frame %d is recorded as turn %d frame %d", i, n, f.Turn, f.Number)
			c := scenes[n+1]
			if n == 0 {
				c.events = merge(c.events, scenes[0].events)
			}
			entities := map[featuretest.OwnedKind]int{}
			for p := range f.Units {
				for kind, units := range f.Units[p][:tm.Kinds] {
					if len(units) > 0 {
						entities[featuretest.OwnedKind{Owner: p, Kind: tm.Kind(kind).String()}] = len(units)
					}
				}
			}
			if !maps.Equal(entities, c.entities) {
				t.Errorf("turn %d frame %d: entities %v, recorded %v", i, n, c.entities, entities)
				return frames
			}
			sameSums(t, countEvents(&f.Events), c.events, fmt.Sprintf("turn %d frame %d", i, n))
			n++
			frames++
		}
	}
	return frames
}
