package chart

// frame is the area of a plot with its axes in a picture.
type frame struct {
	left, right, top, bottom float64
	x, y                     Axis
	sx, sy                   scale
}

// newFrame lays out the axes of lines or bars. beside is the width reserved on the right of the
// plot.
func newFrame(x, y Axis, ex, ey extent, beside float64) *frame {
	f := &frame{right: Width - edge - beside, top: edge + line + gap, x: x, y: y}
	f.bottom = f.top + plotHeight
	f.sx.low, f.sx.high = x.span(ex)
	f.sy.low, f.sy.high = y.span(ey)
	f.sy.from, f.sy.to = f.bottom, f.top
	widest := 0.0
	for _, t := range f.ticksY() {
		widest = max(widest, widthOfText(t.label))
	}
	f.left = edge + widest + gap
	f.sx.from, f.sx.to = f.left, f.right
	return f
}

func (f *frame) ticksY() []tick { return f.y.ticks(f.sy.low, f.sy.high, int(plotHeight/tickLines)) }

// below returns where the picture continues below the axis and its label.
func (f *frame) below() float64 { return f.bottom + edge + 2*line + edge }

// drawX draws the horizontal axis with its grid.
func (f *frame) drawX(c *canvas) {
	ticks, labels := f.x.labelsBelow(f.sx)
	for _, t := range ticks {
		at, colour := f.sx.at(t.value), light
		if t.value == 0 && f.sx.low < 0 {
			colour = axis
		}
		c.stroke(colour, 0.7, at, f.top, at, f.bottom+3)
	}
	for _, l := range labels {
		c.text(l.x, f.bottom+edge+line/2, "middle", l.text)
	}
	c.stroke(axis, 1, f.left, f.bottom, f.right, f.bottom)
	c.text((f.left+f.right)/2, f.bottom+edge+line*3/2, "middle", shorten(f.x.Label, f.right-f.left))
}

// drawY draws the vertical axis with its grid. Its label is above it.
func (f *frame) drawY(c *canvas) {
	for _, t := range f.ticksY() {
		at, colour := f.sy.at(t.value), light
		if t.value == 0 && f.sy.low < 0 {
			colour = axis
		}
		c.stroke(colour, 0.7, f.left, at, f.right, at)
		c.text(f.left-gap, at, "end", t.label)
	}
	c.text(edge, edge+letters/2, "start", shorten(f.y.Label, Width-2*edge))
}

// noData writes "no data" into the plot.
func (f *frame) noData(c *canvas) {
	c.text((f.left+f.right)/2, (f.top+f.bottom)/2, "middle", "no data")
}
