package picture

import (
	"image"
	"math"
)

// Unit is a pixel, in the parts in which places are computed. Whole numbers are the same on every machine.
const Unit = 256

// Point is a place in a picture, in units.
type Point struct{ X, Y int64 }

// pixel returns the place of a pixel.
func pixel(x, y int) Point { return Point{int64(x) * Unit, int64(y) * Unit} }

// Box is a rectangle in a picture, in units.
type Box struct{ X, Y, Width, Height int64 }

// BoxOf returns the box of a rectangle in pixels.
func BoxOf(r image.Rectangle) Box {
	return Box{int64(r.Min.X) * Unit, int64(r.Min.Y) * Unit, int64(r.Dx()) * Unit, int64(r.Dy()) * Unit}
}

// Inside returns the box without a margin on each side.
func (b Box) Inside(margin int64) Box {
	return Box{b.X + margin, b.Y + margin, max(0, b.Width-2*margin), max(0, b.Height-2*margin)}
}

// At returns a point of the unit square in the box.
func (b Box) At(x, y float32) Point {
	return Point{b.X + int64(float64(float64(x)*float64(b.Width))), b.Y + int64(float64(float64(y)*float64(b.Height)))}
}

// Small returns the smaller side.
func (b Box) Small() int64 { return min(b.Width, b.Height) }

// Distance returns the length of a vector, rounded down. A square root is the same on every machine.
func Distance(x, y int64) int64 { return int64(math.Sqrt(float64(x*x + y*y))) }

// Anchor tells which part of a text is at its place.
type Anchor uint8

// The anchors.
const (
	Start Anchor = iota
	Middle
	End
)

// Pen draws lines.
type Pen struct {
	Width int64
	Ink   Role
	Share uint32 // of the ink, in parts of 256
	Kind  int    // number of the kind of line: see Dashes
}

// Text is a text in a picture. Its capitals are vertically centred on the place.
type Text struct {
	At     Point
	Anchor Anchor
	Size   int64 // of the font
	Words  string
	Ink    Role
	Rim    bool // with a light rim, as there may be anything below
}

// Surface is what a picture is drawn on.
type Surface interface {
	// Clip limits drawing to a rectangle, until the next call.
	Clip(r image.Rectangle)
	// Name begins a thing: it says so to who points at it. "" ends it.
	Name(words string)
	// Rect fills a rectangle.
	Rect(r image.Rectangle, fill Role)
	// Cells draws the borders of cells of a side in pixels.
	Cells(r image.Rectangle, side int)
	// Mark draws a Look in a rectangle.
	Mark(l *Look, r image.Rectangle)
	// Ring draws a circle.
	Ring(middle Point, radius int64, p Pen)
	// Lines draws straight lines, each from a point to the next: one shape.
	Lines(ends []Point, p Pen)
	// Triangle fills a triangle.
	Triangle(corners [3]Point, fill Role)
	// Text draws a text.
	Text(t *Text)
}

// Trace appends the corners of the outline of a look in a box.
func (l *Look) Trace(dst []Point, b Box) []Point {
	for i := 0; i+1 < len(l.Corners); i += 2 {
		dst = append(dst, b.At(l.Corners[i], l.Corners[i+1]))
	}
	return dst
}

// LetterIn returns the letter of a look in a rectangle; its Words are "" where there is no room.
func (l *Look) LetterIn(r image.Rectangle) Text {
	const least = 6 // pixels
	b := BoxOf(r)
	t := Text{At: b.At(l.LetterX, l.LetterY), Anchor: Middle, Size: l.LetterSize.In(b.Small()), Ink: Ink}
	if t.Size >= least*Unit && len(l.Letter) <= 2*4 {
		t.Words = l.Letter
	}
	return t
}

// Crossed returns the ends of the two lines that cross out a thing in a box, and their width.
func (l *Look) Crossed(b Box) (ends [4]Point, width int64) {
	return [4]Point{{b.X, b.Y}, {b.X + b.Width, b.Y + b.Height}, {b.X, b.Y + b.Height}, {b.X + b.Width, b.Y}}, Cross.In(b.Small())
}

// Inner returns the box of the outline of a thing in a rectangle.
func Inner(r image.Rectangle) Box {
	b := BoxOf(r)
	return b.Inside(Margin.In(b.Small()))
}
