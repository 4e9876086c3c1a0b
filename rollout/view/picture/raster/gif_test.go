package raster

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/gif"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/features"
	"moonfarm/rollout/view/picture"
)

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
