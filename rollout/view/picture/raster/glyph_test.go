package raster

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gomedium"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// TestGlyphs compares the glyphs of all letters at several sizes with golang.org/x/image's reader of the font.
func TestGlyphs(t *testing.T) {
	f, err := sfnt.Parse(gomedium.TTF)
	require.NoError(t, err)
	var buffer sfnt.Buffer
	require.EqualValues(t, em, f.UnitsPerEm())
	for i := range glyphs() {
		g := &glyphs()[i]
		index, err := f.GlyphIndex(&buffer, g.letter)
		require.NoError(t, err)
		require.Equal(t, i == 0, index == 0, "%q", g.letter)
		require.Same(t, g, glyphOf(g.letter), "%q", g.letter)
		for _, size := range []int64{0, 1, 255, 8 * unit, 10 * unit, 12*unit + 77, 14 * unit, 100*unit + 3, 2048 * unit, 4000 * unit} {
			ppem := fixed.Int26_6(size * 64 / unit)
			advance, err := f.GlyphAdvance(&buffer, index, ppem, font.HintingNone)
			require.NoError(t, err)
			require.Equal(t, int64(advance)*unit/64, inSize(g.advance, size), "%q in size %d", g.letter, size)
			want, err := f.LoadGlyph(&buffer, index, ppem, nil)
			require.NoError(t, err)
			got := g.appendSegments(nil, size)
			require.Equal(t, segmentsOf(want), got, "%q in size %d", g.letter, size)
			least, most := bounds(got)
			box := want.Bounds()
			require.Equal(t, [2]point{pointOf(box.Min), pointOf(box.Max)}, [2]point{least, most}, "%q in size %d", g.letter, size)
		}
	}
}

// pointOf converts a point of sfnt.
func pointOf(p fixed.Point26_6) point {
	return point{X: int64(p.X) * unit / 64, Y: int64(p.Y) * unit / 64}
}

// segmentsOf converts an outline of sfnt.
func segmentsOf(all sfnt.Segments) (segments []segment) {
	for _, s := range all {
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			segments = append(segments, segment{kind: moveTo, to: pointOf(s.Args[0])})
		case sfnt.SegmentOpLineTo:
			segments = append(segments, segment{kind: lineTo, to: pointOf(s.Args[0])})
		default:
			segments = append(segments, segment{kind: curveTo, by: pointOf(s.Args[0]), to: pointOf(s.Args[1])})
		}
	}
	return segments
}

// TestMissingLetters: letters that the table lacks have the glyph of the box. The table has all of ASCII.
func TestMissingLetters(t *testing.T) {
	assert.True(t, slices.IsSortedFunc(glyphs(), func(a, b glyph) int { return int(a.letter - b.letter) }))
	for _, letter := range []rune{-1, 0, '\n', 0x7f, 0x9f, '日', '\u202e', 0x10ffff} {
		assert.Same(t, &glyphs()[0], glyphOf(letter), "%q", letter)
	}
	assert.NotEmpty(t, glyphs()[0].outline)
	for letter := ' '; letter <= '~'; letter++ {
		assert.Equal(t, letter, glyphOf(letter).letter)
	}
	for _, letter := range "–…×éЖ\ufffd" {
		assert.Equal(t, letter, glyphOf(letter).letter)
	}
}
