// Package curves shows what a learning program has written of its progress: the file curve.json or curve.csv
// in the folder of a run, as one page of charts without scripts. Its texts come from files of strangers, and are
// escaped.
package curves

import (
	"bytes"
	_ "embed"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"moonfarm/rollout/arena/report/chart"
	"moonfarm/sim/bounded"
	"moonfarm/sim/texts"
)

// Names of the files with a curve, the first that is there counts.
const (
	fileJSON = "curve.json" // a list of objects, one for each point
	fileCSV  = "curve.csv"  // a line for each point
)

// Bounds of what is read and shown.
const (
	mostBytes  = 16 << 20
	mostPoints = 100_000
	mostNames  = 200 // different numbers
	mostLines  = 16  // of a chart
)

// Run is what a program has written so far.
type Run struct {
	Dir    string
	points []map[string]float64 // by name; the scores against X are "scores/X"
	names  []string             // in the order of the file, or sorted
}

// Holds reports whether a folder has a curve.
func Holds(dir string) bool {
	for _, name := range []string{fileJSON, fileCSV} {
		if s, err := os.Stat(filepath.Join(dir, name)); err == nil && s.Mode().IsRegular() {
			return true
		}
	}
	return false
}

// Read reads the curve of a folder.
func Read(dir string) (*Run, error) {
	r := &Run{Dir: dir}
	for _, name := range []string{fileJSON, fileCSV} {
		file := filepath.Join(dir, name)
		text, err := bounded.ReadFile(os.Open, file, mostBytes)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		read := r.readJSON
		if name == fileCSV {
			read = r.readCSV
		}
		if err := read(text); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		return r, nil
	}
	return nil, fmt.Errorf("%s: expected a file %s or %s", dir, fileJSON, fileCSV)
}

// readJSON reads a list of objects.
func (r *Run) readJSON(text []byte) error {
	var list []map[string]any
	if err := json.Unmarshal(text, &list); err != nil {
		return fmt.Errorf("expected a list of objects: %w", err)
	}
	for _, point := range list[:min(len(list), mostPoints)] {
		p := map[string]float64{}
		r.flatten(p, "", point, 0)
		r.points = append(r.points, p)
	}
	slices.Sort(r.names)
	return nil
}

// flatten adds the numbers of an object. An object with a score counts as that score.
func (r *Run) flatten(p map[string]float64, prefix string, object map[string]any, depth int) {
	for _, key := range slices.Sorted(maps.Keys(object)) {
		switch v := object[key].(type) {
		case float64:
			r.set(p, prefix+key, v)
		case map[string]any:
			if score, ok := v["score"].(float64); ok {
				r.set(p, prefix+key, score)
			} else if depth < 2 {
				r.flatten(p, prefix+key+"/", v, depth+1)
			}
		}
	}
}

// set sets a number of a point.
func (r *Run) set(p map[string]float64, name string, v float64) {
	if !slices.Contains(r.names, name) {
		if len(r.names) == mostNames {
			return
		}
		r.names = append(r.names, name)
	}
	p[name] = v
}

// readCSV reads a table with a heading.
func (r *Run) readCSV(text []byte) error {
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
var steps = []string{"generation", "round", "steps", "seconds", "rows"}

// x returns the name of the number that counts the progress, "" for the number of the point.
func (r *Run) x() string {
	for _, name := range steps {
		if slices.Contains(r.names, name) {
			return name
		}
	}
	return ""
}

// figure is a chart of the page.
type figure struct {
	Title string
	Plot  template.HTML
}

// charts returns the charts: one for the numbers of each group, such as the scores, and one for each other number
// that changes.
func (r *Run) charts() (list []figure) {
	x := r.x()
	groups, order := map[string][]string{}, []string{}
	for _, name := range r.names {
		if name == x {
			continue
		}
		group, _, inner := strings.Cut(name, "/")
		if !inner {
			group = name
		}
		if groups[group] == nil {
			order = append(order, group)
		}
		groups[group] = append(groups[group], name)
	}
	slices.SortStableFunc(order, func(a, b string) int { return len(groups[b]) - len(groups[a]) }) // scores first
	for i, group := range order {
		var lines []chart.Line
		flat := true // a number that never changes is in the table of the last point
		for _, name := range groups[group][:min(len(groups[group]), mostLines)] {
			l := r.line(x, name, len(groups[group]) > 1)
			flat = flat && !slices.ContainsFunc(l.Points, func(p chart.Point) bool { return p.Y != l.Points[0].Y })
			lines = append(lines, l)
		}
		if flat && len(r.points) > 1 {
			continue
		}
		plot := chart.Lines(chart.Head{ID: fmt.Sprint("c", i), Title: group, Description: fmt.Sprintf("%d points", len(r.points))},
			chart.Axis{Label: words(x), Whole: x == "generation" || x == "round"}, chart.Axis{Label: words(group)}, lines)
		list = append(list, figure{words(group), template.HTML(plot)}) // package chart escapes its texts
	}
	return list
}

// line returns the points of a number.
func (r *Run) line(x, name string, labelled bool) chart.Line {
	_, label, _ := strings.Cut(name, "/")
	l := chart.Line{}
	if labelled {
		l.Label = label
	}
	for i, p := range r.points {
		v, ok := p[name]
		at := float64(i)
		if x != "" {
			var has bool
			at, has = p[x]
			ok = ok && has
		}
		if ok {
			l.Points = append(l.Points, chart.Point{X: at, Y: v})
		}
	}
	return l
}

// words returns a name for people.
func words(name string) string {
	if name == "" {
		return "point"
	}
	return texts.OneLine(strings.ReplaceAll(name, "_", " "))
}

//go:embed page.html
var source string

// Page returns the page of a run. With refresh above 0 the page loads itself again after that many seconds.
func Page(r *Run, refresh int) ([]byte, error) {
	t, err := template.New("page").Parse(source)
	if err != nil {
		return nil, err
	}
	last := [][2]string{}
	if len(r.points) > 0 {
		for _, name := range r.names {
			if v, ok := r.points[len(r.points)-1][name]; ok {
				last = append(last, [2]string{words(strings.ReplaceAll(name, "/", ", ")), strconv.FormatFloat(v, 'g', 6, 64)})
			}
		}
	}
	var page bytes.Buffer
	err = t.Execute(&page, map[string]any{
		"Title": texts.OneLine(r.Dir), "Points": texts.Plural(len(r.points), "point"), "Charts": r.charts(), "Last": last, "Refresh": refresh,
	})
	return []byte(strings.Map(texts.Printable, page.String())), err
}
