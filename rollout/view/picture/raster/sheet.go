package raster

import (
	"image"
	"strconv"

	"moonfarm/features"
	"moonfarm/rollout/view/picture/internal/legend"
)

// Sizes of the parts around the board. Pictures below narrow pixels have smaller letters.
const (
	narrow     = 480
	sampleSide = 16
)

// letters returns the font size in pixels.
func (p *Painter) letters() int {
	if p.settings.Width < narrow {
		return 10
	}
	return 12
}

// line returns the height of a line of text, and edge the margin, which has the numbers of the columns and rows.
func (p *Painter) line() int { return p.letters() * 3 / 2 }
func (p *Painter) edge() int { return p.letters() * 2 }

// nameWide returns the width of the names of stats in pixels.
func (p *Painter) nameWide() int { return p.letters() * 9 }

// valueWide returns the width of the numbers of a seat in pixels, less in a narrow picture.
func (p *Painter) valueWide(seats int) int {
	return min(p.letters()*6, (p.settings.Width-2*p.edge()-p.nameWide())/max(seats, 1))
}

// entryWide returns the width of an entry of the legend in pixels.
func (p *Painter) entryWide() int { return p.letters() * 13 }

// Bounds of the rows of the table of stats and of the entries of the legend. No game has as many.
const mostRows, mostEntries = 32, 48

// table returns the rows and columns of the stats.
func (p *Painter) table() legend.Table {
	t := legend.TableOf(p.scene)
	t.Names = t.Names[:min(len(t.Names), mostRows)]
	return t
}

// statsHeight returns the height of the table of stats.
func (p *Painter) statsHeight() int { return (len(p.table().Names) + 1) * p.line() }

// perRow returns the number of entries in a row of the legend.
func (p *Painter) perRow() int { return max(1, (p.settings.Width-2*p.edge())/p.entryWide()) }

// legendHeight returns the height of the legend.
func (p *Painter) legendHeight() int {
	entities, ranges, lines := legend.Entries(p.scene)
	n := min(len(entities)+len(ranges)+len(lines)+min(len(p.scene.Events), 1), mostEntries)
	return (n + p.perRow() - 1) / p.perRow() * max(p.line(), sampleSide+2)
}

// text draws a text in the font size of the picture, at a place in pixels.
func (p *Painter) text(x, y int, a anchor, size int, text string, ink pixel) {
	p.face.text(&p.canvas, int64(x)*unit, int64(y)*unit, a, int64(size)*unit, text, ink)
}

// sheet draws everything around the board.
func (p *Painter) sheet(title string) {
	below := p.top + p.px(p.scene.Height)
	if p.settings.Stats {
		if p.scene.Title != "" && title != "" {
			title += ", "
		}
		p.text(p.edge(), p.edge(), start, p.letters()+2, title+p.scene.Title, p.dark)
		p.numbers(below)
		below += p.edge() + p.line()
		p.stats(below)
		below += p.statsHeight()
	}
	if p.settings.Legend {
		p.legend(below + p.line()/2)
	}
}

// numbers draws the numbers of columns below the board and of rows beside it.
func (p *Painter) numbers(bottom int) {
	step := 1
	switch {
	case p.cell < leastGrid:
		step = 10
	case p.cell < 22:
		step = 2
	}
	size := p.letters() - 2
	for x := 0; x < int(p.scene.Width); x += step {
		at := p.place(float32(x)+0.5, 0)
		p.text(int(at.x>>8), bottom+size, middle, size, strconv.Itoa(x), p.axis)
	}
	for y := 0; y < int(p.scene.Height); y += step {
		at := p.place(0, float32(y)+0.5)
		p.text(p.left-size/2, int(at.y>>8), end, size, strconv.Itoa(y), p.axis)
	}
}

// stats draws the table of stats.
func (p *Painter) stats(top int) {
	t := p.table()
	wide := p.valueWide(len(t.Seats))
	for i, seat := range t.Seats {
		x := p.edge() + p.nameWide() + (i+1)*wide
		p.canvas.rect(x-p.letters()*5/2, top-p.letters()/2+1, p.letters()-2, p.letters()-2, p.of(seat).edge)
		p.text(x, top, end, p.letters(), legend.SeatName(seat), p.dark)
	}
	for row, name := range t.Names {
		y := top + (row+1)*p.line()
		label := legend.Label(name)
		p.text(p.edge(), y, start, p.letters(), label, p.dark)
		for i, seat := range t.Seats {
			p.text(p.edge()+p.nameWide()+(i+1)*wide, y, end, p.letters(), legend.Value(p.scene, name, seat), p.dark)
		}
		if unit := t.Units[row]; unit != label {
			x := p.edge() + p.nameWide() + len(t.Seats)*wide + p.letters()
			if p.face.width(shown(unit), int64(p.letters())<<8) < int64(p.settings.Width-x)<<8 {
				p.text(x, y, start, p.letters(), unit, p.dark)
			}
		}
	}
}

// legend draws a sample of each kind with its name.
func (p *Painter) legend(top int) {
	entities, ranges, lines := legend.Entries(p.scene)
	entities = entities[:min(len(entities), mostEntries)]
	ranges = ranges[:min(len(ranges), mostEntries-len(entities))]
	lines = lines[:min(len(lines), mostEntries-len(entities)-len(ranges))]
	i := 0
	next := func(kind string) (x, y int) {
		x = p.edge() + i%p.perRow()*p.entryWide()
		y = top + i/p.perRow()*max(p.line(), sampleSide+2) + sampleSide/2
		p.text(x+sampleSide+8, y, start, p.letters(), kind, p.dark)
		i++
		return x, y
	}
	for j := range entities {
		x, y := next(entities[j].Kind)
		p.entity(&entities[j], image.Rect(x, y-sampleSide/2, x+sampleSide, y+sampleSide/2))
	}
	for _, r := range ranges {
		x, y := next(r.Kind + " range")
		p.ring(point{int64(x+sampleSide/2) * unit, int64(y) * unit}, (sampleSide/2-1)*unit, features.Nobody, p.dash(r.Kind))
	}
	for _, l := range lines {
		x, y := next(l.Kind)
		l.Owner = features.Nobody
		p.stroke(&l, point{int64(x) * unit, int64(y) * unit}, point{int64(x+sampleSide+4) * unit, int64(y) * unit})
	}
	if len(p.scene.Events) > 0 && i < mostEntries {
		x, y := next("event")
		p.event(point{int64(x) * unit, int64(y) * unit}, point{int64(x+sampleSide) * unit, int64(y) * unit})
	}
}
