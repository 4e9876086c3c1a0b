package tron

import (
	"math/bits"

	"moonfarm/sim"
)

// Cells is the number of cells of the board. Cell y*Size + x, y = 0 at the top,
// is bit y*Size + x of a board.
const Cells = Size * Size

// State is a position: 24 bytes of plain data.
type State struct {
	Trail   [2]uint64 // the cells that each cycle has visited, including its current one
	Head    [2]uint8  // the current cell of each cycle
	Heading [2]Heading
	Crashed [2]bool
	Turn    uint16 // turns played
}

// Free returns the cells without a trail.
func (s *State) Free() uint64 { return ^(s.Trail[0] | s.Trail[1]) }

// View returns the state as seat p sees it: itself as seat 0, starting to the
// right. For seat 1 the board is turned by half a turn, which reverses its bits
// (2.4).
func (s *State) View(p sim.Player) State {
	if p == 0 {
		return *s
	}
	v := State{Turn: s.Turn}
	for q := range v.Trail {
		v.Trail[q] = bits.Reverse64(s.Trail[1-q])
		v.Head[q] = Cells - 1 - s.Head[1-q]
		v.Heading[q] = (s.Heading[1-q] + 2) & 3
		v.Crashed[q] = s.Crashed[1-q]
	}
	return v
}
