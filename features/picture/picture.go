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

// mostCells is the largest side of a board that is drawn, in cells, so that coordinates stay short.
const mostCells = 4096

// Colours of texts and of the board.
const (
	dark = "#222"
	axis = "#666"
	grid = "#ddd"
	fog  = "#c9c9c9"
)

// colour of the things of one owner.
type colour struct {
	edge string // of outlines and lines, from the palette of Okabe and Ito, which is safe for the colour-blind
	fill string // the same over white, so light that dark letters can be read on it
	area string // of the owner's part of the board
}

// colours by seat, and nobody's after them.
var (
	colours = [...]colour{
		{"#0072b2", "#73b1d5", "#eff5fa"}, {"#d55e00", "#e8a673", "#fcf4ee"}, {"#009e73", "#73cab2", "#eef8f5"}, {"#cc79a7", "#e3b6cf", "#fbf4f8"},
	}
	nobody = colour{"#777", "#d0d0d0", "#fff"}
)

func colourOf(owner int8) colour {
	if owner < 0 || int(owner) >= len(colours) {
		return nobody
	}
	return colours[owner]
}

// seatName returns "A" for seat 0.
func seatName(owner int8) string {
	if owner < 0 {
		return "nobody"
	}
	return string('A' + rune(owner))
}

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
	if drawn := s.Width > 0 && s.Height > 0 && s.Width <= mostCells && s.Height <= mostCells; !drawn {
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
	fmt.Fprintf(c, `font-family="Arial, 'Liberation Sans', Helvetica, sans-serif" font-size="%d" fill="%s">`+"\n", letters, dark)
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
func (c *canvas) near(numbers ...float32) bool {
	far := c.scene.Width + c.scene.Height
	for _, v := range numbers {
		if !(v >= -far && v <= 2*far) { // also for NaN
			return false
		}
	}
	return true
}

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
