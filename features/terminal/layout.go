package terminal

import (
	"moonfarm/features"
	tm "moonfarm/sim/terminal"
)

// Indices of the lists of cells in the layout.
const (
	listOwn   = iota // cells of the own half
	listEnemy        // cells of the enemy's half
	listArena        // cells of both halves
	listEdges        // the own edge cells, in the order of their numbers
)

// layout returns the packed form, which packedDoc describes for people, in a form for programs.
func layout() *features.Layout {
	l := &features.Layout{Cells: make([][]features.Run, listEdges)}
	for y := range side {
		row := features.Run{Step: 1}
		for x := range side {
			if tm.Inside(x, y) {
				if row.Count == 0 {
					row.First = y*side + x
				}
				row.Count++
			}
		}
		l.Cells[listArena] = append(l.Cells[listArena], row)
		l.Cells[y/(side/2)] = append(l.Cells[y/(side/2)], row)
	}
	entries := func(first, width int) features.Bits { return features.Bits{First: first, Step: 16, Width: width} }
	l.Parts = []features.Part{
		{Plane: planeArena, Cells: listArena, Times: 1},
		{Plane: planeUpgraded, Cells: listArena, Number: entries(entryUpgraded, 1), Times: 1},
		{Plane: planeRemoval, Cells: listArena, Number: entries(entryRemoval, 4), Times: 1},
	}
	for half, plane := range []int{planeOwn, planeEnemy} {
		first := half * tm.HalfCells * 16
		for k := range tm.Structures {
			l.Parts = append(l.Parts, features.Part{
				Plane: plane + k, Cells: half, Number: entries(first, 8), Times: 1,
				If: &features.Condition{Bits: entries(first+entryKind, 2), In: []int{k}},
			})
		}
	}
	return l
}

// ordersLayout returns the layout of the form of single orders, which adds the own mobile units that
// wait, and the cells with orders.
func ordersLayout() *features.Layout {
	l := layout()
	var cells []features.Run
	for _, i := range edges {
		cells = append(cells, features.Run{First: int(planeAt[0][half[0][i].cell]), Step: 1, Count: 1})
	}
	l.Cells = append(l.Cells, cells)
	for k := range mobileKinds {
		l.Parts = append(l.Parts, features.Part{
			Plane: planeWaiting + k, Cells: listEdges, Times: 1,
			Number: features.Bits{First: wordWaiting*64 + 8*k, Step: 8 * mobileKinds, Width: 8},
		})
	}
	for bit := range orderedBits {
		l.Parts = append(l.Parts, features.Part{
			Plane: planeOrdered, Cells: listOwn, Times: 1 << bit,
			Number: features.Bits{First: (wordOrdered + bit*wordsOfHalf) * 64, Step: 1, Width: 1},
		})
	}
	return l
}
