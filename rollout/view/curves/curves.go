// Package curves reads what a learning program has written of its progress: the file curve.csv in the folder of a run.
package curves

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"moonfarm/rollout/files"
	"moonfarm/rollout/view"
	"moonfarm/rollout/view/overview"
	"moonfarm/sim/bounded"
	"moonfarm/sim/texts"
)

const fileCSV = "curve.csv" // a line for each point

// Bounds of what is read and shown.
const (
	mostBytes  = 16 << 20
	mostPoints = 100_000
	mostNames  = 200 // different numbers
	mostLines  = 16  // of a chart
)

// run is what a program has written so far.
type run struct {
	points []map[string]float64 // by name; the scores against X are "scores/X", with the intervals "low/X" and "high/X"
	names  []string             // in the order of the file
}

// File returns the name of the file with the curve of a folder, "" if there is none.
func File(dir string) string {
	file := filepath.Join(dir, fileCSV)
	if s, err := os.Stat(file); err != nil || !s.Mode().IsRegular() {
		return ""
	}
	return file
}

// Read reads a file with a curve. It returns a list without games, whose overview is the curve. live says that the file may
// change.
func Read(file string, live bool) (*view.List, error) {
	text, err := bounded.ReadFile(files.OpenRegular, file, mostBytes)
	if err != nil {
		return nil, err
	}
	r := &run{}
	if err := r.read(text); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return &view.List{Title: filepath.Dir(file), Live: live, Grows: live, About: func() (*overview.Document, error) { return r.overview(live), nil }}, nil
}

// set sets a number of a point. A number that is not finite is left out.
func (r *run) set(p map[string]float64, name string, v float64) {
	known := slices.Contains(r.names, name)
	if math.IsNaN(v) || math.IsInf(v, 0) || !known && len(r.names) == mostNames {
		return
	}
	if !known {
		r.names = append(r.names, name)
	}
	p[name] = v
}

// read reads a table with a heading.
func (r *run) read(text []byte) error {
	in := csv.NewReader(bytes.NewReader(text))
	in.FieldsPerRecord = -1 // a line that is being written is short
	rows, err := in.ReadAll()
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		return errors.New("expected a line with names")
	}
	for _, row := range rows[1:min(len(rows), mostPoints+1)] {
		p := map[string]float64{}
		for i, text := range row[:min(len(row), len(rows[0]))] {
			if v, err := strconv.ParseFloat(text, 64); err == nil {
				r.set(p, rows[0][i], v)
			}
		}
		r.points = append(r.points, p)
	}
	return nil
}

// steps are the names of numbers that count the progress, the best first.
var steps = []string{"generation", "round", "steps", "rows", "seconds"}

// x returns the name of the number that counts the progress, "" for the number of the point.
func (r *run) x() string {
	for _, name := range steps {
		if slices.Contains(r.names, name) {
			return name
		}
	}
	return ""
}

// overview returns a chart for the numbers of each group, such as the scores, one for each other number that changes, and the
// numbers of the last point.
func (r *run) overview(live bool) *overview.Document {
	x := r.x()
	progress := overview.Section{Title: "Progress", Text: []string{texts.Plural(len(r.points), "point")}}
	if live {
		progress.Text[0] += "; the page follows the run"
	}
	groups, order := map[string][]string{}, []string{}
	for _, name := range r.names {
		if name == x {
			continue
		}
		group, _, inner := strings.Cut(name, "/")
		if inner && (group == "low" || group == "high") {
			continue // among the numbers of the last point
		}
		if !inner {
			group = name
		}
		if groups[group] == nil {
			order = append(order, group)
		}
		groups[group] = append(groups[group], name)
	}
	slices.SortStableFunc(order, func(a, b string) int { return len(groups[b]) - len(groups[a]) }) // scores first
	for _, group := range order {
		chart := overview.Chart{Title: words(group), X: words(x), Lines: []overview.Line{}}
		flat := true // a number that never changes is among those of the last point
		for _, name := range groups[group][:min(len(groups[group]), mostLines)] {
			points := r.line(x, name)
			flat = flat && !slices.ContainsFunc(points, func(p [2]float64) bool { return p[1] != points[0][1] })
			l := overview.Line{Points: thinned(points)}
			if _, inner, _ := strings.Cut(name, "/"); len(groups[group]) > 1 {
				l.Name = texts.OneLine(inner)
			}
			chart.Lines = append(chart.Lines, l)
		}
		if !flat || len(r.points) == 1 {
			progress.Charts = append(progress.Charts, chart)
		}
	}
	o := &overview.Document{Sections: []overview.Section{progress}}
	if len(r.points) == 0 {
		return o
	}
	rows := [][]string{{"number", "value"}}
	for _, name := range r.names {
		if v, ok := r.points[len(r.points)-1][name]; ok {
			rows = append(rows, []string{words(strings.ReplaceAll(name, "/", ", ")), strconv.FormatFloat(v, 'g', 4, 64)})
		}
	}
	o.Sections = append(o.Sections, overview.Section{Title: "The last point", Tables: []overview.Table{overview.TableOf("", rows)}})
	return o
}

// line returns the points of a number.
func (r *run) line(x, name string) [][2]float64 {
	points := [][2]float64{}
	for i, p := range r.points {
		at, there := float64(i), true
		if x != "" {
			at, there = p[x]
		}
		if v, ok := p[name]; ok && there {
			points = append(points, [2]float64{at, v})
		}
	}
	return points
}

// mostDrawn bounds the points of a line on the page: a screen has no more columns.
const mostDrawn = 2000

// thinned returns at most mostDrawn points: every n-th one and the last.
func thinned(list [][2]float64) [][2]float64 {
	if len(list) <= mostDrawn {
		return list
	}
	var some [][2]float64
	for part := range slices.Chunk(list[:len(list)-1], (len(list)+mostDrawn-2)/(mostDrawn-1)) {
		some = append(some, part[0])
	}
	return append(some, list[len(list)-1])
}

// words returns a name for people.
func words(name string) string {
	if name == "" {
		return "point"
	}
	return texts.OneLine(strings.ReplaceAll(name, "_", " "))
}
