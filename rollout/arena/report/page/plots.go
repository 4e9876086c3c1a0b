package page

import (
	"bytes"
	"cmp"
	"fmt"
	"html/template"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Sizes of plots in points. A plot is as wide as a phone or half a desktop's
// page, and its letters grow with it.
const (
	plotWidth  = 360
	plotHeight = 230
	letters    = 11
	rowHeight  = 19 // of a player in the plot of ratings
	axisHeight = 45 // of an axis with its numbers and label
	nameRunes  = 18 // of a name in a plot
	margin     = 6  // around a plot, for letters of another font than it was made for
)

// colours are those of lines, as the classes c0 … c7 of the page have them.
func colours() []color.Color {
	return []color.Color{
		color.RGBA{0x00, 0x72, 0xb2, 0xff}, color.RGBA{0xd5, 0x5e, 0x00, 0xff}, color.RGBA{0x00, 0x9e, 0x73, 0xff}, color.RGBA{0xcc, 0x79, 0xa7, 0xff},
		color.RGBA{0x56, 0xb4, 0xe9, 0xff}, color.RGBA{0xe6, 0x9f, 0x00, 0xff}, color.RGBA{0x00, 0x00, 0x00, 0xff}, color.RGBA{0x88, 0x88, 0x88, 0xff},
	}
}

// short makes a name fit beside a plot.
func short(name string) string {
	name = strings.Join(strings.Fields(strings.Map(printable, name)), " ")
	if utf8.RuneCountInString(name) <= nameRunes {
		return name
	}
	return string([]rune(name)[:nameRunes-1]) + "…"
}

// sans is the font of plots. The page says by which others it can be replaced.
func sans() font.Font { return font.Font{Typeface: "Liberation", Variant: "Sans", Size: letters} }

// newPlot is an empty plot with a grid.
func newPlot(x, y string) *plot.Plot {
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text = x, y
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle.Font, a.Tick.Label.Font = sans(), sans()
		a.Tick.Length, a.Color, a.Tick.Color = 3, color.Gray{0x80}, color.Gray{0x80}
	}
	g := plotter.NewGrid()
	g.Vertical.Color, g.Horizontal.Color = color.Gray{0xe0}, color.Gray{0xe0}
	p.Add(g)
	return p
}

// inline is a plot as an element of the page, with a title and a description for
// those who do not see it.
func inline(p *plot.Plot, height float64, id, title, description string) template.HTML {
	c := vgsvg.New(plotWidth, vg.Length(height))
	p.Draw(draw.Crop(draw.New(c), margin, -margin, 0, -margin/2))
	var whole bytes.Buffer
	c.WriteTo(&whole) // to memory: cannot fail
	_, body, _ := strings.Cut(whole.String(), "<svg")
	_, body, _ = strings.Cut(body, ">")
	return template.HTML(fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %g" role="img" aria-labelledby="%s-title %s-description">`+
		"\n<title id=\"%s-title\">%s</title>\n<desc id=\"%s-description\">%s</desc>%s", plotWidth, height, id, id,
		id, template.HTMLEscapeString(title), id, template.HTMLEscapeString(description), strings.TrimSpace(body)))
}

// whole marks whole numbers on an axis, at most about so many.
type whole struct {
	most   int
	signed bool
}

// Ticks implements plot.Ticker.
func (w whole) Ticks(low, high float64) (ticks []plot.Tick) {
	step := 1.0
	for k := 0; (high-low)/step > float64(w.most); k++ {
		step *= []float64{2, 2.5, 2}[k%3]
	}
	step = math.Ceil(step)
	for k := math.Ceil(low / step); k*step <= high; k++ {
		text := strconv.FormatFloat(float64(k*step)+0, 'f', 0, 64) // no −0
		if w.signed && k > 0 {
			text = "+" + text
		}
		ticks = append(ticks, plot.Tick{Value: k * step, Label: text})
	}
	return ticks
}

// intervals are points with their intervals along the x axis.
type intervals struct {
	plotter.XYs
	plotter.XErrors
}

// plotRatings draws ratings with their intervals, the best on top.
func (b *builder) plotRatings() template.HTML {
	n := min(len(b.order), mostShown)
	p := newPlot("elo", "")
	var all intervals
	var names []plot.Tick
	var said []string
	for rank := range n {
		r := &b.r.Players[b.order[rank]]
		y := float64(n - 1 - rank)
		all.XYs = append(all.XYs, plotter.XY{X: r.Elo, Y: y})
		all.XErrors = append(all.XErrors, struct{ Low, High float64 }{r.Elo - r.Low, r.High - r.Elo})
		names = append(names, plot.Tick{Value: y, Label: strconv.Itoa(rank+1) + " " + short(r.Player)})
		words := fmt.Sprintf("%s %+.0f", r.Player, r.Elo)
		if r.EloLow != nil && r.EloHigh != nil {
			words += fmt.Sprintf(" (%+.0f to %+.0f)", *r.EloLow, *r.EloHigh)
		}
		said = append(said, words)
	}
	// The numbers of a report are finite, so neither fails.
	bars, _ := plotter.NewXErrorBars(all)
	points, _ := plotter.NewScatter(all.XYs)
	bars.LineStyle = draw.LineStyle{Color: colours()[0], Width: 1.2}
	points.GlyphStyle = draw.GlyphStyle{Color: colours()[0], Radius: 3.2, Shape: draw.CircleGlyph{}}
	p.Add(bars, points)
	p.X.Tick.Marker, p.Y.Tick.Marker = whole{5, true}, plot.ConstantTicks(names)
	p.Y.Min, p.Y.Max = -0.5, float64(n)-0.5
	p.X.Padding, p.Y.Tick.Length, p.Y.Width = 0, 0, 0
	return inline(p, float64(rowHeight*n+axisHeight), "plot-ratings", "Ratings with 95 % intervals", strings.Join(said, "; "))
}

