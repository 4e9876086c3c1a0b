package picture

import (
	"moonfarm/features"
)

// Size is a length in the look of a thing: a part of the smaller side of its rectangle, at least Least and at most Most points, and never
// more than the part Cap of that side.
type Size struct{ Part, Least, Most, Cap float32 }

// In returns the length for a smaller side in units.
func (s Size) In(side int64) int64 {
	of := func(v float32, by int64) int64 { return int64(float64(float64(v) * float64(by))) }
	return min(max(of(s.Part, side), of(s.Least, Unit)), of(s.Most, Unit), of(s.Cap, side))
}

// List returns the four numbers.
func (s Size) List() [4]float32 { return [4]float32{s.Part, s.Least, s.Most, s.Cap} }

// Sizes that all looks have in common.
var (
	Margin = Size{Part: 0.06, Most: 2, Cap: 1}   // between the rectangle and the outline
	Cross  = Size{Least: 1.5, Most: 1.5, Cap: 1} // the width of the lines that cross out a thing
)

// Look is how entities are drawn. All that look alike share one. Places are in the unit square of their rectangle, in which y grows
// downwards.
type Look struct {
	shown

	Corners    []float32 // of the outline, x and y of each, clockwise; nil: an ellipse
	Fill, Edge Role
	Stroke     Size // of the outline

	LetterX, LetterY float32 // the middle
	LetterSize       Size

	// Sign is a letter or a sign of the outline, for texts. It is never a character that steers a terminal.
	Sign  rune
	Moves bool // it is no building: texts have another colour for it
}

// shown is what looks depend on.
type shown struct {
	Kind, Letter  string
	Outline       features.Outline // in the frame of the picture
	Owner         int8
	Width, Height float32 // in cells
	Unfinished    bool    // the outline has dashes
	Upgraded      bool
	Leaving       bool // it is crossed out
}

// corners has the corners of the outlines in the frame of the picture, clockwise.
var corners = [...][]float32{
	features.Square: {0, 0, 1, 0, 1, 1, 0, 1}, features.Round: nil, features.Diamond: {0.5, 0, 1, 0.5, 0.5, 1, 0, 0.5},
	features.ToRight: {0, 0, 1, 0.5, 0, 1}, features.ToLeft: {1, 0, 1, 1, 0, 0.5},
	features.ToGreaterY: {0, 0, 1, 0, 0.5, 1}, features.ToLessY: {0.5, 0, 1, 1, 0, 1},
}

// middles has the middles of the letters: the wide part of a triangle is not in the middle.
var middles = [len(corners)][2]float32{
	{0.5, 0.5}, {0.5, 0.5}, {0.5, 0.5}, features.ToRight: {0.42, 0.5}, features.ToLeft: {0.58, 0.5}, features.ToGreaterY: {0.5, 0.4}, features.ToLessY: {0.5, 0.64},
}

// signs stand for outlines in texts.
var signs = [len(corners)]rune{'■', '•', '◆', '›', '‹', '^', '^'}

func newLook(s shown) *Look {
	o := s.Outline
	l := &Look{
		shown: s, Corners: corners[o], Fill: Fill(s.Owner), Edge: Edge(s.Owner), Stroke: Size{0.05, 1, 1.5, 0.2},
		LetterX: middles[o][0], LetterY: middles[o][1], LetterSize: Size{0.55, 10, 26, 0.75},
		Sign: signs[o], Moves: o != features.Square && s.Width <= 1,
	}
	if s.Width < 0.5 { // to be seen on a larger thing of its owner
		l.Fill, l.Edge, l.Stroke = l.Edge, Paper, Size{0, 0.75, 0.75, 0.2}
	}
	if s.Unfinished {
		l.Fill, l.Edge = Paper, Edge(s.Owner)
	}
	if s.Upgraded {
		l.Stroke = Size{0.11, 2, 3, 0.33}
	}
	if o >= features.Diamond { // less room
		l.LetterSize = Size{0.44, 8, 20.8, 0.6}
	}
	for _, r := range s.Letter {
		if r >= ' ' && r != 0x7f && (r < 0x80 || r > 0x9f) {
			l.Sign = r
			break
		}
	}
	return l
}

// List is the display list of a scene: its areas, ranges, lines and events are drawn as they are, and its entities by their looks.
type List struct {
	*features.Scene
	Looks []*Look // of Entities; nil for one that cannot be drawn
}

// mostLooks bounds the memory of a Maker.
const mostLooks = 8192

// Maker makes display lists. Entities that look alike have the same Look in all of its lists. The zero Maker is ready; each goroutine
// needs its own.
type Maker struct {
	looks  map[shown]*Look
	recent [256]*Look // the last ones, by slot
	list   List
}

// List returns the display list of a scene. It is valid until the next call.
func (m *Maker) List(s *features.Scene) *List {
	m.list.Scene, m.list.Looks = s, m.list.Looks[:0]
	for i := range s.Entities {
		m.list.Looks = append(m.list.Looks, m.Of(s, &s.Entities[i]))
	}
	return &m.list
}

// Of returns the look of an entity of a scene; nil if it cannot be drawn.
func (m *Maker) Of(s *features.Scene, e *features.Entity) *Look {
	if !near(s, e.X, e.Y, e.Width, e.Height) {
		return nil
	}
	as := shown{e.Kind, e.Letter, turned(s, e.Outline), e.Owner, e.Width, e.Height, e.Unfinished, e.Upgraded, e.Leaving}
	l := m.recent[as.slot()]
	if l == nil || l.shown != as {
		l = m.look(as)
		m.recent[as.slot()] = l
	}
	return l
}

