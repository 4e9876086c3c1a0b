package tron

import (
	"fmt"
	"slices"
	"strings"

	"moonfarm/sim"
	"moonfarm/sim/texts"
)

// AppendText appends a position as a text that people can read and tests can
// write:
//
//	turn 3
//	A right
//	B left crashed
//	........
//	..aaaA..
//
// and so on: the turns played, the heading of each cycle with "crashed" if it
// has crashed, and the eight rows of the board. A and B are the cycles, a and b
// their trails, a dot is a free cell.
func AppendText(dst []byte, s *State) []byte {
	dst = fmt.Appendf(dst, "turn %d\n", s.Turn)
	for p := range s.Heading {
		dst = fmt.Appendf(dst, "%c %v", 'A'+p, s.Heading[p])
		if s.Crashed[p] {
			dst = append(dst, " crashed"...)
		}
		dst = append(dst, '\n')
	}
	for cell := range Cells {
		c := byte('.')
		for p := range sim.Player(2) {
			switch {
			case int(s.Head[p]) == cell:
				c = 'A' + byte(p)
			case s.Trail[p]>>cell&1 != 0:
				c = 'a' + byte(p)
			}
		}
		if dst = append(dst, c); cell%Size == Size-1 {
			dst = append(dst, '\n')
		}
	}
	return dst
}

// ParseText reads the text that AppendText writes. The error names the line and
// what was expected.
func ParseText(text string) (s State, err error) {
	defer texts.Catch(&err)
	var r State
	line, heads := 0, 0
	for words := range texts.Lines(text) {
		if words[0].Text == "" {
			continue
		}
		switch line++; {
		case line == 1:
			if words[0].Text != "turn" {
				words[0].Fail("turn and a number")
			}
			r.Turn = uint16(words[1].Whole("turns", 0, Cells/2))
			words[2].End()
		case line <= 3:
			r.readCycle(words, line-2)
		case line <= 3+Size:
			heads = r.readRow(words[0], line-4, heads)
			words[1].End()
		default:
			words[0].Fail("the end of the text")
		}
	}
	if line != 3+Size || heads != 1|2 {
		return s, fmt.Errorf("expected a turn, two cycles and %d rows with both cycles in them", Size)
	}
	return r, nil
}

// readCycle reads the line of seat p's cycle.
func (s *State) readCycle(words []texts.Word, p int) {
	if words[0].Text != string(rune('A'+p)) {
		words[0].Fail("%c", 'A'+p)
	}
	h := slices.Index(headingNames[:], words[1].Text)
	if h < 0 {
		words[1].Fail("one of %s", strings.Join(headingNames[:], ", "))
	}
	s.Heading[p] = Heading(h)
	if words[2].Text == "crashed" {
		s.Crashed[p] = true
		words = words[1:]
	}
	words[2].End()
}

// readRow reads row y. Bit p of heads is set once the cycle of seat p was read.
func (s *State) readRow(row texts.Word, y, heads int) int {
	if len(row.Text) != Size {
		row.Fail("%d cells", Size)
	}
	for x, c := range row.Text {
		cell, p := y*Size+x, strings.IndexRune("AB", c)
		if p >= 0 && heads>>p&1 == 0 {
			s.Head[p], heads = uint8(cell), heads|1<<p
		} else if p = strings.IndexRune("ab", c); p < 0 && c != '.' {
			row.Part(x, x+1).Fail("., a, b, or each of A and B once")
		}
		if p >= 0 {
			s.Trail[p] |= 1 << cell
		}
	}
	return heads
}
