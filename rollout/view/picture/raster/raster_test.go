package raster

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/features"
	"moonfarm/rollout/view/picture"
	"moonfarm/sim/simtest"
)

// TestScaled compares the product of four bytes at once with four products.
func TestScaled(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 100000 {
		p, part := r.Uint32(), r.Uint32N(257)
		want := pixel(0)
		for shift := 0; shift < 32; shift += 8 {
			want |= ((p>>shift&0xff)*part + 128) >> 8 << shift
		}
		require.Equal(t, want, scaled(p, part), "%08x × %d", p, part)
	}
}

// TestOver: whatever is drawn over an opaque pixel, the result is opaque, and between the two colours.
func TestOver(t *testing.T) {
	for alpha := range uint32(257) {
		for grey := range pixel(256) {
			ink := scaled(opaque|0x80, alpha) // red of 128
			got := over(opaque|grey, ink)
			require.Equal(t, opaque, got&opaque, "%d, %d", alpha, grey)
			require.LessOrEqual(t, min(grey, 0x80), got&0xff+1)
			require.GreaterOrEqual(t, max(grey, 0x80)+1, got&0xff)
		}
	}
}

// inside reports whether a point is inside of a polygon: a line from it to the right crosses the sides in one direction more often.
func inside(corners []point, x, y float64) bool {
	crossings := 0
	for i, a := range corners {
		b := corners[(i+1)%len(corners)]
		ax, ay, bx, by := float64(a.X), float64(a.Y), float64(b.X), float64(b.Y)
		if (ay <= y) != (by <= y) && x < ax+(bx-ax)*(y-ay)/(by-ay) {
			if ay < by {
				crossings++
			} else {
				crossings--
			}
		}
	}
	return crossings != 0
}

// TestFill compares filled triangles, in and around the canvas, with the share of 16 × 16 points of each pixel that are in them.
func TestFill(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const side, fine = 12, 16
	var c canvas
	for range 300 {
		c.size(side, side)
		c.clip = image.Rect(r.IntN(3), r.IntN(3), side-r.IntN(3), side-r.IntN(3))
		var corners []point
		for range 3 {
			corners = append(corners, point{X: r.Int64N(3*side*unit) - side*unit, Y: r.Int64N(3*side*unit) - side*unit})
		}
		c.polygon(corners...)
		c.fill(opaque)
		for y := range side {
			for x := range side {
				hits := 0
				for k := range fine * fine {
					if inside(corners, (float64(x)+(float64(k%fine)+0.5)/fine)*unit, (float64(y)+(float64(k/fine)+0.5)/fine)*unit) {
						hits++
					}
				}
				if !image.Pt(x, y).In(c.clip) {
					hits = 0
				}
				require.InDelta(t, float64(hits)*255/(fine*fine), float64(c.at(x, y)[3]), 14, "%v: pixel %d, %d", corners, x, y)
			}
		}
	}
	for _, n := range c.cover {
		require.Zero(t, n, "fill leaves no trace")
	}
}

// TestSprites: things of one look and circles of one radius, which lie between pixels in different ways, look as each of them does alone.
func TestSprites(t *testing.T) {
	const side, cell = 8, 25
	draw := func(from, to int) []byte {
		p, err := New(picture.Settings{Width: side * cell})
		require.NoError(t, err)
		var s features.Scene
		s.Begin(side, side)
		for i := from; i < to; i++ {
			x, y := float32(i%side)+0.3+float32(i)/300, float32(i/side)+0.3+float32(i)/300
			s.Entities = append(s.Entities, features.Entity{X: x, Y: y, Width: 0.31, Height: 0.31})
			s.Ranges = append(s.Ranges, features.Range{X: x + 0.1, Y: y + 0.1, Radius: 0.25})
		}
		m, err := p.Draw(&s, "")
		require.NoError(t, err)
		return m.Pix
	}
	all := draw(0, side*side)
	for i := range side * side {
		alone := draw(i, i+1)
		for y := i / side * cell; y < (i/side+1)*cell; y++ {
			at := 4 * (y*side*cell + i%side*cell)
			require.Equal(t, alone[at:at+4*cell], all[at:at+4*cell], "thing %d", i)
		}
	}
}

// TestSpriteRoom: the memory for sprites is bounded.
func TestSpriteRoom(t *testing.T) {
	p, err := New(picture.Settings{Width: 2000})
	require.NoError(t, err)
	var s features.Scene
	for i := range 40 {
		s.Begin(1000, 600)
		for k := range 10 {
			s.Entities = append(s.Entities, features.Entity{Width: 200 + float32(i), Height: 200 + float32(k), Owner: int8(i % 3)})
		}
		_, err := p.Draw(&s, "")
		require.NoError(t, err)
		pixels := 0
		for _, sprite := range p.sprites {
			pixels += len(sprite.pix)
		}
		require.LessOrEqual(t, pixels, spriteRoom+mostSprite*mostSprite)
	}
}

