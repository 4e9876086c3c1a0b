// Package chart draws charts as SVG with the standard library alone: rows of values with intervals,
// lines, and histograms. Each function returns one svg element, for a page or a file of its own.
//
// The same input gives the same bytes on every machine: coordinates are computed without fused
// arithmetic or logarithms and rounded to hundredths of a point.
//
// Texts may contain any characters: they are escaped, characters that XML forbids are replaced, and
// a text that does not fit is shortened. A number that is NaN, infinite or beyond ±1e300 is not
// drawn, and does not extend its axis. A chart without numbers to draw says "no data".
package chart

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"strconv"

	"moonfarm/sim/texts"
)

// Width is the width of every chart in points. It fits a phone or half a desktop's page; a page
// that shows a chart wider also enlarges its letters.
const Width = 360

// Sizes in points.
const (
	letters    = 11  // font size
	line       = 14  // height of a line of text
	edge       = 4   // empty margin
	gap        = 6   // between texts side by side
	plotHeight = 185 // of lines and bars, without axes and legend
	rowHeight  = 19
	mostName   = 0.42 * Width // largest width of a name
)

// Colours of texts and axes.
const (
	dark  = "#222"
	axis  = "#888"
	light = "#e4e4e4"
)

// colours of lines, from the palette of Okabe and Ito, which is safe for the colour-blind.
var colours = [...]string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000", "#888"}

// Head names a chart for screen readers.
type Head struct {
	ID          string // prefix of the ids of title and description, unique on the page
	Title       string
	Description string
}

// canvas is an svg element under construction.
type canvas struct{ bytes.Buffer }

// newCanvas begins a picture of the given height in points.
func newCanvas(h Head, height float64) *canvas {
	c := &canvas{}
	id := html.EscapeString(texts.OneLine(h.ID))
	fmt.Fprintf(c, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %s" role="img" aria-labelledby="%s-title %[3]s-description" `, Width, points(height), id)
	fmt.Fprintf(c, `font-family="Arial, 'Liberation Sans', Helvetica, sans-serif" font-size="%d" fill="%s">`+"\n", letters, dark)
	fmt.Fprintf(c, "<title id=\"%s-title\">%s</title>\n", id, html.EscapeString(texts.OneLine(h.Title)))
	fmt.Fprintf(c, "<desc id=\"%s-description\">%s</desc>\n", id, html.EscapeString(texts.OneLine(h.Description)))
	fmt.Fprintf(c, "<rect width=\"%d\" height=\"%s\" fill=\"#fff\"/>\n", Width, points(height))
	return c
}

// svg ends the picture and returns it.
func (c *canvas) svg() []byte {
	c.WriteString("</svg>\n")
	return c.Bytes()
}

// points formats a number of points, rounded to hundredths.
func points(v float64) string {
	return strconv.FormatFloat(math.Round(v*100)/100+0, 'f', -1, 64) // + 0: no −0
}

// text draws a text whose anchor ("start", "middle", "end") is at x and whose letters are
// vertically centred on y.
func (c *canvas) text(x, y float64, anchor, text string) {
	if text == "" {
		return
	}
	fmt.Fprintf(c, "<text x=\"%s\" y=\"%s\" text-anchor=\"%s\">%s</text>\n", points(x), points(y+4), anchor, html.EscapeString(text))
}

// stroke draws a line through pairs of coordinates.
func (c *canvas) stroke(colour string, width float64, at ...float64) {
	fmt.Fprintf(c, `<path d="`)
	for i := 0; i < len(at); i += 2 {
		command := "L"
		if i == 0 {
			command = "M"
		}
		c.WriteString(command + points(at[i]) + " " + points(at[i+1]))
	}
	fmt.Fprintf(c, "\" fill=\"none\" stroke=\"%s\" stroke-width=\"%s\"/>\n", colour, points(width))
}

// dot draws a filled circle.
func (c *canvas) dot(colour string, x, y, radius float64) {
	fmt.Fprintf(c, "<circle cx=\"%s\" cy=\"%s\" r=\"%s\" fill=\"%s\"/>\n", points(x), points(y), points(radius), colour)
}
