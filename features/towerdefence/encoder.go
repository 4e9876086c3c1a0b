package towerdefence

import (
	"encoding/binary"
	"math/bits"

	"moonfarm/features"
	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	td "moonfarm/sim/towerdefence"
)

// The planes: one value per cell, own half in columns 0 … 7, enemy's half in 8
// … 15.
const (
	planeDefense = iota
	planeAttack
	planeEnergy
	planeTesla
	planeBuilding
	planeHits
	planeIdle
	planeOwn
	planeEnemy
	planes
)

const (
	width      = 2 * td.Width
	planeBytes = width * td.Height
)

// Encoder implements features.Encoder for Tower Defence. Planes and packed
// words both hold all that the rules let a player see of the position, except
// the ages of buildings beyond what matters for play, and the display lists of
// the last round.
type Encoder struct {
	game    *td.Game
	regular bool
	rules   td.Rules
}

// NewEncoder returns the encoder for the rules of g.
func NewEncoder(g *td.Game) *Encoder {
	return &Encoder{game: g, regular: g.Regular(), rules: g.Rules()}
}

// Shape gives the sizes: planes [9, 8, 16], 19 scalars, 38 packed words.
func (e *Encoder) Shape() features.Shape {
	return features.Shape{Planes: planes, Height: td.Height, Width: width, Scalars: scalars, Words: 2 * wordsPerHalf}
}

// half holds the words of one half of the board.
type half = [wordsPerHalf]uint64

// Planes writes the uint8 planes.
func (e *Encoder) Planes(dst []uint8, s *td.State, p sim.Player) {
	features.CheckLength("planes", len(dst), planes*planeBytes)
	var own, enemy half
	e.halfWords(&own, s, p)
	e.halfWords(&enemy, s, p^1)
	e.planes(dst, &own, &enemy, s, p)
}

// Packed writes the words of the own half, then those of the enemy's half.
func (e *Encoder) Packed(dst []uint64, s *td.State, p sim.Player) {
	features.CheckLength("packed", len(dst), 2*wordsPerHalf)
	e.halfWords((*half)(dst[:wordsPerHalf]), s, p)
	e.halfWords((*half)(dst[wordsPerHalf:2*wordsPerHalf]), s, p^1)
}

// All writes the observations of both seats: the same two halves in opposite
// order.
func (e *Encoder) All(dst features.Rows, s *td.State) {
	if dst.Planes != nil {
		var a, b half
		e.halfWords(&a, s, 0)
		e.halfWords(&b, s, 1)
		e.planes(dst.Planes[:planes*planeBytes], &a, &b, s, 0)
		e.planes(dst.Planes[planes*planeBytes:], &b, &a, s, 1)
	}
	if dst.Packed != nil {
		words := dst.Packed[:4*wordsPerHalf]
		a, b := (*half)(words), (*half)(words[wordsPerHalf:])
		e.halfWords(a, s, 0)
		e.halfWords(b, s, 1)
		*(*half)(words[2*wordsPerHalf:]) = *b
		*(*half)(words[3*wordsPerHalf:]) = *a
	}
	if dst.Scalars != nil {
		e.allScalars(dst.Scalars, s)
	}
}

// planes writes the planes of seat p from the words of both halves.
func (e *Encoder) planes(dst []uint8, own, enemy *half, s *td.State, p sim.Player) {
	dst = dst[: planes*planeBytes : planes*planeBytes]
	flag(plane(dst, planeDefense), own[wordDefense], enemy[wordDefense])
	flag(plane(dst, planeAttack), own[wordAttack], enemy[wordAttack])
	flag(plane(dst, planeEnergy), own[wordEnergy], enemy[wordEnergy])
	flag(plane(dst, planeTesla), own[wordTesla], enemy[wordTesla])
	numbers(plane(dst, planeBuilding), numberAt(own, wordBuilding0), numberAt(enemy, wordBuilding0))
	numbers(plane(dst, planeIdle), numberAt(own, wordIdle0), numberAt(enemy, wordIdle0))
	hits(plane(dst, planeHits), buildings(own), buildings(enemy), numberAt(own, wordExtra0), numberAt(enemy, wordExtra0))
	// Missiles: in columns 0 … 7 the viewer owns the half.
	stacks(plane(dst, planeOwn), own[wordOwner:], enemy[wordVisitor:])
	stacks(plane(dst, planeEnemy), own[wordVisitor:], enemy[wordOwner:])
	if own[wordTesla]|enemy[wordTesla] != 0 {
		towers(dst, s, p)
	}
	if !e.regular {
		e.counted(dst, s, p)
	}
}

