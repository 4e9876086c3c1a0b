package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"

	"moonfarm/rollout/arena/report/chart"
	"moonfarm/sim/texts"
)

// Sizes of histograms.
const (
	mostBars    = 24 // of a plot
	sparkBars   = 20 // of a small histogram
	sparkWidth  = 100
	sparkHeight = 20
)

// spread describes numbers that occur several times.
type spread struct {
	n                              uint64 // of all numbers
	low, high                      int
	quarter, median, threeQuarters int
	mean                           float64
}

// spread returns the figures of counts; n is 0 if there are none.
func (c counts) spread() (s spread) {
	keys := c.keys()
	if len(keys) == 0 {
		return s
	}
	s.low, s.high = keys[0], keys[len(keys)-1]
	sum := 0.0
	for _, k := range keys {
		s.n += c[k]
		sum += float64(float64(k) * float64(c[k]))
	}
	s.mean = sum / float64(s.n)
	before := uint64(0)
	for _, k := range keys {
		for _, q := range []struct {
			at uint64
			to *int
		}{{s.n / 4, &s.quarter}, {s.n / 2, &s.median}, {(3*s.n - 1) / 4, &s.threeQuarters}} {
			if before <= q.at && q.at < before+c[k] {
				*q.to = k
			}
		}
		before += c[k]
	}
	return s
}

// keys returns the numbers, from the smallest.
func (c counts) keys() []int {
	keys := make([]int, 0, len(c))
	for k := range c {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// bars returns the counts in bars of equal width.
func (c counts) bars() (bars []chart.Bar, width int) {
	keys := c.keys()
	if len(keys) == 0 {
		return nil, 1
	}
	low, high := keys[0], keys[len(keys)-1]
	width = 1
	for k := 0; high/width-low/width >= mostBars; k++ {
		width = []int{2, 5, 10}[k%3] * int(math.Pow10(k/3))
	}
	for at := low / width * width; at <= high; at += width {
		bars = append(bars, chart.Bar{From: float64(at) - 0.5, To: float64(at+width) - 0.5})
	}
	for _, k := range keys {
		bars[k/width-low/width].Height += float64(c[k])
	}
	return bars, width
}

// plots draws a histogram of whole numbers: of things, with a number of units each. There is none
// for a single number.
func (c counts) plots(id, title, unit, things string) []template.HTML {
	if len(c) < 2 {
		return nil
	}
	bars, width := c.bars()
	s := c.spread()
	h := chart.Head{ID: id, Title: title, Description: fmt.Sprintf("%s, from %d to %d %s, mean %s, median %d. Each bar is %d wide.",
		plainCount(s.n, things), s.low, s.high, unit, figure(s.mean), s.median, width)}
	return []template.HTML{template.HTML(chart.Histogram(h, chart.Axis{Label: unit, Whole: true}, chart.Axis{Label: things, Whole: true}, bars))}
}

// plainCount returns a count and the plural of what is counted.
func plainCount(n uint64, things string) string {
	if n == 1 {
		things = strings.TrimSuffix(things, "s")
	}
	return texts.Group(n) + " " + things
}

// plotNumbers draws a histogram of numbers of rows. There is none for a single number.
func plotNumbers(id, title, unit string, numbers []float32) []template.HTML {
	heights, low, width := bins(numbers, mostBars)
	if len(heights) < 2 {
		return nil
	}
	var bars []chart.Bar
	for k, n := range heights {
		from := low + float64(float64(k)*width)
		bars = append(bars, chart.Bar{From: from, To: from + width, Height: float64(n)})
	}
	h := chart.Head{ID: id, Title: title, Description: fmt.Sprintf("A histogram of %s.", plainCount(uint64(len(numbers)), "rows"))}
	return []template.HTML{template.HTML(chart.Histogram(h, chart.Axis{Label: unit}, chart.Axis{Label: "rows", Whole: true}, bars))}
}

// bins counts numbers in at most that number of bins of equal width, from low on. Whole numbers that
// lie close together have a bin each. Numbers that are not finite are left out.
func bins(numbers []float32, most int) (heights []uint64, low, width float64) {
	first, high, whole := true, 0.0, true
	for _, f := range numbers {
		v := float64(f)
		if math.IsNaN(v - v) {
			continue
		}
		if first {
			low, high, first = v, v, false
		}
		low, high, whole = min(low, v), max(high, v), whole && v == math.Trunc(v)
	}
	if first {
		return nil, 0, 1
	}
	n := most
	switch width = (high - low) / float64(most); {
	case whole && high-low < float64(most):
		n, low, width = int(high-low)+1, low-0.5, 1
	case whole:
		width = math.Ceil((high - low + 1) / float64(most))
		n, low = min(most, int((high-low)/width)+1), low-0.5
	case width == 0: // one number
		n, low, width = 1, low-0.5, 1
	}
	heights = make([]uint64, n)
	for _, f := range numbers {
		if v := float64(f); !math.IsNaN(v - v) {
			heights[max(0, min(n-1, int((v-low)/width)))]++
		}
	}
	return heights, low, width
}

// spark returns the outline of a small histogram as an SVG path; "" if there are fewer than two bars.
// The highest bar fills the height; a bar that is not empty has at least one unit.
func spark(heights []uint64) string {
	highest := uint64(0)
	for _, n := range heights {
		highest = max(highest, n)
	}
	if len(heights) < 2 || highest == 0 {
		return ""
	}
	var path strings.Builder
	path.WriteString("M0 " + strconv.Itoa(sparkHeight))
	for k, n := range heights {
		h := 0
		if n > 0 {
			h = 1 + int(float64(n)/float64(highest)*(sparkHeight-1))
		}
		fmt.Fprintf(&path, "V%dH%d", sparkHeight-h, (k+1)*sparkWidth/len(heights))
	}
	fmt.Fprintf(&path, "V%dZ", sparkHeight)
	return path.String()
}

// figure formats a number with four digits.
func figure(v float64) string { return strconv.FormatFloat(v+0, 'g', 4, 64) }

// percent formats a share of a whole; "–" of nothing.
func percent(n, all uint64) string {
	if all == 0 {
		return "–"
	}
	return share(float64(n) / float64(all))
}

// share formats a share. What is not nothing and not everything does not look so.
func share(v float64) string {
	text := strconv.FormatFloat(100*v, 'f', 1, 64)
	switch {
	case text == "0.0" && v > 0:
		text = "<0.1"
	case text == "100.0" && v < 1:
		text = ">99.9"
	}
	return text + " %"
}
