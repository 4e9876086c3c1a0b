package terminal

import (
	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	tm "moonfarm/sim/terminal"
)

// The board as a seat sees it: its own half below, for both. Player 0 sees
// (x, y) as it is, player 1 sees the arena turned by 180°, so (27−x, 27−y).
const (
	side       = tm.Side
	planeBytes = side * side
	arenaCells = bitboard.DiamondCells
	edgeCells  = tm.EdgeCells
)

// planeAt is the index in a plane, y*28 + x, of a cell as each seat sees it.
var planeAt = func() (t [2][bitboard.DiamondSpan]uint16) {
	for i := range planeBytes {
		if cell, ok := bitboard.DiamondCell(i%side, i/side); ok {
			t[0][cell] = uint16(i)
			t[1][cell] = uint16(planeBytes - 1 - i)
		}
	}
	return t
}()

// listAt is the number of a cell in the order of the planes without what is
// outside the arena, as each seat sees it: its own cells are 0 … 209, in the
// order of terminal.Local.
var listAt = func() (t [2][bitboard.DiamondSpan]uint16) {
	n := uint16(0)
	for i := range planeBytes {
		if cell, ok := bitboard.DiamondCell(i%side, i/side); ok {
			t[0][cell] = n
			t[1][cell] = arenaCells - 1 - n
			n++
		}
	}
	return t
}()

// arena is the plane of the cells that there are.
var arena = func() (t [planeBytes]uint8) {
	for i := range t {
		if tm.Inside(i%side, i/side) {
			t[i] = 1
		}
	}
	return t
}()

// own is a cell of a player's half.
type own struct {
	cell uint16
	x, y uint8
	edge uint32 // the bit of its number among the edge cells, 0 if it is none
}

// half are the cells of each player's half in the order of terminal.Local.
var half = func() (t [2][tm.HalfCells]own) {
	for p := range t {
		for i := range t[p] {
			x, y := tm.LocalXY(i, sim.Player(p))
			cell, _ := bitboard.DiamondCell(x, y)
			t[p][i] = own{uint16(cell), uint8(x), uint8(y), 0}
			if e, ok := tm.Edge(x, y); ok {
				t[p][i].edge = 1 << e
			}
		}
	}
	return t
}()

// edges are the numbers in half of the edge cells.
var edges = func() (t [edgeCells]uint8) {
	for e := range t {
		t[e] = uint8(tm.Local(tm.EdgeXY(e, 0)))
	}
	return t
}()

// flag is 1 if the condition holds, else 0.
func flag(condition bool) uint64 {
	if condition {
		return 1
	}
	return 0
}
