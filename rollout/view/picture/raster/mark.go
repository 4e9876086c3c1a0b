package raster

import (
	"image"

	"moonfarm/rollout/view/picture"
)

// spriteKey tells sprites apart: of a look, or of a ring.
type spriteKey struct {
	look          *picture.Look // nil: a ring
	pen           picture.Pen   // of a ring
	halves        uint8         // of a ring: half pixels between its middle and the place of the sprite, x and y
	width, height int32         // in pixels; of a ring the radius in units
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
	x, y := draw(&p.scratch)
	s := p.scratch.sprite(x, y)
	const look = 64 // counted for a sprite without pixels
	if p.room -= len(s.pix) + look; p.room < 0 {
		clear(p.sprites)
		p.room = spriteRoom
	}
	p.sprites[key] = s
	return s
}

// Mark implements picture.Surface.
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

// body draws a look in a rectangle.
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
		p.face.text(c, t.At.X, t.At.Y, t.Anchor, t.Size, t.Words, inks[t.Ink])
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

// nobody is the owner of a thing that belongs to no seat.
const nobody = -1

// outline appends the corners of the outline of a look in a box.
func (p *Painter) outline(dst []point, l *picture.Look, b box) []point {
	if l.Corners != nil {
		return l.Trace(dst, b)
	}
	return p.circle.appendEllipse(dst, b.At(0.5, 0.5), b.Width/2, b.Height/2)
}
