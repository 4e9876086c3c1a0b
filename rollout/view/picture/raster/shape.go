package raster

import "moonfarm/rollout/view/picture"

// circle has the directions of a full turn, in units of 1<<20, clockwise from greater x.
type circle [256]point

// newCircle computes the directions by halving angles, in whole numbers: sines would differ between machines.
func newCircle() *circle {
	const one = 1 << 20
	var c circle
	quarter := len(c) / 4
	for i, p := range [...]point{{X: one}, {Y: one}, {X: -one}, {Y: -one}} {
		c[i*quarter] = p
	}
	for step := quarter; step > 1; step /= 2 {
		for i := 0; i < len(c); i += step {
			a, b := c[i], c[(i+step)%len(c)]
			x, y := a.X+b.X, a.Y+b.Y
			length := picture.Distance(x, y)
			c[i+step/2] = point{X: x * one / length, Y: y * one / length}
		}
	}
	return &c
}

// appendEllipse appends the corners of a polygon that looks like an ellipse.
func (c *circle) appendEllipse(dst []point, middle point, rx, ry int64) []point {
	step := 8
	for r := max(rx, ry); step > 1 && r > 8*unit; r /= 3 {
		step /= 2
	}
	for i := 0; i < len(c); i += step {
		dst = append(dst, point{X: middle.X + c[i].X*rx>>20, Y: middle.Y + c[i].Y*ry>>20})
	}
	return dst
}

// appendInset appends the corners of a convex polygon, given clockwise, whose sides are moved inwards by a distance. It appends
// nothing if the polygon has no room for it.
func appendInset(dst, corners []point, by int64) []point {
	const one = 1 << 12
	n := len(corners)
	var area, around int64
	for i, p := range corners {
		q := corners[(i+1)%n]
		area += p.X*q.Y - p.Y*q.X
		around += picture.Distance(q.X-p.X, q.Y-p.Y)
	}
	if around == 0 || area <= by*around {
		return dst
	}
	// side returns a side of the moved polygon: the points p with x*p.X + y*p.Y = at.
	side := func(i int) (x, y, at int64) {
		p, q := corners[i], corners[(i+1)%n]
		length := max(1, picture.Distance(q.X-p.X, q.Y-p.Y))
		x, y = -(q.Y-p.Y)*one/length, (q.X-p.X)*one/length
		return x, y, x*p.X + y*p.Y + by*one
	}
	for i := range corners {
		x0, y0, at0 := side((i + n - 1) % n)
		x1, y1, at1 := side(i)
		if det := x0*y1 - y0*x1; det != 0 {
			dst = append(dst, point{X: (at0*y1 - at1*y0) / det, Y: (at1*x0 - at0*x1) / det})
		}
	}
	return dst
}

// patterns has the dashes of the kinds of lines in units, and unfinished those of the outlines of unfinished things.
var (
	patterns = func() (all [picture.Kinds][]int64) {
		for kind := range all {
			all[kind] = inUnits(picture.Dashes(kind))
		}
		return all
	}()
	unfinished = inUnits(picture.Unfinished)
)

func inUnits(dashes []float32) (units []int64) {
	for _, v := range dashes {
		units = append(units, int64(v*unit))
	}
	return units
}

// mostDashes is the largest number of dashes in a line. A line with more has none: only a small part of it can be in a picture.
const mostDashes = 8192

// pen draws a path of straight parts.
type pen struct {
	c     *canvas
	width int64
	dash  []int64
	at    int   // index of the current dash or gap
	left  int64 // length that is left of it
}

// newPen returns a pen at the beginning of a path.
func (c *canvas) newPen(width int64, dash []int64) pen {
	p := pen{c: c, width: width, dash: dash}
	if len(dash) > 0 {
		p.left = dash[0]
	}
	return p
}

// line adds the dashes of the next part of a path to the outline.
func (p *pen) line(from, to point) {
	dx, dy := to.X-from.X, to.Y-from.Y
	length := picture.Distance(dx, dy)
	if length == 0 {
		return
	}
	if len(p.dash) == 0 || length > mostDashes*unit {
		p.part(from, to, length, 0, length)
		return
	}
	for done := int64(0); done < length; {
		n := min(p.left, length-done)
		if p.at%2 == 0 {
			p.part(from, to, length, done, done+n)
		}
		done += n
		if p.left -= n; p.left == 0 {
			p.at = (p.at + 1) % len(p.dash)
			p.left = p.dash[p.at]
		}
	}
}

// part adds a part of a line of that length as a rectangle.
func (p *pen) part(from, to point, length, begin, end int64) {
	dx, dy := to.X-from.X, to.Y-from.Y
	a := point{X: from.X + dx*begin/length, Y: from.Y + dy*begin/length}
	b := point{X: from.X + dx*end/length, Y: from.Y + dy*end/length}
	sx, sy := -dy*p.width/(2*length), dx*p.width/(2*length)
	p.c.polygon(point{X: a.X + sx, Y: a.Y + sy}, point{X: a.X - sx, Y: a.Y - sy}, point{X: b.X - sx, Y: b.Y - sy}, point{X: b.X + sx, Y: b.Y + sy})
}

func (c *canvas) closed(corners []point, width int64, dash []int64, p pixel) {
	pen := c.newPen(width, dash)
	for i, from := range corners {
		pen.line(from, corners[(i+1)%len(corners)])
	}
	c.fill(p)
}
