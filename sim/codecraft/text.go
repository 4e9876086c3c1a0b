package codecraft

import (
	"fmt"
	"strconv"
	"strings"

	"moonfarm/sim/texts"
)

// textLetters has the letters of the types on a board.
var textLetters = [Types]byte{
	Wall: 'W', House: 'H', BuilderBase: 'B', BuilderUnit: 'b', MeleeBase: 'M', MeleeUnit: 'm', RangedBase: 'R', RangedUnit: 'r',
	Resource: '*', Turret: 'T',
}

// AppendText appends the state s of g as text, for people, tests and failure messages. It shows
// the part of the map that is not empty, in the frame of the recordings, y upwards:
//
//	tick 3 seed 7 next 61 first 40
//	p1 score 120 resource 45
//	p2 score 0 resource 3
//	14   . . .b1 * *
//	13  H1H1H1 . * :
//	12  H1H1H1 . .b2
//	11  H1H1H1 . . .
//	x8   8 9 0 1 2 3
//	unit 4 b1 11,14 move 20,20 closest auto 10 Resource
//	unit 7 b2 13,12 stop
//	unit 60 H1 8,11 health 5 inactive
//	health 12,13=7
//	gone 13,12
//
// Every line begins with a word; blanks separate the rest:
//
//	tick    the tick; seed; next, the id that the next entity gets; first, the
//	        id of the first resource of the map at the start
//	p1 … p4 a player, as pairs of a name and a value
//	79 … 0  a row, by its y. Each cell takes two characters, without blanks
//	          between cells:
//	          .   nothing,   :   nothing, where a resource was at the start
//	          *   a resource
//	          a letter and the player's number: W wall, H house, T turret,
//	            b B, m M, r R builder, melee and ranged units and bases.
//	            Large entities show on all their cells
//	x8      the column with which all rows begin, here 8 (without this line 0),
//	        and the last digit of each column, which a person reads
//	unit    an entity that is no resource: id, letter and player, lowest corner;
//	        then health, if it is not full; inactive; and the parts of its stored
//	        action, in this order:
//	          move X,Y [outside] [closest] [break]   build TYPE X,Y   attack ID
//	          auto RANGE TYPES             repair ID        stop: no parts
//	        TYPES have commas between them; any means all but Resource. Entities
//	        without a line have full health, are active and have no action; they
//	        get the lowest free ids after the ids of players, by player, then
//	        column, then row
//	health  healths of resources, by cell, if they are not full
//	gone    cells with an entity, where a resource was at the start
//	#       a remark, up to the end of the line, also after other words
//
// The text has everything of a State, and ParseText reads it.
func AppendText(dst []byte, g *Game, s *State) []byte {
	dst = fmt.Appendf(dst, "tick %d seed %d next %d first %d\n", s.Tick, s.Seed, s.NextID, s.FirstID)
	for p := range g.rules.Players {
		dst = fmt.Appendf(dst, "p%d score %d resource %d\n", p+1, s.Score[p], s.Resource[p])
	}
	w := s.used()
	dst = appendBoard(dst, s, w)
	for i := range s.Units[:s.N] {
		dst = appendUnit(dst, g, s, i)
	}
	return appendVeins(dst, g, s, w)
}

// AppendWindow appends a part of the text of AppendText: the rows of width by height cells from
// (x, y) on, and the lines of the entities that reach into this part.
func AppendWindow(dst []byte, g *Game, s *State, x, y, width, height int) []byte {
	w := window{max(x, 0), max(y, 0), min(x+width, Side), min(y+height, Side)}
	if w.x1 <= w.x0 || w.y1 <= w.y0 {
		return dst
	}
	dst = appendBoard(dst, s, w)
	for i := range s.Units[:s.N] {
		u := &s.Units[i]
		size := int(g.rules.Types[u.Type].Size)
		if int(u.X) < w.x1 && int(u.X)+size > w.x0 && int(u.Y) < w.y1 && int(u.Y)+size > w.y0 {
			dst = appendUnit(dst, g, s, i)
		}
	}
	return appendVeins(dst, g, s, w)
}

// window is a part of the map: columns x0 to x1−1, rows y0 to y1−1.
type window struct{ x0, y0, x1, y1 int }

// used returns the part of the map that has entities or had resources.
func (s *State) used() window {
	w := window{x0: Side, y0: Side}
	for y := range Side {
		for x := range Side {
			if s.Occupied.Has(x, y) || s.hadVein(x, y) {
				w = window{min(w.x0, x), min(w.y0, y), max(w.x1, x+1), max(w.y1, y+1)}
			}
		}
	}
	return w
}

// hadVein reports whether a resource was on the cell at the start.
func (s *State) hadVein(x, y int) bool { return s.Veins[x][y>>6]>>(y&63)&1 != 0 }

