package tron

import (
	"moonfarm/features"
	"moonfarm/sim"
	"moonfarm/sim/tron"
)

// ahead has the middle of the side of a cell in a heading. y grows downwards.
var ahead = [4][2]float32{tron.Right: {1, 0.5}, tron.Down: {0.5, 1}, tron.Left: {0, 0.5}, tron.Up: {0.5, 0}}

// frames implements features.Kit.Frames: the state after the turn. A cycle that
// crashes stays on its cell; the event is on the side of the cell where it crashed.
func frames(g *tron.Game, s *tron.State, t *sim.Turn, frame func(*features.Scene)) {
	before := s.Crashed
	g.Step(s, t)
	var dst features.Scene
	scene(&dst, g, s)
	for p, head := range s.Head {
		if s.Crashed[p] && !before[p] {
			side := ahead[s.Heading[p]&3]
			x, y := float32(head%tron.Size)+side[0], float32(head/tron.Size)+side[1]
			dst.AddEvent(features.Event{Kind: "crash", Owner: int8(p), X1: x, Y1: y, X2: x, Y2: y})
		}
	}
	frame(&dst)
}
