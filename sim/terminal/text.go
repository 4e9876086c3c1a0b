package terminal

import (
	"slices"
	"strconv"
	"strings"

	"moonfarm/sim/bitboard"
	"moonfarm/sim/texts"
)

// textLetters holds the letters of structures. Upgraded structures have them in upper case.
var textLetters = [Structures]byte{Wall: 'w', Support: 's', Turret: 't'}

// AppendText appends the position s of g as text, for people, tests and failure messages. It shows
// the arena with the coordinates of recordings, player 1 at the bottom (the example leaves out most
// rows):
//
//	turn 3 next 41
//	p1 health 30 cores 4.5 bits 6.1 time 12034
//	p2 health 28 cores 0 bits 11 time 9760
//	27                            . .
//	26                          . . . .
//	…
//	14  t w . . . . . . . . . . . . . . . . . . . . . . . . W w
//	13  W W w1. . . . s . . . . . . . . . . . . . . . . . . . w
//	…
//	0                             . .
//	x   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7
//	id 13,14=1 0,13=2 27,13=5 …
//	health 0,13=57.5 1,14=3.2
//
// A line is a list of words separated by blanks. The first word says what the line has:
//
//	turn    the turns played; after the word next, the id of the next unit
//	p1, p2  a player, as pairs of a name and a value; time is in milliseconds
//	27 … 0  the cells of the row with this y, without cells outside the arena. A cell is
//	          . if it is free, or a structure: w wall, s support, t turret, in upper
//	            case if it is upgraded, followed by
//	          the restores until it is removed, if it is marked for removal
//	        Each player has structures only in its own half.
//	x       the last digit of x of each column
//	id      ids of structures, by cell. Structures without an entry have the lowest
//	        free ids, in the order of Local, player 1's before player 2's
//	health  health of structures, by cell. Structures without an entry have full health
//	#       a comment up to the end of the line; it may follow other words
//
// Lines of ids and of health have up to ten entries, oldest first. The text contains all of a
// State, and ParseText reads it.
func AppendText(dst []byte, g *Game, s *State) []byte {
	return appendPosition(dst, g, s, nil)
}

// AppendFrame appends the position in an action phase or at its end: the text of AppendText, in
// which ^ stands for mobile units of player 1, v for mobile units of player 2 and x for both, and
// below it a line for each group of mobile units that are equal except for consecutive ids:
//
//	unit 77–80 p1 scout 13,20 health 15
func AppendFrame(dst []byte, g *Game, s *State) []byte {
	mobile := g.AppendMobile(g.AppendMobile(nil, 0), 1)
	dst = appendPosition(dst, g, s, mobile)
	for len(mobile) > 0 {
		first, n := mobile[0], 1
		for n < len(mobile) {
			next := mobile[n]
			next.ID -= uint32(n)
			if next != first {
				break
			}
			n++
		}
		mobile = mobile[n:]
		dst = strconv.AppendUint(append(dst, "unit "...), uint64(first.ID), 10)
		if n > 1 {
			dst = strconv.AppendUint(append(dst, "–"...), uint64(first.ID)+uint64(n)-1, 10)
		}
		dst = append(dst, ' ', 'p', '1'+byte(first.Player), ' ')
		dst = append(append(dst, first.Kind.String()...), ' ')
		dst = texts.AppendFloat(append(appendPos(dst, first.At), " health "...), first.Health)
		dst = append(dst, '\n')
	}
	return dst
}

// appendPosition appends a state, with mobile units on the board.
func appendPosition(dst []byte, g *Game, s *State, mobile []Piece) []byte {
	dst = strconv.AppendUint(append(dst, "turn "...), uint64(s.Turn), 10)
	dst = strconv.AppendUint(append(dst, " next "...), uint64(s.NextID), 10)
	dst = append(dst, '\n')
	for p := range 2 {
		dst = append(dst, 'p', '1'+byte(p))
		dst = texts.AppendFloat(append(dst, " health "...), s.Health[p])
		dst = texts.AppendFloat(append(dst, " cores "...), s.Cores[p])
		dst = texts.AppendFloat(append(dst, " bits "...), s.Bits[p])
		dst = strconv.AppendUint(append(dst, " time "...), uint64(s.Time[p]), 10)
		dst = append(dst, '\n')
	}
	pieces := s.AppendStructures(s.AppendStructures(nil, 0), 1)
	dst = AppendBoard(dst, append(slices.Clip(pieces), mobile...), func(c Piece) (int, bool) { return int(c.RemoveIn), c.RemoveIn > 0 })
	if !defaultIDs(pieces) {
		slices.SortFunc(pieces, func(a, b Piece) int { return int(a.ID) - int(b.ID) })
		dst = appendList(dst, "id", pieces, func(dst []byte, c Piece) []byte { return strconv.AppendUint(dst, uint64(c.ID), 10) })
	}
	hurt := slices.DeleteFunc(pieces, func(c Piece) bool {
		return c.Health == g.rules.Structure(c.Kind, c.Upgraded).Health
	})
	return appendList(dst, "health", hurt, func(dst []byte, c Piece) []byte { return texts.AppendFloat(dst, c.Health) })
}