// appendBoard appends the rows of a window and the line of columns.
func appendBoard(dst []byte, s *State, w window) []byte {
	if w.y1 == 0 {
		return dst
	}
	for y := w.y1 - 1; y >= w.y0; y-- {
		dst = fmt.Appendf(dst, "%-4d", y)
		for x := w.x0; x < w.x1; x++ {
			switch at := s.At[CellOf(x, y)]; {
			case at != 0:
				dst = appendMark(dst, s.Units[at-1])
			case s.Resources.Has(x, y):
				dst = append(dst, ' ', textLetters[Resource])
			case s.hadVein(x, y):
				dst = append(dst, " :"...)
			default:
				dst = append(dst, " ."...)
			}
		}
		dst = append(dst, '\n')
	}
	dst = fmt.Appendf(dst, "x%-3d", w.x0)
	for x := w.x0; x < w.x1; x++ {
		dst = append(dst, ' ', '0'+byte(x%10))
	}
	return append(dst, '\n')
}

// appendMark appends the letter and the player on the cells of a unit.
func appendMark(dst []byte, u Unit) []byte {
	return append(dst, textLetters[u.Type], '1'+byte(u.Owner))
}

// appendUnit appends the line of unit i.
func appendUnit(dst []byte, g *Game, s *State, i int) []byte {
	u, a := s.Units[i], s.Acts[i]
	dst = fmt.Appendf(dst, "unit %d %s %d,%d", u.ID, appendMark(nil, u), u.X, u.Y)
	if int32(u.Health) != g.rules.Types[u.Type].MaxHealth {
		dst = fmt.Appendf(dst, " health %d", u.Health)
	}
	if !u.Active {
		dst = append(dst, " inactive"...)
	}
	return append(a.appendText(dst), '\n')
}

// appendText appends the parts of an action as words, each after a blank.
func (a *Action) appendText(dst []byte) []byte {
	if a.Parts == Given {
		return append(dst, " stop"...)
	}
	if a.Parts&HasMove != 0 {
		x, y := int(a.MoveX), int(a.MoveY)
		if a.Parts&MoveOutside != 0 {
			x, y = outward(x), outward(y)
		}
		dst = fmt.Appendf(dst, " move %d,%d", x, y)
		if a.Parts&MoveOutside != 0 && x < Side && y < Side { // beyond the left or the lower edge
			dst = append(dst, " outside"...)
		}
		if a.Parts&FindClosest != 0 {
			dst = append(dst, " closest"...)
		}
		if a.Parts&BreakThrough != 0 {
			dst = append(dst, " break"...)
		}
	}
	if a.Parts&HasBuild != 0 {
		name := strconv.Itoa(int(a.BuildType))
		if a.BuildType < Types {
			name = a.BuildType.String()
		}
		dst = fmt.Appendf(dst, " build %s %d,%d", name, a.BuildX, a.BuildY)
	}
	if a.Parts&HasTarget != 0 {
		dst = fmt.Appendf(dst, " attack %d", a.Target)
	}
	if a.Parts&HasAuto != 0 {
		dst = fmt.Appendf(dst, " auto %d %s", a.Range, a.Valid.text())
	}
	if a.Parts&HasRepair != 0 {
		dst = fmt.Appendf(dst, " repair %d", a.Repair)
	}
	return dst
}

// anyTarget is the word for all types but Resource.
const anyTarget = "any"

// text returns the types of a set with commas between them.
func (s TypeSet) text() string {
	if s == AllButResource {
		return anyTarget
	}
	var names []string
	for t := range Type(Types) {
		if s.Has(t) {
			names = append(names, t.String())
		}
	}
	return strings.Join(names, ",")
}

// appendVeins appends the lines of the resources in a window with less than full health, and of
// the used up resources on cells of units.
func appendVeins(dst []byte, g *Game, s *State, w window) []byte {
	full := uint8(g.rules.Types[Resource].MaxHealth)
	var health, gone []cell
	for x := w.x0; x < w.x1; x++ {
		for y := w.y0; y < w.y1; y++ {
			if s.Resources.Has(x, y) && s.Health[CellOf(x, y)] != full {
				health = append(health, cell{x, y})
			}
			if s.At[CellOf(x, y)] != 0 && s.hadVein(x, y) {
				gone = append(gone, cell{x, y})
			}
		}
	}
	dst = texts.AppendEntries(dst, "health", len(health), func(dst []byte, i int) []byte {
		at := health[i]
		return fmt.Appendf(dst, "%d,%d=%d", at.x, at.y, s.Health[CellOf(at.x, at.y)])
	})
	return texts.AppendEntries(dst, "gone", len(gone), func(dst []byte, i int) []byte {
		return fmt.Appendf(dst, "%d,%d", gone[i].x, gone[i].y)
	})
}
