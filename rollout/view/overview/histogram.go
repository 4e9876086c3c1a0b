package overview

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"moonfarm/sim/texts"
)

// mostBars bounds the bars of a Histogram.
const mostBars = 24

// Counts has the number of times of each number.
type Counts map[float64]uint64

// Put counts one number. Numbers that are not finite are left out.
func (c Counts) Put(v float64) {
	if v-v == 0 {
		c[v]++
	}
}

// Histogram counts numbers in bars of equal width, the first from From on.
type Histogram struct {
	N             uint64   `json:"n"` // numbers in all
	Mean          float64  `json:"mean"`
	Min           float64  `json:"min"`
	Quarter       float64  `json:"quarter"` // a quarter of the numbers are smaller
	Median        float64  `json:"median"`
	ThreeQuarters float64  `json:"three_quarters"`
	Max           float64  `json:"max"`
	From          float64  `json:"from"`
	Width         float64  `json:"width"` // of a bar; 1, 2, 5, 10, 20 … for whole numbers
	Bars          []uint64 `json:"bars"`
}

// Histogram returns the histogram of the numbers.
func (c Counts) Histogram() Histogram {
	h := Histogram{Bars: []uint64{}, Width: 1}
	numbers := slices.Sorted(maps.Keys(c))
	if len(numbers) == 0 {
		return h
	}
	sum, whole := 0.0, true
	for _, v := range numbers {
		h.N += c[v]
		sum += float64(v * float64(c[v]))
		whole = whole && v == math.Trunc(v)
	}
	h.Mean, h.Min, h.Max = sum/float64(h.N), numbers[0], numbers[len(numbers)-1]
	before := uint64(0)
	for _, v := range numbers {
		for _, q := range []struct {
			at uint64
			to *float64
		}{{h.N / 4, &h.Quarter}, {h.N / 2, &h.Median}, {(3*h.N - 1) / 4, &h.ThreeQuarters}} {
			if before <= q.at && q.at < before+c[v] {
				*q.to = v
			}
		}
		before += c[v]
	}
	h.From = h.Min
	if whole {
		for k := 0; math.Floor(h.Max/h.Width)-math.Floor(h.Min/h.Width) >= mostBars; k++ {
			h.Width = []float64{2, 5, 10}[k%3] * math.Pow10(k/3)
		}
		h.From = math.Floor(h.Min/h.Width) * h.Width
	} else if h.Max > h.Min {
		h.Width = (h.Max - h.Min) / mostBars
	}
	last := mostBars - 1
	if whole {
		last = int((h.Max - h.From) / h.Width)
	}
	h.Bars = make([]uint64, min(last, mostBars-1)+1)
	for _, v := range numbers {
		h.Bars[min(int((v-h.From)/h.Width), len(h.Bars)-1)] += c[v]
	}
	return h
}

// Lengths returns the section about the lengths of games.
func Lengths(turns Histogram) Section {
	s := Section{Title: "Lengths of games"}
	switch {
	case turns.N == 0:
	case turns.Min == turns.Max:
		s.Text = []string{fmt.Sprintf("All have %s.", texts.Plural(int(turns.Min), "turn"))}
	default:
		s.Text = []string{fmt.Sprintf("From %.0f to %s, the mean is %.4g, the median %.0f. The middle half of the games: %.0f to %.0f.",
			turns.Min, texts.Plural(int(turns.Max), "turn"), turns.Mean, turns.Median, turns.Quarter, turns.ThreeQuarters)}
		s.Charts = turns.Charts("Games by their turns", "turns")
	}
	return s
}

// Charts returns the plot of a histogram; none for less than two bars, which show nothing.
func (h Histogram) Charts(title, x string) []Chart {
	if len(h.Bars) < 2 {
		return nil
	}
	return []Chart{{Title: title, X: x, Bars: &h}}
}
