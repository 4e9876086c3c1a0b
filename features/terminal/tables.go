package terminal

import (
	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	tm "moonfarm/sim/terminal"
)

// Both seats see their own half at the bottom. Player 0 sees (x, y) as it is; player 1 sees the
// arena turned by 180°, so that (x, y) is (27−x, 27−y).
const (
	side       = tm.Side
	planeBytes = side * side
	arenaCells = bitboard.DiamondCells
	edgeCells  = tm.EdgeCells
)

// planeAt holds, by seat and cell, the index y*28 + x of the cell in a plane.
var planeAt = func() (t [2][bitboard.DiamondSpan]uint16) {
	for i := range planeBytes {
		if cell, ok := bitboard.DiamondCell(i%side, i/side); ok {
			t[0][cell] = uint16(i)
			t[1][cell] = uint16(planeBytes - 1 - i)
		}
	}
	return t
}()

// listAt holds, by seat and cell, the number of the cell in the order of the planes, without cells
// outside the arena. The seat's own cells are 0 … 209, in the order of terminal.Local.
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

// arenaAt holds the index y*28 + x of a cell in a plane by its number in the order of the planes,
// without cells outside the arena.
var arenaAt = func() (t [arenaCells]uint16) {
	n := 0
	for i := range planeBytes {
		if tm.Inside(i%side, i/side) {
			t[n] = uint16(i)
			n++
		}
	}
	return t
}()

// arena is the plane with 1 on the cells of the arena.
var arena = func() (t [planeBytes]uint8) {
	for i := range t {
		if tm.Inside(i%side, i/side) {
			t[i] = 1
		}
	}
	return t
}()

// halfCell holds a cell of a player's half.
type halfCell struct {
	cell uint16
	x, y uint8
	edge uint32 // 1 << its number among the edge cells; 0 if it is not an edge cell
}

// half holds the cells of each player's half in the order of terminal.Local.
var half = func() (t [2][tm.HalfCells]halfCell) {
	for p := range t {
		for i := range t[p] {
			x, y := tm.LocalXY(i, sim.Player(p))
			cell, _ := bitboard.DiamondCell(x, y)
			t[p][i] = halfCell{uint16(cell), uint8(x), uint8(y), 0}
			if e, ok := tm.Edge(x, y); ok {
				t[p][i].edge = 1 << e
			}
		}
	}
	return t
}()

// place holds a cell of a player's half, and its index in the player's planes.
type place struct {
	cell, at uint16
	edge     uint32 // 1 << its number among the edge cells; 0 if it is not an edge cell
}

// places holds the cells of each player's half by terminal.Local. Entries from 210 on are not used: with them an index
// of eight bits needs no check.
var places = func() (t [2][256]place) {
	for p := range half {
		for i, h := range half[p] {
			t[p][i] = place{h.cell, arenaAt[i], h.edge}
		}
	}
	return t
}()

// edges holds the indices of the edge cells in half.
var edges = func() (t [edgeCells]uint8) {
	for e := range t {
		t[e] = uint8(tm.Local(tm.EdgeXY(e, 0)))
	}
	return t
}()

// flag returns 1 if the condition holds, else 0.
func flag(condition bool) uint64 {
	if condition {
		return 1
	}
	return 0
}
