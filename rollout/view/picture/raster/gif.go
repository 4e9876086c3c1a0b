package raster

import (
	"bufio"
	"bytes"
	"compress/lzw"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"io"
	"slices"
	"time"

	"moonfarm/rollout/view/picture"
)

// GIF writes images as an animation that repeats for ever, one after the other, so that its memory does not grow with their number.
// All have the palette of this package. A frame has only the rectangle that differs from the image before; pixels in it that stay as
// they are cost little. An image like the one before makes that one last longer.
type GIF struct {
	w             *bufio.Writer
	palette       *palette
	width, height int
	before        []byte       // the pixels of the image before, as in image.RGBA
	shown         []uint8      // its entries of the palette
	pending       *frame       // waits until the next image, as that may be the same
	packed        bytes.Buffer // the pixels of a frame
	lzw           *lzw.Writer
	err           error
}

// frame is a part of an image that is not yet written.
type frame struct {
	rect    image.Rectangle
	indices []uint8
	delay   time.Duration
}

// The format has 16 bits for sides and for delays in hundredths of a second.
const (
	mostSide  = 1<<16 - 1
	mostDelay = (1<<16 - 1) * 10 * time.Millisecond
)

// NewGIF returns a GIF that writes to w. Close ends it.
func NewGIF(w io.Writer) *GIF {
	return &GIF{w: bufio.NewWriter(w), palette: newPalette(), lzw: new(lzw.Writer)}
}

// Add adds an image that is shown for a time. All images have the size of the first one and opaque pixels. Add keeps no
// reference to the image. The first error stays: all later calls return it.
func (g *GIF) Add(m *image.RGBA, delay time.Duration) error {
	if g.err != nil {
		return g.err
	}
	size := m.Rect.Size()
	switch {
	case g.before == nil && (size.X < 1 || size.Y < 1 || size.X > mostSide || size.Y > mostSide):
		g.err = fmt.Errorf("an image of %d × %d pixels: a GIF has sides of 1 to %d", size.X, size.Y, mostSide)
	case g.before == nil:
		g.begin(size)
	case size.X != g.width || size.Y != g.height:
		g.err = fmt.Errorf("an image of %d × %d pixels after one of %d × %d: expected the same size", size.X, size.Y, g.width, g.height)
	}
	if g.err != nil {
		return g.err
	}
	delay = min(max(delay, 10*time.Millisecond), mostDelay)
	rect := g.changed(m)
	if g.pending == nil {
		rect = image.Rect(0, 0, g.width, g.height)
	}
	if rect.Empty() && g.pending.delay+delay <= mostDelay {
		g.pending.delay += delay
		return nil
	}
	if rect.Empty() {
		rect = image.Rect(0, 0, 1, 1)
	}
	if g.pending != nil {
		g.write(g.pending)
	}
	g.pending = g.next(m, rect, delay)
	return g.err
}

// Close writes the end. It fails if there was no image, and returns the first error of all calls.
func (g *GIF) Close() error {
	if g.err != nil {
		return g.err
	}
	if g.pending == nil {
		return errors.New("a GIF without an image: expected one at least")
	}
	g.write(g.pending)
	g.byte(0x3b)
	if g.err = g.w.Flush(); g.err != nil {
		return g.err
	}
	g.err = errors.New("the GIF is closed")
	return nil
}

func (g *GIF) begin(size image.Point) {
	g.width, g.height = size.X, size.Y
	g.before = make([]byte, 4*g.width*g.height)
	g.shown = make([]uint8, g.width*g.height)
	for i := range g.shown {
		g.shown[i] = clearIndex
	}
	g.byte([]byte("GIF89a")...)
	g.word(g.width)
	g.word(g.height)
	g.byte(0xf7, 0, 0) // a palette of 256 colours of 3 × 8 bits; its entry 0 is the background; square pixels
	for i := range 256 {
		c := opaque
		if i < len(g.palette.colours) {
			c = g.palette.colours[i]
		}
		g.byte(byte(c), byte(c>>8), byte(c>>16))
	}
	g.byte(0x21, 0xff, 11)
	g.byte([]byte("NETSCAPE2.0")...)
	g.byte(3, 1, 0, 0, 0) // repeat for ever
}

// changed returns the rectangle around the pixels that differ from the image before.
func (g *GIF) changed(m *image.RGBA) (r image.Rectangle) {
	for y := range g.height {
		row := m.Pix[y*m.Stride : y*m.Stride+4*g.width]
		old := g.before[4*y*g.width : 4*(y+1)*g.width]
		if string(row) == string(old) {
			continue
		}
		first, last := 0, g.width-1
		for string(row[4*first:4*first+4]) == string(old[4*first:4*first+4]) {
			first++
		}
		for string(row[4*last:4*last+4]) == string(old[4*last:4*last+4]) {
			last--
		}
		r = r.Union(image.Rect(first, y, last+1, y+1))
	}
	return r
}

