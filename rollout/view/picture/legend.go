package picture

import (
	"cmp"
	"image"
	"slices"
	"strconv"
	"unicode/utf8"

	"moonfarm/features"
)

// Sizes of the parts around the board. Pictures below narrow pixels have smaller letters.
const (
	narrow     = 480
	sampleSide = 16
)

// Bounds of the rows of the table of stats and of the entries of the legend. No game has as many.
const mostRows, mostEntries = 32, 48

// letters returns the font size in pixels.
func (s *Sheet) letters() int {
	if s.Width < narrow {
		return 10
	}
	return 12
}

// line returns the height of a line of text, and edge the margin, which has the numbers of the columns and rows.
func (s *Sheet) line() int { return s.letters() * 3 / 2 }
func (s *Sheet) edge() int { return s.letters() * 2 }

// nameWide returns the width of the names of stats in pixels, and entryWide that of an entry of the legend.
func (s *Sheet) nameWide() int  { return s.letters() * 9 }
func (s *Sheet) entryWide() int { return s.letters() * 13 }

// row has the numbers of the seats of one name.
type row struct{ name, unit string }

// table returns the seats and rows of the stats, no more than fit.
func (s *Sheet) table() (seats []int8, rows []row) {
	for _, n := range s.list.Stats {
		if !slices.Contains(seats, n.Seat) && len(seats) < Seats {
			seats = append(seats, n.Seat)
		}
		if !slices.ContainsFunc(rows, func(r row) bool { return r.name == n.Name }) && len(rows) < mostRows {
			rows = append(rows, row{n.Name, n.Unit})
		}
	}
	slices.Sort(seats)
	return seats, rows
}

// statsHeight returns the height of the table of stats.
func (s *Sheet) statsHeight() int {
	_, rows := s.table()
	return (len(rows) + 1) * s.line()
}

// text draws a text at a place in pixels.
func (s *Sheet) text(x, y int, a Anchor, size int, words string, ink Role) {
	s.words = Text{At: Point{int64(x) * Unit, int64(y) * Unit}, Anchor: a, Size: int64(size) * Unit, Words: words, Ink: ink}
	s.to.Text(&s.words)
}

// numbers draws the numbers of columns below the board and of rows beside it.
func (s *Sheet) numbers(bottom int) {
	step := 1
	switch {
	case s.cell < leastGrid:
		step = 10
	case s.cell < 22:
		step = 2
	}
	size := s.letters() - 2
	for x := 0; x < int(s.list.Width); x += step {
		s.text(int(s.place(float32(x)+0.5, 0).X>>8), bottom+size, Middle, size, strconv.Itoa(x), Axis)
	}
	for y := 0; y < int(s.list.Height); y += step {
		s.text(s.left-size/2, int(s.place(0, float32(y)+0.5).Y>>8), End, size, strconv.Itoa(y), Axis)
	}
}

// stats draws the table of stats.
func (s *Sheet) stats(top int) {
	seats, rows := s.table()
	wide := min(s.letters()*6, (s.Width-2*s.edge()-s.nameWide())/max(len(seats), 1)) // less in a narrow picture
	right := func(column int) int { return s.edge() + s.nameWide() + (column+1)*wide }
	for i, seat := range seats {
		s.to.Rect(image.Rect(0, 0, s.letters()-2, s.letters()-2).Add(image.Pt(right(i)-s.letters()*5/2, top-s.letters()/2+1)), Edge(seat))
		s.text(right(i), top, End, s.letters(), SeatName(seat), Ink)
	}
	for i, r := range rows {
		y, label := top+(i+1)*s.line(), Label(r.name)
		s.text(s.edge(), y, Start, s.letters(), label, Ink)
		for column, seat := range seats {
			if at := slices.IndexFunc(s.list.Stats, func(n features.Stat) bool { return n.Name == r.name && n.Seat == seat }); at >= 0 {
				s.text(right(column), y, End, s.letters(), Number(s.list.Stats[at].Value), Ink)
			}
		}
		x := right(len(seats)-1) + s.letters()
		if r.unit != label && x+utf8.RuneCountInString(r.unit)*s.letters()*6/10 < s.Width {
			s.text(x, y, Start, s.letters(), r.unit, Ink)
		}
	}
}

