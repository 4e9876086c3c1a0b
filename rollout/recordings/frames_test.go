package recordings_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/features"
	tmkit "moonfarm/features/terminal"
	"moonfarm/rollout/recordings"
	"moonfarm/sim"
	"moonfarm/sim/terminal"
)

// TestFrameEvents compares the scenes of recorded frames with those of the game that
// plays the recording: they have the same units and the same events.
func TestFrameEvents(t *testing.T) {
	file := sampleFile(t, "terminal")
	recorded := read(t, file)
	r, err := terminal.ParseRules([]byte(recorded.Rules))
	require.NoError(t, err)
	g, err := terminal.New(r)
	require.NoError(t, err)
	k, s, orders, frames := tmkit.Kit(g), new(terminal.State), sim.NewTurn(0), 0
	g.Reset(s, recorded.Episode.Seed)
	for i := range recorded.Episode.Turns {
		for p := range sim.Player(2) {
			orders.Set(p, recorded.Episode.OrdersOf(i, p))
		}
		var scenes []features.Scene
		k.Frames(s, orders, features.Spectator, func(dst *features.Scene) { scenes = append(scenes, dst.Clone()) })
		for n := range scenes[1 : len(scenes)-1] {
			want := scenes[n+1].Clone()
			if n == 0 { // the recorded frame has the commands, too
				want.Events = append(slices.Clone(scenes[0].Events), want.Events...)
			}
			got := shown(t, file, recordings.ShowOptions{Round: i, Frame: n}).Scene
			require.Equal(t, want.Title, got.Title)
			require.Equal(t, want.Entities, got.Entities, want.Title)
			require.ElementsMatch(t, want.Events, got.Events, want.Title)
			frames++
		}
	}
	assert.Greater(t, frames, 10)
}
