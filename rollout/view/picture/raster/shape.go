package raster

import (
	"math"

	"moonfarm/features"
)

// circle has the directions of a full turn, in units of 1<<20, clockwise from greater x.
type circle [256]point

// newCircle computes the directions by halving angles, in whole numbers: sines would differ between machines.
func newCircle() *circle {
	const one = 1 << 20
	var c circle
	quarter := len(c) / 4
	for i, p := range [...]point{{one, 0}, {0, one}, {-one, 0}, {0, -one}} {
		c[i*quarter] = p
	}
	for step := quarter; step > 1; step /= 2 {
		for i := 0; i < len(c); i += step {
			a, b := c[i], c[(i+step)%len(c)]
			x, y := a.x+b.x, a.y+b.y
			length := distance(x, y)
			c[i+step/2] = point{x * one / length, y * one / length}
		}
	}
	return &c
}

// distance returns the length of a vector, rounded down. A square root is the same on every machine.
func distance(x, y int64) int64 { return int64(math.Sqrt(float64(x*x + y*y))) }

// appendEllipse appends the corners of a polygon that looks like an ellipse.
func (t *circle) appendEllipse(dst []point, middle point, rx, ry int64) []point {
	step := 8
	for r := max(rx, ry); step > 1 && r > 8*unit; r /= 3 {
		step /= 2
	}
	for i := 0; i < len(t); i += step {
		dst = append(dst, point{middle.x + t[i].x*rx>>20, middle.y + t[i].y*ry>>20})
	}
	return dst
}

// box is a rectangle in a canvas, in units.
type box struct{ x, y, width, height int64 }

// inside returns the box without a margin on each side.
func (b box) inside(margin int64) box {
	return box{b.x + margin, b.y + margin, max(0, b.width-2*margin), max(0, b.height-2*margin)}
}

// appendOutline appends the corners of an outline in a box, clockwise. The outline is one in the frame of the picture, in which y
// grows downwards.
func (t *circle) appendOutline(dst []point, o features.Outline, b box) []point {
	right, bottom := b.x+b.width, b.y+b.height
	middle := point{b.x + b.width/2, b.y + b.height/2}
	switch o {
	case features.Round:
		return t.appendEllipse(dst, middle, b.width/2, b.height/2)
	case features.Diamond:
		return append(dst, point{middle.x, b.y}, point{right, middle.y}, point{middle.x, bottom}, point{b.x, middle.y})
	case features.ToRight:
		return append(dst, point{b.x, b.y}, point{right, middle.y}, point{b.x, bottom})
	case features.ToLeft:
		return append(dst, point{right, b.y}, point{right, bottom}, point{b.x, middle.y})
	case features.ToGreaterY:
		return append(dst, point{b.x, b.y}, point{right, b.y}, point{middle.x, bottom})
	case features.ToLessY:
		return append(dst, point{middle.x, b.y}, point{right, bottom}, point{b.x, bottom})
	}
	return append(dst, point{b.x, b.y}, point{right, b.y}, point{right, bottom}, point{b.x, bottom})
}

// appendInset appends the corners of a convex polygon, given clockwise, whose sides are moved inwards by a distance. It appends
// nothing if the polygon has no room for it.
func appendInset(dst, corners []point, by int64) []point {
	const one = 1 << 12
	n := len(corners)
	var area, around int64
	for i, p := range corners {
		q := corners[(i+1)%n]
		area += p.x*q.y - p.y*q.x
		around += distance(q.x-p.x, q.y-p.y)
	}
	if around == 0 || area <= by*around {
		return dst
	}
	// side returns a side of the moved polygon: the points p with x*p.x + y*p.y = at.
	side := func(i int) (x, y, at int64) {
		p, q := corners[i], corners[(i+1)%n]
		length := max(1, distance(q.x-p.x, q.y-p.y))
		x, y = -(q.y-p.y)*one/length, (q.x-p.x)*one/length
		return x, y, x*p.x + y*p.y + by*one
	}
	for i := range corners {
		x0, y0, at0 := side((i + n - 1) % n)
		x1, y1, at1 := side(i)
		if det := x0*y1 - y0*x1; det != 0 {
			dst = append(dst, point{(at0*y1 - at1*y0) / det, (at1*x0 - at0*x1) / det})
		}
	}
	return dst
}
