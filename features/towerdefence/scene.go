package towerdefence

import (
	"fmt"
	"math/bits"
	"strings"

	"moonfarm/features"
	"moonfarm/sim"
	"moonfarm/sim/texts"
	td "moonfarm/sim/towerdefence"
)

// outlineOf and letters have the outlines and letters of the buildings by kind.
var (
	outlineOf = [5]features.Outline{td.Defense: features.Square, td.Attack: features.Diamond, td.Energy: features.Round, td.Tesla: features.Diamond}
	letters   = [5]string{td.Defense: "D", td.Attack: "A", td.Energy: "E", td.Tesla: "T"}
)

// scene draws the map as the original's console shows it: A's half in columns 0
// to 7, y downwards. Both players see everything.
func scene(dst *features.Scene, g *td.Game, s *td.State) {
	dst.Begin(2*td.Width, td.Height)
	dst.Title = fmt.Sprintf("round %d", s.Round)
	for p := range sim.Player(2) {
		h := &s.Half[p]
		dst.Areas = append(dst.Areas, features.Area{Owner: int8(p), X: float32(p) * td.Width, Width: td.Width, Height: td.Height})
		for w := h.Occupied; w != 0; w &= w - 1 {
			dst.Entities = append(dst.Entities, building(g, s, p, bits.TrailingZeros64(w)))
		}
		dst.AddStat("health", "health points", int(p), float64(h.Health()))
		dst.AddStat("energy", "energy", int(p), float64(h.Energy))
		dst.AddStat("income", "energy a round", int(p), float64(g.Income(h)))
		dst.AddStat("score", "points", int(p), float64(g.Score(s, p)))
		addCurtain(dst, s, p)
	}
	for p := range sim.Player(2) { // after all buildings, since a missile may be on one (2.3)
		for cell := range td.Cells {
			addMissiles(dst, p, p, cell, s.Half[p].MissilesOwn(cell))
			addMissiles(dst, p, p^1, cell, s.Half[p].MissilesFar(cell))
		}
	}
}

// column returns the column of the map of a cell of half p (2.2).
func column(p sim.Player, cell int) float32 {
	x := cell % td.Width
	if p == 1 {
		x = 2*td.Width - 1 - x
	}
	return float32(x)
}

// idOf returns the number of a building in all scenes of a match, from 1. The
// game does not number buildings, but a cell has one building in a round.
func idOf(s *td.State, p sim.Player, cell int) uint32 {
	return 1 + uint32((s.Half[p].PlacedIn(cell)*2+int(p))*td.Cells+cell)
}

// building returns the building of player p on a cell of its half.
func building(g *td.Game, s *td.State, p sim.Player, cell int) features.Entity {
	kind, _ := s.Half[p].Kind(cell)
	r := g.Rules()
	e := features.Entity{
		Kind: strings.ToLower(kind.String()), Outline: outlineOf[kind], Letter: letters[kind], Owner: int8(p), ID: idOf(s, p, cell),
		X: column(p, cell), Y: float32(cell / td.Width), Width: 1, Height: 1,
		Health: features.HealthShare(float32(g.HealthOf(s, p, cell)), float32(r.Buildings[kind].Health)),
	}
	if n := g.RoundsUntilDone(s, p, cell); n > 0 {
		e.Unfinished, e.Number, e.Note = true, n, "finished in "+texts.Plural(n, "round")
	} else if n := g.Cooldown(s, p, cell); n > 0 {
		e.Note = "may shoot in " + texts.Plural(n, "round")
	}
	return e
}

// addCurtain adds the curtain of player p at the front of its half, if it is up.
func addCurtain(dst *features.Scene, s *td.State, p sim.Player) {
	n := max(0, s.CurtainTime(p))
	dst.AddStat("curtain", "rounds", int(p), float64(n))
	if n == 0 {
		return
	}
	const inside = 0.07 // so that both curtains can be seen
	x := float32(td.Width - inside)
	if p == 1 {
		x = td.Width + inside
	}
	dst.Lines = append(dst.Lines, features.Line{
		Kind: "curtain", Owner: int8(p), X1: x, X2: x, Y2: td.Height, Thick: true, Note: "protects for " + texts.Plural(n, "round"),
	})
}

// addMissiles adds n missiles of player p on a cell of half q as one entity.
// Missiles of A are in the upper part of the cell, those of B in the lower one.
func addMissiles(dst *features.Scene, p, q sim.Player, cell, n int) {
	if n == 0 {
		return
	}
	const size = 0.3
	e := features.Entity{
		Kind: "missile", Outline: features.ToRight, Owner: int8(p),
		X: column(q, cell) + (1-size)/2, Y: float32(cell / td.Width), Width: size, Height: size,
	}
	if p == 1 {
		e.Outline = features.ToLeft
		e.Y += 1 - size
	}
	if n > 1 {
		e.Number, e.Note = n, texts.Plural(n, "missile")
	}
	dst.Entities = append(dst.Entities, e)
}
