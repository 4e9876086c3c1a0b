// Package terminal turns states of C1 Terminal into observations, and choices into orders. An
// observation has 9 planes of 28 × 28 cells and 16 scalars, and an action has a choice for each cell of
// the own half. In the form OrdersForm a turn is one order after the other, and observations show the
// orders so far. Both seats see their own half at the bottom.
package terminal

import (
	"math/bits"

	"moonfarm/features"
	"moonfarm/sim"
	"moonfarm/sim/bitboard"
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
	plane = [planeBytes]uint8
	board = [boardBytes]uint8
	list  = [words]uint64
)

// Planes writes the uint8 planes.
func (e *Encoder) Planes(dst []uint8, s *tm.State, p sim.Player) {
	features.CheckLength("planes", len(dst), boardBytes)
	var other board // of the other seat, which is not wanted
	e.fill([2]*board{(*board)(dst), &other}, s, p)
}

// Packed writes the structures, 16 bits per cell.
func (e *Encoder) Packed(dst []uint64, s *tm.State, p sim.Player) {
	features.CheckLength("packed", len(dst), words)
	e.enter((*list)(dst), s, p)
}

// All writes the observations of both seats and visits each structure once.
func (e *Encoder) All(dst *features.Rows, s *tm.State) {
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
func blank(dst []uint8) {
	copy(dst, arena[:])
	clear(dst[planeBytes:]) // a slice: for an array of a constant size the compiler takes the slower REP STOS
}

// health returns the value of a structure in the planes: its health in the steps of its kind,
// rounded up, at least 1.
func (e *Encoder) health(c tm.Cell) uint8 { return points(c.Health, e.steps[c.Kind()&3]) }

// points returns a health in steps, rounded up, at least 1.
func points(health, steps float32) uint8 {
	exact := float32(health * steps)
	n := int32(exact)
	if float32(n) < exact {
		n++
	}
	return uint8(min(max(n, 1), 255))
}

// allPlanes writes the planes of both seats.
func (e *Encoder) allPlanes(dst []uint8, s *tm.State) {
	e.fill([2]*board{(*board)(dst), (*board)(dst[boardBytes:])}, s, 0)
}

// fill writes the planes of both seats, those of seat p first. For the other seat the arena is turned. The lists by age
// have one loop for each kind, which needs no branches; loops over the bits of boards mispredict one for each word.
func (e *Encoder) fill(dst [2]*board, s *tm.State, p sim.Player) {
	blank(dst[0][:])
	blank(dst[1][:])
	for i := range dst {
		own, foe := dst[i], dst[1-i]
		owner := (p + sim.Player(i)) & 1
		for k := range s.Ages[owner] {
			steps, ages := e.steps[k], &s.Ages[owner][k]
			mine := (*plane)(own[(planeOwn+k)*planeBytes:])
			theirs := (*plane)(foe[(planeEnemy+k)*planeBytes:])
			for _, local := range ages.Cell[:ages.N] {
				l := places[owner][local]
				c := s.Cells[l.cell%bitboard.DiamondSpan]
				health, upgraded := points(c.Health, steps), uint8(c.Mark>>2&1)
				at, turned := l.at, planeBytes-1-l.at
				mine[at], theirs[turned] = health, health
				own[planeUpgraded*planeBytes+int(at)], foe[planeUpgraded*planeBytes+int(turned)] = upgraded, upgraded
			}
		}
	}
	for w, b := range s.Marked {
		for ; b != 0; b &= b - 1 {
			cell := w<<6 | bits.TrailingZeros64(b)
			at, turns := planeRemoval*planeBytes+int(planeAt[p][cell]), uint8(s.Cells[cell].RemoveIn())
			dst[0][at], dst[1][planes*planeBytes-1-(at-planeRemoval*planeBytes)] = turns, turns
		}
	}
}

// enter writes the list of seat p.
func (e *Encoder) enter(dst *list, s *tm.State, p sim.Player) {
	clear(dst[:])
	for i := range s.Ages {
		owner, turn := (p+sim.Player(i))&1, uint16(0)
		if i == 1 {
			turn = arenaCells - 1
		}
		for k := range s.Ages[owner] {
			steps, ages := e.steps[k], &s.Ages[owner][k]
			for _, local := range ages.Cell[:ages.N] {
				c := s.Cells[places[owner][local].cell%bitboard.DiamondSpan]
				n := uint16(local)
				if turn > 0 {
					n = turn - n
				}
				dst[n>>2] |= pack(c, points(c.Health, steps)) << (n & 3 * 16)
			}
		}
	}
}

// entry returns the packed form of a structure.
func (e *Encoder) entry(c tm.Cell) uint64 { return pack(c, e.health(c)) }

// pack returns the packed form of a structure. Bits 0–2 of Cell.Mark are the kind and whether it is
// upgraded, as in the packed form, and bits 4–7 the restores until it is removed.
func pack(c tm.Cell, health uint8) uint64 {
	return uint64(health) | uint64(c.Mark&7)<<entryKind | uint64(c.Mark>>4&15)<<entryRemoval
}

// allPacked writes the lists of both seats. Each is the reverse of the other.
func (e *Encoder) allPacked(dst []uint64, s *tm.State) {
	a, b := (*list)(dst), (*list)(dst[words:])
	e.enter(a, s, 0)
	for i, w := range a {
		w = w>>32 | w<<32
		b[words-1-i] = w>>16&0x0000ffff0000ffff | w&0x0000ffff0000ffff<<16
	}
}
