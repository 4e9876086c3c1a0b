package terminal

import (
	"moonfarm/features"
	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	tm "moonfarm/sim/terminal"
)

// scenePaths finds the ways of mobile units.
type scenePaths struct {
	paths tm.Paths
	way   []uint16
	path  features.Path
}

// each implements features.Kit.Paths: a way from each free cell of each player's edges, over the cells
// without structures. A way that does not reach the edge to which the unit goes stops where it would
// self-destruct.
func (w *scenePaths) each(s *tm.State, path func(*features.Path)) {
	blocked := s.Built()
	w.paths.Reset(&blocked)
	for p := range sim.Player(2) {
		for e := range tm.EdgeCells {
			start, _ := bitboard.DiamondCell(tm.EdgeXY(e, p))
			if blocked.Has(start) {
				continue
			}
			var through bool
			w.way, through = w.paths.Walk(w.way[:0], start, p)
			w.path = features.Path{Owner: int8(p), Cells: w.path.Cells[:0], Stops: !through}
			for _, cell := range w.way {
				x, y := bitboard.DiamondXY(int(cell))
				w.path.Cells = append(w.path.Cells, features.Cell{X: uint8(x), Y: uint8(y)})
			}
			path(&w.path)
		}
	}
}
