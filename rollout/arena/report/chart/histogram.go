package chart

import "fmt"

// Bar is a bar of a histogram.
type Bar struct{ From, To, Height float64 }

// drawable reports whether the bar can be drawn.
func (b Bar) drawable() bool {
	return drawable(b.From) && drawable(b.To) && drawable(b.Height) && b.From < b.To && b.Height > 0
}

// Histogram draws bars from 0 upwards. It leaves out bars without width or height, or of negative
// height.
func Histogram(h Head, x, y Axis, bars []Bar) []byte {
	var ex, ey extent
	for _, b := range bars {
		if b.drawable() {
			ex.add(b.From)
			ex.add(b.To)
			ey.add(b.Height)
		}
	}
	if ey.any {
		ey.low, ey.high = 0, ey.high*1.05
	}
	f := newFrame(x, y, ex, ey, 4)
	c := newCanvas(h, f.below())
	f.drawX(c)
	f.drawY(c)
	for _, b := range bars {
		if b.drawable() {
			from, to, top := f.sx.at(b.From), f.sx.at(b.To), f.sy.at(b.Height)
			fmt.Fprintf(c, "<rect x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\" fill=\"%s\" stroke=\"#fff\" stroke-width=\"0.6\"/>\n",
				points(from), points(top), points(to-from), points(f.bottom-top), colours[4])
		}
	}
	if !ex.any {
		f.noData(c)
	}
	return c.svg()
}
