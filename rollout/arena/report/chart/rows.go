package chart

import "math"

// Row is a value with its interval.
type Row struct {
	Name  string
	Value float64
	Low   float64 // −Inf: the interval has no lower end
	High  float64 // +Inf: the interval has no upper end
}

// Rows draws one row per value with its interval, top to bottom, with the names on the left.
func Rows(h Head, x Axis, rows []Row) []byte {
	names, widest := make([]string, len(rows)), 0.0
	var e extent
	for i, r := range rows {
		names[i] = shorten(r.Name, mostName)
		widest = max(widest, widthOfText(names[i]))
		e.add(r.Value)
		e.add(r.Low)
		e.add(r.High)
	}
	f := &frame{left: edge + widest + gap + 2, right: Width - edge - 4, top: edge, x: x}
	f.bottom = f.top + float64(max(1, len(rows))*rowHeight)
	low, high := x.span(e)
	around := (high - low) / 40 // keeps the ends of intervals inside the picture
	f.sx = scale{low - around, high + around, f.left, f.right}
	c := newCanvas(h, f.below())
	f.drawX(c)
	for i, r := range rows {
		y := f.top + rowHeight/2 + float64(i*rowHeight)
		c.stroke(light, 0.7, f.left, y, f.right, y)
		c.text(f.left-gap, y, "end", names[i])
		f.drawRow(c, r, y)
	}
	if !e.any {
		f.noData(c)
	}
	return c.svg()
}

// drawRow draws the value and interval of a row. A side without an end runs to the border of the
// plot and has no cap there.
func (f *frame) drawRow(c *canvas, r Row, y float64) {
	const half = 3.5 // half the length of a cap
	from, to := f.left, f.right
	if drawable(r.Low) {
		from = f.sx.at(r.Low)
	}
	if drawable(r.High) {
		to = f.sx.at(r.High)
	}
	if from <= to && (drawable(r.Low) || math.IsInf(r.Low, -1)) && (drawable(r.High) || math.IsInf(r.High, 1)) {
		c.stroke(colours[0], 1.4, from, y, to, y)
		if drawable(r.Low) {
			c.stroke(colours[0], 1.4, from, y-half, from, y+half)
		}
		if drawable(r.High) {
			c.stroke(colours[0], 1.4, to, y-half, to, y+half)
		}
	}
	if drawable(r.Value) {
		c.dot(colours[0], f.sx.at(r.Value), y, 3.4)
	}
}
