package features

import "slices"

// Spectator stands for the seat of a person who sees everything, and Nobody for
// the owner of a thing that belongs to no seat.
const (
	Spectator = -1
	Nobody    = -1
)

// Scene is what a person sees of a state: plain data for programs that draw.
// They know no game.
//
// All coordinates are in cells of the board, in the frame of the game's own
// pages, whichever seat looks: (0, 0) is the corner of the board from which x
// grows to the right, and y grows downwards, or upwards if Up is set. A cell
// (x, y) covers x to x+1 and y to y+1.
type Scene struct {
	Width, Height float32 // of the board
	Up            bool    // y grows upwards
	Title         string  // what the picture shows: "round 12"

	// Draw them in this order, each list from its start.
	Areas    []Area
	Ranges   []Range
	Entities []Entity
	Lines    []Line

	Events []Event // since the scene before
	Stats  []Stat
}

// Area is a rectangle of cells of the board.
type Area struct {
	Hidden              bool    // the seat does not see the cells
	Owner               int8    // who may build here, or starts here
	X, Y, Width, Height float32 // (X, Y) is the corner with the least coordinates
}

// Outline is the outline in which an entity is drawn.
type Outline uint8

const (
	Square     Outline = iota
	Round              // a disc
	Diamond            // a square on its tip
	ToRight            // a triangle whose tip points to greater x
	ToLeft             // to less x
	ToGreaterY         // to greater y
	ToLessY            // to less y
)

// Entity is a thing on the board that play can change.
type Entity struct {
	Kind    string // the rulebook's noun
	Outline Outline
	Letter  string // at most two letters, which tell kinds of the same Outline apart; "" for none
	Owner   int8
	ID      uint32 // the same thing has the same number in all scenes of a game; 0: the game does not number such things

	X, Y, Width, Height float32 // (X, Y) is the corner with the least coordinates

	Health     float32 // the part of the full health that is left, above 0, at most 1; 0 if the kind has no health
	Number     int     // a count to draw beside it, such as of units on the cell, or of turns; 0 for none
	Unfinished bool    // it does not act yet
	Upgraded   bool
	Leaving    bool   // it is marked for removal, or out of the game
	Note       string // what else a person may want to know: "finished in 3 rounds"
}

// Range is a disc that an entity reaches.
type Range struct {
	Kind         string // what reaches so far: "attack"
	Owner        int8
	X, Y, Radius float32 // (X, Y) is the centre
}

// Line is a straight line. A path is several lines.
type Line struct {
	Kind           string // what it stands for: "move"
	Owner          int8
	X1, Y1, X2, Y2 float32
	Arrow          bool // (X2, Y2) has a head
	Thick          bool // a barrier instead of a movement
	Note           string
}

// Event is something that happened since the scene before: a hit, a breach, a
// death. It happened at one place, or went from one to another.
type Event struct {
	Kind           string // what happened, in the rulebook's words: "attack"
	Owner          int8   // who did it; for a damage or a death, whose thing it was
	X1, Y1, X2, Y2 float32
	Amount         float32 // damage, or how many; 0 for none
	Note           string
}

// Command is what an order does, for a person who gives it or reads it.
type Command struct {
	Kind   string // in the rulebook's words: "attack", "remove"; "" if the order does nothing
	Entity uint32 // the Entity.ID of what acts; 0: the seat itself, or the game has no such numbers
	Placed bool   // (X, Y) is the cell for which the order is
	X, Y   float32
	Target uint32 // the Entity.ID of what it acts on; 0: nothing
	Number int    // of units; 0: one
	Note   string // what else it says: "closest"
}

// Path is the way that a unit or a missile of a seat would take if it started now and
// nothing changed.
type Path struct {
	Owner int8
	Cells []Cell // from the start to the end, each beside the one before it
	Stops bool   // it ends before the place to which such units go
	Note  string // what else a person may want to know: "10 damage in 4 rounds"
}

// Cell is a cell of the board, in the frame of Scene.
type Cell struct{ X, Y uint8 }

// Stat is a number of one seat, to show or to plot over turns.
type Stat struct {
	Name  string // stable, lower case
	Unit  string
	Seat  int8
	Value float64
}

// Begin makes s an empty scene of a board. It keeps the memory of the lists.
func (s *Scene) Begin(width, height float32) {
	*s = Scene{Width: width, Height: height, Areas: s.Areas[:0], Ranges: s.Ranges[:0], Entities: s.Entities[:0], Lines: s.Lines[:0], Events: s.Events[:0], Stats: s.Stats[:0]}
}

// Clone returns a copy that shares no memory. Lists that are empty are nil.
func (s *Scene) Clone() Scene {
	c := *s
	c.Areas, c.Ranges, c.Entities = slices.Concat(s.Areas), slices.Concat(s.Ranges), slices.Concat(s.Entities)
	c.Lines, c.Events, c.Stats = slices.Concat(s.Lines), slices.Concat(s.Events), slices.Concat(s.Stats)
	return c
}

// AddStat appends a number of a seat.
func (s *Scene) AddStat(name, unit string, seat int, value float64) {
	s.Stats = append(s.Stats, Stat{Name: name, Unit: unit, Seat: int8(seat), Value: value})
}

// AddEvent appends an event. If the event before it is the same but for the
// amount, it adds the amount to that event instead.
func (s *Scene) AddEvent(e Event) {
	if n := len(s.Events); n > 0 {
		last, like := &s.Events[n-1], e
		if like.Amount = last.Amount; like == *last {
			last.Amount += e.Amount
			return
		}
	}
	s.Events = append(s.Events, e)
}

// HealthShare returns an Entity.Health: the part of the full health that is
// left. It is never 0 and at most 1.
func HealthShare(left, full float32) float32 {
	const least = 1.0 / 1024
	if !(left > 0 && full > 0) {
		return least
	}
	return min(max(left/full, least), 1)
}
