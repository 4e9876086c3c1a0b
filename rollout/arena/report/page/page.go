// Package page writes the results of a tournament as one self-contained page of HTML, without
// external scripts, fonts or pictures.
//
// The same report and games give the same bytes. The names of players come from users, and faults
// quote bots. Neither can become markup: html/template escapes the texts of the page, and package
// chart the texts of plots. The page is well-formed XML as well, so that tests can read all of it.
package page

import (
	"bytes"
	_ "embed"
	"html/template"
	"io"
	"strings"

	"moonfarm/rollout/arena"
	"moonfarm/sim/texts"
)

// Bounds of the page, so that browsers can open a page of many games or players.
const (
	mostShown  = 40  // players in plots and matrices
	mostLines  = 8   // players in the plot of ratings over the games
	mostGames  = 500 // the last games
	mostPairs  = 500
	mostNotes  = 100
	mostFaults = 500
)

//go:embed page.html
var source string

// view is the data of the template.
type view struct {
	Title    string
	Facts    []fact
	Sections []section
}

// fact is a line of the heading.
type fact struct{ Name, Text string }

// section is a part of the page. Empty fields are left out.
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
	Small  string // after the text
	Hint   string // shown under the pointer, and read out
	Class  string
	Head   bool // whether the cell names its row
	Number bool
	Links  []link
	ID     string // link target of a cell that names its row
	To     string // where the text links to; "" for nowhere
}

// link is a link to a file of a game.
type link struct{ Name, To string }

// Write writes the page of a report and its games, which are in the order in which they were
// played. Links to the files of games are relative to the folder of the journal. It fails if out
// does.
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
	_, err = io.WriteString(out, strings.Map(texts.Printable, page.String()))
	return err
}
