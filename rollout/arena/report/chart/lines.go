package chart

import (
	"cmp"
	"slices"
)

// Point is a point of a line.
type Point struct{ X, Y float64 }

// Line is a line through points; a point that is not drawable interrupts it.
type Line struct {
	Label  string // short, at the end of the line; "" for none
	Name   string // in the legend, after the label
	Points []Point
}

// Sizes of the labels beside lines and of the legend in points.
const (
	leader    = 12 // length of the stroke between a line and its label
	mostLabel = 40 // width of a label
	swatch    = 16 // width of a line's sample in the legend
	between   = 12 // columns of the legend
)

// Lines draws lines with a dot at each point, their labels beside their ends, and a
// legend below. More than eight lines share colours.
func Lines(h Head, x, y Axis, lines []Line) []byte {
	var ex, ey extent
	beside := 4.0
	for _, l := range lines {
		for _, p := range l.Points {
			if p.drawable() {
				ex.add(p.X)
				ey.add(p.Y)
			}
		}
		if l.Label != "" {
			beside = max(beside, leader+widthOfText(shorten(l.Label, mostLabel)))
		}
	}
	if ey.any { // so that no line lies on the border
		low, high := y.span(ey)
		around := (high - low) / 20
		ey.low, ey.high = low-around, high+around
	}
	f := newFrame(x, y, ex, ey, beside)
	legend := newLegend(lines)
	c := newCanvas(h, f.below()+legend.height())
	f.drawX(c)
	f.drawY(c)
	for i, l := range lines {
		f.drawLine(c, colours[i%len(colours)], l.Points)
	}
	f.drawLabels(c, lines)
	legend.draw(c, f.below())
	if !ex.any {
		f.noData(c)
	}
	return c.svg()
}

func (p Point) drawable() bool { return drawable(p.X) && drawable(p.Y) }

func (f *frame) drawLine(c *canvas, colour string, line []Point) {
	var at []float64
	for _, p := range append(slices.Clone(line), Point{X: 2 * mostValue}) {
		switch {
		case p.drawable():
			at = append(at, f.sx.at(p.X), f.sy.at(p.Y))
			c.dot(colour, at[len(at)-2], at[len(at)-1], 2.2)
		case len(at) > 2:
			c.stroke(colour, 1.6, at...)
			fallthrough
		default:
			at = at[:0]
		}
	}
}

// end is the end of a line and its label.
type end struct {
	x, y, labelY float64
	text, colour string
}

// drawLabels draws the labels of lines beside the plot, each connected to the end of its line by a
// stroke. If not all fit, the last ones are left out; the legend has all.
func (f *frame) drawLabels(c *canvas, lines []Line) {
	var ends []end
	for i, l := range lines {
		k := len(l.Points) - 1
		for k >= 0 && !l.Points[k].drawable() {
			k--
		}
		if k >= 0 && l.Label != "" && len(ends) < int((f.bottom-f.top)/letters) {
			y := f.sy.at(l.Points[k].Y)
			ends = append(ends, end{f.sx.at(l.Points[k].X), y, y, shorten(l.Label, mostLabel), colours[i%len(colours)]})
		}
	}
	spread(ends, f.top, f.bottom)
	for _, e := range ends {
		c.stroke(e.colour, 0.8, e.x, e.y, f.right+leader-2, e.labelY)
		c.text(f.right+leader, e.labelY, "start", e.text)
	}
}

// block is a group of labels that touch each other.
type block struct {
	labels int
	sum    float64 // sum of the heights at which their lines end
}

// spread sorts ends from top to bottom and moves their labels apart as little as necessary. There
// must be room for all of them between top and bottom.
func spread(ends []end, top, bottom float64) {
	slices.SortStableFunc(ends, func(a, b end) int { return cmp.Compare(a.y, b.y) })
	// bounds returns where a block begins and ends, centred on the mean of its lines' ends.
	bounds := func(b block) (from, to float64) {
		half := float64(float64(b.labels) * letters / 2) // rounded, not fused with what follows
		middle := max(top+half, min(b.sum/float64(b.labels), bottom-half))
		return middle - half, middle + half
	}
	var blocks []block
	for _, e := range ends {
		last := block{1, e.y}
		for len(blocks) > 0 {
			_, above := bounds(blocks[len(blocks)-1])
			if from, _ := bounds(last); from >= above {
				break
			}
			last.labels += blocks[len(blocks)-1].labels
			last.sum += blocks[len(blocks)-1].sum
			blocks = blocks[:len(blocks)-1]
		}
		blocks = append(blocks, last)
	}
	i := 0
	for _, b := range blocks {
		y, _ := bounds(b)
		for range b.labels {
			ends[i].labelY = y + letters/2.0
			y += letters
			i++
		}
	}
}

// legend is the list of the lines' names in columns.
type legend struct {
	names   []string // with labels
	columns int
}

func newLegend(lines []Line) legend {
	g, widest := legend{columns: 1}, 0.0
	if len(lines) == 1 && lines[0].Label+lines[0].Name == "" { // the axis says what it is
		return g
	}
	for _, l := range lines {
		g.names = append(g.names, shorten(l.Label+" "+l.Name, (Width-2*edge-between)/2-swatch-gap))
		widest = max(widest, widthOfText(g.names[len(g.names)-1]))
	}
	g.columns = max(1, int((Width-2*edge+between)/(swatch+gap+widest+between)))
	return g
}

func (g legend) rows() int { return (len(g.names) + g.columns - 1) / g.columns }

func (g legend) height() float64 { return float64(g.rows() * line) }

// draw draws the names in rows, beginning at y.
func (g legend) draw(c *canvas, y float64) {
	width := (Width - 2*edge + between) / float64(g.columns)
	for i, name := range g.names {
		at, middle := edge+float64(float64(i%g.columns)*width), y+float64(i/g.columns*line)+line/2-2
		colour := colours[i%len(colours)]
		c.stroke(colour, 1.6, at, middle, at+swatch, middle)
		c.dot(colour, at+swatch/2, middle, 2.2)
		c.text(at+swatch+gap, middle, "start", name)
	}
}
