package wire

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"

	"moonfarm/sim"
	"moonfarm/sim/codecraft"
)

// loggedMessages are raw messages as the client of a fogged game of two players logs
// them: three GetAction with a DebugUpdate between them, then Finish.
func loggedMessages(t testing.TB) []byte {
	t.Helper()
	r, _ := codecraft.Preset("finals")
	r.Generator.MinShare, r.Generator.MaxShare = 1, 1 // a small map
	g, s := newGame(t, r), new(codecraft.State)
	g.Reset(s, 3)
	var m ServerMessage
	var log []byte
	for tick := range 3 {
		m.Kind = GetAction
		View(&m.View, g, s, 1)
		log = m.Append(log)
		if tick == 1 {
			m.Kind = DebugUpdate
			log = m.Append(log)
		}
		g.Step(s, new(sim.Turn))
	}
	return (&ServerMessage{Kind: Finish}).Append(log)
}

// TestRawMessages reads messages as bots log them: raw, one or several in a file.
func TestRawMessages(t *testing.T) {
	log := loggedMessages(t)
	if k := KindOf(log[:64]); k != HoldsMessages {
		t.Fatalf("the kind is %q, want %q", k, HoldsMessages)
	}
	r, err := Verify("x", bytes.NewReader(log), round1())
	if err != nil || r.First != nil || r.Messages != 5 || r.Views != 4 {
		t.Errorf("error %v, first %v, report %+v, want 5 messages with 4 views", err, r.First, r)
	}
	in := NewMessageReader("x", bytes.NewReader(log))
	var m ServerMessage
	var again []byte
	for {
		if err := in.Next(&m); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		again = append(again, in.Bytes()...)
	}
	if !bytes.Equal(again, log) {
		t.Error("the bytes of the messages are not those of the file")
	}
	for cut, want := range map[int]string{len(log) - 2: "messages x: message 5: byte ", len(log) / 2: "messages x: message 3: byte "} {
		r, err := Verify("x", bytes.NewReader(log[:cut]), round1())
		if err == nil || !strings.Contains(err.Error(), want) || r.Messages == 0 {
			t.Errorf("cut at %d: error %v, %+v, want %q and the messages before", cut, err, r, want)
		}
	}
}

// TestSharedRawMessages reads the recorded messages as raw files, alone and behind each
// other.
func TestSharedRawMessages(t *testing.T) {
	var all []byte
	count := 0
	for line := range bytes.Lines(unpack(t, "raw-getaction-messages.jsonl.gz")) {
		var l struct{ Base64 string }
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatal(err)
		}
		raw, err := base64.StdEncoding.DecodeString(l.Base64)
		if err != nil {
			t.Fatal(err)
		}
		if k := KindOf(raw[:64]); k != HoldsMessages {
			t.Errorf("message %d: the kind is %q", count, k)
		}
		all = append(all, raw...)
		count++
	}
	r, err := Verify("all", bytes.NewReader(all), round1())
	if err != nil || r.First != nil || r.Messages != count || r.Views != count {
		t.Errorf("error %v, first %v, report %+v, want %d messages", err, r.First, r, count)
	}
}

// sameView checks that a state made of a view shows the same to its player.
func sameView(t *testing.T, v *PlayerView) (*codecraft.Game, *codecraft.State) {
	t.Helper()
	g, s, err := StateOfView(v, codecraft.DefaultRules())
	if err != nil {
		t.Fatal(err)
	}
	if d := viewDiffers(v, g, s); d != nil {
		t.Errorf("%.300v", d)
	}
	return g, s
}

// viewDiffers finds what the player of a view sees otherwise in a state.
func viewDiffers(v *PlayerView, g *codecraft.Game, s *codecraft.State) *Difference {
	var seen PlayerView
	View(&seen, g, s, sim.Player(v.MyID-1))
	if len(v.EntityProperties) == 0 {
		seen.EntityProperties = nil
	}
	want := *v
	want.Entities = slices.Clone(v.Entities)
	sortByID(want.Entities, entityID)
	return viewsDiffer(&want, &seen)
}

// TestStateOfView makes states of views: the view of such a state is the same, and
// under fog others are assumed to be where they are not seen.
func TestStateOfView(t *testing.T) {
	for _, preset := range []string{"round1", "round2", "finals"} {
		r, _ := codecraft.Preset(preset)
		g, s := newGame(t, r), new(codecraft.State)
		g.Reset(s, 9)
		for p := range sim.Player(r.Players) {
			var v PlayerView
			View(&v, g, s, p)
			made, state := sameView(t, &v)
			if made.Over(state) {
				t.Errorf("%s: the game of player %d is over", preset, p+1)
			}
			for q := range sim.Player(r.Players) {
				if !made.Lives(state, q) {
					t.Errorf("%s: to player %d, player %d is not in the game", preset, p+1, q+1)
				}
				x, y := r.StartPlace(codecraft.BuilderBase, q)
				if !state.Occupied.Has(x, y) {
					t.Errorf("%s: to player %d nothing stands at the start of player %d", preset, p+1, q+1)
				}
			}
			if made.Step(state, new(sim.Turn)) != sim.Running {
				t.Errorf("%s: the game ends after a tick", preset)
			}
		}
	}
}

