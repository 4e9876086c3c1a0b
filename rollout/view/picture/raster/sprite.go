package raster

import "encoding/binary"

// sprite is a small picture that is drawn often. Transparent pixels take no memory and no time.
type sprite struct {
	x, y, width, height int // of the rectangle around it, seen from the place where it is drawn
	runs                []run
	pix                 []pixel
}

// run is a row of pixels of a sprite next to each other.
type run struct {
	x, y, n int32 // seen from the place of the sprite
	pix     int32 // index of the first pixel
	solid   bool  // all are opaque
}

// sprite returns the picture on the canvas, whose pixel (x, y) is at the place where the sprite is drawn.
func (c *canvas) sprite(x, y int) *sprite {
	s := &sprite{x: -x, y: -y, width: c.width, height: c.height}
	for row := range c.height {
		for i := 0; i < c.width; i++ {
			first, solid := len(s.pix), true
			for begin := i; i < c.width; i++ {
				p := binary.LittleEndian.Uint32(c.at(i, row))
				if p == 0 || i > begin && (p >= opaque) != solid {
					break
				}
				solid = p >= opaque
				s.pix = append(s.pix, p)
			}
			if n := len(s.pix) - first; n > 0 {
				s.runs = append(s.runs, run{x: int32(i - n - x), y: int32(row - y), n: int32(n), pix: int32(first), solid: solid})
				i-- // the pixel at which the run ends may begin the next one
			}
		}
	}
	return s
}

// draw draws a sprite at a place.
func (c *canvas) draw(s *sprite, x, y int) {
	for i := range s.runs {
		r := &s.runs[i]
		row := y + int(r.y)
		if row < c.clip.Min.Y || row >= c.clip.Max.Y {
			continue
		}
		from := x + int(r.x)
		begin, end := max(from, c.clip.Min.X), min(from+int(r.n), c.clip.Max.X)
		if begin >= end {
			continue
		}
		pix := s.pix[int(r.pix)+begin-from:][:end-begin]
		to := c.row(begin, end, row)
		if r.solid {
			for _, p := range pix {
				binary.LittleEndian.PutUint32(to, p)
				to = to[4:]
			}
			continue
		}
		for _, p := range pix {
			binary.LittleEndian.PutUint32(to, over(binary.LittleEndian.Uint32(to), p))
			to = to[4:]
		}
	}
}
