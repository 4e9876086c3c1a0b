package picture

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"moonfarm/features"
	"moonfarm/rollout/view/picture/internal/legend"
)

// board draws the areas, the numbers of rows and columns, and all things on the board.
func (c *canvas) board() {
	s := c.scene
	for _, hidden := range []bool{false, true} {
		for _, a := range s.Areas {
			if a.Hidden != hidden || !c.near(a.X, a.Y, a.Width, a.Height) {
				continue
			}
			fill := colourOf(a.Owner).Area
			if hidden {
				fill = legend.Fog
			}
			x, y := c.corner(a.X, a.Y, a.Height)
			c.rect(x, y, product(a.Width, c.cell), product(a.Height, c.cell), fill)
			if !hidden {
				c.gridOf(a)
			}
		}
	}
	c.numbers()
	fmt.Fprintf(c, "<clipPath id=\"%s-board\"><rect x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\"/></clipPath>\n<g clip-path=\"url(#%[1]s-board)\">\n",
		c.id, points(c.left), points(c.top), points(product(s.Width, c.cell)), points(product(s.Height, c.cell)))
	for _, r := range s.Ranges {
		if c.near(r.X, r.Y, r.Radius) {
			x, y := c.at(r.X, r.Y)
			c.ring(x, y, product(r.Radius, c.cell), r.Owner, c.dash(r.Kind))
		}
	}
	c.WriteString("</g>\n")
	for i := 0; i < len(s.Entities); i++ {
		if n := c.crowd(s.Entities[i:]); n > 0 {
			i += n - 1
			continue
		}
		if e := &s.Entities[i]; c.near(e.X, e.Y, e.Width, e.Height) {
			x, y := c.corner(e.X, e.Y, e.Height)
			c.entity(e, x, y, product(e.Width, c.cell), product(e.Height, c.cell))
		}
	}
	for _, l := range s.Lines {
		if c.near(l.X1, l.Y1, l.X2, l.Y2) {
			x1, y1 := c.at(l.X1, l.Y1)
			x2, y2 := c.at(legend.ArrowEnd(&l))
			c.line(&l, x1, y1, x2, y2)
		}
	}
	c.events()
}

// gridOf draws the borders of the cells of an area, unless the cells are small.
func (c *canvas) gridOf(a features.Area) {
	step := float32(1)
	if c.cell < leastCell+4 {
		step = 10
	}
	x, y := c.corner(a.X, a.Y, a.Height)
	right, bottom := x+product(a.Width, c.cell), y+product(a.Height, c.cell)
	fmt.Fprintf(c, `<path d="`)
	for v := float32(0); v <= a.Width; v += step {
		at := points(x + product(v, c.cell))
		c.WriteString("M" + at + " " + points(y) + "V" + points(bottom))
	}
	for v := float32(0); v <= a.Height; v += step {
		at := points(y + product(v, c.cell))
		c.WriteString("M" + points(x) + " " + at + "H" + points(right))
	}
	fmt.Fprintf(c, "\" fill=\"none\" stroke=\"%s\"/>\n", legend.Grid)
}

// numbers draws the numbers of columns below the board and of rows beside it.
func (c *canvas) numbers() {
	step := 1
	switch {
	case c.cell < leastCell+4:
		step = 10
	case c.cell < leastCell+10:
		step = 2
	}
	const size, gap = 10, 10
	bottom := c.top + product(c.scene.Height, c.cell)
	fmt.Fprintf(c, "<g fill=\"%s\" aria-hidden=\"true\">\n", legend.Axis)
	for x := 0; x < int(c.scene.Width); x += step {
		px, _ := c.at(float32(x)+0.5, 0)
		c.text(px, bottom+gap, "middle", size, strconv.Itoa(x))
	}
	for y := 0; y < int(c.scene.Height); y += step {
		_, py := c.at(0, float32(y)+0.5)
		c.text(c.left-gap/2, py, "end", size, strconv.Itoa(y))
	}
	c.WriteString("</g>\n")
}

// dash returns the dashes that tell lines and ranges of a kind from those of other kinds.
func (c *canvas) dash(kind string) string {
	patterns := [...]string{"", "5 3", "1.5 2.5", "7 2 1.5 2", "3 2"}
	i := slices.Index(c.dashes, kind)
	if i < 0 {
		i = len(c.dashes)
		c.dashes = append(c.dashes, kind)
	}
	return patterns[i%len(patterns)]
}

// dashed writes the attribute of dashes.
func (c *canvas) dashed(dash string) {
	if dash != "" {
		fmt.Fprintf(c, ` stroke-dasharray="%s"`, dash)
	}
}

// ring draws the circle of a range.
func (c *canvas) ring(x, y, radius float64, owner int8, dash string) {
	fmt.Fprintf(c, `<circle cx="%s" cy="%s" r="%s" fill="none" stroke="%s" stroke-opacity="0.45"`, points(x), points(y), points(radius), colourOf(owner).Edge)
	c.dashed(dash)
	c.WriteString("/>\n")
}

// line draws a line, with a head if it is an arrow.
func (c *canvas) line(l *features.Line, x1, y1, x2, y2 float64) {
	width := min(max(c.cell/12, 1.2), 3)
	if l.Thick {
		width *= 2
	}
	dx, dy := x2-x1, y2-y1
	length := math.Sqrt(float64(dx*dx) + float64(dy*dy))
	c.WriteString("<g>")
	c.title(legend.SeatName(l.Owner)+" "+l.Kind, l.Note)
	fmt.Fprintf(c, `<path d="M%s %sL%s %s" stroke="%s" stroke-width="%s" stroke-opacity="0.75"`,
		points(x1), points(y1), points(x2), points(y2), colourOf(l.Owner).Edge, points(width))
	c.dashed(c.dash(l.Kind))
	c.WriteString("/>")
	if l.Arrow && length > 0 {
		dx, dy = dx/length, dy/length
		back, side := float64(4*width), float64(2*width)
		bx, by := x2-float64(dx*back), y2-float64(dy*back)
		fmt.Fprintf(c, `<path d="M%s %sL%s %sL%s %sZ" fill="%s"/>`, points(x2), points(y2),
			points(bx-float64(dy*side)), points(by+float64(dx*side)), points(bx+float64(dy*side)), points(by-float64(dx*side)), colourOf(l.Owner).Edge)
	}
	c.WriteString("</g>\n")
}

// title writes the text that shows while a person points at a thing.
func (c *canvas) title(parts ...string) {
	parts = slices.DeleteFunc(parts, func(p string) bool { return p == "" })
	fmt.Fprintf(c, "<title>%s</title>", escaped(strings.Join(parts, ", ")))
}
