package report

import (
	"bytes"
	"encoding/xml"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/datasets"
)

// element is an element of a page.
type element struct {
	name     string
	attrs    map[string]string
	children []*element
	text     string // includes the text of all descendants
}

// parse reads a page as XML, which finds unclosed elements and unquoted attributes.
func parse(t *testing.T, page []byte) *element {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(page))
	root := &element{}
	open := []*element{root}
	var text []byte
	starts := []int{0}
	for {
		token, err := d.Token()
		if err == io.EOF {
			return root
		}
		require.NoErrorf(t, err, "%v in\n%.3000s", err, page)
		switch token := token.(type) {
		case xml.StartElement:
			e := &element{name: token.Name.Local, attrs: map[string]string{}}
			for _, a := range token.Attr {
				e.attrs[a.Name.Local] = a.Value
			}
			top := open[len(open)-1]
			top.children = append(top.children, e)
			open, starts = append(open, e), append(starts, len(text))
		case xml.EndElement:
			open[len(open)-1].text = string(text[starts[len(open)-1]:])
			open, starts = open[:len(open)-1], starts[:len(open)-1]
		case xml.CharData:
			text = append(text, token...)
		}
	}
}

// all returns the descendants of e with the given name.
func (e *element) all(name string) (list []*element) {
	for _, c := range e.children {
		if c.name == name {
			list = append(list, c)
		}
		list = append(list, c.all(name)...)
	}
	return list
}

// section returns the section with the given id; nil if there is none.
func (e *element) section(id string) *element {
	for _, s := range e.all("section") {
		if s.attrs["aria-labelledby"] == id {
			return s
		}
	}
	return nil
}

// rows returns the texts of the cells of the bodies of the tables in e.
func (e *element) rows() (rows [][]string) {
	for _, body := range e.all("tbody") {
		for _, tr := range body.all("tr") {
			var row []string
			for _, c := range tr.children {
				row = append(row, c.text)
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// row returns the row of a table in e whose first cell that names it has that text.
func (e *element) row(t *testing.T, name string) []string {
	t.Helper()
	for _, row := range e.rows() {
		if row[0] == name {
			return row
		}
	}
	t.Fatalf("no row %q in %q", name, e.rows())
	return nil
}

// write writes the page of a dataset twice, with one worker and with several, and checks properties
// of every page.
func write(t *testing.T, dir string, o Options) (*element, string) {
	t.Helper()
	d, err := datasets.Open(dir)
	require.NoError(t, err)
	var pages [2]bytes.Buffer
	for i, workers := range []int{1, 4} {
		o.Workers = workers
		require.NoError(t, Write(t.Context(), &pages[i], d, "data/set", o))
	}
	assert.True(t, bytes.Equal(pages[0].Bytes(), pages[1].Bytes()), "the same dataset made two pages")
	page := parse(t, pages[0].Bytes())
	checkContained(t, page)
	checkAccessible(t, page)
	return page, pages[0].String()
}

// checkContained: a page loads nothing and runs nothing.
func checkContained(t *testing.T, page *element) {
	t.Helper()
	allowed := strings.Fields("html head meta title style body header main nav section h1 h2 p dl dt dd ul li a code figure figcaption br svg g desc rect circle ellipse path polygon polyline line text clipPath defs use pattern div table caption thead tbody tr th td bdi details summary")
	var visit func(e *element)
	visit = func(e *element) {
		assert.Containsf(t, allowed, e.name, "an element %s: %.80s", e.name, e.text)
		for name, value := range e.attrs {
			assert.Truef(t, name != "src" && name != "style" && !strings.HasPrefix(name, "on") && (name != "href" || (e.name == "a" || e.name == "use") && strings.HasPrefix(value, "#")), "%s has %s=%q", e.name, name, value)
		}
		for _, c := range e.children {
			visit(c)
		}
	}
	visit(page.children[0])
	for _, s := range page.all("style") {
		assert.True(t, !strings.Contains(s.text, "url(") && !strings.Contains(s.text, "@import"), "the style loads something")
	}
	policies := 0
	for _, m := range page.all("meta") {
		if m.attrs["http-equiv"] == "Content-Security-Policy" {
			policies++
			assert.Contains(t, m.attrs["content"], "default-src 'none'")
			assert.NotContains(t, m.attrs["content"], "script")
		}
	}
	assert.Equal(t, 1, policies)
}

// checkAccessible: tables have captions and heads, plots have titles and descriptions, and the links
// to sections have targets.
func checkAccessible(t *testing.T, page *element) {
	t.Helper()
	ids := map[string]string{}
	var visit func(e *element)
	visit = func(e *element) {
		if id := e.attrs["id"]; id != "" {
			_, twice := ids[id]
			assert.Falsef(t, twice, "id %s occurs twice", id)
			ids[id] = e.text
		}
		for _, c := range e.children {
			visit(c)
		}
	}
	visit(page)
	for _, svg := range page.all("svg") {
		labels := strings.Fields(svg.attrs["aria-labelledby"])
		assert.Truef(t, svg.attrs["aria-hidden"] == "true" || svg.attrs["role"] == "img" && svg.attrs["viewBox"] != "" && len(labels) == 2 && ids[labels[0]] != "" && ids[labels[1]] != "", "a plot with %v", svg.attrs)
	}
	for _, table := range page.all("table") {
		assert.Truef(t, len(table.all("caption")) == 1 && len(table.all("th")) >= 1, "a table without caption or heads: %.100s", table.text)
		columns := len(table.all("thead")[0].all("th"))
		for _, row := range table.rows() {
			if len(row) != columns {
				t.Errorf("%d cells in %d columns: %q", len(row), columns, row)
			}
		}
		for _, th := range table.all("th") {
			if th.attrs["scope"] != "col" && th.attrs["scope"] != "row" {
				t.Errorf("a head %q without scope", th.text)
			}
		}
	}
	for _, a := range page.all("nav")[0].all("a") {
		assert.Equalf(t, a.text, ids[strings.TrimPrefix(a.attrs["href"], "#")], "the link %q has the target %q", a.text, a.attrs["href"])
	}
}