// look returns the look of what is shown.
func (m *Maker) look(s shown) *Look {
	l := m.looks[s]
	if l == nil {
		if m.looks == nil || len(m.looks) > mostLooks {
			m.looks = map[shown]*Look{}
		}
		l = newLook(s)
		m.looks[s] = l
	}
	return l
}

// slot returns a number that few looks of a scene have in common: to hash their texts takes longer than to draw them.
func (s *shown) slot() uint8 {
	n := uint8(len(s.Kind)) + 5*uint8(s.Outline) + 37*uint8(s.Owner)
	if s.Letter != "" {
		n += 11 * s.Letter[0]
	}
	if s.Unfinished {
		n += 101
	}
	return n
}

// Sample returns the look of nobody's thing of the kind of a look.
func (m *Maker) Sample(l *Look) *Look {
	return m.look(shown{Kind: l.Kind, Letter: l.Letter, Outline: l.Outline, Owner: features.Nobody, Width: l.Width, Height: l.Height})
}

// turned returns an outline in the frame of the picture, in which y grows downwards. One that is none is a square.
func turned(s *features.Scene, o features.Outline) features.Outline {
	switch {
	case int(o) >= len(corners):
		return features.Square
	case s.Up && o == features.ToGreaterY:
		return features.ToLessY
	case s.Up && o == features.ToLessY:
		return features.ToGreaterY
	}
	return o
}

// near reports whether coordinates are numbers not farther from the board than its size.
func near(s *features.Scene, numbers ...float32) bool {
	far := s.Width + s.Height
	for _, v := range numbers {
		if !(v >= -far && v <= 2*far) { // also for NaN
			return false
		}
	}
	return true
}

// Role is what a colour is for. One table has the colours of all roles.
type Role uint8

// Roles besides those of owners.
const (
	Paper   Role = iota // what pictures are drawn on
	Ink                 // texts and signs
	Axis                // numbers of columns and rows
	Grid                // borders of cells
	Fog                 // cells that the seat does not see
	Strong              // events; no owner has its colour
	Chosen              // what a person points at or has chosen
	Waiting             // a thing that does not act yet, in terminals
	edges               // of owners, nobody first
	fills   = edges + owners
	areas   = fills + owners
	movers  = areas + owners

	Roles = int(movers + owners) // their number
)

// mostSeats is the number of seats with colours of their own; owners counts nobody, too.
const (
	mostSeats = 4
	owners    = mostSeats + 1
)

// owned returns the role of an owner in a group of roles.
func owned(first Role, owner int8) Role {
	if owner < 0 || owner >= mostSeats {
		return first
	}
	return first + 1 + Role(owner)
}

// Edge returns the role of an owner's outlines and lines.
func Edge(owner int8) Role { return owned(edges, owner) }

// Fill returns the role of the inside of an owner's things: dark letters can be read on it.
func Fill(owner int8) Role { return owned(fills, owner) }

// AreaOf returns the role of an owner's part of the board.
func AreaOf(owner int8) Role { return owned(areas, owner) }

// Mover returns the role of an owner's things that move, in terminals.
func Mover(owner int8) Role { return owned(movers, owner) }

// Colour has a colour for light and for dark paper, in the notation of CSS, and its number in the palette of 256 colours of terminals.
type Colour struct {
	Light, Dark string
	Terminal    uint8
}

// colours has the colours of the roles. Those of edges are from the palette of Okabe and Ito, which is safe for the colour-blind; on
// light paper fills are the same over white.
var colours = [Roles]Colour{
	Paper: {"#fff", "#12161c", 16}, Ink: {"#222", "#f2f4f7", 15}, Axis: {"#666", "#a0abb8", 0}, Grid: {"#ddd", "#2d3540", 0},
	Fog: {"#c9c9c9", "#46505d", 238}, Strong: {"#b3003c", "#ff6b8f", 0}, Chosen: {"#1559b3", "#7db4ff", 0}, Waiting: {"", "", 244},
	edges: {"#777", "#9aa4b0", 250}, {"#0072b2", "#5eb8ec", 39}, {"#d55e00", "#ff9450", 208}, {"#009e73", "#35c99c", 42}, {"#cc79a7", "#e79cc6", 176},
	fills: {"#d0d0d0", "#444d58", 58}, {"#73b1d5", "#1b4f72", 32}, {"#e8a673", "#733d14", 202}, {"#73cab2", "#175c49", 35}, {"#e3b6cf", "#6c3a56", 170},
	areas: {"#fff", "#171c23", 234}, {"#eff5fa", "#152431", 17}, {"#fcf4ee", "#2a1e15", 52}, {"#eef8f5", "#132822", 22}, {"#fbf4f8", "#281c25", 53},
	movers: {"", "", 58}, {"", "", 117}, {"", "", 223}, {"", "", 157}, {"", "", 225},
}

// Colour returns the colours of a role.
func (r Role) Colour() Colour { return colours[r] }

// dashes tell lines and ranges of a kind from those of other kinds, in points: dashes and gaps in turn. The first is a whole line.
var dashes = [...][]float32{nil, {5, 3}, {1.5, 2.5}, {7, 2, 1.5, 2}, {3, 2}}

// Kinds is the number of kinds of lines that dashes tell apart.
const Kinds = len(dashes)

// Dashes returns the dashes for the kind of that number.
func Dashes(kind int) []float32 { return dashes[kind] }

// Unfinished has the dashes of the outline of an unfinished thing, in points.
var Unfinished = []float32{2, 1.5}
