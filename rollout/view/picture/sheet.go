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
	s.cell = min(s.cell, s.mostCell())
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

// mostCell returns the largest side of a cell in pixels. A board alone fills its picture.
func (s *Sheet) mostCell() int {
	switch {
	case s.Cell > 0:
		return s.Cell
	case s.Stats:
		return 56
	}
	return s.Width
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
