// Package overview has the document that the page shows beside a list of games: what is to be said of a dataset, of a
// tournament, or of a run that learns. It has data alone; page/overview.js draws them.
package overview

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
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
