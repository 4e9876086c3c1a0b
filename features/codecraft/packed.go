package codecraft

import (
	"math/bits"

	"moonfarm/features"
	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	cc "moonfarm/sim/codecraft"
)

// The packed form: 16 bits for the entity on each cell, then 8 bits for the action of the own entity
// on each cell, then a bit for each cell that is the corner of an own entity.
const (
	entryWords  = planeBytes / 4
	actionWords = planeBytes / 8
	words       = entryWords + actionWords + cornerWords
)

// An entry is 16 bits for a cell:
//
//	bits 0–7 health, 8–11 type + 1, 12–13 owner (0 own, or nobody's), 14 inactive, 15 in sight
const (
	entryType     = 8
	entryRival    = 12
	entryInactive = 14
	entryVisible  = 15
)

// packedGoal is the first bit of the goal in the 8 bits of an action.
const packedGoal = 3

// list is the packed form of an observation.
type list = [words]uint64

// Packed writes the cells, 25 bits each.
func (e *Encoder) Packed(dst []uint64, s *cc.State, p sim.Player) {
	features.CheckLength("packed", len(dst), len(list{}))
	var seen bitboard.Square
	e.sight(&seen, s, p)
	e.packed((*list)(dst), s, p, &seen)
}

func (e *Encoder) packed(dst *list, s *cc.State, p sim.Player, seen *bitboard.Square) {
	f := &frames[p&3]
	var g grid
	g.turn(seen, p)
	for i, b := range g {
		dst[2*i] = sightOf[b&15]
		dst[2*i+1] = sightOf[b>>4]
	}
	clear(dst[entryWords:])
	e.veins(dst, s, f, seen)
	for i := range s.Units[:s.N] {
		u := &s.Units[i]
		x, y, size := int(u.X), int(u.Y), e.size[u.Type]
		if u.Owner != p && !seen.MeetsSquare(x, y, size) {
			continue
		}
		entry := uint64(e.health(u.Type, u.Health)) | uint64(u.Type+1)<<entryType | uint64(rivals[p&3][u.Owner&3])<<entryRival
		if !u.Active {
			entry |= 1 << entryInactive
		}
		action := uint64(0)
		if u.Owner == p {
			a := &s.Acts[i]
			action = uint64(codeOf(a)) | uint64(goalOf(a, p))<<packedGoal
			at := f.cornerAt(x, y, size)
			dst[entryWords+actionWords+at>>6] |= 1 << (at & 63)
		}
		enter(dst, f.at(x, y), size, f, entry, action)
	}
}

// enter writes an entity on all its cells.
func enter(dst *list, at, size int, f *frame, entry, action uint64) {
	for range size {
		for k := range size {
			cell := at + k*f.x
			dst[cell>>2] |= entry << (cell & 3 * 16)
			dst[entryWords+cell>>3] |= action << (cell & 7 * 8)
		}
		at += f.y
	}
}

// veins writes the resources in sight.
func (e *Encoder) veins(dst *list, s *cc.State, f *frame, seen *bitboard.Square) {
	const entry = uint64(cc.Resource+1) << entryType
	for y := range side {
		low, high := s.Resources.Row(y)
		seenLow, seenHigh := seen.Row(y)
		row := s.Health[y*side:][:side]
		at := f.base + f.y*y
		for i, w := range [2]uint64{low & seenLow, high & seenHigh} {
			for ; w != 0; w &= w - 1 {
				x := 64*i + bits.TrailingZeros64(w)
				cell := at + f.x*x
				dst[cell>>2] |= (entry | uint64(row[x])) << (cell & 3 * 16)
			}
		}
	}
}

// sightOf has the four entries of cells without entities: cell k is in sight if bit k of the index is
// set.
var sightOf = func() (t [16]uint64) {
	for i := range t {
		for k := range 4 {
			t[i] |= uint64(i>>k&1) << (16*k + entryVisible)
		}
	}
	return t
}()
