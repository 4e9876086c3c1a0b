// Package terminal turns states of C1 Terminal into observations, and choices into orders. An
// observation has 9 planes of 28 × 28 cells and 16 scalars, and an action has a choice for each cell of
// the own half. In the form OrdersForm a turn is one order after the other, and observations show the
// orders so far. Both seats see their own half at the bottom.
package terminal

import (
	"math/bits"

	"moonfarm/features"
	"moonfarm/sim"
	tm "moonfarm/sim/terminal"
)

// The planes: a value per cell, with the own half in rows 0 … 13.
const (
	planeArena    = iota
	planeOwn      // 3 planes: health of own walls, supports, turrets
	planeEnemy    = planeOwn + tm.Structures
	planeUpgraded = planeEnemy + tm.Structures
	planeRemoval  = planeUpgraded + 1
	planes        = planeRemoval + 1
)

// Sizes of one observation: bytes of the planes, and uint64 words of the packed form.
const (
	boardBytes = planes * planeBytes
	words      = arenaCells * 16 / 64
)

// The packed form has 16 bits for each cell, 0 without a structure:
//
//	bits 0–7 health, 8–9 kind, 10 upgraded, 11–14 restores until the structure is removed
const (
	entryKind     = 8
	entryUpgraded = 10
	entryRemoval  = 11
)

// Encoder implements features.Encoder for C1 Terminal. Planes and the packed form each contain
// everything that the rules let a player see, except fractions of health points, ids of structures,
// and thinking times.
type Encoder struct {
	game  *tm.Game
	rules tm.Rules
	steps [4]float32 // by kind: steps of the health planes per health point
}

// NewEncoder returns the encoder for the rules of g.
func NewEncoder(g *tm.Game) *Encoder {
	e := &Encoder{game: g, rules: g.Rules()}
	for k := range tm.Structures {
		e.steps[k] = 255 / max(255, e.most(k))
	}
	return e
}

// most returns the greatest health of a kind of structure.
func (e *Encoder) most(kind int) float32 {
	return max(e.rules.Units[kind].Health, e.rules.Upgraded[kind].Health)
}

// Shape returns the sizes: planes [9, 28, 28], 16 scalars, 105 packed words.
func (e *Encoder) Shape() features.Shape {
	return features.Shape{Planes: planes, Height: side, Width: side, Scalars: scalars, Words: words}
}

// board and list are the planes and the packed form of one observation.
type (
	board = [boardBytes]uint8
	list  = [words]uint64
)

// Planes writes the uint8 planes.
func (e *Encoder) Planes(dst []uint8, s *tm.State, p sim.Player) {
	features.CheckLength("planes", len(dst), boardBytes)
	b := (*board)(dst)
	blank(b)
	e.fill(b, s, p, p)
	e.fill(b, s, p^1, p)
}

// Packed writes the structures, 16 bits per cell.
func (e *Encoder) Packed(dst []uint64, s *tm.State, p sim.Player) {
	features.CheckLength("packed", len(dst), words)
	l := (*list)(dst)
	clear(l[:])
	e.enter(l, s, p, p)
	e.enter(l, s, p^1, p)
}

// All writes the observations of both seats and visits each structure once.
func (e *Encoder) All(dst features.Rows, s *tm.State) {
	if dst.Planes != nil {
		e.allPlanes(dst.Planes, s)
	}
	if dst.Packed != nil {
		e.allPacked(dst.Packed, s)
	}
	if dst.Scalars != nil {
		e.allScalars(dst.Scalars, s)
	}
}

// blank writes the planes of an empty arena.
func blank(dst *board) {
	*(*[planeBytes]uint8)(dst[:]) = arena
	clear(dst[planeBytes:])
}

// health returns the value of a structure in the planes: its health in the steps of its kind,
// rounded up, at least 1.
func (e *Encoder) health(c tm.Cell) uint8 {
	exact := float32(c.Health * e.steps[c.Kind()&3])
	n := int32(exact)
	if float32(n) < exact {
		n++
	}
	return uint8(min(max(n, 1), 255))
}

// fill writes the structures of player p into the planes of the viewer.
func (e *Encoder) fill(dst *board, s *tm.State, p, viewer sim.Player) {
	first := planeOwn * planeBytes
	if p != viewer {
		first = planeEnemy * planeBytes
	}
	at := &planeAt[viewer]
	for w, b := range s.Own[p] {
		for ; b != 0; b &= b - 1 {
			cell := w<<6 | bits.TrailingZeros64(b)
			e.put(dst, int(at[cell]), first, s.Cells[cell])
		}
	}
}

// put writes one structure; first is the index at which the planes of its owner begin.
func (e *Encoder) put(dst *board, at, first int, c tm.Cell) {
	dst[first+int(c.Kind())*planeBytes+at] = e.health(c)
	dst[planeUpgraded*planeBytes+at] = uint8(flag(c.Upgraded()))
	dst[planeRemoval*planeBytes+at] = uint8(c.RemoveIn())
}

// allPlanes writes the planes of both seats. For the second seat the arena is turned.
func (e *Encoder) allPlanes(dst []uint8, s *tm.State) {
	a, b := (*board)(dst), (*board)(dst[boardBytes:])
	blank(a)
	blank(b)
	for p := range s.Own {
		first := [2]int{planeOwn * planeBytes, planeEnemy * planeBytes}
		if p == 1 {
			first[0], first[1] = first[1], first[0]
		}
		for w, cells := range s.Own[p] {
			for ; cells != 0; cells &= cells - 1 {
				cell := w<<6 | bits.TrailingZeros64(cells)
				c, at := s.Cells[cell], int(planeAt[0][cell])
				e.put(a, at, first[0], c)
				e.put(b, planeBytes-1-at, first[1], c)
			}
		}
	}
}

// enter writes the structures of player p into the list of the viewer.
func (e *Encoder) enter(dst *list, s *tm.State, p, viewer sim.Player) {
	at := &listAt[viewer]
	for w, b := range s.Own[p] {
		for ; b != 0; b &= b - 1 {
			cell := w<<6 | bits.TrailingZeros64(b)
			n := at[cell]
			dst[n>>2%words] |= e.entry(s.Cells[cell]) << (n & 3 * 16)
		}
	}
}

// entry returns the packed form of a structure. Bits 0–2 of Cell.Mark are the kind and whether it is
// upgraded, as in the packed form, and bits 4–7 the restores until it is removed.
func (e *Encoder) entry(c tm.Cell) uint64 {
	return uint64(e.health(c)) | uint64(c.Mark&7)<<entryKind | uint64(c.Mark>>4&15)<<entryRemoval
}

// allPacked writes the lists of both seats. Each is the reverse of the other.
func (e *Encoder) allPacked(dst []uint64, s *tm.State) {
	a, b := (*list)(dst), (*list)(dst[words:])
	clear(a[:])
	e.enter(a, s, 0, 0)
	e.enter(a, s, 1, 0)
	for i, w := range a {
		w = w>>32 | w<<32
		b[words-1-i] = w>>16&0x0000ffff0000ffff | w&0x0000ffff0000ffff<<16
	}
}