// TestGenerated: the outlines equal the output of gen.
func TestGenerated(t *testing.T) { simtest.Generated(t) }

// TestGlyphs compares the glyphs of all letters at several sizes with golang.org/x/image's reader of the font, by the
// checksums that gen has written.
func TestGlyphs(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(string(simtest.Text(t, "sizes_test.txt"))), "\n")[1:]
	require.Len(t, lines, 10)
	for _, line := range lines {
		var size int64 // in 64ths of a pixel, as all lengths below; parts of a 64th do not count
		_, err := fmt.Sscan(line, &size)
		require.NoError(t, err)
		all := sha256.New()
		for i := range glyphs() {
			g := &glyphs()[i]
			require.Same(t, g, glyphOf(g.letter), "%q", g.letter)
			fmt.Fprintln(all, g.letter, inSize(g.advance, size*unit/64+unit/64-1)*64/unit)
			var least, most point
			grow := func(p point) {
				least, most = point{X: min(least.X, p.X), Y: min(least.Y, p.Y)}, point{X: max(most.X, p.X), Y: max(most.Y, p.Y)}
			}
			begun := false
			g.each(size*unit/64+unit/64-1, func(kind byte, by, to point) {
				if !begun {
					begun, least, most = true, to, to
				}
				if kind == curveTo {
					fmt.Fprintln(all, kind, by.X*64/unit, by.Y*64/unit)
					grow(by)
				}
				fmt.Fprintln(all, kind, to.X*64/unit, to.Y*64/unit)
				grow(to)
			})
			fmt.Fprintln(all, least.X*64/unit, least.Y*64/unit, most.X*64/unit, most.Y*64/unit)
			if em := size * unit / 64; size >= 512 { // the canvas of a letter has room for it
				require.True(t, least.X >= -em/8 && most.X <= em*9/8 && least.Y >= -em && most.Y <= em/4, "%q from %v to %v", g.letter, least, most)
			}
		}
		require.Equal(t, line, fmt.Sprintf("%d %x", size, all.Sum(nil)), "size %d", size)
	}
}

// TestMissingLetters: letters that the table lacks have the glyph of the box. The table has all of ASCII.
func TestMissingLetters(t *testing.T) {
	assert.True(t, slices.IsSortedFunc(glyphs(), func(a, b glyph) int { return int(a.letter - b.letter) }))
	for _, letter := range []rune{-1, 0, '\n', 0x7f, 0x9f, '日', '\u202e', 0x10ffff} {
		assert.Same(t, &glyphs()[0], glyphOf(letter), "%q", letter)
	}
	assert.NotEmpty(t, glyphs()[0].outline)
	for letter := ' '; letter <= '~'; letter++ {
		assert.Equal(t, letter, glyphOf(letter).letter)
	}
	for _, letter := range "–…×éЖ\ufffd" {
		assert.Equal(t, letter, glyphOf(letter).letter)
	}
}

// walk returns the scenes of a unit that walks over a board and rests on the way.
func walk() (all []features.Scene) {
	for i := range 12 {
		var s features.Scene
		s.Begin(10, 6)
		s.Areas = []features.Area{{Owner: 0, Width: 5, Height: 6}, {Owner: 1, X: 5, Width: 5, Height: 6}}
		s.Entities = []features.Entity{
			{Kind: "wall", Owner: 1, X: 8, Y: 2, Width: 2, Height: 2, Letter: "W", Health: 0.3},
			{Kind: "unit", Owner: 0, Outline: features.Diamond, X: float32(i - i%3), Y: 2, Width: 1, Height: 1, Letter: "u"},
		}
		s.Ranges = []features.Range{{Kind: "attack", X: 4, Y: 3, Radius: 2.5}}
		all = append(all, s)
	}
	return all
}

