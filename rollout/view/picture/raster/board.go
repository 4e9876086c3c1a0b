package raster

import (
	"image"
	"slices"

	"moonfarm/features"
	"moonfarm/rollout/view/picture/internal/legend"
)

// leastGrid is the smallest side of a cell with a border, in pixels. Boards of smaller cells have a border every ten cells.
const leastGrid = 8

// board draws all things on the board.
func (p *Painter) board() {
	s, c := p.scene, &p.canvas
	c.clip = image.Rect(p.left, p.top, p.left+p.px(s.Width)+1, p.top+p.px(s.Height)+1).Intersect(c.clip) // with the last border
	for _, hidden := range [...]bool{false, true} {
		for i := range s.Areas {
			if a := &s.Areas[i]; a.Hidden == hidden && legend.Near(s, a.X, a.Y, a.Width, a.Height) {
				p.area(a)
			}
		}
	}
	for i := range s.Ranges {
		if r := &s.Ranges[i]; legend.Near(s, r.X, r.Y, r.Radius) {
			p.ring(p.place(r.X, r.Y), p.units(r.Radius), r.Owner, p.dash(r.Kind))
		}
	}
	for i := range s.Entities {
		if e := &s.Entities[i]; legend.Near(s, e.X, e.Y, e.Width, e.Height) {
			p.entity(e, p.rect(e.X, e.Y, e.Width, e.Height))
		}
	}
	for i := range s.Lines {
		if l := &s.Lines[i]; legend.Near(s, l.X1, l.Y1, l.X2, l.Y2) {
			p.stroke(l, p.place(l.X1, l.Y1), p.place(legend.ArrowEnd(l)))
		}
	}
	for i := range s.Events {
		if e := &s.Events[i]; legend.Near(s, e.X1, e.Y1, e.X2, e.Y2) {
			p.event(p.place(e.X1, e.Y1), p.place(e.X2, e.Y2))
		}
	}
	c.clip = image.Rect(0, 0, c.width, c.height)
}

// area draws an area with the borders of its cells.
func (p *Painter) area(a *features.Area) {
	c, r := &p.canvas, p.rect(a.X, a.Y, a.Width, a.Height)
	if a.Hidden {
		c.rect(r.Min.X, r.Min.Y, r.Dx(), r.Dy(), p.fog)
		return
	}
	c.rect(r.Min.X, r.Min.Y, r.Dx(), r.Dy(), p.of(a.Owner).area)
	step := p.cell
	if step < leastGrid {
		step *= 10
	}
	for x := r.Min.X; x <= r.Max.X; x += step {
		c.rect(x, r.Min.Y, 1, r.Dy(), p.grid)
	}
	for y := r.Min.Y; y <= r.Max.Y; y += step {
		c.rect(r.Min.X, y, r.Dx(), 1, p.grid)
	}
}

// dash returns the index of the dashes that tell lines and ranges of a kind from those of other kinds.
func (p *Painter) dash(kind string) int {
	i := slices.Index(p.kinds, kind)
	if i < 0 {
		i = len(p.kinds)
		if i >= len(dashes) { // kinds are a few words of a game, unless the scene is not one of a game
			return 0
		}
		p.kinds = append(p.kinds, kind)
	}
	return i
}

// ring draws the circle of a range.
func (p *Painter) ring(middle point, radius int64, owner int8, dash int) {
	radius = max(radius, 0)
	// Middles are rounded to half pixels, so that the circles of a kind are alike.
	x, y := (middle.x+unit/4)>>7, (middle.y+unit/4)>>7
	if p.direct || 2*radius > mostSprite*unit {
		p.circleTo(&p.canvas, point{x * unit / 2, y * unit / 2}, radius, owner, dash)
		return
	}
	key := spriteKey{what: ringSprite, owner: int8(legend.Index(owner)), dash: uint8(dash), width: int32(radius), halves: uint8(x&1 | y&1<<1)}
	p.canvas.draw(p.cached(key, func(c *canvas) (int, int) {
		around := int(radius/unit) + 2
		c.size(2*around+1, 2*around+1)
		p.circleTo(c, point{int64(around)*unit + x&1*unit/2, int64(around)*unit + y&1*unit/2}, radius, owner, dash)
		return around, around
	}), int(x>>1), int(y>>1))
}

// circleTo draws the circle of a range in a canvas.
func (p *Painter) circleTo(c *canvas, middle point, radius int64, owner int8, dash int) {
	p.corners = p.circle.appendEllipse(p.corners[:0], middle, radius, radius)
	c.closed(p.corners, min(max(int64(p.cell)*unit/16, unit/2), unit), dashes[dash], scaled(p.of(owner).edge, 115))
}

// width returns the width of lines in units. Between small cells they are thin, as many lines of an army would hide the board.
func (p *Painter) width() int64 { return min(max(int64(p.cell)*unit/12, unit/2), 3*unit) }

// stroke draws a line, with a head if it is an arrow.
func (p *Painter) stroke(l *features.Line, from, to point) {
	width := p.width()
	if l.Thick {
		width *= 2
	}
	ink := p.of(l.Owner).edge
	pen := p.canvas.newPen(width, dashes[p.dash(l.Kind)])
	pen.line(from, to)
	p.canvas.fill(scaled(ink, 192))
	if l.Arrow {
		p.canvas.arrowhead(from, to, width, ink)
	}
}

// event draws an event: an arrow from one place to another, or a ring around one.
func (p *Painter) event(from, to point) {
	c, cell := &p.canvas, int64(p.cell)*unit
	size := min(max(cell*3/10, unit*5/2), 12*unit)
	pen := c.newPen(min(max(cell/14, unit*3/4), unit*5/2), nil)
	dx, dy := to.x-from.x, to.y-from.y
	length := distance(dx, dy)
	if length == 0 {
		p.corners = p.circle.appendEllipse(p.corners[:0], from, size, size)
		c.closed(p.corners, pen.width, nil, scaled(p.strong, 205))
		return
	}
	pen.line(from, to)
	back, side := size*8/10, size*45/100
	base := point{to.x - dx*back/length, to.y - dy*back/length}
	sx, sy := -dy*side/length, dx*side/length
	pen.line(point{base.x + sx, base.y + sy}, to)
	pen.line(to, point{base.x - sx, base.y - sy})
	c.fill(scaled(p.strong, 205))
}
