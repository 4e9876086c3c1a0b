package stepper_test

import (
	"errors"
	"strings"
	"testing"

	"moonfarm/env"
	"moonfarm/rollout/stepper"
)

// TestAppendText draws games of several parts. A number without a game and a
// game that is under way are errors.
func TestAppendText(t *testing.T) {
	c := config(t, "tron", 48, 0, "empty")
	c.Autoreset = env.Disabled
	c.Workers, c.Batch = 2, 24
	s, b := open(t, c)
	mask := make([]bool, 48)
	mask[17], mask[40] = true, true
	for row := range b.Action {
		b.Action[row] = -1 // go on, so that no game ends
	}
	if err := s.Step(); err != nil {
		t.Fatal(err)
	}
	if err := s.Reset(nil, mask); err != nil {
		t.Fatal(err)
	}
	for i := range mask {
		want := "game turn 1\n"
		if mask[i] {
			want = "game turn 0\n"
		}
		if text, err := s.AppendText([]byte("game "), i); err != nil || !strings.HasPrefix(string(text), want) {
			t.Errorf("game %d: %q, %v, want %q", i, text, err, want)
		}
	}
	if text, err := s.AppendText(nil, 48); err == nil {
		t.Errorf("game 48 of 48: %q", text)
	}
	if err := s.Send(1); err != nil {
		t.Fatal(err)
	}
	var state stepper.StateError
	if _, err := s.AppendText(nil, 24); !errors.As(err, &state) {
		t.Errorf("a game that is under way: %v", err)
	}
	if _, err := s.AppendText(nil, 23); err != nil {
		t.Error(err)
	}
	if _, err := s.Recv(-1); err != nil {
		t.Fatal(err)
	}
}

// TestPlainVectors: a Vector without text and snapshots is an error, not a
// panic.
func TestPlainVectors(t *testing.T) {
	c := config(t, "tron", 2, 0, "empty")
	made := c.Vector
	c.Vector = func(c env.Settings) (env.Vector, error) {
		v, err := made(c)
		return struct{ env.Vector }{v}, err
	}
	s, _ := open(t, c)
	saved, err := s.AppendSnapshot([]byte("kept"), 1)
	if wantError(t, "AppendSnapshot", err, false, "no snapshots"); string(saved) != "kept" {
		t.Errorf("AppendSnapshot: %q", saved)
	}
	text, err := s.AppendText([]byte("kept"), 1)
	if wantError(t, "AppendText", err, false, "no text"); string(text) != "kept" {
		t.Errorf("AppendText: %q", text)
	}
}
