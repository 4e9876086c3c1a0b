package blocks_test

import (
	"math"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/features"
	"moonfarm/rollout/view/picture/blocks"
)

// sequence is a change of colours.
var sequence = regexp.MustCompile("\x1b\\[[0-9;]*m")

// lines returns the lines of a scene without colours.
func lines(s *features.Scene, columns int) []string {
	text := sequence.ReplaceAllString(string(blocks.Append(nil, s, columns)), "")
	return strings.Split(strings.TrimSuffix(text, "\x1b[K\n"), "\x1b[K\n") // each clears the rest of its line
}

// scene returns a board of 4 by 3 cells.
func scene() *features.Scene {
	s := &features.Scene{Width: 4, Height: 3, Title: "round 3"}
	s.Areas = []features.Area{{Owner: 0, Width: 2, Height: 3}, {Owner: 1, X: 2, Width: 2, Height: 3}}
	s.Entities = []features.Entity{
		{Kind: "attack", Letter: "A", Owner: 0, X: 0, Y: 1, Width: 1, Height: 1, Health: 1},
		{Kind: "energy", Letter: "E", Owner: 1, X: 3, Y: 0, Width: 1, Height: 1, Health: 0.3},
		{Kind: "base", Letter: "B", Owner: 1, X: 2, Y: 1, Width: 2, Height: 2, Health: 1},
		{Kind: "missile", Outline: features.ToRight, Owner: 0, X: 0.3, Y: 1, Width: 0.3, Height: 0.3},
		{Kind: "missile", Outline: features.ToLeft, Owner: 1, X: 1.3, Y: 2.5, Width: 0.3, Height: 0.3, Number: 2},
	}
	s.Stats = []features.Stat{{Name: "health", Seat: 0, Value: 100}, {Name: "own_energy", Seat: 1, Value: 20.126}}
	return s
}

// TestLetters: a small board has two characters a cell, a larger one half a line.
func TestLetters(t *testing.T) {
	s := scene()
	want := []string{"round 3", "      E'", "A›  B   ", "  ‹2    ", "A  health 100", "B  own energy 20.13"}
	assert.Equal(t, want, lines(s, 80))
	s.Up = true
	want[1], want[3] = want[3], want[1]
	want[1], want[2] = "  ‹2    ", "A›  B   "
	got := lines(s, 80)
	assert.Equal(t, want[1], got[1])
	assert.Equal(t, want[3], got[3])
	got = lines(s, 7)
	assert.Equal(t, []string{"round 3", "▀▀▀▀", "▀▀▀▀"}, got[:3])
	got = lines(s, 2)
	assert.Equal(t, []string{"round 3", "▀▀", "A  health 100"}, got[:3], "two by two cells in half a line")
}

// TestColours: the cells of owners have different colours, and lines end without any.
func TestColours(t *testing.T) {
	for _, columns := range []int{80, 4} {
		text := string(blocks.Append(nil, scene(), columns))
		for _, line := range strings.Split(text, "\n") {
			line = strings.TrimSuffix(line, "\x1b[K")
			if at := strings.LastIndex(line, "\x1b["); at >= 0 {
				require.True(t, strings.HasPrefix(line[at:], blocks.Reset), "%q", line)
			}
		}
		if columns < 8 {
			require.Contains(t, text, "8;5;223m", "a thing that moves is lighter")
		}
		require.Contains(t, text, "8;5;17m")
		require.Contains(t, text, "8;5;52m")
	}
}

// TestHostile: texts obey no terminal, and boards and places that are too large are left out.
func TestHostile(t *testing.T) {
	s := scene()
	s.Title = "a\x1b]0;title\x07\nb" + strings.Repeat("x", 1000)
	s.Stats[0].Name = "\x1b[2J\u009b2J"
	s.Entities[0].Letter = "\x1b"
	s.Entities[1].X = float32(math.NaN())
	s.Entities[2].Width = float32(math.Inf(1))
	s.Entities[3].X = -1e30
	s.Areas[0].Width = 1e9
	text := blocks.Append(nil, s, 80)
	rest := strings.ReplaceAll(sequence.ReplaceAllString(string(text), ""), "\x1b[K\n", "\n")
	assert.NotContains(t, rest, "\x1b")
	assert.NotContains(t, rest, "\u009b")
	assert.Less(t, len(text), 4000)
	assert.True(t, utf8.Valid(text))
	for _, side := range []float32{0, -1, 0.5, 1e9, float32(math.NaN()), float32(math.Inf(1))} {
		s.Width = side
		assert.Equal(t, "nothing to draw", lines(s, 80)[1], "a board of %v columns", side)
	}
}
