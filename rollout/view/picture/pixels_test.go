package picture_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"image"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/features"
	"moonfarm/rollout/view/picture"
	"moonfarm/rollout/view/picture/raster"
	"moonfarm/sim/simtest"
)

func painter(t *testing.T, s picture.Settings) *raster.Painter {
	t.Helper()
	p, err := raster.New(s)
	require.NoError(t, err)
	return p
}

// kinds has the pictures that the tests draw of a scene.
var kinds = []picture.Settings{{Width: 256}, {Width: 900}, {Width: 300, Stats: true}, {Width: 900, Stats: true, Legend: true}, {Width: 120, Legend: true}}

// TestPixels compares checksums of pictures with a file: they are the same on every machine. One Painter draws all scenes.
func TestPixels(t *testing.T) {
	var sums bytes.Buffer
	for _, kind := range kinds {
		p := painter(t, kind)
		all := scenes(t)
		for _, name := range slices.Sorted(maps.Keys(all)) {
			m, err := p.Draw(all[name], name)
			require.NoError(t, err)
			assert.True(t, m.Opaque(), "%s %v", name, kind)
			assert.Equal(t, kind.Width, m.Rect.Dx())
			fmt.Fprintf(&sums, "%s %+v %v %x\n", name, kind, m.Rect.Max, sha256.Sum256(m.Pix))
		}
	}
	simtest.Golden(t, "testdata/checksums.txt", sums.Bytes())
}

// TestReuse: pictures do not depend on what the Painter drew before.
func TestReuse(t *testing.T) {
	all := scenes(t)
	for _, kind := range kinds {
		used := painter(t, kind)
		for range 2 {
			for name, s := range all {
				got, err := used.Draw(s, "a title")
				require.NoError(t, err)
				want, err := painter(t, kind).Draw(s, "a title")
				require.NoError(t, err)
				assert.Equal(t, want.Rect, got.Rect)
				assert.True(t, bytes.Equal(want.Pix, got.Pix), "%s %+v", name, kind)
			}
		}
	}
}

// TestAllocations: a Painter that has drawn a scene draws it again without allocations.
func TestAllocations(t *testing.T) {
	for name, s := range scenes(t) {
		p := painter(t, picture.Settings{Width: 256})
		draw := func() { _, _ = p.Draw(s, "") }
		draw()
		assert.Zero(t, testing.AllocsPerRun(10, draw), name)
	}
}

// TestColours: the middle of an entity, of a hidden area and of an empty one have the colours of the SVG.
func TestColours(t *testing.T) {
	var s features.Scene
	s.Begin(4, 2)
	s.Areas = []features.Area{{Owner: 1, Width: 4, Height: 2}, {Hidden: true, X: 3, Width: 1, Height: 2}}
	s.Entities = []features.Entity{{Kind: "wall", Owner: 0, Width: 1, Height: 1}, {Kind: "unit", Outline: features.Round, Owner: 3, X: 1, Width: 1, Height: 1, Unfinished: true}}
	at := func(up bool, x, y int) string {
		s.Up = up
		m, err := painter(t, picture.Settings{Width: 200}).Draw(&s, "")
		require.NoError(t, err)
		c := m.RGBAAt(50*x+25, 50*y+25)
		return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B)
	}
	for _, up := range []bool{false, true} {
		low, high := 0, 1
		if up {
			low, high = 1, 0
		}
		assert.Equal(t, "#73b1d5", at(up, 0, low))
		assert.Equal(t, "#ffffff", at(up, 1, low))
		assert.Equal(t, "#fcf4ee", at(up, 0, high))
		assert.Equal(t, "#c9c9c9", at(up, 3, high))
	}
}

// TestHostilePixels draws texts and numbers that no game has: the picture stays as large, and its corner that nothing reaches
// as it was.
func TestHostilePixels(t *testing.T) {
	markup := strings.Repeat("\"><script>\x00\u202e\xff日本 ", 50)
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	var s features.Scene
	s.Begin(40, 30)
	s.Title = markup
	s.Areas = []features.Area{{Owner: 100, Width: 40, Height: 30}, {X: nan, Width: 1, Height: 1}, {Width: inf, Height: 1}, {X: 5, Y: 5, Width: -3, Height: -2}}
	for i := range 3000 {
		for _, x := range []float32{0, nan, inf, -inf, 1e30, -60, 139, float32(i%40) + float32(i)/3000} {
			kind := markup + fmt.Sprint(i%100)
			s.Entities = append(s.Entities, features.Entity{Kind: markup, Letter: markup[i%9:], Note: markup, Outline: features.Outline(i), Owner: int8(i), X: x, Y: x, Width: x, Height: 1, Health: x, Number: i * 1e6, Unfinished: i%3 == 0, Leaving: i%4 == 0})
			s.Ranges = append(s.Ranges, features.Range{Kind: kind, Owner: int8(i), X: x, Radius: 2}, features.Range{Radius: x / 40})
			s.Lines = append(s.Lines, features.Line{Kind: kind, X1: x, X2: 1, Arrow: true}, features.Line{Y2: x, Arrow: true, Thick: true})
			s.Events = append(s.Events, features.Event{X1: x, Y2: x}, features.Event{X1: x, Y1: x, X2: x, Y2: x})
		}
	}
	for i := range 30 {
		s.AddStat(markup+fmt.Sprint(i%3), markup, i-10, float64(nan)*float64(i))
	}
	for _, kind := range kinds {
		m, err := painter(t, kind).Draw(&s, markup)
		require.NoError(t, err)
		assert.Equal(t, kind.Width, m.Rect.Dx())
		assert.Less(t, m.Rect.Dy(), 2000)
		assert.True(t, m.Opaque())
	}
}

// TestErrors asks for pictures that nobody could use.
func TestErrors(t *testing.T) {
	for _, width := range []int{-1, 0, raster.MostWidth + 1, math.MaxInt} {
		_, err := raster.New(picture.Settings{Width: width})
		assert.ErrorContains(t, err, "width ", "%d", width)
	}
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, c := range []struct {
		width, height float32
		want          string
	}{
		{0, 0, "a board of 0 × 0 cells"}, {-1, 3, "a board of -1 × 3 cells"}, {nan, 3, "cells"}, {3, inf, "cells"}, {1e6, 1, "cells"},
		{300, 1, "a column needs a pixel"}, {1, 4096, "expected at most 16777216 in all"}, {1e-30, 1e-30, "pixels"}, {1e-5, 4000, "pixels"},
	} {
		var s features.Scene
		s.Begin(c.width, c.height)
		m, err := painter(t, picture.Settings{Width: 256}).Draw(&s, "")
		if c.width == 1e-30 && err == nil { // a board smaller than a pixel
			assert.LessOrEqual(t, m.Rect.Dy(), 256)
			continue
		}
		assert.ErrorContains(t, err, c.want, "%v", c)
	}
	var s features.Scene
	s.Begin(8, 8)
	m, err := painter(t, picture.Settings{Width: 30, Stats: true, Legend: true}).Draw(&s, "title")
	assert.ErrorContains(t, err, "a column needs a pixel")
	assert.Nil(t, m)
	m, err = painter(t, picture.Settings{Width: 8}).Draw(&s, "title")
	require.NoError(t, err)
	assert.Equal(t, image.Pt(8, 8), m.Rect.Max)
}
