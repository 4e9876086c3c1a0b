package raster

import (
	"moonfarm/rollout/view/picture"
	"moonfarm/sim/texts"
)

// mostGlyphs bounds the memory for glyphs. mostLetters bounds the length of a text.
const mostGlyphs, mostLetters = 4096, 256

// glyphKey identifies a glyph of a colour, a size in units, and a place in quarters of a pixel.
type glyphKey struct {
	letter  rune
	size    int64
	quarter int8
	ink     pixel
}

// face draws texts in one font. It fills the outlines of the font in whole numbers, as all other outlines.
type face struct {
	glyphs   map[glyphKey]*sprite
	segments []segment
	scratch  canvas
}

func newFace() *face { return &face{glyphs: map[glyphKey]*sprite{}} }

// width returns the width of a text in units.
func (f *face) width(text string, size int64) (width int64) {
	for _, letter := range text {
		width += inSize(glyphOf(letter).advance, size)
	}
	return width
}

// shown returns the part of a text that is drawn.
func shown(text string) string {
	if plain(text) {
		return text
	}
	if len(text) > 4*mostLetters {
		text = text[:4*mostLetters]
	}
	text = texts.OneLine(text)
	n := 0
	for i := range text {
		if n++; n > mostLetters {
			return text[:i]
		}
	}
	return text
}

// plain reports whether a text is short and has no characters but letters, digits and the like: most texts are.
func plain(text string) bool {
	for i := range len(text) {
		if text[i] <= ' ' || text[i] > '~' {
			return false
		}
	}
	return len(text) <= mostLetters
}

// text draws a text whose anchor is at x and whose capitals are vertically centred on y. Coordinates and the size are in units.
func (f *face) text(c *canvas, x, y int64, a picture.Anchor, size int64, text string, ink pixel) {
	text = shown(text)
	switch a {
	case picture.Middle:
		x -= f.width(text, size) / 2
	case picture.End:
		x -= f.width(text, size)
	}
	base := int((y + size*36/100 + unit/2) >> 8)
	for _, letter := range text {
		if x >= int64(c.width)*unit {
			return
		}
		at := x + unit/8
		c.draw(f.glyph(glyphKey{letter, size, int8(at >> 6 & 3), ink}), int(at>>8), base)
		x += inSize(glyphOf(letter).advance, size)
	}
}

// glyph returns the sprite of a glyph.
func (f *face) glyph(key glyphKey) *sprite {
	if s := f.glyphs[key]; s != nil {
		return s
	}
	if len(f.glyphs) >= mostGlyphs {
		clear(f.glyphs)
	}
	f.segments = glyphOf(key.letter).appendSegments(f.segments[:0], key.size)
	least, most := bounds(f.segments)
	left, top := least.X>>8, least.Y>>8
	f.scratch.size(int((most.X+unit-1)>>8-left+2), int((most.Y+unit-1)>>8-top+1))
	addGlyph(&f.scratch, f.segments, point{X: int64(key.quarter)*unit/4 - left*unit, Y: -top * unit})
	f.scratch.fill(key.ink)
	s := f.scratch.sprite(int(-left), int(-top))
	f.glyphs[key] = s
	return s
}
