// Package legend has what pictures of a scene have in common, whatever their format: colours, names, and the
// rows of the tables beside the board.
package legend

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"moonfarm/features"
)

// MostCells is the largest side of a board that is drawn, in cells, so that coordinates stay short.
const MostCells = 4096

// Colours of texts and of the board.
const (
	Dark = "#222"
	Axis = "#666"
	Grid = "#ddd"
	Fog  = "#c9c9c9"

	Strong = "#b3003c" // of events; no owner has it
)

// Colour has the colours of the things of one owner.
type Colour struct {
	Edge string // of outlines and lines, from the palette of Okabe and Ito, which is safe for the colour-blind
	Fill string // the same over white, so light that dark letters can be read on it
	Area string // of the owner's part of the board
}

// Colours has the colours of the owners by seat, and nobody's after them.
var Colours = [...]Colour{
	{"#0072b2", "#73b1d5", "#eff5fa"}, {"#d55e00", "#e8a673", "#fcf4ee"}, {"#009e73", "#73cab2", "#eef8f5"}, {"#cc79a7", "#e3b6cf", "#fbf4f8"},
	{"#777", "#d0d0d0", "#fff"},
}

// Seats is the number of seats with colours of their own.
const Seats = len(Colours) - 1

// Index returns the index of an owner's colours in Colours.
func Index(owner int8) int {
	if owner < 0 || int(owner) >= Seats {
		return Seats
	}
	return int(owner)
}

// SeatName returns "A" for seat 0.
func SeatName(owner int8) string {
	if owner < 0 {
		return "nobody"
	}
	return string('A' + rune(owner))
}

// ArrowEnd returns where a line is drawn to. A long arrow only shows its direction: the orders of all units of an army would
// hide the board.
func ArrowEnd(l *features.Line) (x, y float32) {
	const long, short = 12, 4 // cells
	dx, dy := float64(l.X2-l.X1), float64(l.Y2-l.Y1)
	length := math.Sqrt(float64(dx*dx) + float64(dy*dy))
	if !l.Arrow || !(length > long) {
		return l.X2, l.Y2
	}
	return l.X1 + float32(dx*short/length), l.Y1 + float32(dy*short/length)
}

// Drawable reports whether the board has a size that a picture can have.
func Drawable(s *features.Scene) bool {
	return s.Width > 0 && s.Height > 0 && s.Width <= MostCells && s.Height <= MostCells
}

// Near reports whether coordinates are numbers not farther from the board than its size.
func Near(s *features.Scene, numbers ...float32) bool {
	far := s.Width + s.Height
	for _, v := range numbers {
		if !(v >= -far && v <= 2*far) { // also for NaN
			return false
		}
	}
	return true
}

// Turned returns an outline in the frame of the picture, in which y grows downwards.
func Turned(s *features.Scene, o features.Outline) features.Outline {
	switch {
	case s.Up && o == features.ToGreaterY:
		return features.ToLessY
	case s.Up && o == features.ToLessY:
		return features.ToGreaterY
	}
	return o
}

// Table has the stats of a scene by name and seat.
type Table struct {
	Seats []int8
	Names []string // in the order of the scene
	Units []string
}

// TableOf returns the rows and columns of the stats of a scene, no more than fit.
func TableOf(s *features.Scene) (t Table) {
	for _, n := range s.Stats {
		if !slices.Contains(t.Seats, n.Seat) && len(t.Seats) < Seats {
			t.Seats = append(t.Seats, n.Seat)
		}
		if !slices.Contains(t.Names, n.Name) {
			t.Names, t.Units = append(t.Names, n.Name), append(t.Units, n.Unit)
		}
	}
	slices.Sort(t.Seats)
	return t
}

// Label returns the name of a stat in words.
func Label(name string) string { return strings.ReplaceAll(name, "_", " ") }

// Value returns the text of a stat of a seat. It returns "" if the scene lacks it.
func Value(s *features.Scene, name string, seat int8) string {
	for i := range s.Stats {
		if n := &s.Stats[i]; n.Name == name && n.Seat == seat {
			return Number(n.Value)
		}
	}
	return ""
}

// Number formats a value with one decimal at most. A value that is no number has a dash.
func Number(v float64) string {
	if v-v != 0 || v > 1e12 || v < -1e12 {
		return "–"
	}
	return strings.TrimSuffix(strconv.FormatFloat(v+0, 'f', 1, 64), ".0")
}

// Entries returns the things of a scene of which the legend has a sample: an entity, a range or a line
// of each kind, sorted by kind.
func Entries(s *features.Scene) (entities []features.Entity, ranges []features.Range, lines []features.Line) {
	for _, e := range s.Entities {
		if !slices.ContainsFunc(entities, func(o features.Entity) bool { return o.Kind == e.Kind }) {
			entities = append(entities, features.Entity{Kind: e.Kind, Outline: e.Outline, Letter: e.Letter, Owner: features.Nobody, Width: e.Width})
		}
	}
	slices.SortStableFunc(entities, func(a, b features.Entity) int { return cmp.Compare(a.Kind, b.Kind) })
	for _, m := range []struct {
		note string
		has  func(e features.Entity) bool
		e    features.Entity
	}{
		{"unfinished", func(e features.Entity) bool { return e.Unfinished }, features.Entity{Unfinished: true}},
		{"upgraded", func(e features.Entity) bool { return e.Upgraded }, features.Entity{Upgraded: true}},
		{"leaving or out", func(e features.Entity) bool { return e.Leaving }, features.Entity{Leaving: true}},
		{"health left", func(e features.Entity) bool { return e.Health > 0 && e.Health < 1 }, features.Entity{Health: 0.6}},
	} {
		if slices.ContainsFunc(s.Entities, m.has) {
			m.e.Kind, m.e.Owner = m.note, features.Nobody
			entities = append(entities, m.e)
		}
	}
	for _, r := range s.Ranges {
		if !slices.ContainsFunc(ranges, func(o features.Range) bool { return o.Kind == r.Kind }) {
			ranges = append(ranges, r)
		}
	}
	for _, l := range s.Lines {
		if !slices.ContainsFunc(lines, func(o features.Line) bool { return o.Kind == l.Kind }) {
			lines = append(lines, l)
		}
	}
	return entities, ranges, lines
}
