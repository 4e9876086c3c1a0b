package terminal

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

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
		ids := fmt.Sprint(first.ID)
		if n > 1 {
			ids = fmt.Sprintf("%d–%d", first.ID, first.ID+uint32(n)-1)
		}
		dst = fmt.Appendf(dst, "unit %s p%d %v %d,%d health ", ids, first.Player+1, first.Kind, first.At.X, first.At.Y)
		dst = texts.AppendFloat(dst, first.Health)
		dst = append(dst, '\n')
	}
	return dst
}

// appendPosition appends a state, with mobile units on the board.
func appendPosition(dst []byte, g *Game, s *State, mobile []Piece) []byte {
	dst = fmt.Appendf(dst, "turn %d next %d\n", s.Turn, s.NextID)
	for p := range 2 {
		dst = texts.AppendFloat(fmt.Appendf(dst, "p%d health ", p+1), s.Health[p])
		dst = texts.AppendFloat(append(dst, " cores "...), s.Cores[p])
		dst = texts.AppendFloat(append(dst, " bits "...), s.Bits[p])
		dst = fmt.Appendf(dst, " time %d\n", s.Time[p])
	}
	pieces := s.AppendStructures(s.AppendStructures(nil, 0), 1)
	dst = AppendBoard(dst, append(slices.Clip(pieces), mobile...), func(c Piece) (int, bool) { return int(c.RemoveIn), c.RemoveIn > 0 })
	if !defaultIDs(pieces) {
		slices.SortFunc(pieces, func(a, b Piece) int { return int(a.ID) - int(b.ID) })
		dst = texts.AppendEntries(dst, "id", len(pieces), func(dst []byte, i int) []byte {
			return fmt.Appendf(dst, "%d,%d=%d", pieces[i].At.X, pieces[i].At.Y, pieces[i].ID)
		})
	}
	hurt := slices.DeleteFunc(pieces, func(c Piece) bool {
		return c.Health == g.rules.Structure(c.Kind, c.Upgraded).Health
	})
	return texts.AppendEntries(dst, "health", len(hurt), func(dst []byte, i int) []byte {
		return texts.AppendFloat(fmt.Appendf(dst, "%d,%d=", hurt[i].At.X, hurt[i].At.Y), hurt[i].Health)
	})
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
	var cells [bitboard.DiamondSpan]string
	width := 1
	for _, c := range pieces {
		cell, _ := bitboard.DiamondCell(int(c.At.X), int(c.At.Y))
		switch at := &cells[cell]; {
		case c.Kind.Structure():
			*at = cellText(c, marked)
			width = max(width, len(*at))
		case *at == "" || *at == "^v"[c.Player:c.Player+1]:
			*at = "^v"[c.Player : c.Player+1]
		default:
			*at = "x"
		}
	}
	for y := Side - 1; y >= 0; y-- {
		dst = fmt.Appendf(dst, "%-3d", y)
		for x := range Side {
			shown := ""
			if cell, ok := bitboard.DiamondCell(x, y); ok {
				shown = cmp.Or(cells[cell], ".")
			}
			dst = fmt.Appendf(dst, " %-*s", width, shown)
		}
		dst = append(bytes.TrimRight(dst, " "), '\n')
	}
	dst = append(dst, "x  "...)
	for x := range Side {
		dst = fmt.Appendf(dst, " %-*d", min(width, 3), x%10)
	}
	return append(bytes.TrimRight(dst, " "), '\n')
}

// cellText returns a structure as it is in a row.
func cellText(c Piece, marked func(c Piece) (restores int, ok bool)) string {
	letter := textLetters[c.Kind]
	if c.Upgraded {
		letter -= 'a' - 'A'
	}
	if restores, ok := marked(c); ok {
		return fmt.Sprintf("%c%d", letter, restores)
	}
	return string(letter)
}
