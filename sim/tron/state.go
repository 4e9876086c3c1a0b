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
	Trail   [2]uint64 // the cells each cycle has been on, the one it is on included
	Head    [2]uint8  // the cell each cycle is on
	Heading [2]Heading
	Crashed [2]bool
	Turn    uint16 // turns played
}

// Free are the cells without a trail.
func (s *State) Free() uint64 { return ^(s.Trail[0] | s.Trail[1]) }

// View is the state as seat p sees it: itself as seat 0, starting to the right.
// Seat 1 turns the board by half a turn, which is to reverse its cells (2.4).
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