// defaultIDs reports whether pieces have the ids that ParseText gives them without id lines.
func defaultIDs(pieces []Piece) bool {
	byPlace := slices.Clone(pieces)
	slices.SortFunc(byPlace, inReadingOrder)
	for i, c := range byPlace {
		if c.ID != uint32(i)+1 {
			return false
		}
	}
	return true
}

// inReadingOrder orders structures by player, then by Local.
func inReadingOrder(a, b Piece) int {
	place := func(c Piece) int { return int(c.Player)*HalfCells + Local(int(c.At.X), int(c.At.Y)) }
	return place(a) - place(b)
}

// AppendBoard appends the rows of the arena and the line of columns with these units, in the
// notation of AppendFrame. Structures must come before mobile units. marked returns the restores
// until a structure is removed, or false if it is not marked.
func AppendBoard(dst []byte, pieces []Piece, marked func(c Piece) (restores int, ok bool)) []byte {
	var cells [bitboard.DiamondSpan][]byte
	width := 1
	for _, c := range pieces {
		cell, _ := bitboard.DiamondCell(int(c.At.X), int(c.At.Y))
		switch at := &cells[cell]; {
		case c.Kind.Structure():
			*at = appendCell(nil, c, marked)
			width = max(width, len(*at))
		case len(*at) == 0 || len(*at) == 1 && (*at)[0] == "^v"[c.Player]:
			*at = []byte{"^v"[c.Player]}
		default:
			*at = []byte{'x'}
		}
	}
	for y := Side - 1; y >= 0; y-- {
		dst = strconv.AppendInt(dst, int64(y), 10)
		blanks := 2 // before the next word
		if y > 9 {
			blanks = 1
		}
		for x := range Side {
			cell, ok := bitboard.DiamondCell(x, y)
			if blanks++; !ok {
				blanks += width
				continue
			}
			shown := cells[cell]
			if shown == nil {
				shown = []byte{'.'}
			}
			dst = append(append(dst, strings.Repeat(" ", blanks)...), shown...)
			blanks = width - len(shown)
		}
		dst = append(dst, '\n')
	}
	dst = append(dst, "x  "...)
	for x := range Side {
		dst = append(append(dst, ' ', '0'+byte(x%10)), "  "[:min(2, width-1)*min(1, Side-1-x)]...)
	}
	return append(dst, '\n')
}

// appendCell appends a structure.
func appendCell(dst []byte, c Piece, marked func(c Piece) (restores int, ok bool)) []byte {
	letter := textLetters[c.Kind]
	if c.Upgraded {
		letter -= 'a' - 'A'
	}
	dst = append(dst, letter)
	if restores, ok := marked(c); ok {
		dst = strconv.AppendInt(dst, int64(restores), 10)
	}
	return dst
}

// appendList appends lines with a value for each structure.
func appendList(dst []byte, name string, pieces []Piece, value func(dst []byte, c Piece) []byte) []byte {
	for i, c := range pieces {
		if i%10 == 0 {
			dst = append(dst, name...)
		}
		dst = append(appendPos(append(dst, ' '), c.At), '=')
		dst = value(dst, c)
		if i%10 == 9 || i == len(pieces)-1 {
			dst = append(dst, '\n')
		}
	}
	return dst
}

// appendPos appends coordinates.
func appendPos(dst []byte, at Pos) []byte {
	dst = strconv.AppendUint(dst, uint64(at.X), 10)
	return strconv.AppendUint(append(dst, ','), uint64(at.Y), 10)
}
