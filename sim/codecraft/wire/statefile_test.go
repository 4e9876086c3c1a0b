package wire

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/prng"
)

// TestStateFile saves states in the middle of games and loads them: they play
// on alike.
func TestStateFile(t *testing.T) {
	for seed, name := range []string{"round1-1", "round1-3", "round2", "finals"} {
		rules, _ := codecraft.Preset(name)
		g, s := battle(t, rules, uint64(seed))
		random := prng.New(uint64(seed))
		turn := sim.NewTurn(1000)
		for range 20 {
			scribble(turn, &rules, s, &random)
			g.Step(s, turn)
		}
		var file bytes.Buffer
		if err := WriteState(&file, g, s); err != nil {
			t.Fatal(err)
		}
		other, _ := codecraft.Preset("finals")
		other.Bonus = rules.Bonus // what the file does not tell
		other.Start = rules.Start
		h, loaded, err := LoadState(name, &file, other)
		if err != nil {
			t.Fatal(err)
		}
		if h.Rules() != rules {
			t.Errorf("%s: other rules", name)
		}
		loaded.Seed = s.Seed
		for range 20 {
			if g.Hash(s) != h.Hash(loaded) {
				t.Fatalf("%s: tick %d is not the same", name, s.Tick)
			}
			scribble(turn, &rules, s, &random)
			g.Step(s, turn)
			h.Step(loaded, turn)
		}
	}
}

// TestStateOfRecording loads the start of the recorded game as a state.
func TestStateOfRecording(t *testing.T) {
	for name, file := range map[string][]byte{"lines": unpack(t, recordedGame), "replay": recordedReplay(t)} {
		g, s, err := LoadState(name, bytes.NewReader(file), codecraft.DefaultRules())
		if err != nil {
			t.Fatal(err)
		}
		if r := g.Rules(); r.Players != 3 || r.Fog || s.N != 21 || s.Resources.Count() != 1560 || s.FirstID != 25 || s.NextID != 1585 {
			t.Errorf("%s: %d players, %d units, %d resources from %d, next %d", name, r.Players, s.N, s.Resources.Count(), s.FirstID, s.NextID)
		}
	}
}

// full is a writer without room.
type full struct{}

// Write implements io.Writer.
func (full) Write([]byte) (int, error) { return 0, errors.New("no room") }

// TestWriteErrors keeps the first error.
func TestWriteErrors(t *testing.T) {
	rules, _ := codecraft.Preset("finals")
	g, s := battle(t, rules, 1)
	if err := WriteState(full{}, g, s); err == nil || !strings.Contains(err.Error(), "no room") {
		t.Errorf("error %v", err)
	}
	rec := NewRecorder(full{}, g, s)
	g.Tick(s)
	if err := rec.Tick(s); err == nil || rec.Close() != err {
		t.Errorf("error %v, at the end %v", err, rec.Close())
	}
}

// TestStateLines writes worlds of the recorded game as JSON and reads them
// again.
func TestStateLines(t *testing.T) {
	r := openRecorded(t)
	for n := 0; r.Next() == nil; n++ {
		if n%20 != 5 {
			continue
		}
		back, err := NewRecording("line", bytes.NewReader(r.World.AppendLine(nil)))
		if err != nil || !reflect.DeepEqual(back.World, r.World) {
			t.Fatalf("tick %d: error %v, not the same world", r.World.CurrentTick, err)
		}
	}
}
