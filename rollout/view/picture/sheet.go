// Package picture makes of a scene the display list that all pictures are drawn from, and lays it out on a sheet: the board, the
// numbers of columns, rows and seats, and a legend. It knows no game. Packages svg and raster draw sheets, package blocks texts; a
// page draws the list on its own board.
//
// The colour of a thing tells its owner, its outline and its letter tell its kind. Events have a colour of their own.
//
// The same scene gives the same picture on every machine: places are computed in whole parts of a pixel. A cell of the board has whole
// pixels, so that cells of a kind look alike. Boards of small cells lack what nobody could see: letters, bars of health and borders of
// cells. A thing with a coordinate that is NaN, infinite or far from the board is not drawn. The size of a picture is bounded,
// whatever the scene has.
package picture

import (
	"fmt"
	"image"
	"math"
	"slices"

	"moonfarm/features"
)

// Settings tell what a picture has besides the board.
type Settings struct {
	Width  int  // of the picture, in pixels
	Stats  bool // above the board a title, beside it the numbers of columns and rows, below it the numbers of the seats
	Legend bool // below all that a legend of the kinds in the scene
	Cell   int  // the largest side of a cell in pixels; 0: 56 in a picture with Stats
	Names  bool // things are named for who points at them
}

const (
	mostCells  = 4096    // the largest side of a board that is drawn, in cells
	mostPixels = 1 << 24 // of a picture
)

// Sheet lays scenes out, one after the other. It keeps its memory, so that a scene like the one before allocates nothing. Each goroutine
// needs its own.
type Sheet struct {
	Settings
	maker     Maker
	list      *List
	to        Surface
	cell      int // side of a cell in pixels
	left, top int // corner of the board
	points    []Point
	words     Text     // the last one
	kinds     []string // of lines and ranges that have dashes, in the order in which they were found
}

// Lay lays a scene out and returns the height of its picture. It fails for a board without a size, and for a board whose cells would be
// smaller than a pixel, or whose picture would have more than 1<<24 pixels.
func (s *Sheet) Lay(scene *features.Scene) (height int, err error) {
	if !(scene.Width > 0 && scene.Height > 0 && scene.Width <= mostCells && scene.Height <= mostCells) {
		return 0, fmt.Errorf("a board of %v × %v cells: expected sides above 0 and up to %d", scene.Width, scene.Height, mostCells)
	}
	s.list = s.maker.List(scene)
	across, above, below := s.Width, 0, 0
	if s.Stats {
		across -= 2 * s.edge()
		above = s.edge() + s.line()
		below = s.edge() + s.line() + s.statsHeight()
	}
	if s.Legend {
		below += s.line()/2 + s.legendHeight()
	}
	s.cell = int(float64(max(across, 0)) / float64(scene.Width))
	if s.cell < 1 {
		return 0, fmt.Errorf("a board of %v columns in a picture %d pixels wide: a column needs a pixel", scene.Width, s.Width)
	}
	switch { // a board alone fills its picture
	case s.Cell > 0:
		s.cell = min(s.cell, s.Cell)
	case s.Stats:
		s.cell = min(s.cell, 56)
	}
	s.left = (s.Width - s.px(scene.Width)) / 2
	s.top = above
	if above == 0 {
		s.top = (across - s.px(scene.Width)) / 2
		below = max(below, s.top)
	}
	height = s.top + s.px(scene.Height) + below
	if int64(height)*int64(s.Width) > mostPixels {
		return 0, fmt.Errorf("a picture of %d × %d pixels: expected at most %d in all", s.Width, height, mostPixels)
	}
	return max(height, 1), nil
}

// Draw draws the scene that was laid out on a surface. The title is drawn before the title of the scene.
func (s *Sheet) Draw(to Surface, title string) {
	s.to, s.kinds = to, s.kinds[:0]
	s.board()
	below := s.top + s.px(s.list.Height)
	if s.Stats {
		s.text(s.edge(), s.edge(), Start, s.letters()+2, joined(", ", title, s.list.Title), Ink)
		s.numbers(below)
		below += s.edge() + s.line()
		s.stats(below)
		below += s.statsHeight()
	}
	if s.Legend {
		s.legend(below + s.line()/2)
	}
}

// px returns a number of cells in pixels, rounded. The product is exact, so that no machine rounds it otherwise.
func (s *Sheet) px(cells float32) int { return int((s.units(cells) + Unit/2) >> 8) }

// units returns a number of cells in units, rounded down.
func (s *Sheet) units(cells float32) int64 {
	return int64(float64(float64(cells) * float64(s.cell*Unit)))
}

// place returns the place of a point of the board in the picture.
func (s *Sheet) place(x, y float32) Point {
	if s.list.Up {
		y = s.list.Height - y
	}
	return Point{int64(s.left)*Unit + s.units(x), int64(s.top)*Unit + s.units(y)}
}

// rect returns the pixels of a rectangle of the board.
func (s *Sheet) rect(x, y, width, height float32) image.Rectangle {
	a, b := s.place(x, y), s.place(x+width, y+height)
	if a.Y > b.Y {
		a.Y, b.Y = b.Y, a.Y
	}
	nearest := func(v int64) int { return int((v + Unit/2) >> 8) }
	return image.Rect(nearest(a.X), nearest(a.Y), nearest(b.X), nearest(b.Y))
}

// kind returns the number of a kind of lines and ranges, by which their dashes differ.
func (s *Sheet) kind(kind string) int {
	i := slices.Index(s.kinds, kind)
	if i < 0 {
		i = len(s.kinds)
		if i >= Kinds { // kinds are a few words of a game, unless the scene is not one of a game
			return 0
		}
		s.kinds = append(s.kinds, kind)
	}
	return i
}

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
