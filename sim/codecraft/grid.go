package codecraft

import (
	"encoding/binary"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
)

// Searches run on a grid of bytes with a border, whose cells are numbered
// (y+1)<<7 | (x+1): neighbours are 1 and 128 away, and x and y are read off
// without a division.
const (
	gridShift = 7
	gridSize  = (Side + 2) << gridShift
)

// gridStep are the directions of Steps on the grid.
var gridStep = [4]int{1, -1, 1 << gridShift, -1 << gridShift}

func gridCell(x, y int) int { return (y+1)<<gridShift | (x + 1) }

// grid has 1 where a cell is open.
type grid [gridSize]uint8

// spread are the bits of a byte as bytes.
var spread = func() (t [256]uint64) {
	for b := range t {
		for k := range 8 {
			t[b] |= uint64(b>>k&1) << (8 * k)
		}
	}
	return t
}()

// draw fills the grid. The border stays 0.
func (g *grid) draw(b *bitboard.Square) {
	for y := range Side {
		low, high := b.Row(y)
		row := g[gridCell(0, y):][:Side]
		for k := 0; k < 64; k += 8 {
			binary.LittleEndian.PutUint64(row[k:], spread[low>>k&255])
		}
		binary.LittleEndian.PutUint64(row[64:], spread[high&255])
		binary.LittleEndian.PutUint64(row[72:], spread[high>>8&255])
	}
}

// grids are the open cells of each player on grids, drawn when first asked for.
type grids struct {
	drawn [sim.MaxPlayers]bool
	list  [sim.MaxPlayers]grid
}

// gridOf returns the open cells of a player.
func (g *Game) gridOf(p sim.Player) *grid {
	t := &g.paths.grids
	if !t.drawn[p] {
		t.drawn[p] = true
		t.list[p].draw(&g.open[p])
	}
	return &t.list[p]
}

// addRow adds 1 where a row of a board has cells.
func (g *grid) addRow(y int, low, high uint64) {
	row := g[gridCell(0, y):][:Side]
	add := func(k int, b uint64) {
		if b != 0 {
			binary.LittleEndian.PutUint64(row[k:], binary.LittleEndian.Uint64(row[k:])+spread[b])
		}
	}
	for k := 0; k < 64; k += 8 {
		add(k, low>>k&255)
	}
	add(64, high&255)
	add(72, high>>8&255)
}