// buildings returns the cells with a building.
func buildings(h *half) uint64 {
	return h[wordDefense] | h[wordAttack] | h[wordEnergy] | h[wordTesla]
}

// numberAt returns the two-bit number in words i and i+1.
func numberAt(h *half, i int) *number { return (*number)(h[i : i+2]) }

// plane returns plane i of an observation.
func plane(dst []uint8, i int) *[planeBytes]uint8 {
	return (*[planeBytes]uint8)(dst[i*planeBytes : (i+1)*planeBytes])
}

// The writers of planes go row by row: eight bytes of the own half, then eight
// of the enemy's half, mirrored, so that the two fronts touch. Unrolled loops
// halve the time. Most planes of most positions are sparse, and an empty plane
// is only cleared.

// put writes row y. With constant y it compiles to four instructions.
func put(dst *[planeBytes]uint8, y int, own, enemy uint64) {
	binary.LittleEndian.PutUint64(dst[y*width:y*width+8], own)
	binary.LittleEndian.PutUint64(dst[y*width+8:y*width+16], bits.ReverseBytes64(enemy))
}

// flag writes 1 where a bit is set.
func flag(dst *[planeBytes]uint8, own, enemy uint64) {
	if own|enemy == 0 {
		clear(dst[:])
		return
	}
	put(dst, 0, bitboard.Spread(uint8(own>>0)), bitboard.Spread(uint8(enemy>>0)))
	put(dst, 1, bitboard.Spread(uint8(own>>8)), bitboard.Spread(uint8(enemy>>8)))
	put(dst, 2, bitboard.Spread(uint8(own>>16)), bitboard.Spread(uint8(enemy>>16)))
	put(dst, 3, bitboard.Spread(uint8(own>>24)), bitboard.Spread(uint8(enemy>>24)))
	put(dst, 4, bitboard.Spread(uint8(own>>32)), bitboard.Spread(uint8(enemy>>32)))
	put(dst, 5, bitboard.Spread(uint8(own>>40)), bitboard.Spread(uint8(enemy>>40)))
	put(dst, 6, bitboard.Spread(uint8(own>>48)), bitboard.Spread(uint8(enemy>>48)))
	put(dst, 7, bitboard.Spread(uint8(own>>56)), bitboard.Spread(uint8(enemy>>56)))
}

// number holds a two-bit number per cell: low bits, high bits.
type number [2]uint64

// row returns the numbers of the eight cells from bit n on as bytes.
func (b *number) row(n int) uint64 {
	return bitboard.Spread(uint8(b[0]>>n)) + 2*bitboard.Spread(uint8(b[1]>>n))
}

// numbers writes the two-bit number of every cell.
func numbers(dst *[planeBytes]uint8, own, enemy *number) {
	if own[0]|own[1]|enemy[0]|enemy[1] == 0 {
		clear(dst[:])
		return
	}
	put(dst, 0, own.row(0), enemy.row(0))
	put(dst, 1, own.row(8), enemy.row(8))
	put(dst, 2, own.row(16), enemy.row(16))
	put(dst, 3, own.row(24), enemy.row(24))
	put(dst, 4, own.row(32), enemy.row(32))
	put(dst, 5, own.row(40), enemy.row(40))
	put(dst, 6, own.row(48), enemy.row(48))
	put(dst, 7, own.row(56), enemy.row(56))
}

