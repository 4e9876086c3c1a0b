// Package raster draws a scene as an image, with the outlines and colours that package picture has in SVG. It knows no game.
//
// A cell of the board has whole pixels, so that cells of a kind look alike and are drawn by copying. The board has the width of the
// picture, less a margin if the number of its columns does not divide it. Boards of small cells lack what nobody could see: letters,
// health bars and borders of cells.
//
// The same scene gives the same bytes on every machine: places are computed in whole parts of a pixel. The memory is bounded,
// whatever the scene has: a picture has at most 1<<24 pixels, and texts, tables and legends are cut. A thing with a coordinate that
// is NaN, infinite or far from the board is not drawn.
package raster

import (
	"fmt"
	"image"
	"strconv"

	"moonfarm/features"
	"moonfarm/rollout/view/picture/internal/legend"
)

// Settings tell what a picture has besides the board.
type Settings struct {
	Width  int  // of the picture, in pixels
	Stats  bool // above the board a title, beside it the numbers of columns and rows, below it the numbers of the seats
	Legend bool // below all that a legend of the kinds in the scene
}

const (
	MostWidth  = 8192    // of a picture, in pixels
	mostPixels = 1 << 24 // of a picture
)

// Painter draws scenes one after the other. It keeps its memory, so that a scene like the one before allocates nothing.
// Each goroutine needs its own.
type Painter struct {
	settings  Settings
	canvas    canvas
	image     image.RGBA
	scene     *features.Scene
	cell      int // side of a cell in pixels
	left, top int // corner of the board

	circle  *circle
	face    *face
	colours [len(legend.Colours)]colour
	dark, axis, grid, fog, strong,
	white pixel
	kinds []string // of lines and ranges that have dashes, in the order in which they were found

	sprites map[spriteKey]*sprite
	room    int  // pixels that further sprites may have
	direct  bool // draw without sprites, for tests
	scratch canvas
	corners []point // of an outline
	inner   []point
}

// colour has the colours of the things of one owner.
type colour struct{ edge, fill, area pixel }

// New returns a Painter. It fails for a width that is not from 1 to MostWidth.
func New(s Settings) (*Painter, error) {
	if s.Width < 1 || s.Width > MostWidth {
		return nil, fmt.Errorf("width %d: expected 1 to %d pixels", s.Width, MostWidth)
	}
	p := &Painter{
		settings: s, circle: newCircle(), face: newFace(), sprites: map[spriteKey]*sprite{}, room: spriteRoom,
		dark: hex(legend.Dark), axis: hex(legend.Axis), grid: hex(legend.Grid), fog: hex(legend.Fog), strong: hex(legend.Strong), white: hex("#fff"),
	}
	for i, c := range legend.Colours {
		p.colours[i] = colour{hex(c.Edge), hex(c.Fill), hex(c.Area)}
	}
	return p, nil
}

// hex returns the pixel of a colour in the notation of SVG, of three or six digits. They are constants of package legend.
func hex(text string) pixel {
	digits := text[1:]
	if len(digits) == 3 {
		digits = string([]byte{digits[0], digits[0], digits[1], digits[1], digits[2], digits[2]})
	}
	v, _ := strconv.ParseUint(digits, 16, 32)
	return opaque | pixel(v>>16&0xff|v&0xff00|v&0xff<<16)
}

// of returns the colours of an owner.
func (p *Painter) of(owner int8) colour { return p.colours[legend.Index(owner)] }

// Draw draws a scene. The title is drawn before the title of the scene if the Settings have Stats. The image is valid until the next
// Draw; all its pixels are opaque. Draw fails for a board without a size, and for a board whose cells would be smaller than
// a pixel, or whose picture would have more than 1<<24 pixels.
func (p *Painter) Draw(s *features.Scene, title string) (*image.RGBA, error) {
	if !legend.Drawable(s) {
		return nil, fmt.Errorf("a board of %v × %v cells: expected sides above 0 and up to %d", s.Width, s.Height, legend.MostCells)
	}
	p.scene = s
	height, err := p.layout()
	if err != nil {
		return nil, err
	}
	c := &p.canvas
	c.size(p.settings.Width, height)
	c.rect(0, 0, c.width, c.height, p.white)
	p.kinds = p.kinds[:0]
	p.board()
	p.sheet(title)
	p.image = image.RGBA{Pix: c.pix, Stride: 4 * c.width, Rect: image.Rect(0, 0, c.width, c.height)}
	return &p.image, nil
}

// layout computes the places of all parts, and returns the height of the picture.
func (p *Painter) layout() (height int, err error) {
	width, above, below := p.settings.Width, 0, 0
	across := width
	if p.settings.Stats {
		across -= 2 * p.edge()
		above = p.edge() + p.line()
		below = p.edge() + p.line() + p.statsHeight()
	}
	if p.settings.Legend {
		below += p.line()/2 + p.legendHeight()
	}
	columns := float64(p.scene.Width)
	p.cell = int(float64(max(across, 0)) / columns)
	if p.cell < 1 {
		return 0, fmt.Errorf("a board of %v columns in a picture %d pixels wide: a column needs a pixel", p.scene.Width, width)
	}
	p.cell = min(p.cell, mostCell(p.settings))
	p.left = (width - p.px(p.scene.Width)) / 2
	p.top = above
	if above == 0 {
		p.top = (across - p.px(p.scene.Width)) / 2
		below = max(below, p.top)
	}
	height = p.top + p.px(p.scene.Height) + below
	if int64(height)*int64(width) > mostPixels {
		return 0, fmt.Errorf("a picture of %d × %d pixels: expected at most %d in all", width, height, mostPixels)
	}
	return max(height, 1), nil
}

// mostCell returns the largest side of a cell in pixels. A board alone fills its picture.
func mostCell(s Settings) int {
	if s.Stats {
		return 56
	}
	return s.Width
}

// px returns a number of cells in pixels, rounded. The product is exact, so that no machine rounds it otherwise.
func (p *Painter) px(cells float32) int { return int((p.units(cells) + unit/2) >> 8) }

// units returns a number of cells in units, rounded down.
func (p *Painter) units(cells float32) int64 {
	return int64(float64(float64(cells) * float64(p.cell*unit)))
}

// place returns the place of a point of the board in the picture.
func (p *Painter) place(x, y float32) point {
	if p.scene.Up {
		y = p.scene.Height - y
	}
	return point{int64(p.left)*unit + p.units(x), int64(p.top)*unit + p.units(y)}
}

// rect returns the pixels of a rectangle of the board.
func (p *Painter) rect(x, y, width, height float32) image.Rectangle {
	a, b := p.place(x, y), p.place(x+width, y+height)
	if a.y > b.y {
		a.y, b.y = b.y, a.y
	}
	nearest := func(v int64) int { return int((v + unit/2) >> 8) }
	return image.Rect(nearest(a.x), nearest(a.y), nearest(b.x), nearest(b.y))
}
