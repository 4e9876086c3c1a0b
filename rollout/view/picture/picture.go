// Package picture draws a scene as SVG with the standard library alone. It knows no game.
//
// The colour of a thing tells its owner, its outline and its letter tell its kind. Events have a colour of
// their own. Below the board are the numbers of the seats, and a legend of the kinds in the scene.
// Pointing at a thing shows its owner, health and note. Many simple things of one kind are drawn
// together, with their healths in tenths.
//
// The same scene gives the same bytes on every machine: coordinates are computed without fused
// arithmetic and rounded to hundredths of a point.
//
// Texts may contain any characters: they are escaped, and characters that XML forbids are replaced.
// A thing with a coordinate that is NaN, infinite or far from the board is not drawn. If the board has
// no size, the picture says "nothing to draw".
package picture

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"strconv"

	"moonfarm/features"
	"moonfarm/rollout/view/picture/internal/legend"
	"moonfarm/sim/texts"
)

// Sizes in points.
const (
	letters   = 12  // font size
	line      = 18  // height of a line of text
	edge      = 26  // margin, with the numbers of the columns and rows
	boardSide = 720 // largest side of the board, unless its cells were too small then
	leastCell = 14  // smallest side of a cell of a board that fits into the next
	mostSide  = 1200
	mostCell  = 56  // largest side of a cell
	leastWide = 560 // smallest width of the picture
)

// colourOf returns the colours of an owner.
func colourOf(owner int8) legend.Colour { return legend.Colours[legend.Index(owner)] }

// Head names a picture for screen readers.
type Head struct {
	ID          string // prefix of the ids in the element, unique on the page
	Title       string // also drawn above the board, before the title of the scene
	Description string // followed by the numbers of the seats and of their entities
}

// canvas is an svg element under construction.
type canvas struct {
	bytes.Buffer
	scene     *features.Scene
	id        string  // escaped
	cell      float64 // side of a cell in points
	left, top float64 // corner of the board
	dashes    []string
}

// SVG returns a scene as one svg element.
func SVG(s *features.Scene, h Head) []byte {
	c := &canvas{scene: s, id: html.EscapeString(texts.OneLine(h.ID)), left: edge, top: edge + line}
	width, height := float64(leastWide), float64(edge+2*line)
	if !legend.Drawable(s) {
		c.begin(h, width, height)
		c.text(edge, c.top, "start", letters, "nothing to draw")
		return c.end()
	}
	c.cell = cellSide(float64(max(s.Width, s.Height)))
	width = max(width, product(s.Width, c.cell)+2*edge)
	legendTop := c.top + product(s.Height, c.cell) + edge + line
	height = legendTop + c.legendHeight(width) + edge/2
	c.begin(h, width, height)
	c.board()
	c.legend(legendTop, width)
	return c.end()
}

// cellSide returns the side of a cell in points, for the larger side of the board in cells.
func cellSide(cells float64) float64 {
	if fits := mostSide / cells; fits < leastCell {
		return fits
	}
	return min(max(math.Floor(boardSide/cells), leastCell), mostCell)
}

// begin begins the picture.
func (c *canvas) begin(h Head, width, height float64) {
	fmt.Fprintf(c, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %s" width="%[1]s" height="%[2]s" role="img" aria-labelledby="%s-title %[3]s-description" `,
		points(width), points(height), c.id)
	fmt.Fprintf(c, `font-family="Arial, 'Liberation Sans', Helvetica, sans-serif" font-size="%d" fill="%s">`+"\n", letters, legend.Dark)
	fmt.Fprintf(c, "<title id=\"%s-title\">%s</title>\n", c.id, escaped(h.Title))
	fmt.Fprintf(c, "<desc id=\"%s-description\">%s</desc>\n", c.id, escaped(h.Description+" "+c.inWords()))
	fmt.Fprintf(c, "<rect width=\"%s\" height=\"%s\" fill=\"#fff\"/>\n", points(width), points(height))
	title := h.Title
	if c.scene.Title != "" {
		title += ", " + c.scene.Title
	}
	c.text(edge, edge, "start", letters+2, title)
}

// end ends the picture and returns it.
func (c *canvas) end() []byte {
	c.WriteString("</svg>\n")
	return c.Bytes()
}

// escaped returns a text as one line that is safe in SVG.
func escaped(text string) string { return html.EscapeString(texts.OneLine(text)) }

// points formats a number of points, rounded to hundredths.
func points(v float64) string {
	return strconv.FormatFloat(math.Round(v*100)/100+0, 'f', -1, 64) // + 0: no −0
}

// product multiplies cells by points. The conversion keeps the compiler from fusing the product with a
// sum, which would round differently on some machines.
func product(cells float32, size float64) float64 { return float64(float64(cells) * size) }

// half halves a number, for sums. Without the conversion the compiler makes a product of it.
func half(v float64) float64 { return float64(v / 2) }

// at returns the place of a point of the board in the picture.
func (c *canvas) at(x, y float32) (px, py float64) {
	if c.scene.Up {
		y = c.scene.Height - y
	}
	return c.left + product(x, c.cell), c.top + product(y, c.cell)
}

// corner returns the upper left corner of a square of the board in the picture.
func (c *canvas) corner(x, y, height float32) (px, py float64) {
	if c.scene.Up {
		y += height
	}
	return c.at(x, y)
}

// near reports whether coordinates are numbers not farther from the board than its size.
func (c *canvas) near(numbers ...float32) bool { return legend.Near(c.scene, numbers...) }

// text draws a text whose anchor ("start", "middle", "end") is at x and whose letters are vertically
// centred on y.
func (c *canvas) text(x, y float64, anchor string, size float64, text string) {
	if text == "" {
		return
	}
	fmt.Fprintf(c, `<text x="%s" y="%s" text-anchor="%s"`, points(x), points(y+float64(size*0.36)), anchor)
	if size != letters {
		fmt.Fprintf(c, ` font-size="%s"`, points(size))
	}
	fmt.Fprintf(c, ">%s</text>\n", escaped(text))
}

// rect draws a filled rectangle.
func (c *canvas) rect(x, y, width, height float64, fill string) {
	fmt.Fprintf(c, "<rect x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\" fill=\"%s\"/>\n", points(x), points(y), points(width), points(height), fill)
}
