package picture

import (
	"image"
	"strconv"

	"moonfarm/features"
)

// Sides in pixels from which on parts of a board are drawn.
const (
	leastGrid     = 8  // of a cell with a border. Boards of smaller cells have a border every ten cells.
	leastHealthy  = 6  // of a thing with room for its health
	leastNumbered = 20 // for its number. The numbers of smaller ones are beside them.
)

func (s *Sheet) board() {
	l, to := s.list, s.to
	to.Clip(image.Rect(s.left, s.top, s.left+s.px(l.Width)+1, s.top+s.px(l.Height)+1)) // with the last border
	for _, hidden := range [...]bool{false, true} {
		for i := range l.Areas {
			if a := &l.Areas[i]; a.Hidden == hidden && near(l.Scene, a.X, a.Y, a.Width, a.Height) {
				s.area(a)
			}
		}
	}
	for i := range l.Ranges {
		if r := &l.Ranges[i]; near(l.Scene, r.X, r.Y, r.Radius) {
			s.ring(s.place(r.X, r.Y), s.units(r.Radius), r)
		}
	}
	for i, look := range l.Looks {
		e := &l.Entities[i]
		if look == nil {
			continue
		}
		if s.Names {
			to.Name(entityWords(e))
		}
		s.mark(look, e, s.rect(e.X, e.Y, e.Width, e.Height))
	}
	for i := range l.Lines {
		if line := &l.Lines[i]; near(l.Scene, line.X1, line.Y1, line.X2, line.Y2) {
			if s.Names {
				to.Name(joined(", ", seatName(line.Owner)+" "+line.Kind, line.Note))
			}
			s.stroke(line, s.place(line.X1, line.Y1), s.place(ArrowEnd(line)))
		}
	}
	for i := range l.Events {
		if e := &l.Events[i]; near(l.Scene, e.X1, e.Y1, e.X2, e.Y2) {
			if s.Names {
				to.Name(eventWords(e))
			}
			s.event(s.place(e.X1, e.Y1), s.place(e.X2, e.Y2))
		}
	}
	to.Name("")
	to.Clip(image.Rectangle{Max: image.Pt(1<<20, 1<<20)})
}

func (s *Sheet) area(a *features.Area) {
	r := s.rect(a.X, a.Y, a.Width, a.Height)
	if a.Hidden {
		s.to.Rect(r, Fog)
		return
	}
	s.to.Rect(r, AreaOf(a.Owner))
	step := s.cell
	if step < leastGrid {
		step *= 10
	}
	s.to.Cells(r, step)
}

func (s *Sheet) ring(middle Point, radius int64, r *features.Range) {
	width := min(max(int64(s.cell)*Unit/16, Unit/2), Unit)
	s.to.Ring(middle, max(radius, 0), Pen{Width: width, Ink: Edge(r.Owner), Share: 115, Kind: s.kind(r.Kind)})
}

// stroke draws a line, with a head if it is an arrow. Between small cells lines are thin, as many lines of an army would hide the board.
func (s *Sheet) stroke(l *features.Line, from, to Point) {
	width := min(max(int64(s.cell)*Unit/12, Unit/2), 3*Unit)
	if l.Thick {
		width *= 2
	}
	s.points = append(s.points[:0], from, to)
	s.to.Lines(s.points, Pen{Width: width, Ink: Edge(l.Owner), Share: 192, Kind: s.kind(l.Kind)})
	if left, right, ok := head(from, to, 4*width, 2*width); ok && l.Arrow {
		s.to.Triangle([3]Point{to, left, right}, Edge(l.Owner))
	}
}

// head returns the corners of the head of a line of that length and half width. There is none without a direction.
func head(from, to Point, length, side int64) (left, right Point, ok bool) {
	dx, dy := to.X-from.X, to.Y-from.Y
	d := Distance(dx, dy)
	if d == 0 {
		return left, right, false
	}
	x, y := to.X-dx*length/d, to.Y-dy*length/d
	sx, sy := -dy*side/d, dx*side/d
	return Point{x + sx, y + sy}, Point{x - sx, y - sy}, true
}

// event draws an event: an arrow from one place to another, or a ring around one.
func (s *Sheet) event(from, to Point) {
	cell := int64(s.cell) * Unit
	size := min(max(cell*3/10, Unit*5/2), 12*Unit)
	pen := Pen{Width: min(max(cell/14, Unit*3/4), Unit*5/2), Ink: Strong, Share: 205}
	left, right, ok := head(from, to, size*8/10, size*45/100)
	if !ok {
		s.to.Ring(from, size, pen)
		return
	}
	s.points = append(s.points[:0], from, to, left, to, right)
	s.to.Lines(s.points, pen)
}

// mark draws an entity by its look in a rectangle, with its health and its number.
func (s *Sheet) mark(look *Look, e *features.Entity, r image.Rectangle) {
	if r.Dx() < 1 || r.Dy() < 1 {
		return
	}
	small := min(r.Dx(), r.Dy())
	if s.cell >= leastGrid && look.Width >= 1 { // the border of its cells is the left and the upper one
		r.Min = r.Min.Add(image.Pt(1, 1))
	}
	s.to.Mark(look, r)
	if e.Health > 0 && e.Health < 1 && small >= leastHealthy {
		s.health(e.Health, r)
	}
	if e.Number <= 0 {
		return
	}
	t := &s.words
	*t = Text{At: Point{int64(r.Max.X) * Unit, int64(r.Min.Y+r.Max.Y) * Unit / 2}, Size: int64(max(min(small*40/100, 14), 8)) * Unit, Words: strconv.Itoa(e.Number), Ink: Ink, Rim: true}
	if small >= leastNumbered {
		t.At, t.Anchor = Point{t.At.X - 2*Unit, int64(r.Min.Y+2)*Unit + t.Size/2}, End
	}
	s.to.Text(t)
}

// health draws the bar of the health above the lower edge: dark for the part that is left, light for the part that is lost.
func (s *Sheet) health(part float32, r image.Rectangle) {
	margin := 1 + min(r.Dx(), r.Dy())*6/100
	height := min(max((min(r.Dx(), r.Dy())*12+50)/100, 1), 5)
	bar := image.Rect(r.Min.X+margin, r.Max.Y-margin-height, r.Max.X-margin, r.Max.Y-margin)
	if height >= 3 {
		s.to.Rect(bar.Inset(-1), Ink)
	}
	s.to.Rect(bar, Paper)
	bar.Max.X = bar.Min.X + max(int(float64(float64(part)*float64(bar.Dx()))), 1)
	s.to.Rect(bar, Ink)
}
