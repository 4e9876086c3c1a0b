// Package overview has the document that the page shows beside a list of games: what is to be said of a dataset, of a
// tournament, or of a run that learns. It has data alone; page/overview.js draws them.
package overview

import (
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"moonfarm/sim/texts"
)

// Document is an overview.
type Document struct {
	Sections []Section `json:"sections"`
}

// Section is a part of a document. What is empty is left out.
type Section struct {
	Title  string   `json:"title"`
	Folded bool     `json:"folded,omitempty"` // until the reader opens it
	Text   []string `json:"text,omitempty"`   // paragraphs
	Code   string   `json:"code,omitempty"`   // a command
	Charts []Chart  `json:"charts,omitempty"`
	Tables []Table  `json:"tables,omitempty"`
}

// Chart is a plot of lines, or a histogram. Its numbers are finite.
type Chart struct {
	Title string `json:"title"`
	X     string `json:"x"` // what the numbers of the horizontal axis are
	Lines []Line `json:"lines,omitempty"`
	// Bars, if not nil, is drawn instead of lines.
	Bars *Histogram `json:"bars,omitempty"`
}

// Line is a line of a plot.
type Line struct {
	Name   string       `json:"name"` // "" for the only line of a plot
	Points [][2]float64 `json:"points"`
}

// Table is a table. Without columns it has no heads.
type Table struct {
	Caption string   `json:"caption,omitempty"`
	Columns []Column `json:"columns,omitempty"`
	Rows    [][]Cell `json:"rows"`
	// Grid says that most cells are links, in which the arrow keys move.
	Grid bool `json:"grid,omitempty"`
}

// Column is the head of a column.
type Column struct {
	Name   string `json:"name"`
	Hint   string `json:"hint,omitempty"` // shown under the pointer
	Number bool   `json:"number,omitempty"`
}

// Cell is a cell of a table.
type Cell struct {
	Text  string `json:"text,omitempty"`
	Small string `json:"small,omitempty"` // below the text
	Hint  string `json:"hint,omitempty"`  // shown under the pointer, and read out
	To    string `json:"to,omitempty"`    // an address on the page: ToGames, ToTurn
	Bar   []Part `json:"bar,omitempty"`
	// Heat, if not nil, colours the cell by a score from 0 to 1.
	Heat *float64 `json:"heat,omitempty"`
}

// Part is a part of a bar.
type Part struct {
	Share float64 `json:"share"` // of the bar
	Look  Look    `json:"look,omitempty"`
}

// Look is how a part of a bar looks.
type Look string

// The looks of parts; one without a look is empty.
const (
	Ahead  Look = "ahead"
	Even   Look = "even"
	Behind Look = "behind"
)

// ToGames returns the address of the games of a policy, against another one unless that is "".
func ToGames(policy, against string) string {
	to := "#policy=" + url.QueryEscape(policy)
	if against != "" {
		to += "&against=" + url.QueryEscape(against)
	}
	return to
}

// ToTurn returns the address of a turn of a game.
func ToTurn(game uint64, turn int) string {
	return "#episode=" + strconv.FormatUint(game, 10) + "&turn=" + strconv.Itoa(turn)
}

// TableOf returns a table of texts, whose first row has the heads. A column whose texts all begin like numbers has
// numbers.
func TableOf(caption string, rows [][]string) Table {
	t := Table{Caption: caption, Rows: [][]Cell{}}
	for i, name := range rows[0] {
		t.Columns = append(t.Columns, Column{Name: name, Number: !slices.ContainsFunc(rows[1:], func(row []string) bool { return !isNumber(row[i]) })})
	}
	for _, row := range rows[1:] {
		var cells []Cell
		for _, text := range row {
			cells = append(cells, Cell{Text: text})
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

// isNumber reports whether a text begins like a number, or replaces one.
func isNumber(text string) bool {
	for _, word := range []string{"over ", "under ", "+", "-", "−"} {
		text = strings.TrimPrefix(text, word)
	}
	return text == "" || text == "—" || text == "–" || text[0] >= '0' && text[0] <= '9'
}

// Shares returns the parts of a bar in proportion to counts, with these looks.
func Shares(counts []uint64, looks ...Look) (bar []Part) {
	all := uint64(0)
	for _, n := range counts {
		all += n
	}
	for i, n := range counts {
		if n > 0 {
			bar = append(bar, Part{float64(n) / float64(all), looks[i]})
		}
	}
	return bar
}

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