// TestStateOfViewStartSeen has a player whose start is in sight and empty: it is
// assumed to have a unit in the nearest cell that is not seen.
func TestStateOfViewStartSeen(t *testing.T) {
	r, _ := codecraft.Preset("finals")
	g := newGame(t, r)
	p := codecraft.Position{NextID: 4, Units: []codecraft.Unit{
		{ID: 1, Health: 10, X: 72, Y: 72, Type: codecraft.BuilderUnit, Owner: 0, Active: true},
		{ID: 2, Health: 10, X: 70, Y: 66, Type: codecraft.BuilderUnit, Owner: 0, Active: true},
	}}
	s := new(codecraft.State)
	if err := g.Restore(s, &p); err != nil {
		t.Fatal(err)
	}
	var v PlayerView
	View(&v, g, s, 0)
	_, state := sameView(t, &v)
	if state.N != 3 || state.Units[2].Type != codecraft.BuilderUnit || state.Units[2].Owner != 1 || state.Units[2].X < 70 || state.Units[2].Y < 70 {
		t.Errorf("%d units, the last %+v, want a builder unit of player 2 near its corner", state.N, state.Units[state.N-1])
	}
}

// TestStateOfSharedViews does the same with all recorded views.
func TestStateOfSharedViews(t *testing.T) {
	views := 0
	for _, file := range append(viewFiles(t), "raw-getaction-messages.jsonl.gz") {
		err := EachView(file, bytes.NewReader(unpack(t, file)), func(v *PlayerView) error {
			g, s := sameView(t, v)
			if g.Over(s) {
				t.Errorf("%s, tick %d: the game is over", file, v.CurrentTick)
			}
			views++
			return nil
		})
		if err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	if views != 92 {
		t.Errorf("%d views, want 92", views)
	}
}

// TestStateOfViewRefused has views that lie.
func TestStateOfViewRefused(t *testing.T) {
	good := func() PlayerView {
		r, _ := codecraft.Preset("round2")
		g, s := newGame(t, r), new(codecraft.State)
		g.Reset(s, 9)
		var v PlayerView
		View(&v, g, s, 0)
		return v
	}
	for want, change := range map[string]func(v *PlayerView){
		"my_id is 7":              func(v *PlayerView) { v.MyID = 7 },
		"map_size is 79":          func(v *PlayerView) { v.MapSize = 79 },
		"has id 9":                func(v *PlayerView) { v.Players[1].ID = 9 },
		"tick -5":                 func(v *PlayerView) { v.CurrentTick = -5 },
		"health -3":               func(v *PlayerView) { v.Entities[0].Health = -3 },
		"lies outside of the map": func(v *PlayerView) { v.Entities[0].X = 80 },
		"player 5, want 1 to":     func(v *PlayerView) { v.Entities[0].PlayerID = Some[int32](5) },
		"want ids up to":          func(v *PlayerView) { v.Entities[0].ID = 1 << 30 },
		"overlaps":                func(v *PlayerView) { v.Entities[1] = v.Entities[0]; v.Entities[1].ID++ },
		"max_tick_count is 0":     func(v *PlayerView) { v.MaxTickCount = 0 },
		"score -1":                func(v *PlayerView) { v.Players[0].Score = -1 },
		"does not see it": func(v *PlayerView) {
			last := &v.Entities[len(v.Entities)-1]
			last.X, last.Y = 79, 79
		},
	} {
		v := good()
		change(&v)
		if _, _, err := StateOfView(&v, codecraft.DefaultRules()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// TestReadView reads a view in the forms that clients have it.
func TestReadView(t *testing.T) {
	r, _ := codecraft.Preset("finals")
	g, s := newGame(t, r), new(codecraft.State)
	g.Reset(s, 3)
	m := ServerMessage{Kind: GetAction}
	View(&m.View, g, s, 1)
	base := base64.StdEncoding.EncodeToString(m.Append(nil))
	for name, text := range map[string][]byte{
		"a message":           m.Append(nil),
		"a debug update":      (&ServerMessage{Kind: DebugUpdate, View: m.View}).Append(nil),
		"a view alone":        m.View.append(nil),
		"a line":              m.View.AppendLine(nil),
		"a line of a message": []byte(`{"kind":"raw_get_action","base64":"` + base + `"}`),
	} {
		v, err := ReadView(text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !bytes.Equal(v.append(nil), m.View.append(nil)) {
			t.Errorf("%s: another view", name)
		}
		if _, err := ReadView(append(bytes.Clone(text), text...)); err == nil {
			t.Errorf("%s: two are taken for one", name)
		}
		if _, err := ReadView(text[:len(text)*2/3]); err == nil {
			t.Errorf("%s: the beginning is taken for the whole", name)
		}
	}
	for text, want := range map[string]string{
		"": "view: byte 0: my_id: EOF", "\x01\x00\x00\x00": "view: byte 0: my_id: ", `{"kind":"tick"}`: "want \"raw_get_action\"",
	} {
		if _, err := ReadView([]byte(text)); err == nil {
			t.Errorf("%q is taken, want %s", text, want)
		}
	}
}

// FuzzStateOfView makes states of anything that is a message: the state shows what
// the view shows, and can be played.
func FuzzStateOfView(f *testing.F) {
	f.Add(loggedMessages(f)[:1400]) // one message, and the beginning of another
	f.Fuzz(func(t *testing.T, text []byte) {
		EachView("x", bytes.NewReader(text), func(v *PlayerView) error {
			g, s, err := StateOfView(v, codecraft.DefaultRules())
			if err != nil {
				return nil
			}
			if d := viewDiffers(v, g, s); d != nil {
				t.Errorf("%.300v", d)
			}
			if s.Tick < g.Rules().MaxTurns {
				g.Step(s, new(sim.Turn))
			}
			return nil
		})
	})
}