// next returns the frame of an image, of which a rectangle has changed, and makes it the image before.
func (g *GIF) next(m *image.RGBA, rect image.Rectangle, delay time.Duration) *frame {
	f := &frame{rect, make([]uint8, 0, rect.Dx()*rect.Dy()), delay}
	for y := rect.Min.Y; y < rect.Max.Y; y++ {
		row := m.Pix[y*m.Stride+4*rect.Min.X : y*m.Stride+4*rect.Max.X]
		at := y*g.width + rect.Min.X
		copy(g.before[4*at:], row)
		for ; len(row) >= 4; row = row[4:] {
			entry := g.palette.index(binary.LittleEndian.Uint32(row))
			if entry == g.shown[at] {
				entry = clearIndex
			} else {
				g.shown[at] = entry
			}
			f.indices = append(f.indices, entry)
			at++
		}
	}
	return f
}

func (g *GIF) write(f *frame) {
	g.byte(0x21, 0xf9, 4, 1<<2|1) // the frame stays below the next one; it has transparent pixels
	g.word(int(f.delay / (10 * time.Millisecond)))
	g.byte(clearIndex, 0)
	g.byte(0x2c)
	for _, n := range [...]int{f.rect.Min.X, f.rect.Min.Y, f.rect.Dx(), f.rect.Dy()} {
		g.word(n)
	}
	g.byte(0, 8) // no palette of its own; 8 bits a pixel
	g.packed.Reset()
	g.lzw.Reset(&g.packed, lzw.LSB, 8)
	_, _ = g.lzw.Write(f.indices) // a buffer takes all
	_ = g.lzw.Close()
	for block := range slices.Chunk(g.packed.Bytes(), 255) {
		g.byte(byte(len(block)))
		g.byte(block...)
	}
	g.byte(0)
}

// byte writes bytes. The first error stays.
func (g *GIF) byte(b ...byte) {
	if _, err := g.w.Write(b); g.err == nil {
		g.err = err
	}
}

func (g *GIF) word(n int) { g.byte(byte(n), byte(n>>8)) }

// clearIndex is the entry of the palette for pixels that stay as they are.
const clearIndex = 255

// palette has at most 255 colours, and the nearest of them to every pixel.
type palette struct {
	colours []pixel
	known   map[pixel]uint8
	last    pixel // the pixel before, and its entry
	entry   uint8
}

// mostKnown bounds the memory for the entries of pixels.
const mostKnown = 1 << 16

// newPalette makes the palette of all pictures: the colours of their roles, what their borders mix, and a cube of
// colours for everything else.
func newPalette() *palette {
	p := &palette{known: map[pixel]uint8{}}
	white, dark, strong := inks[picture.Paper], inks[picture.Ink], inks[picture.Strong]
	for _, r := range [...]picture.Role{picture.Paper, picture.Ink, picture.Axis, picture.Grid, picture.Fog, picture.Strong} {
		p.add(inks[r])
	}
	owners := [...]int8{0, 1, 2, 3, nobody}
	for _, o := range owners {
		for _, r := range [...]picture.Role{picture.Edge(o), picture.Fill(o), picture.AreaOf(o)} {
			p.add(inks[r])
		}
	}
	mix := func(a, b pixel, steps uint32) {
		for i := uint32(1); i < steps; i++ {
			p.add(over(b, scaled(a, i*256/steps)))
		}
	}
	mix(dark, white, 8)
	for _, o := range owners {
		edge, fill, area := inks[picture.Edge(o)], inks[picture.Fill(o)], inks[picture.AreaOf(o)]
		mix(edge, area, 6)
		mix(edge, fill, 4)
		mix(fill, area, 4)
		mix(dark, fill, 5)
		mix(edge, inks[picture.Fog], 5)
	}
	mix(strong, white, 4)
	const side = 5
	for i := range pixel(side * side * side) {
		p.add(opaque | i%side*255/(side-1) | i/side%side*255/(side-1)<<8 | i/side/side*255/(side-1)<<16)
	}
	return p
}

// add adds a colour if there is room and the palette lacks it.
func (p *palette) add(c pixel) {
	if _, ok := p.known[c]; ok || len(p.colours) == clearIndex {
		return
	}
	p.known[c] = uint8(len(p.colours))
	p.colours = append(p.colours, c)
}

// index returns the entry of the colour next to an opaque pixel.
func (p *palette) index(c pixel) uint8 {
	if c == p.last {
		return p.entry
	}
	entry, ok := p.known[c]
	if !ok {
		entry = p.nearest(c)
		if len(p.known) >= mostKnown {
			clear(p.known)
			for i, c := range p.colours {
				p.known[c] = uint8(i)
			}
		}
		p.known[c] = entry
	}
	p.last, p.entry = c, entry
	return entry
}

// nearest returns the entry of the first colour with the least sum of squared differences.
func (p *palette) nearest(c pixel) (entry uint8) {
	least := int32(1 << 30)
	for i, o := range p.colours {
		sum := int32(0)
		for shift := 0; shift < 24; shift += 8 {
			d := int32(c>>shift&0xff) - int32(o>>shift&0xff)
			sum += d * d
		}
		if sum < least {
			least, entry = sum, uint8(i)
		}
	}
	return entry
}
