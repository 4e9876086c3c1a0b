package raster

import (
	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gomedium"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"

	"moonfarm/sim/texts"
)

// anchor tells which part of a text is at its place.
type anchor uint8

const (
	start anchor = iota
	middle
	end
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
	font     *sfnt.Font
	buffer   sfnt.Buffer
	glyphs   map[glyphKey]*sprite
	advances map[glyphKey]int64 // by letter and size alone
	scratch  canvas
}

func newFace() (*face, error) {
	f, err := sfnt.Parse(gomedium.TTF)
	if err != nil {
		return nil, err
	}
	return &face{font: f, glyphs: map[glyphKey]*sprite{}, advances: map[glyphKey]int64{}}, nil
}

// ppem returns a font size for the font.
func ppem(size int64) fixed.Int26_6 { return fixed.Int26_6(size * 64 / unit) }

// advance returns the width of a letter in units. A letter that the font lacks has the width of a box.
func (f *face) advance(letter rune, size int64) int64 {
	key := glyphKey{letter: letter, size: size}
	if n, ok := f.advances[key]; ok {
		return n
	}
	index, _ := f.font.GlyphIndex(&f.buffer, letter)
	n, err := f.font.GlyphAdvance(&f.buffer, index, ppem(size), font.HintingNone)
	if err != nil {
		n = 0
	}
	if len(f.advances) >= mostGlyphs {
		clear(f.advances)
	}
	f.advances[key] = int64(n) * unit / 64
	return f.advances[key]
}

// width returns the width of a text in units.
func (f *face) width(text string, size int64) (width int64) {
	for _, letter := range text {
		width += f.advance(letter, size)
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
func (f *face) text(c *canvas, x, y int64, a anchor, size int64, text string, ink pixel) {
	text = shown(text)
	switch a {
	case middle:
		x -= f.width(text, size) / 2
	case end:
		x -= f.width(text, size)
	}
	base := int((y + size*36/100 + unit/2) >> 8)
	for _, letter := range text {
		if x >= int64(c.width)*unit {
			return
		}
		at := x + unit/8
		c.draw(f.glyph(glyphKey{letter, size, int8(at >> 6 & 3), ink}), int(at>>8), base)
		x += f.advance(letter, size)
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
	s := &sprite{}
	index, _ := f.font.GlyphIndex(&f.buffer, key.letter)
	if segments, err := f.font.LoadGlyph(&f.buffer, index, ppem(key.size), nil); err == nil {
		b := segments.Bounds()
		left, top := b.Min.X.Floor(), b.Min.Y.Floor()
		f.scratch.size(b.Max.X.Ceil()-left+2, b.Max.Y.Ceil()-top+1)
		addGlyph(&f.scratch, segments, point{int64(key.quarter)*unit/4 - int64(left)*unit, -int64(top) * unit})
		f.scratch.fill(key.ink)
		s = f.scratch.sprite(-left, -top)
	}
	f.glyphs[key] = s
	return s
}

// addGlyph adds the outline of a glyph whose origin is at a place.
func addGlyph(c *canvas, segments sfnt.Segments, origin point) {
	at := func(p fixed.Point26_6) point {
		return point{origin.x + int64(p.X)*unit/64, origin.y + int64(p.Y)*unit/64}
	}
	var pen, first point
	for i := range segments {
		s := &segments[i]
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			c.edge(pen, first)
			pen = at(s.Args[0])
			first = pen
		case sfnt.SegmentOpLineTo:
			next := at(s.Args[0])
			c.edge(pen, next)
			pen = next
		case sfnt.SegmentOpQuadTo:
			const n = 6
			from, by, to := pen, at(s.Args[0]), at(s.Args[1])
			for k := int64(1); k <= n; k++ {
				curve := func(a, b, c int64) int64 { return ((n-k)*(n-k)*a + 2*k*(n-k)*b + k*k*c) / (n * n) }
				next := point{curve(from.x, by.x, to.x), curve(from.y, by.y, to.y)}
				c.edge(pen, next)
				pen = next
			}
		default: // the font has no cubic curves
			next := at(s.Args[2])
			c.edge(pen, next)
			pen = next
		}
	}
	c.edge(pen, first)
}
