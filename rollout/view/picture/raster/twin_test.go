package raster

import (
	"image"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/features"
	"moonfarm/rollout/view/picture"
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
