package tron_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/features"
	kit "moonfarm/features/tron"
	"moonfarm/sim"
	"moonfarm/sim/tron"
)

// TestFrames: a cycle that runs into the wall and one that runs into a trail crash on
// the side of their cells.
func TestFrames(t *testing.T) {
	g, _ := tron.New(tron.DefaultRules())
	s, err := tron.ParseText(`turn 2
A up
B right
..A.....
..a.....
..a.....
........
........
.....bbB
........
........
`)
	require.NoError(t, err)
	k := kit.Kit(g)
	play := func(b sim.Order) (events []features.Event) {
		turn := sim.NewTurn(1)
		turn.SetOne(1, b)
		after := s
		k.Frames(&after, turn, features.Spectator, func(dst *features.Scene) { events = append(events, dst.Events...) })
		return events
	}
	wall := features.Event{Kind: "crash", X1: 2.5, Y1: 0, X2: 2.5, Y2: 0}
	assert.Equal(t, []features.Event{wall}, play(tron.TurnLeft))
	assert.Equal(t, []features.Event{wall, {Kind: "crash", Owner: 1, X1: 8, Y1: 5.5, X2: 8, Y2: 5.5}}, play(tron.Straight))
	s.Trail[0] |= 1 << (6*8 + 7)
	assert.Equal(t, []features.Event{wall, {Kind: "crash", Owner: 1, X1: 7.5, Y1: 6, X2: 7.5, Y2: 6}}, play(tron.TurnRight))
}
