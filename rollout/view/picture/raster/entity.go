package raster

import (
	"image"
	"strconv"

	"moonfarm/features"
	"moonfarm/rollout/view/picture/internal/legend"
)

// Kinds of sprites.
const (
	entitySprite = iota
	ringSprite
)

// spriteKey tells sprites apart.
type spriteKey struct {
	what          uint8
	outline       features.Outline // in the frame of the picture
	owner         int8             // index of its colours
	dash          uint8            // of a ring
	halves        uint8            // of a ring: half pixels between its middle and the place of the sprite, x and y
	strong        bool             // filled with the colour of the edge
	unfinished    bool
	upgraded      bool
	leaving       bool
	width, height int32 // in pixels; of a ring the radius in units
	letter        string
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
	if p.room -= len(s.pix) + len(key.letter); p.room < 0 {
		clear(p.sprites)
		p.room = spriteRoom
	}
	p.sprites[key] = s
	return s
}

// Sides of entities in pixels from which on parts of them are drawn.
const (
	leastBordered = 6  // an entity has a border in another colour
	leastLetter   = 6  // room for a letter of that size
	leastHealthy  = 6  // room for its health
	leastNumbered = 20 // room for its number. The numbers of smaller ones are beside them.
)

// entity draws an entity in a rectangle.
func (p *Painter) entity(e *features.Entity, r image.Rectangle) {
	if r.Dx() < 1 || r.Dy() < 1 || r.Intersect(p.canvas.clip).Empty() && e.Number == 0 {
		return
	}
	small := min(r.Dx(), r.Dy())
	if p.cell >= leastGrid && e.Width >= 1 { // the border of its cells is the left and the upper one
		r.Min = r.Min.Add(image.Pt(1, 1))
	}
	outline, letter := min(legend.Turned(p.scene, e.Outline), features.ToLessY+1), e.Letter
	if letterSize(outline, int64(min(r.Dx(), r.Dy()))*unit) < leastLetter*unit || len(letter) > 2*4 {
		letter = ""
	}
	key := spriteKey{
		what: entitySprite, outline: outline, owner: int8(legend.Index(e.Owner)),
		strong: e.Width > 0 && e.Width < 0.5 || small < leastBordered, unfinished: e.Unfinished, upgraded: e.Upgraded, leaving: e.Leaving,
		width: int32(r.Dx()), height: int32(r.Dy()), letter: letter,
	}
	if p.direct || max(r.Dx(), r.Dy()) > mostSprite {
		p.body(&p.canvas, &key, r)
	} else {
		p.canvas.draw(p.cached(key, func(c *canvas) (int, int) {
			c.size(r.Dx(), r.Dy())
			p.body(c, &key, image.Rect(0, 0, r.Dx(), r.Dy()))
			return 0, 0
		}), r.Min.X, r.Min.Y)
	}
	if e.Health > 0 && e.Health < 1 && small >= leastHealthy {
		p.health(e, r)
	}
	if e.Number > 0 {
		p.number(e.Number, small, r)
	}
}

// body draws the outline of an entity, its letter, and a cross if it is leaving.
func (p *Painter) body(c *canvas, k *spriteKey, r image.Rectangle) {
	owner := p.colours[k.owner]
	width, height := int64(r.Dx())*unit, int64(r.Dy())*unit
	small := min(width, height)
	b := box{int64(r.Min.X) * unit, int64(r.Min.Y) * unit, width, height}.inside(min(small*6/100, 2*unit))
	fill, border := owner.fill, int64(unit)
	if small >= 24*unit {
		border = unit * 3 / 2
	}
	if k.upgraded {
		border = min(max(small*11/100, border+unit*3/4), 3*unit)
	}
	edge := owner.edge
	if k.strong {
		fill = owner.edge
		if small >= leastBordered*unit { // to be seen on a larger thing of its owner
			edge, border = p.white, unit*3/4
		} else if int(k.owner) == legend.Seats { // fields of such things are no dark spots
			fill = over(owner.fill, scaled(owner.edge, 128))
			edge = fill
		}
	}
	if k.unfinished {
		p.corners = p.circle.appendOutline(p.corners[:0], k.outline, b.inside(border/2))
		c.polygon(p.corners...)
		c.fill(p.white)
		c.closed(p.corners, border, unfinished, owner.edge)
	} else {
		p.corners = p.circle.appendOutline(p.corners[:0], k.outline, b)
		c.polygon(p.corners...)
		c.fill(edge)
		if k.outline == features.Round {
			b = b.inside(border)
			p.inner = p.circle.appendOutline(p.inner[:0], k.outline, b)
		} else {
			p.inner = appendInset(p.inner[:0], p.corners, border)
		}
		if fill != edge {
			c.polygon(p.inner...)
			c.fill(fill)
		}
	}
	if k.letter != "" {
		p.face.text(c, int64(r.Min.X)*unit+width/2, int64(r.Min.Y)*unit+lift(k.outline, height), middle, letterSize(k.outline, small), k.letter, p.dark)
	}
	if k.leaving {
		b = b.inside(border / 2)
		for _, ends := range [...][2]point{{{b.x, b.y}, {b.x + b.width, b.y + b.height}}, {{b.x, b.y + b.height}, {b.x + b.width, b.y}}} {
			pen := c.newPen(max(border, unit*5/4), nil)
			pen.line(ends[0], ends[1])
			c.fill(p.dark)
		}
	}
}

// letterSize returns the font size of a letter in an outline. Triangles have less room.
func letterSize(o features.Outline, small int64) int64 {
	size := min(max(small*55/100, min(small*75/100, 10*unit)), 26*unit)
	if o != features.Square && o != features.Round {
		size = size * 8 / 10
	}
	return size
}

// lift returns the height of the middle of an outline's letter. The wide part of a triangle is not in the middle.
func lift(o features.Outline, height int64) int64 {
	switch o {
	case features.ToGreaterY:
		return height * 40 / 100
	case features.ToLessY:
		return height * 64 / 100
	}
	return height / 2
}

// health draws the bar of the health above the lower edge: dark for the part that is left, white for the part that is lost.
func (p *Painter) health(e *features.Entity, r image.Rectangle) {
	margin := 1 + min(r.Dx(), r.Dy())*6/100
	height := min(max((min(r.Dx(), r.Dy())*12+50)/100, 1), 5)
	x, y, width := r.Min.X+margin, r.Max.Y-margin-height, r.Dx()-2*margin
	left := int(float64(float64(e.Health) * float64(width)))
	c := &p.canvas
	if height >= 3 {
		c.rect(x-1, y-1, width+2, height+2, p.dark)
	}
	c.rect(x, y, width, height, p.white)
	c.rect(x, y, max(left, 1), height, p.dark)
}

// number draws the number of an entity in its upper right corner, or beside it.
func (p *Painter) number(n, small int, r image.Rectangle) {
	size := int64(max(min(small*40/100, 14), 8)) * unit
	x, y, a := int64(r.Max.X)*unit, int64(r.Min.Y+r.Max.Y)*unit/2, start
	if small >= leastNumbered {
		x, y, a = x-2*unit, int64(r.Min.Y+2)*unit+size/2, end
	}
	text := strconv.Itoa(n)
	for _, to := range [...]point{{-1, 0}, {1, 0}, {0, -1}, {0, 1}} { // a light rim, as there may be anything below
		p.face.text(&p.canvas, x+to.x*unit, y+to.y*unit, a, size, text, p.white)
	}
	p.face.text(&p.canvas, x, y, a, size, text, p.dark)
}
