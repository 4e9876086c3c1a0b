package raster

// dashes tell lines and ranges of a kind from those of other kinds: lengths of dashes and gaps in turn, in units.
var dashes = [...][]int64{nil, {5 * unit, 3 * unit}, {3 * unit / 2, 5 * unit / 2}, {7 * unit, 2 * unit, 3 * unit / 2, 2 * unit}, {3 * unit, 2 * unit}}

// unfinished has the dashes of the outline of an unfinished entity.
var unfinished = []int64{2 * unit, 3 * unit / 2}

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
	dx, dy := to.x-from.x, to.y-from.y
	length := distance(dx, dy)
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
	dx, dy := to.x-from.x, to.y-from.y
	a := point{from.x + dx*begin/length, from.y + dy*begin/length}
	b := point{from.x + dx*end/length, from.y + dy*end/length}
	sx, sy := -dy*p.width/(2*length), dx*p.width/(2*length)
	p.c.polygon(point{a.x + sx, a.y + sy}, point{a.x - sx, a.y - sy}, point{b.x - sx, b.y - sy}, point{b.x + sx, b.y + sy})
}

// closed draws the border of a polygon.
func (c *canvas) closed(corners []point, width int64, dash []int64, p pixel) {
	pen := c.newPen(width, dash)
	for i, from := range corners {
		pen.line(from, corners[(i+1)%len(corners)])
	}
	c.fill(p)
}

// arrowhead draws the head of a line of that width.
func (c *canvas) arrowhead(from, to point, width int64, p pixel) {
	dx, dy := to.x-from.x, to.y-from.y
	length := distance(dx, dy)
	if length == 0 {
		return
	}
	back, side := 4*width, 2*width
	base := point{to.x - dx*back/length, to.y - dy*back/length}
	sx, sy := -dy*side/length, dx*side/length
	c.polygon(to, point{base.x + sx, base.y + sy}, point{base.x - sx, base.y - sy})
	c.fill(p)
}
