// Package report writes a page about a dataset for people: one file of HTML without scripts, and
// without files of its own.
//
// The page has what the manifest says, the lengths of the episodes, figures of a sample of the rows,
// and pictures of a few positions. Sampling bounds the time and the memory for large datasets; the
// page says what was sampled. The same dataset under the same name makes the same bytes.
//
// html/template escapes the texts of the page, package chart those of the plots, and package picture
// those of the boards. The page is well-formed XML as well, so that tests can read all of it.
package report

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"html/template"
	"io"
	"slices"
	"strings"

	"moonfarm/datasets"
	"moonfarm/env"
	"moonfarm/rollout/parallel"
	"moonfarm/sim"
	"moonfarm/sim/texts"
)

// Options say how a page is made.
type Options struct {
	Workers int // goroutines; at least 1
	Shards  int // most shards to sample; 0: as many as the page's own bounds allow
	// Game makes one game with the rules of that canonical text, or one that goes through
	// a recording if there is one. It is nil if the game is not known: the page then has
	// no boards, and no names of choices.
	Game func(rules string, c env.Settings, recording []byte) (env.Vector, error)
	// Orders returns orders as texts for people, such as "3 scout 13,0". It is nil if
	// there are none.
	Orders func(orders []sim.Order) []string
}

//go:embed report.html
var source string

// content is the data of the template.
type content struct {
	Title    string
	Facts    []fact
	Sections []section
}

// fact is a line of the heading. Code: the text is a command or a sum.
type fact struct {
	Name, Text string
	Code       bool
}

// section is a part of the page. Empty fields are left out.
type section struct {
	ID, Title string
	Text      []string // paragraphs
	Code      string   // a command
	Plots     []template.HTML
	Tables    []table
	Boards    []board
}

// table is a table with a head.
type table struct {
	Caption string
	Closed  bool // folded until the reader opens it
	Head    []cell
	Rows    [][]cell
}

// cell is a cell of a table.
type cell struct {
	Text   string
	Head   bool // it names its row
	Number bool
	Long   bool // a text of several lines
	Bars   []bar
	Spark  string // the outline of a small histogram, as an SVG path; "" for none
}

// bar is a part of a bar of shares. All are in hundredths of a percent.
type bar struct {
	Class    string
	From, To int
}

// Width returns the width of the bar.
func (b bar) Width() int { return b.To - b.From }

// board is a picture of a position.
type board struct {
	Caption, Command string
	Picture          template.HTML
}

// Write writes the page of a dataset. dir is its folder or URL, which the commands on the page have.
// Write fails before it writes anything on a damaged file that it reads, and as out does.
func Write(ctx context.Context, out io.Writer, d *datasets.Dataset, dir string, o Options) error {
	b := &builder{dir: dir, d: d, m: d.Manifest(), o: o, ctx: ctx}
	if err := parallel.Each(ctx, o.Workers, []func() error{b.readRows, b.readPlanes, b.readLengths, b.drawBoards, b.readStatistics},
		func(_ context.Context, _ int, read func() error) error { return read() }); err != nil {
		return err
	}
	common := b.rows.commonest()
	if err := b.nameChoices(common[:min(len(common), mostChoices)]); err != nil {
		return err
	}
	v := content{Title: b.title(), Facts: b.facts()}
	for _, s := range [][]section{
		b.totals(), b.outcomes(), b.boards(), b.lengths(), b.actions(), b.orders(), b.masks(), b.rewards(),
		b.labels(), b.mixtures(), b.asked(), b.searches(), b.networks(), b.observations(), b.columns(), b.made(),
	} {
		v.Sections = append(v.Sections, s...)
	}
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

// builder reads a dataset and makes the sections of its page.
type builder struct {
	dir string
	d   *datasets.Dataset
	m   *datasets.Manifest
	o   Options
	ctx context.Context

	rows      rowSample
	planes    planeSample
	lengthsOf lengthSample
	drawn     drawnBoards
	kept      *datasets.Statistics // nil: the dataset has none
}

// readStatistics reads statistics.json.
func (b *builder) readStatistics() (err error) {
	if b.m.Statistics.Path != "" {
		b.kept, err = b.d.Statistics()
	}
	return err
}

// seatName returns "A" for seat 0.
func seatName(seat int) string { return string(rune('A' + seat)) }

// policyOf returns the name of the policy of a seat with its letter: "A: planner".
func (b *builder) policyOf(seat int) string {
	if p := b.m.Job.Policies; seat < len(p) {
		return seatName(seat) + ": " + p[seat]
	}
	return seatName(seat)
}

// quote quotes a word for a shell if needed.
func quote(word string) string {
	if word != "" && !strings.ContainsAny(word, " \t\n'\"\\$`*?()[]{}<>|&;#~!") {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// has reports whether the step rows have a column.
func (b *builder) has(column string) bool {
	return slices.ContainsFunc(b.m.Steps.Columns, func(c datasets.Column) bool { return c.Name == column })
}

// number returns a cell with a number.
func number(text string) cell { return cell{Text: text, Number: true} }

// head returns a cell that names its row.
func head(text string) cell { return cell{Text: text, Head: true, Long: len(text) > 24} }

// heads returns the head of a table. Names of columns of numbers begin with #.
func heads(names ...string) (list []cell) {
	for _, n := range names {
		name, isNumber := strings.CutPrefix(n, "#")
		list = append(list, cell{Text: name, Number: isNumber})
	}
	return list
}

// byCount sorts keys by their counts, the largest first, and equal ones by their order.
func byCount[K cmp.Ordered](counts map[K]uint64) []K {
	keys := make([]K, 0, len(counts))
	for k := range counts {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b K) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) })
	return keys
}