// TestGIF reads an animation with image/gif. Each frame on top of those before it gives the image that was added, in the
// colours of the palette: the colours of areas and entities are as they were, and others are near.
func TestGIF(t *testing.T) {
	p, err := New(picture.Settings{Width: 200})
	require.NoError(t, err)
	var file bytes.Buffer
	g := NewGIF(&file)
	var images []*image.RGBA
	for _, s := range walk() {
		m, err := p.Draw(&s, "")
		require.NoError(t, err)
		require.NoError(t, g.Add(m, 120*time.Millisecond))
		images = append(images, &image.RGBA{Pix: bytes.Clone(m.Pix), Stride: m.Stride, Rect: m.Rect})
	}
	require.NoError(t, g.Close())
	read, err := gif.DecodeAll(&file)
	require.NoError(t, err)
	require.Len(t, read.Image, 4, "images that are alike are one frame")
	assert.Equal(t, []int{36, 36, 36, 36}, read.Delay)
	assert.Zero(t, read.LoopCount)
	assert.Equal(t, image.Rect(0, 0, 200, 120), image.Rect(0, 0, read.Config.Width, read.Config.Height))
	shown := image.NewRGBA(images[0].Rect)
	colours := newPalette()
	for i, frame := range read.Image {
		for y := frame.Rect.Min.Y; y < frame.Rect.Max.Y; y++ {
			for x := frame.Rect.Min.X; x < frame.Rect.Max.X; x++ {
				if c := frame.At(x, y).(color.RGBA); c.A > 0 {
					shown.SetRGBA(x, y, c)
				}
			}
		}
		if i > 0 {
			assert.Less(t, frame.Rect.Dx()*frame.Rect.Dy(), 200*120/4, "a frame has only what changes")
		}
		same := 0
		for y := range 120 {
			for x := range 200 {
				want, got := images[3*i].RGBAAt(x, y), shown.RGBAAt(x, y)
				entry := colours.colours[colours.index(asPixel(want))]
				require.Equal(t, entry, asPixel(got), "frame %d, pixel %d, %d", i, x, y)
				if want == got {
					same++
				}
				for _, d := range []int{int(want.R) - int(got.R), int(want.G) - int(got.G), int(want.B) - int(got.B)} {
					require.LessOrEqual(t, max(d, -d), 34, "frame %d, pixel %d, %d: %v and %v", i, x, y, want, got)
				}
			}
		}
		assert.Greater(t, same, 200*120*9/10)
	}
}

func asPixel(c color.RGBA) pixel { return pixel(c.R) | pixel(c.G)<<8 | pixel(c.B)<<16 | pixel(c.A)<<24 }

// TestPalette: all colours of drawings are in it, and no two of its colours are the same.
func TestPalette(t *testing.T) {
	p := newPalette()
	assert.LessOrEqual(t, len(p.colours), clearIndex)
	assert.Len(t, p.known, len(p.colours))
	for i := range uint32(3 * mostKnown) { // more than it remembers
		c := opaque | i*2654435761>>8
		require.Equal(t, p.nearest(c), p.index(c))
	}
	assert.LessOrEqual(t, len(p.known), mostKnown+1)
}

// failing is a writer that fails after some bytes.
type failing struct{ room int }

func (f *failing) Write(b []byte) (int, error) {
	if f.room -= len(b); f.room < 0 {
		return 0, errFull
	}
	return len(b), nil
}

var errFull = errors.New("full")

// TestGIFErrors adds images that do not fit, and writes where there is no room.
func TestGIFErrors(t *testing.T) {
	small, large := image.NewRGBA(image.Rect(0, 0, 4, 4)), image.NewRGBA(image.Rect(0, 0, 5, 4))
	assert.ErrorContains(t, NewGIF(&bytes.Buffer{}).Close(), "without an image")
	assert.ErrorContains(t, NewGIF(&bytes.Buffer{}).Add(&image.RGBA{}, 0), "0 × 0 pixels")
	assert.ErrorContains(t, NewGIF(&bytes.Buffer{}).Add(&image.RGBA{Rect: image.Rect(0, 0, 1<<16, 1)}, 0), "65536 × 1 pixels")
	g := NewGIF(&bytes.Buffer{})
	require.NoError(t, g.Add(small, 0))
	assert.ErrorContains(t, g.Add(large, 0), "5 × 4 pixels after one of 4 × 4")
	assert.Error(t, g.Add(small, 0), "the first error stays")
	assert.Error(t, g.Close())

	g = NewGIF(&bytes.Buffer{})
	require.NoError(t, g.Add(small, time.Hour))
	require.NoError(t, g.Add(small, time.Hour), "a frame is shown for 655 s at most")
	require.NoError(t, g.Close())
	assert.Error(t, g.Close())
	for room := range 1500 {
		g := NewGIF(&failing{room: room})
		err := errors.Join(g.Add(small, 0), g.Close())
		if err == nil {
			assert.Greater(t, room, 3*256)
			break
		}
		require.ErrorIs(t, err, errFull)
	}
}
