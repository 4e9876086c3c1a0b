package raster

import "moonfarm/rollout/view/picture"

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
