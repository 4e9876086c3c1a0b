// Package page writes what came out of a tournament as one page of HTML that
// needs nothing else: no scripts, fonts or pictures from elsewhere.
//
// The same report and games make the same bytes. The names of players are texts
// of their users; so are faults, which quote bots. Neither can become markup:
// html/template escapes what stands in the page, and package chart what stands in plots.
// The page is well-formed XML as well, so that tests can read all of it.
package page

import (
	"bytes"
	_ "embed"
	"html/template"
	"io"
	"strings"

	"moonfarm/rollout/arena"
	"moonfarm/rollout/arena/report/chart"
)

// Bounds of what is shown, so that a page of many games or players can be opened.
const (
	mostShown  = 40  // players in plots and matrices
	mostLines  = 8   // players in the plot of ratings over the games
	mostGames  = 500 // the last ones
	mostPairs  = 500
	mostNotes  = 100
	mostFaults = 500
)

//go:embed page.html
var source string

// view is what the template shows.
type view struct {
	Title    string
	Facts    []fact
	Sections []section
}

// fact is a line of the heading.
type fact struct{ Name, Text string }

// section is a part of the page. What is empty is left out.
type section struct {
	ID, Title string
	Text      []string // paragraphs
	Plot      template.HTML
	Tables    []table
	Notes     []string // a list
}

// table is a table with a head.
type table struct {
	Caption string
	Class   string
	Head    []cell
	Rows    [][]cell
}

// cell is a cell of a table.
type cell struct {
	Text   string
	Small  string // behind it
	Hint   string // shown where the pointer rests, and read out
	Class  string
	Head   bool // it names its row
	Number bool
	Links  []link
	ID     string // of a cell that names its row: where links lead
	To     string // where the text leads; "": nowhere
}

// link leads to a file of a game.
type link struct{ Name, To string }

// Write writes the page of a report and the games that it sums up, in the order in
// which they were played. Links to the files of games are relative to the folder
// of the journal. It fails if out does.
func Write(out io.Writer, r *arena.Report, games []arena.Played) error {
	b := newBuilder(r, games)
	v := view{Title: b.title(), Facts: b.facts(), Sections: []section{b.ratings()}}
	if r.Test != nil {
		v.Sections = append(v.Sections, b.test())
	}
	if len(r.Stages) > 0 {
		v.Sections = append(v.Sections, b.stages())
	}
	course, err := b.course()
	if err != nil {
		return err
	}
	v.Sections = append(v.Sections, b.matrix(), course, b.lengths(), b.faults(), b.repeats(), b.pairs(), b.games())
	t, err := template.New("page").Parse(source)
	if err != nil {
		return err
	}
	var page bytes.Buffer
	if err := t.Execute(&page, v); err != nil {
		return err
	}
	_, err = io.WriteString(out, strings.Map(chart.Printable, page.String()))
	return err
}
