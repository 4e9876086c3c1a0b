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
		if !slices.Contains(seats, n.Seat) && len(seats) < mostSeats {
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

func (s *Sheet) text(x, y int, a Anchor, size int, words string, ink Role) {
	s.words = Text{At: pixel(x, y), Anchor: a, Size: int64(size) * Unit, Words: words, Ink: ink}
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

func (s *Sheet) stats(top int) {
	seats, rows := s.table()
	wide := min(s.letters()*6, (s.Width-2*s.edge()-s.nameWide())/max(len(seats), 1)) // less in a narrow picture
	right := func(column int) int { return s.edge() + s.nameWide() + (column+1)*wide }
	for i, seat := range seats {
		s.to.Rect(image.Rect(0, 0, s.letters()-2, s.letters()-2).Add(image.Pt(right(i)-s.letters()*5/2, top-s.letters()/2+1)), Edge(seat))
		s.text(right(i), top, End, s.letters(), seatName(seat), Ink)
	}
	for i, r := range rows {
		y, label := top+(i+1)*s.line(), labelOf(r.name)
		s.text(s.edge(), y, Start, s.letters(), label, Ink)
		for column, seat := range seats {
			if at := slices.IndexFunc(s.list.Stats, func(n features.Stat) bool { return n.Name == r.name && n.Seat == seat }); at >= 0 {
				s.text(right(column), y, End, s.letters(), numberOf(s.list.Stats[at].Value), Ink)
			}
		}
		x := right(len(seats)-1) + s.letters()
		if r.unit != label && x+utf8.RuneCountInString(r.unit)*s.letters()*6/10 < s.Width {
			s.text(x, y, Start, s.letters(), r.unit, Ink)
		}
	}
}

// entry is a sample of the legend, which is drawn right of a point in pixels.
type entry struct {
	words string
	draw  func(x, y int)
}

// entries returns the samples of the things of a scene: an entity, a range or a line of each kind, entities sorted by kind.
func (s *Sheet) entries() (all []entry) {
	l := s.list
	fresh := func(words string) bool {
		return len(all) < mostEntries && !slices.ContainsFunc(all, func(e entry) bool { return e.words == words })
	}
	add := func(words string, draw func(x, y int)) { all = append(all, entry{words, draw}) }
	mark := func(words string, look *Look, health float32) {
		add(words, func(x, y int) {
			s.mark(look, &features.Entity{Health: health}, image.Rect(x, y-sampleSide/2, x+sampleSide, y+sampleSide/2))
		})
	}
	for _, look := range l.Looks {
		if look != nil && fresh(look.Kind) {
			mark(look.Kind, s.maker.Sample(look), 0)
		}
	}
	slices.SortStableFunc(all, func(a, b entry) int { return cmp.Compare(a.words, b.words) })
	for k, words := range [...]string{"unfinished", "upgraded", "leaving or out", "health left"} {
		if slices.ContainsFunc(l.Entities, func(e features.Entity) bool {
			return [...]bool{e.Unfinished, e.Upgraded, e.Leaving, e.Health > 0 && e.Health < 1}[k]
		}) {
			look := s.maker.look(shown{Owner: features.Nobody, Width: 1, Unfinished: k == 0, Upgraded: k == 1, Leaving: k == 2})
			mark(words, look, [...]float32{3: 0.6}[k])
		}
	}
	for _, r := range l.Ranges {
		if r.Owner = features.Nobody; fresh(r.Kind + " range") {
			add(r.Kind+" range", func(x, y int) { s.ring(pixel(x+sampleSide/2, y), (sampleSide/2-1)*Unit, &r) })
		}
	}
	for _, line := range l.Lines {
		if line.Owner = features.Nobody; fresh(line.Kind) {
			add(line.Kind, func(x, y int) { s.stroke(&line, pixel(x, y), pixel(x+sampleSide+4, y)) })
		}
	}
	if len(l.Events) > 0 {
		add("event", func(x, y int) { s.event(pixel(x, y), pixel(x+sampleSide, y)) })
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

func (s *Sheet) legend(top int) {
	for i, e := range s.entries() {
		x, y := s.edge()+i%s.perRow()*s.entryWide(), top+i/s.perRow()*s.entryHigh()+sampleSide/2
		s.text(x+sampleSide+8, y, Start, s.letters(), e.words, Ink)
		e.draw(x, y)
	}
}
