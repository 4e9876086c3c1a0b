package raster

import (
	"encoding/binary"
	"image"

	"moonfarm/rollout/view/picture"
)

// spriteKey tells sprites apart: of a look, a ring, or a letter.
type spriteKey struct {
	look          *picture.Look
	pen           picture.Pen // of a ring
	letter        rune
	ink           pixel // of a letter
	part          uint8 // between the place and that of the sprite: half pixels of a ring, x and y, or quarters of one of a letter
	width, height int32 // in pixels; of a ring the radius in units, of a letter its size in units
}

// mostSprite is the largest side of a thing that has a sprite. Larger ones are drawn each time. spriteRoom is the number of
// pixels of all sprites.
const (
	mostSprite = 512
	spriteRoom = 1 << 22
)

// cached returns the sprite of a key, drawn if it is new.
func (p *Painter) cached(key spriteKey, draw func(c *canvas) (x, y int)) *sprite {
	if s := p.sprites[key]; s != nil {
		return s
	}
	var c canvas
	x, y := draw(&c)
	s := c.sprite(x, y)
	const look = 64 // counted for a sprite without pixels
	if p.room -= len(s.pix) + look; p.room < 0 {
		clear(p.sprites)
		p.room = spriteRoom
	}
	p.sprites[key] = s
	return s
}

// sprite is a small picture that is drawn often. Transparent pixels take no memory and no time.
type sprite struct {
	runs []run
	pix  []pixel
}

// run is a row of pixels of a sprite next to each other.
type run struct {
	x, y, n int32 // seen from the place of the sprite
	pix     int32 // index of the first pixel
	solid   bool  // all are opaque
}

// sprite returns the picture on the canvas, whose pixel (x, y) is at the place where the sprite is drawn.
func (c *canvas) sprite(x, y int) *sprite {
	s := &sprite{}
	for row := range c.height {
		for i := 0; i < c.width; i++ {
			first, solid := len(s.pix), true
			for begin := i; i < c.width; i++ {
				p := binary.LittleEndian.Uint32(c.at(i, row))
				if p == 0 || i > begin && (p >= opaque) != solid {
					break
				}
				solid = p >= opaque
				s.pix = append(s.pix, p)
			}
			if n := len(s.pix) - first; n > 0 {
				s.runs = append(s.runs, run{x: int32(i - n - x), y: int32(row - y), n: int32(n), pix: int32(first), solid: solid})
				i-- // the pixel at which the run ends may begin the next one
			}
		}
	}
	return s
}

func (c *canvas) draw(s *sprite, x, y int) {
	for i := range s.runs {
		r := &s.runs[i]
		row := y + int(r.y)
		if row < c.clip.Min.Y || row >= c.clip.Max.Y {
			continue
		}
		from := x + int(r.x)
		begin, end := max(from, c.clip.Min.X), min(from+int(r.n), c.clip.Max.X)
		if begin >= end {
			continue
		}
		pix := s.pix[int(r.pix)+begin-from:][:end-begin]
		to := c.row(begin, end, row)
		if r.solid {
			for _, p := range pix {
				binary.LittleEndian.PutUint32(to, p)
				to = to[4:]
			}
			continue
		}
		for _, p := range pix {
			binary.LittleEndian.PutUint32(to, over(binary.LittleEndian.Uint32(to), p))
			to = to[4:]
		}
	}
}

func (s *surface) Mark(l *picture.Look, r image.Rectangle) {
	if r.Intersect(s.canvas.clip).Empty() {
		return
	}
	p := (*Painter)(s)
	if max(r.Dx(), r.Dy()) > mostSprite {
		p.body(&s.canvas, l, r)
		return
	}
	if key := (spriteKey{look: l, width: int32(r.Dx()), height: int32(r.Dy())}); key != s.last { // many things alike follow each other
		s.mark = p.cached(key, func(c *canvas) (int, int) {
			c.size(r.Dx(), r.Dy())
			p.body(c, l, image.Rectangle{Max: r.Size()})
			return 0, 0
		})
		s.last = key
	}
	s.canvas.draw(s.mark, r.Min.X, r.Min.Y)
}

// leastBordered is the side in pixels from which on a thing has a border in another colour.
const leastBordered = 6

func (p *Painter) body(c *canvas, l *picture.Look, r image.Rectangle) {
	b := picture.Inner(r)
	border := l.Stroke.In(b.Small())
	fill, edge := inks[l.Fill], inks[l.Edge]
	if picture.BoxOf(r).Small() < leastBordered*unit && !l.Unfinished {
		fill, edge = inks[picture.Edge(l.Owner)], inks[picture.Edge(l.Owner)]
		if picture.Edge(l.Owner) == picture.Edge(nobody) { // fields of such things are no dark spots
			fill = over(inks[picture.Fill(nobody)], scaled(edge, 128))
			edge = fill
		}
	}
	if l.Unfinished {
		p.corners = p.outline(p.corners[:0], l, b.Inside(border/2))
		c.polygon(p.corners...)
		c.fill(fill)
		c.closed(p.corners, border, unfinished, edge)
	} else {
		p.corners = p.outline(p.corners[:0], l, b)
		c.polygon(p.corners...)
		c.fill(edge)
		if l.Corners == nil {
			p.inner = p.outline(p.inner[:0], l, b.Inside(border))
		} else {
			p.inner = appendInset(p.inner[:0], p.corners, border)
		}
		if fill != edge {
			c.polygon(p.inner...)
			c.fill(fill)
		}
	}
	if t := l.LetterIn(r); t.Words != "" {
		p.text(c, t.At.X, t.At.Y, t.Anchor, t.Size, t.Words, inks[t.Ink])
	}
	if l.Leaving {
		ends, width := l.Crossed(b.Inside(border / 2))
		for i := 0; i < len(ends); i += 2 {
			pen := c.newPen(width, nil)
			pen.line(ends[i], ends[i+1])
			c.fill(inks[picture.Ink])
		}
	}
}

const nobody = -1

// outline appends the corners of the outline of a look in a box.
func (p *Painter) outline(dst []point, l *picture.Look, b box) []point {
	if l.Corners != nil {
		return l.Trace(dst, b)
	}
	return p.circle.appendEllipse(dst, b.At(0.5, 0.5), b.Width/2, b.Height/2)
}
