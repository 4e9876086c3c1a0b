package frame

import (
	"fmt"

	"moonfarm/sim"
	"moonfarm/sim/terminal"
	"moonfarm/sim/texts/jsonscan"
)

// scanner reads the values of frames.
type scanner struct {
	jsonscan.Scanner
	units  int // read so far
	events int // and targets of explosions, read so far
}

// pos reads [x,y], a cell of the arena.
func (s *scanner) pos() terminal.Pos {
	s.Take('[')
	p := s.cell()
	s.Take(']')
	return p
}

// cell reads x,y, a cell of the arena.
func (s *scanner) cell() terminal.Pos {
	start := s.At
	x := s.Whole(terminal.Side-1, "a coordinate")
	s.Take(',')
	y := s.Whole(terminal.Side-1, "a coordinate")
	if !terminal.Inside(x, y) {
		s.FailAt(start, "a cell of the arena")
	}
	return terminal.Pos{X: uint8(x), Y: uint8(y)}
}

// id reads "123".
func (s *scanner) id() uint32 {
	s.Take('"')
	start := s.At
	n, ok := s.Digits(terminal.MaxID)
	if !ok || s.At == len(s.Text) || s.Text[s.At] != '"' {
		s.FailAt(start-1, wantID)
		return 0
	}
	s.At++
	return uint32(n)
}

var wantID = fmt.Sprintf("an id up to %d", terminal.MaxID)

// player reads 1 or 2.
func (s *scanner) player() sim.Player {
	s.Space()
	start := s.At
	n := s.Whole(2, "player 1 or 2")
	if n == 0 {
		s.FailAt(start, "player 1 or 2")
		return 0
	}
	return sim.Player(n - 1)
}
