package raster

import (
	"encoding/binary"
	"image"
)

// A pixel is the four bytes of an image.RGBA in a little-endian word: red is the lowest byte. Colours are
// multiplied by alpha.
type pixel = uint32

// opaque has the alpha of an opaque pixel.
const opaque pixel = 0xff000000

// scaled multiplies all four bytes of a pixel by part/256 and rounds.
func scaled(p pixel, part uint32) pixel {
	const even, half = 0x00ff00ff, 0x00800080
	low := ((p&even)*part + half) >> 8 & even
	high := ((p>>8&even)*part + half) & (even << 8)
	return low | high
}

// over returns the pixel p on top of the pixel below. On an opaque pixel the result is opaque.
func over(below, p pixel) pixel { return p + scaled(below, 256-share(p>>24)) }

// share turns a byte from 0 to 255 into parts of 256, so that 255 is all of them.
func share(b uint32) uint32 { return b + b>>7 }

// canvas is an image with the memory to fill outlines in it.
type canvas struct {
	pix           []byte
	width, height int
	clip          image.Rectangle // nothing is drawn outside

	// The outline being filled. cover[y*(width+1)+x] is the change of the covered area from pixel x-1 to x, in
	// parts of 1<<16, times the direction of the outline. Row y has changes from low[y] to high[y] only.
	cover     []int32
	low, high []int32
	top, end  int // rows with changes
}

// size gives the canvas a size in pixels and makes it transparent. It keeps the memory.
func (c *canvas) size(width, height int) {
	c.width, c.height = width, height
	c.clip = image.Rect(0, 0, width, height)
	c.pix = resized(c.pix, 4*width*height)
	clear(c.pix)
	c.cover = resized(c.cover, (width+1)*height) // all 0, as fill leaves them
	c.low, c.high = resized(c.low, height), resized(c.high, height)
	for y := range c.low {
		c.low[y], c.high[y] = int32(width), -1
	}
	c.top, c.end = height, 0
}

// resized returns a slice of n elements, in the memory of s if there is room.
func resized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// at returns the four bytes of a pixel of the canvas.
func (c *canvas) at(x, y int) []byte {
	i := 4 * (y*c.width + x)
	return c.pix[i : i+4 : i+4]
}

// row returns the pixels from x to end of a row.
func (c *canvas) row(x, end, y int) []byte { return c.pix[4*(y*c.width+x) : 4*(y*c.width+end)] }

func (c *canvas) rect(x, y, width, height int, p pixel) {
	r := image.Rect(x, y, x+max(width, 0), y+max(height, 0)).Intersect(c.clip)
	if r.Empty() {
		return
	}
	if p < opaque {
		for y := r.Min.Y; y < r.Max.Y; y++ {
			blendRow(c.row(r.Min.X, r.Max.X, y), p)
		}
		return
	}
	first := c.row(r.Min.X, r.Max.X, r.Min.Y)
	binary.LittleEndian.PutUint32(first, p)
	for n := 4; n < len(first); n *= 2 {
		copy(first[n:], first[:n])
	}
	for y := r.Min.Y + 1; y < r.Max.Y; y++ {
		copy(c.row(r.Min.X, r.Max.X, y), first)
	}
}

// blendRow draws a pixel over each pixel of a row.
func blendRow(row []byte, p pixel) {
	for ; len(row) >= 4; row = row[4:] {
		binary.LittleEndian.PutUint32(row, over(binary.LittleEndian.Uint32(row), p))
	}
}

// whole is the covered area of a whole pixel.
const whole = 1 << 16

// edge adds an edge of an outline. Outlines are closed; parts outside of the canvas may have any place.
func (c *canvas) edge(from, to point) {
	direction := int64(1)
	if from.Y > to.Y {
		from, to, direction = to, from, -1
	}
	bottom := min(to.Y, int64(c.height)*unit)
	for y := max(from.Y, 0); y < bottom; {
		row := y / unit
		next := min((row+1)*unit, bottom)
		// The division is exact enough and the same everywhere: coordinates are below 1<<26.
		x0 := from.X + (to.X-from.X)*(y-from.Y)/(to.Y-from.Y)
		x1 := from.X + (to.X-from.X)*(next-from.Y)/(to.Y-from.Y)
		c.inRow(int(row), x0, x1, direction*(next-y))
		y = next
	}
}

// inRow adds the part of an edge in a row: it goes from x0 to x1 while y grows by rise, negative for edges that go up.
func (c *canvas) inRow(row int, x0, x1, rise int64) {
	if x0 > x1 {
		x0, x1 = x1, x0
	}
	most := int64(c.width) * unit
	c.top, c.end = min(c.top, row), max(c.end, row+1)
	c.low[row] = min(c.low[row], int32(min(max(x0, 0), most)/unit))
	c.high[row] = max(c.high[row], int32(min(max(x1, 0)/unit+1, int64(c.width))))
	if x0 >= most { // the row is filled up to the end of the canvas
		return
	}
	cells := c.cover[row*(c.width+1) : (row+1)*(c.width+1)]
	if x0 < 0 { // everything is to the right of the part before the canvas
		before := rise
		if x1 > 0 {
			before = rise * -x0 / (x1 - x0)
		}
		cells[0] += int32(before * unit)
		if x1 <= 0 {
			return
		}
		rise, x0 = rise-before, 0
	}
	if x1 > most {
		rise, x1 = rise*(most-x0)/(x1-x0), most
	}
	done := int64(0) // of rise
	for x := x0; ; {
		cell := x / unit
		next := min((cell+1)*unit, x1)
		part := rise - done
		if next < x1 {
			part = rise*(next-x0)/(x1-x0) - done
		}
		// The pixel of the edge is covered to the right of the edge; all further pixels are covered fully.
		left := (x + next - 2*cell*unit) * part / 2
		cells[cell] += int32(part*unit - left)
		if int(cell) < c.width {
			cells[cell+1] += int32(left)
		}
		if next >= x1 {
			return
		}
		done, x = done+part, next
	}
}

// fill draws the outline whose edges were added, in a colour, and begins the next outline. Parts that two edges of opposite
// directions surround stay free.
func (c *canvas) fill(p pixel) {
	for y := c.top; y < c.end; y++ {
		from, to := int(c.low[y]), int(c.high[y])
		if from > to {
			continue // between two parts of the outline
		}
		cells := c.cover[y*(c.width+1):]
		if y >= c.clip.Min.Y && y < c.clip.Max.Y {
			sum := int32(0)
			for x := from; x <= to && x < c.width; x++ {
				sum += cells[x]
				if sum != 0 && x >= c.clip.Min.X && x < c.clip.Max.X {
					c.blend(x, y, p, covered(sum))
				}
			}
		}
		clear(cells[from : to+1])
		c.low[y], c.high[y] = int32(c.width), -1
	}
	c.top, c.end = c.height, 0
}

// covered returns how much of a pixel is covered, in parts of 256.
func covered(sum int32) uint32 {
	if sum < 0 {
		sum = -sum
	}
	return uint32(min(sum, whole)+128) >> 8
}

// blend draws part/256 of a pixel over the one at a place.
func (c *canvas) blend(x, y int, p pixel, part uint32) {
	b := c.at(x, y)
	if part == 256 && p >= opaque {
		binary.LittleEndian.PutUint32(b, p)
		return
	}
	binary.LittleEndian.PutUint32(b, over(binary.LittleEndian.Uint32(b), scaled(p, part)))
}

// polygon adds the edges of a closed polygon.
func (c *canvas) polygon(corners ...point) {
	for i, from := range corners {
		c.edge(from, corners[(i+1)%len(corners)])
	}
}
