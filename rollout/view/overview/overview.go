// Package overview has the document that the page shows beside a list of games: what is to be said of a dataset, of a
// tournament, or of a run that learns. It has data alone; page/overview.js draws them.
package overview

import (
	"fmt"
	"maps"
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
	Bars  *Bars  `json:"bars,omitempty"`
}

// Line is a line of a plot.
type Line struct {
	Name   string       `json:"name"` // "" for the only line of a plot
	Points [][2]float64 `json:"points"`
}

// Bars are the bars of a histogram, which have the same width.
type Bars struct {
	From   float64  `json:"from"` // where the first one begins
	Width  float64  `json:"width"`
	Counts []uint64 `json:"counts"`
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
	Ahead Look = "ahead"
	Even  Look = "even"
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

// mostBars is the largest number of bars of a histogram.
const mostBars = 24

// Lengths returns the section about the lengths of games, of which times has the number for each number of turns.
func Lengths(times map[int]uint64) Section {
	s := Section{Title: "Lengths of games"}
	turns, all := slices.Sorted(maps.Keys(times)), uint64(0)
	for _, n := range times {
		all += n
	}
	if all == 0 {
		return s
	}
	at := func(k uint64) int { // the number of turns of the k-th game, the shortest first
		i := slices.IndexFunc(turns, func(n int) bool {
			if k < times[n] {
				return true
			}
			k -= times[n]
			return false
		})
		return turns[i]
	}
	low, high := turns[0], turns[len(turns)-1]
	if low == high {
		s.Text = []string{fmt.Sprintf("All have %s.", texts.Plural(low, "turn"))}
		return s
	}
	s.Text = []string{fmt.Sprintf("From %d to %s, the median is %d. The middle half of the games: %d to %d.", low, texts.Plural(high, "turn"), at(all/2), at(all/4), at((3*all-1)/4))}
	width := 1
	for k, power := 0, 1; high/width-low/width >= mostBars; k++ {
		if width = []int{2, 5, 10}[k%3] * power; k%3 == 2 {
			power *= 10
		}
	}
	b := &Bars{From: float64(low / width * width), Width: float64(width), Counts: make([]uint64, high/width-low/width+1)}
	for n, count := range times {
		b.Counts[n/width-low/width] += count
	}
	s.Charts = []Chart{{Title: "Games by their turns", X: "turns", Bars: b}}
	return s
}
