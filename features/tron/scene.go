package tron

import (
	"fmt"
	"math/bits"

	"moonfarm/features"
	"moonfarm/sim/tron"
)

// outlineOf has the outlines of the cycles by heading. y grows downwards.
var outlineOf = [4]features.Outline{tron.Right: features.ToRight, tron.Down: features.ToGreaterY, tron.Left: features.ToLeft, tron.Up: features.ToLessY}

// scene draws the board with y downwards: each cell of the trails, and the
// cycles on them. Both players see everything.
func scene(dst *features.Scene, g *tron.Game, s *tron.State) {
	dst.Begin(tron.Size, tron.Size)
	dst.Title = fmt.Sprintf("turn %d", s.Turn)
	dst.Areas = append(dst.Areas, features.Area{Owner: features.Nobody, Width: tron.Size, Height: tron.Size})
	const edge = 0.25 // a trail is narrower than a cycle, which is on a cell of it
	at := func(cell int) features.Entity {
		return features.Entity{X: float32(cell % tron.Size), Y: float32(cell / tron.Size), Width: 1, Height: 1}
	}
	nearer := g.Nearer(s)
	for p := range s.Head {
		for w := s.Trail[p]; w != 0; w &= w - 1 {
			e := at(bits.TrailingZeros64(w))
			e.Kind, e.Owner, e.Outline = "trail", int8(p), features.Square
			e.X, e.Y, e.Width, e.Height = e.X+edge, e.Y+edge, 1-2*edge, 1-2*edge
			dst.Entities = append(dst.Entities, e)
		}
		dst.AddStat("nearer", "cells", p, float64(bits.OnesCount64(nearer[p])))
	}
	for p, head := range s.Head { // after all trails, so that no trail hides a cycle
		e := at(int(head))
		e.Kind, e.Owner, e.Outline, e.Note = "cycle", int8(p), outlineOf[s.Heading[p]&3], "goes "+s.Heading[p].String()
		e.ID = uint32(p) + 1
		if s.Crashed[p] {
			e.Note, e.Leaving = "crashed", true
		}
		dst.Entities = append(dst.Entities, e)
	}
}
