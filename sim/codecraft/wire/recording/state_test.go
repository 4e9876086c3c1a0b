package recording

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/wire/internal/wiretest"
)

// stateFile returns a state as a state file.
func stateFile(g *codecraft.Game, s *codecraft.State) []byte {
	var w World
	w.Fill(g, s)
	return w.Append(nil)
}

// loadState reads a state file and returns the game and the state, by base with the rules in the file.
func loadState(name string, file []byte, base codecraft.Rules) (*codecraft.Game, *codecraft.State, error) {
	r, err := NewReader(name, bytes.NewReader(file))
	if err != nil {
		return nil, nil, err
	}
	return Restore(&r.World, base)
}

// full is a writer that always fails.
type full struct{}

// Write implements io.Writer.
func (full) Write([]byte) (int, error) { return 0, errors.New("no room") }

// TestWriteErrors checks that a Recorder keeps the first error.
func TestWriteErrors(t *testing.T) {
	rules, _ := codecraft.Preset("finals")
	g, s := wiretest.Battle(t, rules, 1)
	rec := NewRecorder(full{}, g, s)
	g.Tick(s)
	if err := rec.Tick(s); err == nil || !strings.Contains(err.Error(), "no room") || rec.Close() != err {
		t.Errorf("error %v, at the end %v", err, rec.Close())
	}
}

// TestStateLines writes worlds of the recorded game as JSON and reads them again.
func TestStateLines(t *testing.T) {
	r := openRecorded(t)
	for n := 0; r.Next() == nil; n++ {
		if n%20 != 5 {
			continue
		}
		back, err := NewReader("line", bytes.NewReader(r.World.AppendLine(nil)))
		if err != nil || !reflect.DeepEqual(back.World, r.World) {
			t.Fatalf("tick %d: error %v, not the same world", r.World.CurrentTick, err)
		}
	}
}

// FuzzLoadState loads any bytes. A loaded state can be written, loads again as the same state, and
// can be played.
func FuzzLoadState(f *testing.F) {
	f.Add([]byte(wiretest.OneTick()))
	f.Add(shortReplay(f))
	base := wiretest.Round1()
	for _, preset := range []string{"round1-1", "finals"} {
		rules, _ := codecraft.Preset(preset)
		g, s := wiretest.Battle(f, rules, 1)
		var w World
		w.Fill(g, s)
		f.Add(w.Append(nil))
		f.Add(w.AppendLine(nil))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		g, s, err := loadState("x", file, base)
		if err != nil {
			if g != nil || s != nil {
				t.Errorf("game %p, state %p, error %v", g, s, err)
			}
			return
		}
		h, back, err := loadState("again", stateFile(g, s), base)
		if err != nil {
			t.Fatalf("written and loaded again: %v", err)
		}
		if g.Hash(s) != h.Hash(back) || g.Rules() != h.Rules() {
			t.Fatal("written and loaded again it is another state")
		}
		turn := sim.NewTurn(0)
		for range 3 {
			g.Step(s, turn)
			h.Step(back, turn)
		}
		if g.Hash(s) != h.Hash(back) {
			t.Error("loaded again it plays otherwise")
		}
	})
}
