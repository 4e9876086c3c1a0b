package raster

import (
	_ "embed"
	"encoding/binary"
	"encoding/hex"
	"sort"
	"strconv"
	"strings"
	"sync"
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

// segment is a part of an outline. It begins where the one before ends.
type segment struct {
	kind   byte
	by, to point // by: the control point of a curve
}

// appendSegments appends the outline of a glyph at a font size, in units. y grows downwards.
func (g *glyph) appendSegments(dst []segment, size int64) []segment {
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
		s := segment{kind: data[0]}
		data = data[1:]
		if s.kind == curveTo {
			s.by = step()
		}
		s.to = step()
		dst = append(dst, s)
	}
	return dst
}

// bounds returns the corners of the rectangle around all points of an outline.
func bounds(segments []segment) (least, most point) {
	add := func(p point) {
		least = point{X: min(least.X, p.X), Y: min(least.Y, p.Y)}
		most = point{X: max(most.X, p.X), Y: max(most.Y, p.Y)}
	}
	for i, s := range segments {
		if i == 0 {
			least, most = s.to, s.to
		}
		if s.kind == curveTo {
			add(s.by)
		}
		add(s.to)
	}
	return least, most
}

// addGlyph adds the outline of a glyph whose origin is at a place.
func addGlyph(c *canvas, segments []segment, origin point) {
	at := func(p point) point { return point{X: origin.X + p.X, Y: origin.Y + p.Y} }
	var pen, first point
	for _, s := range segments {
		to := at(s.to)
		switch s.kind {
		case moveTo:
			c.edge(pen, first)
			first = to
		case lineTo:
			c.edge(pen, to)
		case curveTo:
			const n = 6
			from, by := pen, at(s.by)
			for k := int64(1); k <= n; k++ {
				curve := func(a, b, c int64) int64 { return ((n-k)*(n-k)*a + 2*k*(n-k)*b + k*k*c) / (n * n) }
				next := point{X: curve(from.X, by.X, to.X), Y: curve(from.Y, by.Y, to.Y)}
				c.edge(pen, next)
				pen = next
			}
		}
		pen = to
	}
	c.edge(pen, first)
}
