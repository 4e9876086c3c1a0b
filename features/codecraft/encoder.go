// Package codecraft converts states of CodeCraft 2020 to observations and choices to orders. Observations
// are lists of entities with a map of codes, or 25 planes of 80 × 80 cells; an action is one of 128
// choices for each own entity. Every seat sees the world rotated so that its own start is at the lower
// left, as the original's players do, and under fog of war only what is in sight of its entities now.
package codecraft

import (
	"encoding/binary"
	"math"
	"math/bits"

	"moonfarm/features"
	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	cc "moonfarm/sim/codecraft"
)

// kinds is the number of types that have an owner.
const kinds = cc.Types - 1

// kindOf numbers the types that have an owner in the order of the types, without Resource.
var kindOf = [cc.Types]uint8{0, 1, 2, 3, 4, 5, 6, 7, 0, 8}

// The planes.
const (
	planeOwn      = 0                   // kinds planes: health of own entities, by type
	planeEnemy    = planeOwn + kinds    // kinds planes: health of the entities of all other players
	planeResource = planeEnemy + kinds  // health of resources
	planeVisible  = planeResource + 1   // flag
	planeRival    = planeVisible + 1    // number of the owner
	planeInactive = planeRival + 1      // flag
	planeAction   = planeInactive + 1   // code of the stored action
	planeGoal     = planeAction + 1     // region of the target of its move
	planeCorner   = planeGoal + 1       // flag
	planes        = planeCorner + 1     //
	boardBytes    = planes * planeBytes // size of the planes of an observation
)

// Codes of planeAction: the part of the stored action that comes first by the rules.
const (
	actionNone = iota
	actionStop
	actionMove
	actionRepair
	actionBuild
	actionTarget
	actionFight
	actionGather
)

// Encoder implements features.Encoder for the form "cells". Planes and words both have everything of a
// player's view of the board except ids, the boundaries between adjacent entities of another player
// and type, the exact health where it is scaled, and the details of stored actions beyond their
// codes. The Encoder calls the game only for the cells in sight, which does not change the game.
type Encoder struct {
	game  *cc.Game
	rules cc.Rules
	size  [cc.Types]int
	most  [cc.Types]int32 // full health of types with more than 255, which scale to 255; else 0
}

// NewEncoder returns the encoder for the rules of g.
func NewEncoder(g *cc.Game) *Encoder {
	e := &Encoder{game: g, rules: g.Rules()}
	for t := range e.rules.Types {
		e.size[t] = int(e.rules.Types[t].Size)
		if most := e.rules.Types[t].MaxHealth; most > math.MaxUint8 {
			e.most[t] = most
		}
	}
	return e
}

// Shape returns the sizes: planes [25, 80, 80], 23 scalars, 2500 packed words.
func (e *Encoder) Shape() features.Shape {
	return features.Shape{Planes: planes, Height: side, Width: side, Scalars: scalars, Words: words}
}

// board has the planes of an observation.
type board = [boardBytes]uint8

// sight sets seen to the cells in sight of seat p; without fog these are all cells.
func (e *Encoder) sight(seen *bitboard.Square, s *cc.State, p sim.Player) {
	if e.rules.Fog {
		e.game.Sight(seen, s, p)
	} else {
		*seen = everywhere
	}
}

// everywhere has all cells.
var everywhere = func() (b bitboard.Square) {
	b.Flip(new(bitboard.Square))
	return b
}()

// health returns a health as a value of the planes. If the full health of the type is above 255, the
// value is in steps of 1/255 of the full health, rounded up.
func (e *Encoder) health(t cc.Type, health int16) uint8 {
	h := int32(health)
	if most := e.most[t]; most != 0 {
		h = (h*math.MaxUint8 + most - 1) / most
	}
	return uint8(min(max(h, 1), math.MaxUint8))
}

// Planes writes the uint8 planes.
func (e *Encoder) Planes(dst []uint8, s *cc.State, p sim.Player) {
	features.CheckLength("planes", len(dst), len(board{}))
	var seen bitboard.Square
	e.sight(&seen, s, p)
	e.planes((*board)(dst), s, p, &seen)
}

