package raster

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim/simtest"
)

// TestGenerated: the outlines equal the output of gen.
func TestGenerated(t *testing.T) { simtest.Generated(t) }

// TestGlyphs compares the glyphs of all letters at several sizes with golang.org/x/image's reader of the font, by the
// checksums that gen has written.
func TestGlyphs(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(string(simtest.Text(t, "sizes_test.txt"))), "\n")[1:]
	require.Len(t, lines, 10)
	for _, line := range lines {
		var size int64 // in 64ths of a pixel, as all lengths below; parts of a 64th do not count
		_, err := fmt.Sscan(line, &size)
		require.NoError(t, err)
		all := sha256.New()
		for i := range glyphs() {
			g := &glyphs()[i]
			require.Same(t, g, glyphOf(g.letter), "%q", g.letter)
			fmt.Fprintln(all, g.letter, inSize(g.advance, size*unit/64+unit/64-1)*64/unit)
			var least, most point
			grow := func(p point) {
				least, most = point{X: min(least.X, p.X), Y: min(least.Y, p.Y)}, point{X: max(most.X, p.X), Y: max(most.Y, p.Y)}
			}
			begun := false
			g.each(size*unit/64+unit/64-1, func(kind byte, by, to point) {
				if !begun {
					begun, least, most = true, to, to
				}
				if kind == curveTo {
					fmt.Fprintln(all, kind, by.X*64/unit, by.Y*64/unit)
					grow(by)
				}
				fmt.Fprintln(all, kind, to.X*64/unit, to.Y*64/unit)
				grow(to)
			})
			fmt.Fprintln(all, least.X*64/unit, least.Y*64/unit, most.X*64/unit, most.Y*64/unit)
			if em := size * unit / 64; size >= 512 { // the canvas of a letter has room for it
				require.True(t, least.X >= -em/8 && most.X <= em*9/8 && least.Y >= -em && most.Y <= em/4, "%q from %v to %v", g.letter, least, most)
			}
		}
		require.Equal(t, line, fmt.Sprintf("%d %x", size, all.Sum(nil)), "size %d", size)
	}
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