// hits writes the number of missiles that every building withstands: one more
// than its number.
func hits(dst *[planeBytes]uint8, ownAll, enemyAll uint64, own, enemy *number) {
	if own[0]|own[1]|enemy[0]|enemy[1] == 0 {
		flag(dst, ownAll, enemyAll)
		return
	}
	put(dst, 0, bitboard.Spread(uint8(ownAll>>0))+own.row(0), bitboard.Spread(uint8(enemyAll>>0))+enemy.row(0))
	put(dst, 1, bitboard.Spread(uint8(ownAll>>8))+own.row(8), bitboard.Spread(uint8(enemyAll>>8))+enemy.row(8))
	put(dst, 2, bitboard.Spread(uint8(ownAll>>16))+own.row(16), bitboard.Spread(uint8(enemyAll>>16))+enemy.row(16))
	put(dst, 3, bitboard.Spread(uint8(ownAll>>24))+own.row(24), bitboard.Spread(uint8(enemyAll>>24))+enemy.row(24))
	put(dst, 4, bitboard.Spread(uint8(ownAll>>32))+own.row(32), bitboard.Spread(uint8(enemyAll>>32))+enemy.row(32))
	put(dst, 5, bitboard.Spread(uint8(ownAll>>40))+own.row(40), bitboard.Spread(uint8(enemyAll>>40))+enemy.row(40))
	put(dst, 6, bitboard.Spread(uint8(ownAll>>48))+own.row(48), bitboard.Spread(uint8(enemyAll>>48))+enemy.row(48))
	put(dst, 7, bitboard.Spread(uint8(ownAll>>56))+own.row(56), bitboard.Spread(uint8(enemyAll>>56))+enemy.row(56))
}

// add adds 1 where a bit is set.
func add(dst *[planeBytes]uint8, own, enemy uint64) {
	for y := range td.Height {
		o := binary.LittleEndian.Uint64(dst[y*width:]) + bitboard.Spread(uint8(own>>(8*y)))
		e := bits.ReverseBytes64(binary.LittleEndian.Uint64(dst[y*width+8:])) + bitboard.Spread(uint8(enemy>>(8*y)))
		put(dst, y, o, e)
	}
}

// stacks writes the number of missiles of every cell.
func stacks(dst *[planeBytes]uint8, own, enemy []uint64) {
	flag(dst, own[0], enemy[0])
	for i := 1; i < td.MaxStack && own[i]|enemy[i] != 0; i++ {
		add(dst, own[i], enemy[i])
	}
}

// towers writes the values of the tesla towers, whose counters the boards do
// not hold.
func towers(dst []uint8, s *td.State, p sim.Player) {
	for side := range sim.Player(2) {
		h := &s.Half[p^side]
		for i := range h.Tesla[:h.Teslas&3] {
			t := &h.Tesla[i]
			at := cellAt(int(t.Cell), side)
			done, idle := t.Wait(s.Round)
			dst[planeTesla*planeBytes+at] = uint8(i + 1)
			dst[planeBuilding*planeBytes+at] = uint8(min(255, done))
			dst[planeIdle*planeBytes+at] = uint8(min(255, idle))
		}
	}
}

// cellAt returns the index in a plane of a cell of the viewer's half (side 0)
// or of the enemy's half (side 1). cell is in the coordinates of the half's
// owner.
func cellAt(cell int, side sim.Player) int {
	x, y := cell%td.Width, cell/td.Width
	if side == 1 {
		x = width - 1 - x
	}
	return y*width + x
}

// counted writes the counters of all other buildings under rules of another
// rhythm.
func (e *Encoder) counted(dst []uint8, s *td.State, p sim.Player) {
	for side := range sim.Player(2) {
		h := &s.Half[p^side]
		for cells := h.Occupied &^ h.Standing(td.Tesla); cells != 0; cells &= cells - 1 {
			cell := bits.TrailingZeros64(cells)
			at := cellAt(cell, side)
			done := e.game.RoundsUntilDone(s, p^side, cell)
			dst[planeBuilding*planeBytes+at] = uint8(min(255, done))
			if done == 0 {
				dst[planeIdle*planeBytes+at] = uint8(min(255, e.game.Cooldown(s, p^side, cell)))
			}
		}
	}
}