func (e *Encoder) planes(dst *board, s *cc.State, p sim.Player, seen *bitboard.Square) {
	clear(dst[:])
	f := &frames[p&3]
	visible((*[planeBytes]uint8)(dst[planeVisible*planeBytes:]), seen, p)
	e.resources((*[planeBytes]uint8)(dst[planeResource*planeBytes:]), s, f, seen)
	for i := range s.Units[:s.N] {
		u := &s.Units[i]
		x, y, size := int(u.X), int(u.Y), e.size[u.Type]
		if u.Owner == p {
			e.own(dst, u, &s.Acts[i], f, p)
		} else if seen.MeetsSquare(x, y, size) {
			at := f.at(x, y)
			fill(dst, planeEnemy+int(kindOf[u.Type]), at, size, f, e.health(u.Type, u.Health))
			fill(dst, planeRival, at, size, f, rivals[p&3][u.Owner&3])
			if !u.Active {
				fill(dst, planeInactive, at, size, f, 1)
			}
		}
	}
}

// own writes an own entity.
func (e *Encoder) own(dst *board, u *cc.Unit, a *cc.Action, f *frame, p sim.Player) {
	at, size := f.at(int(u.X), int(u.Y)), e.size[u.Type]
	dst[planeCorner*planeBytes+at+f.corner*(size-1)] = 1
	fill(dst, planeOwn+int(kindOf[u.Type]), at, size, f, e.health(u.Type, u.Health))
	if !u.Active {
		fill(dst, planeInactive, at, size, f, 1)
	}
	if code := codeOf(a); code != actionNone {
		fill(dst, planeAction, at, size, f, code)
		if goal := goalOf(a, p); goal != 0 {
			fill(dst, planeGoal, at, size, f, goal)
		}
	}
}

// fill writes a value of a plane on all cells of an entity whose first cell has index at.
func fill(dst *board, plane, at, size int, f *frame, value uint8) {
	paint((*[planeBytes]uint8)(dst[plane*planeBytes:]), at, size, f, value)
}

// visible writes the plane of the cells in sight.
func visible(dst *[planeBytes]uint8, seen *bitboard.Square, p sim.Player) {
	var g grid
	g.turn(seen, p)
	for i, b := range g {
		binary.LittleEndian.PutUint64(dst[8*i:], bitboard.Spread(b))
	}
}

// resources writes the health of the resources in sight.
func (e *Encoder) resources(dst *[planeBytes]uint8, s *cc.State, f *frame, seen *bitboard.Square) {
	for y := range side {
		low, high := s.Resources.Row(y)
		seenLow, seenHigh := seen.Row(y)
		row := s.Health[y*side:][:side]
		at := f.base + f.y*y
		for i, w := range [2]uint64{low & seenLow, high & seenHigh} {
			for ; w != 0; w &= w - 1 {
				x := 64*i + bits.TrailingZeros64(w)
				dst[at+f.x*x] = row[x]
			}
		}
	}
}

// codeOf returns the code of a stored action.
func codeOf(a *cc.Action) uint8 {
	switch parts := a.Parts; {
	case parts&cc.HasTarget != 0:
		return actionTarget
	case parts&cc.HasAuto != 0 && a.Valid == 1<<cc.Resource:
		return actionGather
	case parts&cc.HasAuto != 0:
		return actionFight
	case parts&cc.HasBuild != 0:
		return actionBuild
	case parts&cc.HasRepair != 0:
		return actionRepair
	case parts&cc.HasMove != 0:
		return actionMove
	case parts&cc.Given != 0:
		return actionStop
	}
	return actionNone
}

// goalOf returns the number of the region to which the move of a stored action leads, as seat p
// sees it, from 1; 0 without a move.
func goalOf(a *cc.Action, p sim.Player) uint8 {
	if a.Parts&cc.HasMove == 0 {
		return 0
	}
	x, y := cc.Turn(p, int(a.MoveX), int(a.MoveY), 1)
	return uint8(1 + y/regionSide*regionsAcross + x/regionSide)
}