// entry is a sample of the legend.
type entry struct {
	words string
	look  *Look
	part  float32 // of the health
	reach *features.Range
	line  *features.Line
}

// entries returns the samples of the things of a scene: an entity, a range or a line of each kind, entities sorted by kind.
func (s *Sheet) entries() (all []entry) {
	l := s.list
	known := map[string]bool{}
	fresh := func(words string) bool {
		was := known[words]
		known[words] = true
		return !was && len(all) < mostEntries
	}
	for _, look := range l.Looks {
		if look != nil && fresh(look.Kind) {
			all = append(all, entry{words: look.Kind, look: s.maker.Sample(look)})
		}
	}
	slices.SortStableFunc(all, func(a, b entry) int { return cmp.Compare(a.words, b.words) })
	for _, m := range [...]struct {
		words string
		has   func(e features.Entity) bool
		look  lookKey
		part  float32
	}{
		{"unfinished", func(e features.Entity) bool { return e.Unfinished }, lookKey{unfinished: true}, 0},
		{"upgraded", func(e features.Entity) bool { return e.Upgraded }, lookKey{upgraded: true}, 0},
		{"leaving or out", func(e features.Entity) bool { return e.Leaving }, lookKey{leaving: true}, 0},
		{"health left", func(e features.Entity) bool { return e.Health > 0 && e.Health < 1 }, lookKey{}, 0.6},
	} {
		if slices.ContainsFunc(l.Entities, m.has) {
			m.look.owner, m.look.width = features.Nobody, 1
			all = append(all, entry{words: m.words, look: s.maker.look(m.look), part: m.part})
		}
	}
	for i := range l.Ranges {
		if r := l.Ranges[i]; fresh(r.Kind + " range") {
			r.Owner = features.Nobody
			all = append(all, entry{words: r.Kind + " range", reach: &r})
		}
	}
	for i := range l.Lines {
		if line := l.Lines[i]; fresh("line " + line.Kind) {
			line.Owner = features.Nobody
			all = append(all, entry{words: line.Kind, line: &line})
		}
	}
	if len(l.Events) > 0 {
		all = append(all, entry{words: "event"})
	}
	return all[:min(len(all), mostEntries)]
}

// perRow returns the number of entries in a row of the legend, and entryHigh the height of a row.
func (s *Sheet) perRow() int    { return max(1, (s.Width-2*s.edge())/s.entryWide()) }
func (s *Sheet) entryHigh() int { return max(s.line(), sampleSide+2) }

// legendHeight returns the height of the legend.
func (s *Sheet) legendHeight() int {
	return (len(s.entries()) + s.perRow() - 1) / s.perRow() * s.entryHigh()
}

// legend draws a sample of each kind with its name.
func (s *Sheet) legend(top int) {
	for i, e := range s.entries() {
		x, y := s.edge()+i%s.perRow()*s.entryWide(), top+i/s.perRow()*s.entryHigh()+sampleSide/2
		s.text(x+sampleSide+8, y, Start, s.letters(), e.words, Ink)
		from := Point{int64(x) * Unit, int64(y) * Unit}
		switch {
		case e.look != nil:
			s.mark(e.look, &features.Entity{Health: e.part}, image.Rect(x, y-sampleSide/2, x+sampleSide, y+sampleSide/2))
		case e.reach != nil:
			s.ring(Point{from.X + sampleSide/2*Unit, from.Y}, (sampleSide/2-1)*Unit, e.reach)
		case e.line != nil:
			s.stroke(e.line, from, Point{from.X + (sampleSide+4)*Unit, from.Y})
		default:
			s.event(from, Point{from.X + sampleSide*Unit, from.Y})
		}
	}
}
