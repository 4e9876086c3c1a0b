package raster

import "moonfarm/rollout/view/picture"

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

// inUnits returns dashes in units.
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

// closed draws the border of a polygon.
func (c *canvas) closed(corners []point, width int64, dash []int64, p pixel) {
	pen := c.newPen(width, dash)
	for i, from := range corners {
		pen.line(from, corners[(i+1)%len(corners)])
	}
	c.fill(p)
}
