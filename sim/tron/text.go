package tron

import (
	"fmt"
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
func ParseText(text string) (State, error) {
	var s State
	line, heads := 0, 0
	err := texts.Lines(text, func(words []texts.Word) (err error) {
		if words[0].Text == "" {
			return nil
		}
		switch line++; {
		case line == 1:
			if words[0].Text != "turn" {
				return words[0].Wrong("turn and a number")
			}
			var n int
			if n, err = texts.Number(words[1], "turns", 0, Cells/2); err == nil {
				err = words[2].End()
			}
			s.Turn = uint16(n)
		case line <= 3:
			err = s.readCycle(words, line-2)
		case line <= 3+Size:
			if heads, err = s.readRow(words[0], line-4, heads); err == nil {
				err = words[1].End()
			}
		default:
			return words[0].Wrong("the end of the text")
		}
		return err
	})
	if err == nil && (line != 3+Size || heads != 1|2) {
		err = fmt.Errorf("want a turn, two cycles and %d rows with both cycles in them", Size)
	}
	return s, err
}

// readCycle reads the line of seat p's cycle.
func (s *State) readCycle(words []texts.Word, p int) error {
	if words[0].Text != string(rune('A'+p)) {
		return words[0].Wrong("%c", 'A'+p)
	}
	h := 0
	for ; h < len(headingNames) && headingNames[h] != words[1].Text; h++ {
	}
	if h == len(headingNames) {
		return words[1].Wrong("one of %s", strings.Join(headingNames[:], ", "))
	}
	s.Heading[p] = Heading(h)
	if words[2].Text == "crashed" {
		s.Crashed[p] = true
		return words[3].End()
	}
	return words[2].End()
}

// readRow reads row y. Bit p of heads is set once the cycle of seat p was read.
func (s *State) readRow(row texts.Word, y, heads int) (int, error) {
	if len(row.Text) != Size {
		return heads, row.Wrong("%d cells", Size)
	}
	for x, c := range row.Text {
		cell, p := y*Size+x, strings.IndexRune("AB", c)
		if p >= 0 && heads>>p&1 == 0 {
			s.Head[p], heads = uint8(cell), heads|1<<p
		} else if p = strings.IndexRune("ab", c); p < 0 && c != '.' {
			return heads, row.Part(x, x+1).Wrong("., a, b, or each of A and B once")
		}
		if p >= 0 {
			s.Trail[p] |= 1 << cell
		}
	}
	return heads, nil
}
