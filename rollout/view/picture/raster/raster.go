// Package raster draws a scene as an image. It knows no game.
//
// Things are drawn by copying small pictures of their looks. The same scene gives the same bytes on every machine. The memory is bounded,
// whatever the scene has.
package raster

import (
	"fmt"
	"image"
	"strconv"

	"moonfarm/features"
	"moonfarm/rollout/view/picture"
)

// MostWidth is the largest width of a picture in pixels.
const MostWidth = 8192

// unit is a pixel in the parts of places.
const unit = picture.Unit

type (
	point = picture.Point
	box   = picture.Box
)

// Painter draws scenes one after the other. It keeps its memory, so that a scene like the one before allocates nothing.
// Each goroutine needs its own.
type Painter struct {
	sheet  picture.Sheet
	canvas canvas
	image  image.RGBA
	circle *circle

	sprites map[spriteKey]*sprite
	mark    *sprite // the last one of a look
	last    spriteKey
	room    int     // pixels that further sprites may have
	corners []point // of an outline
	inner   []point
}

// New returns a Painter. It fails for a width that is not from 1 to MostWidth.
func New(s picture.Settings) (*Painter, error) {
	if s.Width < 1 || s.Width > MostWidth {
		return nil, fmt.Errorf("width %d: expected 1 to %d pixels", s.Width, MostWidth)
	}
	return &Painter{sheet: picture.Sheet{Settings: s}, circle: newCircle(), sprites: map[spriteKey]*sprite{}, room: spriteRoom}, nil
}

// pixelOf returns the pixel of a colour in the notation of CSS, of three or six digits. They are constants of package picture.
func pixelOf(text string) pixel {
	digits := text[1:]
	if len(digits) == 3 {
		digits = string([]byte{digits[0], digits[0], digits[1], digits[1], digits[2], digits[2]})
	}
	v, _ := strconv.ParseUint(digits, 16, 32)
	return opaque | pixel(v>>16&0xff|v&0xff00|v&0xff<<16)
}

// inks has the pixels of the roles. Pictures have light paper.
var inks = func() (all [picture.Roles]pixel) {
	for r := range all {
		if c := picture.Role(r).Colour().Light; c != "" {
			all[r] = pixelOf(c)
		}
	}
	return all
}()

// Draw draws a scene. The title is drawn before the title of the scene if the Settings have Stats. The image is valid until the next
// Draw; all its pixels are opaque. Draw fails where Sheet.Lay does.
func (p *Painter) Draw(s *features.Scene, title string) (*image.RGBA, error) {
	height, err := p.sheet.Lay(s)
	if err != nil {
		return nil, err
	}
	c := &p.canvas
	c.size(p.sheet.Width, height)
	c.rect(0, 0, c.width, c.height, inks[picture.Paper])
	p.sheet.Draw((*surface)(p), title)
	p.image = image.RGBA{Pix: c.pix, Stride: 4 * c.width, Rect: image.Rect(0, 0, c.width, c.height)}
	return &p.image, nil
}

// surface is a Painter as a picture.Surface.
type surface Painter

func (s *surface) Clip(r image.Rectangle) {
	s.canvas.clip = image.Rect(0, 0, s.canvas.width, s.canvas.height).Intersect(r)
}

// Name implements picture.Surface: nobody points at pixels.
func (s *surface) Name(string) {}

func (s *surface) Rect(r image.Rectangle, fill picture.Role) {
	s.canvas.rect(r.Min.X, r.Min.Y, r.Dx(), r.Dy(), inks[fill])
}

func (s *surface) Cells(r image.Rectangle, side int) {
	for x := r.Min.X; x <= r.Max.X; x += side {
		s.canvas.rect(x, r.Min.Y, 1, r.Dy(), inks[picture.Grid])
	}
	for y := r.Min.Y; y <= r.Max.Y; y += side {
		s.canvas.rect(r.Min.X, y, r.Dx(), 1, inks[picture.Grid])
	}
}

func (s *surface) Ring(middle point, radius int64, p picture.Pen) {
	// Middles are rounded to half pixels, so that the circles of a kind are alike.
	x, y := (middle.X+unit/4)>>7, (middle.Y+unit/4)>>7
	draw := func(c *canvas, middle point) {
		s.corners = s.circle.appendEllipse(s.corners[:0], middle, radius, radius)
		c.closed(s.corners, p.Width, patterns[p.Kind], scaled(inks[p.Ink], p.Share))
	}
	if 2*radius > mostSprite*unit {
		draw(&s.canvas, point{X: x * unit / 2, Y: y * unit / 2})
		return
	}
	key := spriteKey{pen: p, width: int32(radius), part: uint8(x&1 | y&1<<1)}
	s.canvas.draw((*Painter)(s).cached(key, func(c *canvas) (int, int) {
		around := int(radius/unit) + 2
		c.size(2*around+1, 2*around+1)
		draw(c, point{X: int64(around)*unit + x&1*unit/2, Y: int64(around)*unit + y&1*unit/2})
		return around, around
	}), int(x>>1), int(y>>1))
}

func (s *surface) Lines(ends []point, p picture.Pen) {
	pen := s.canvas.newPen(p.Width, patterns[p.Kind])
	for i := range len(ends) - 1 {
		pen.line(ends[i], ends[i+1])
	}
	s.canvas.fill(scaled(inks[p.Ink], p.Share))
}

func (s *surface) Triangle(corners [3]point, fill picture.Role) {
	s.canvas.polygon(corners[0], corners[1], corners[2])
	s.canvas.fill(inks[fill])
}

func (s *surface) Text(t *picture.Text) {
	if t.Rim {
		for _, by := range [...]point{{X: -unit}, {X: unit}, {Y: -unit}, {Y: unit}} {
			(*Painter)(s).text(&s.canvas, t.At.X+by.X, t.At.Y+by.Y, t.Anchor, t.Size, t.Words, inks[picture.Paper])
		}
	}
	(*Painter)(s).text(&s.canvas, t.At.X, t.At.Y, t.Anchor, t.Size, t.Words, inks[t.Ink])
}
