package raster

import (
	_ "embed"
	"encoding/binary"
	"encoding/hex"
	"sort"
	"strconv"
	"strings"
	"sync"

	"moonfarm/rollout/view/picture"
	"moonfarm/sim/texts"
)

//go:generate go run -C gen . -out ../outlines.txt
//go:generate go run -C gen . -sizes -out ../sizes_test.txt

// em is the font size in units of the font.
const em = 2048

// glyph is a letter of the font, with lengths in units of the font.
type glyph struct {
	letter  rune
	advance int64  // from its origin to the origin of the next letter
	outline []byte // segments: the kind, and varints x, y of each point, seen from the point before
}

//go:embed outlines.txt
var outlines string

// glyphs has the letters in ascending order. The first is the box for letters that it lacks.
var glyphs = sync.OnceValue(func() (all []glyph) {
	for line := range strings.Lines(outlines) {
		letter, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		advance, outline, _ := strings.Cut(rest, " ")
		if letter == "#" {
			continue
		}
		n, _ := strconv.Atoi(letter) // gen has written numbers
		wide, _ := strconv.Atoi(advance)
		segments, _ := hex.DecodeString(outline)
		all = append(all, glyph{rune(n), int64(wide), segments})
	}
	return all
})

// glyphOf returns the glyph of a letter: a box if the table lacks the letter.
func glyphOf(letter rune) *glyph {
	glyphs := glyphs()
	i := sort.Search(len(glyphs), func(i int) bool { return glyphs[i].letter >= letter })
	if i < len(glyphs) && glyphs[i].letter == letter {
		return &glyphs[i]
	}
	return &glyphs[0]
}

// inSize returns a length of the font at a font size, in units. It is rounded to 64ths of a pixel, as readers of fonts do.
func inSize(length, size int64) int64 {
	n := length * (size * 64 / unit)
	if n < 0 {
		return (n - em/2) / em * (unit / 64)
	}
	return (n + em/2) / em * (unit / 64)
}

// The kinds of segments. A move and a line have one point, a curve has two.
const (
	moveTo byte = iota
	lineTo
	curveTo
)

// each calls add with the segments of the outline at a font size, in units: the kind, the control point of a curve, and the end. A
// segment begins where the one before ends. y grows downwards.
func (g *glyph) each(size int64, add func(kind byte, by, to point)) {
	data := g.outline
	next := func() int64 {
		v, n := binary.Varint(data)
		data = data[n:]
		return v
	}
	var at point
	step := func() point {
		at.X += next()
		at.Y += next()
		return point{X: inSize(at.X, size), Y: inSize(at.Y, size)}
	}
	for len(data) > 0 {
		kind, by := data[0], point{}
		data = data[1:]
		if kind == curveTo {
			by = step()
		}
		add(kind, by, step())
	}
}

// addGlyph adds the outline of a glyph whose origin is at a place.
func (c *canvas) addGlyph(g *glyph, size int64, origin point) {
	at := func(p point) point { return point{X: origin.X + p.X, Y: origin.Y + p.Y} }
	var pen, first point
	g.each(size, func(kind byte, by, to point) {
		by, to = at(by), at(to)
		switch kind {
		case moveTo:
			c.edge(pen, first)
			first = to
		case lineTo:
			c.edge(pen, to)
		case curveTo:
			const n = 6
			from := pen
			for k := int64(1); k <= n; k++ {
				curve := func(a, b, c int64) int64 { return ((n-k)*(n-k)*a + 2*k*(n-k)*b + k*k*c) / (n * n) }
				next := point{X: curve(from.X, by.X, to.X), Y: curve(from.Y, by.Y, to.Y)}
				c.edge(pen, next)
				pen = next
			}
		}
		pen = to
	})
	c.edge(pen, first)
}

// text draws a text whose anchor is at x and whose capitals are vertically centred on y, in one font. Coordinates and the size are in
// units. It fills the outlines of the font in whole numbers, as all other outlines.
func (p *Painter) text(c *canvas, x, y int64, a picture.Anchor, size int64, text string, ink pixel) {
	text = shown(text)
	width := int64(0)
	for _, letter := range text {
		width += inSize(glyphOf(letter).advance, size)
	}
	switch a {
	case picture.Middle:
		x -= width / 2
	case picture.End:
		x -= width
	}
	base := int((y + size*36/100 + unit/2) >> 8)
	for _, letter := range text {
		if x >= int64(c.width)*unit {
			return
		}
		at := x + unit/8
		key := spriteKey{letter: letter, ink: ink, width: int32(size), part: uint8(at >> 6 & 3)}
		c.draw(p.cached(key, func(c *canvas) (int, int) {
			// All letters of the font are from −1/8 to 9/8 of its size wide, and from −1 to 1/4 high.
			left, top := int(size/8/unit)+1, int(size/unit)+1
			c.size(left+int(size*9/8/unit)+3, top+int(size/4/unit)+2)
			c.addGlyph(glyphOf(letter), size, point{X: int64(left)*unit + int64(key.part)*unit/4, Y: int64(top) * unit})
			c.fill(ink)
			return left, top
		}), int(at>>8), base)
		x += inSize(glyphOf(letter).advance, size)
	}
}

// mostLetters bounds the length of a text.
const mostLetters = 256

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
