package stepper_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/features"
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
	require.NoError(t, s.Step())
	require.NoError(t, s.Reset(nil, mask))
	for i := range mask {
		want := "game turn 1\n"
		if mask[i] {
			want = "game turn 0\n"
		}
		text, err := s.AppendText([]byte("game "), i)
		require.NoErrorf(t, err, "game %d: %q", i, text)
		assert.Truef(t, strings.HasPrefix(string(text), want), "game %d: %q, want %q", i, text, want)
	}
	text, err := s.AppendText(nil, 48)
	assert.Errorf(t, err, "game 48 of 48: %q", text)
	var scene features.Scene
	for i := range mask {
		require.NoError(t, s.Scene(&scene, i, features.Spectator))
		want := "turn 1"
		if mask[i] {
			want = "turn 0"
		}
		assert.Equal(t, want, scene.Title)
	}
	assert.Error(t, s.Scene(&scene, 48, features.Spectator))
	assert.ErrorContains(t, s.Scene(&scene, 0, 2), "seat 2: expected -1 to 1")
	assert.ErrorContains(t, s.Scene(&scene, 0, -2), "seat -2: ")
	require.NoError(t, s.Send(1))
	var state stepper.StateError
	_, err = s.AppendText(nil, 24)
	assert.ErrorAsf(t, err, &state, "a game that is under way: %v", err)
	assert.ErrorAs(t, s.Scene(&scene, 24, 0), &state)
	_, err = s.AppendText(nil, 23)
	assert.NoError(t, err)
	_, err = s.Recv(-1)
	require.NoError(t, err)
}