// plotCourse draws the ratings of the best players after each part of the games. At
// the end of each line stands the place of its player.
func (b *builder) plotCourse(ends []int, course [][]float64) template.HTML {
	p := newPlot("games", "elo")
	p.X.Tick.Marker, p.Y.Tick.Marker = whole{5, false}, whole{6, true}
	var last []float64
	var said []string
	for rank := range min(len(b.order), mostLines) {
		var line plotter.XYs
		for k, end := range ends {
			if elo := course[k][b.order[rank]]; !math.IsNaN(elo) {
				line = append(line, plotter.XY{X: float64(end), Y: elo})
			}
		}
		if len(line) == 0 { // it has not played
			last = append(last, math.NaN())
			continue
		}
		last = append(last, line[len(line)-1].Y)
		said = append(said, fmt.Sprintf("%s from %+.0f to %+.0f", b.name(b.order[rank]), line[0].Y, line[len(line)-1].Y))
		// What is not a number is left out, so these do not fail.
		l, points, _ := plotter.NewLinePoints(line)
		l.LineStyle = draw.LineStyle{Color: colours()[rank], Width: 1.5}
		points.GlyphStyle = draw.GlyphStyle{Color: colours()[rank], Radius: 2, Shape: draw.CircleGlyph{}}
		p.Add(l, points)
	}
	above := (p.Y.Max - p.Y.Min) / 20
	p.Y.Min, p.Y.Max = p.Y.Min-above, p.Y.Max+above
	if len(ends) > 0 {
		p.Add(ranksBeside(last, float64(ends[len(ends)-1]), p.Y.Max-p.Y.Min))
	}
	return inline(p, plotHeight, "plot-course", "Ratings over the games", cmp.Or(strings.Join(said, "; "), "No games."))
}

// ranksBeside are the numbers of lines at x, above each other where the lines end.
// height is what the axis of y spans.
func ranksBeside(last []float64, x, height float64) *plotter.Labels {
	var order []int
	for rank, y := range last {
		if !math.IsNaN(y) {
			order = append(order, rank)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(last[j], last[i]) })
	gap := max(height, 1) * letters / (plotHeight - axisHeight)
	var at plotter.XYLabels
	for k, rank := range order {
		y := last[rank]
		if k > 0 {
			y = min(y, at.XYs[k-1].Y-gap)
		}
		at.XYs, at.Labels = append(at.XYs, plotter.XY{X: x, Y: y}), append(at.Labels, strconv.Itoa(rank+1))
	}
	// Labels are as many as points, so this does not fail.
	labels, _ := plotter.NewLabels(at)
	for k, rank := range order {
		labels.TextStyle[k].Font, labels.TextStyle[k].Color = sans(), colours()[rank]
		labels.TextStyle[k].YAlign = draw.YCenter
	}
	labels.Offset = vg.Point{X: 5}
	return labels
}

// mostBars is the most bars of a histogram.
const mostBars = 24

// plotLengths draws how many games had how many turns, which are in order.
func plotLengths(turns []int) template.HTML {
	low, high := turns[0], turns[len(turns)-1]
	width := 1
	for k := 0; high/width-low/width >= mostBars; k++ {
		width = []int{2, 5, 10}[k%3] * int(math.Pow10(k/3))
	}
	var h plotter.Histogram
	for at := low / width * width; at <= high; at += width {
		h.Bins = append(h.Bins, plotter.HistogramBin{Min: float64(at) - 0.5, Max: float64(at+width) - 0.5})
	}
	most := 0
	for _, n := range turns {
		bar := &h.Bins[n/width-low/width]
		bar.Weight++
		if bar.Weight > h.Bins[most].Weight {
			most = n/width - low/width
		}
	}
	h.FillColor, h.LineStyle = colours()[4], draw.LineStyle{Color: color.White, Width: 0.6}
	p := newPlot("turns", "games")
	p.Add(&h)
	p.X.Tick.Marker, p.Y.Tick.Marker = whole{6, false}, whole{5, false}
	p.Y.Min, p.Y.Max, p.X.Padding = 0, p.Y.Max*1.05, 0
	from := low/width*width + most*width
	said := fmt.Sprintf("Each bar is %s wide. The highest is from %d on, with %s.", count(width, "turn"), from, count(int(h.Bins[most].Weight), "game"))
	return inline(p, plotHeight*0.8, "plot-lengths", "Lengths of games in turns", said)
}
