package features_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/features"
)

// twoPlanes is the shape of layout: 2 planes of 2 × 4 cells in 3 words.
var twoPlanes = features.Shape{Planes: 2, Height: 2, Width: 4, Words: 3}

func layout() *features.Layout {
	return &features.Layout{
		Cells: [][]features.Run{{{3, -1, 4}, {4, 1, 4}}, {{1, 2, 2}}},
		Parts: []features.Part{
			// Four bits per cell, after 12 other bits.
			{Plane: 0, Number: features.Bits{First: 12, Step: 8, Width: 4}, Times: 2,
				If: &features.Condition{Bits: features.Bits{First: 16, Step: 8, Width: 2}, In: []int{1, 3}}},
			// With a step that does not divide a word.
			{Plane: 1, Cells: 1, Number: features.Bits{First: 100, Step: 24, Width: 3}, Times: 1},
			// The number 1 in all cells of the second list.
			{Plane: 1, Cells: 1, Times: 10},
			// A number in the cell that another number names.
			{Plane: 1, At: &features.Bits{First: 128, Width: 8}, Number: features.Bits{First: 136, Width: 8}, Times: 1},
			{Plane: 0, At: &features.Bits{First: 144, Width: 8}, Times: 7},
		},
	}
}

func TestUnpack(t *testing.T) {
	var words [3]uint64
	set := func(bit int, v uint64) { words[bit/64] |= v << (bit % 64) }
	for k := range 8 {
		set(12+8*k, uint64(k+1))
		set(16+8*k, uint64(k&3))
	}
	set(100, 5)
	set(124, 6)
	set(128, 5)   // cell 5 of the first list
	set(136, 200) // gets the number 200
	set(144, 255) // no cell has this index
	want := []uint8{
		8, 0, 4, 0,
		0, 12, 0, 16,
		0, 15, 0, 16,
		0, 200, 0, 0,
	}
	// The first list runs from x = 3 to 0 in the first row; its cells 1, 3, 5,
	// 7 have the condition.
	u, err := features.NewUnpacker(twoPlanes, layout())
	require.NoError(t, err)
	got := slices.Repeat([]uint8{0x5a}, 16)
	u.Unpack(got, words[:])
	assert.True(t, slices.Equal(got, want), "unpacked")

	// A layout that is written as JSON is read back unchanged.
	text, err := json.Marshal(layout())
	require.NoError(t, err)
	again := new(features.Layout)
	require.NoError(t, json.Unmarshal(text, again))
	u, err = features.NewUnpacker(twoPlanes, again)
	require.NoError(t, err)
	u.Unpack(got, words[:])
	assert.True(t, slices.Equal(got, want), "unpacked by the layout from JSON")
}

// TestUnpackerRefuses: a layout that does not fit, as one from a file may be,
// is an error, and no memory is allocated for it.
func TestUnpackerRefuses(t *testing.T) {
	for name, change := range map[string]func(s *features.Shape, l *features.Layout){
		"cell":         func(_ *features.Shape, l *features.Layout) { l.Cells[0][0].First = 8 },
		"before":       func(_ *features.Shape, l *features.Layout) { l.Cells[0][0].Count = 5 },
		"endless":      func(_ *features.Shape, l *features.Layout) { l.Cells[1][0] = features.Run{Count: 1 << 30} },
		"overflow":     func(_ *features.Shape, l *features.Layout) { l.Cells[1][0].Step = 1 << 30 },
		"empty":        func(_ *features.Shape, l *features.Layout) { l.Cells[1] = nil },
		"plane":        func(_ *features.Shape, l *features.Layout) { l.Parts[0].Plane = 2 },
		"list":         func(_ *features.Shape, l *features.Layout) { l.Parts[0].Cells = -1 },
		"times":        func(_ *features.Shape, l *features.Layout) { l.Parts[0].Times = 256 },
		"word":         func(_ *features.Shape, l *features.Layout) { l.Parts[0].Number.First = 192 - 4 - 55 },
		"border":       func(_ *features.Shape, l *features.Layout) { l.Parts[1].Number.First = 94 },
		"wide":         func(_ *features.Shape, l *features.Layout) { l.Parts[0].Number.Width = 17 },
		"negative":     func(_ *features.Shape, l *features.Layout) { l.Parts[0].Number.First = -1 },
		"overlap":      func(_ *features.Shape, l *features.Layout) { l.Parts[0].Number.Step = 3 },
		"condition":    func(_ *features.Shape, l *features.Layout) { l.Parts[0].If.Width = 9 },
		"no condition": func(_ *features.Shape, l *features.Layout) { l.Parts[0].If.Bits = features.Bits{} },
		"no place":     func(_ *features.Shape, l *features.Layout) { l.Parts[3].At = &features.Bits{} },
		"place":        func(_ *features.Shape, l *features.Layout) { l.Parts[3].At.First = 185 },
		"no planes":    func(s *features.Shape, _ *features.Layout) { s.Height = 0 },
		"large":        func(s *features.Shape, _ *features.Layout) { s.Height, s.Width = 1<<20, 1<<20 },
		"many words":   func(s *features.Shape, _ *features.Layout) { s.Words = 1 << 30 },
	} {
		t.Run(name, func(t *testing.T) {
			s, l := twoPlanes, layout()
			change(&s, l)
			_, err := features.NewUnpacker(s, l)
			require.Error(t, err)
		})
	}
}
