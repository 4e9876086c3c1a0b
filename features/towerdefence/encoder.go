package towerdefence

import (
	"encoding/binary"
	"math/bits"

	"moonfarm/features"
	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	td "moonfarm/sim/towerdefence"
)

// The planes: value per cell, own half in columns 0 … 7, enemy's in 8 … 15.
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

// Encoder implements features.Encoder for Tower Defence. All the rules let a
// player see of the position is in each of its two forms, but for the ages of
// buildings beyond what they mean for play, and for the display lists of the
// last round.
type Encoder struct {
	game    *td.Game
	regular bool
	damage  int
	rules   td.Rules
}

// NewEncoder returns the encoder for the rules of g.
func NewEncoder(g *td.Game) *Encoder {
	r := g.Rules()
	return &Encoder{game: g, regular: g.Regular(), damage: r.Buildings[td.Attack].Damage, rules: r}
}

// Shape gives the sizes: planes [9, 8, 16], 19 scalars, 38 packed words.
func (e *Encoder) Shape() features.Shape {
	return features.Shape{Planes: planes, Height: td.Height, Width: width, Scalars: scalars, Words: 2 * wordsPerHalf}
}

// Packed writes the words of the own half, then those of the enemy's.
func (e *Encoder) Packed(dst []uint64, s *td.State, p sim.Player) {
	e.halfWords((*[wordsPerHalf]uint64)(dst[:wordsPerHalf]), s, p)
	e.halfWords((*[wordsPerHalf]uint64)(dst[wordsPerHalf:2*wordsPerHalf]), s, p^1)
}

// Planes writes the uint8 planes.
func (e *Encoder) Planes(dst []uint8, s *td.State, p sim.Player) {
	var own, enemy [wordsPerHalf]uint64
	e.halfWords(&own, s, p)
	e.halfWords(&enemy, s, p^1)
	dst = dst[: planes*planeBytes : planes*planeBytes]
	flag(plane(dst, planeDefense), own[wordDefense], enemy[wordDefense])
	flag(plane(dst, planeAttack), own[wordAttack], enemy[wordAttack])
	flag(plane(dst, planeEnergy), own[wordEnergy], enemy[wordEnergy])
	flag(plane(dst, planeTesla), own[wordTesla], enemy[wordTesla])
	twoBits(plane(dst, planeBuilding), own[wordBuilding0], own[wordBuilding1], enemy[wordBuilding0], enemy[wordBuilding1])
	twoBits(plane(dst, planeIdle), own[wordIdle0], own[wordIdle1], enemy[wordIdle0], enemy[wordIdle1])
	hits(plane(dst, planeHits), &own, &enemy)
	// Missiles: in columns 0 … 7 the owner of the half is the viewer.
	stacks(plane(dst, planeOwn), own[wordOwner:], enemy[wordVisitor:])
	stacks(plane(dst, planeEnemy), own[wordVisitor:], enemy[wordOwner:])
	if own[wordTesla]|enemy[wordTesla] != 0 || !e.regular {
		e.counted(dst, s, p)
	}
}

func plane(dst []uint8, i int) *[planeBytes]uint8 {
	return (*[planeBytes]uint8)(dst[i*planeBytes : (i+1)*planeBytes])
}

// The writers of planes walk down the rows: eight bytes of the own half as they
// are, eight of the enemy's mirrored, so that its front is next to the own.
// Most planes of most positions are sparse, and an empty one is only cleared.

// flag writes 1 where a bit is set.
func flag(dst *[planeBytes]uint8, own, enemy uint64) {
	if own|enemy == 0 {
		clear(dst[:])
		return
	}
	for d := dst[:]; len(d) >= width; d = d[width:] {
		binary.LittleEndian.PutUint64(d, bitboard.Spread(uint8(own)))
		binary.LittleEndian.PutUint64(d[8:], bits.ReverseBytes64(bitboard.Spread(uint8(enemy))))
		own, enemy = own>>8, enemy>>8
	}
}

// twoBits writes the two-bit number of every cell.
func twoBits(dst *[planeBytes]uint8, own0, own1, enemy0, enemy1 uint64) {
	if own0|own1|enemy0|enemy1 == 0 {
		clear(dst[:])
		return
	}
	for d := dst[:]; len(d) >= width; d = d[width:] {
		own := bitboard.Spread(uint8(own0)) + 2*bitboard.Spread(uint8(own1))
		enemy := bitboard.Spread(uint8(enemy0)) + 2*bitboard.Spread(uint8(enemy1))
		binary.LittleEndian.PutUint64(d, own)
		binary.LittleEndian.PutUint64(d[8:], bits.ReverseBytes64(enemy))
		own0, own1, enemy0, enemy1 = own0>>8, own1>>8, enemy0>>8, enemy1>>8
	}
}

// hits writes the missiles every building withstands.
func hits(dst *[planeBytes]uint8, own, enemy *[wordsPerHalf]uint64) {
	own0 := own[wordDefense] | own[wordAttack] | own[wordEnergy] | own[wordTesla]
	enemy0 := enemy[wordDefense] | enemy[wordAttack] | enemy[wordEnergy] | enemy[wordTesla]
	flag(dst, own0, enemy0)
	add(dst, own[wordExtra0], enemy[wordExtra0], 1)
	add(dst, own[wordExtra1], enemy[wordExtra1], 2)
}

// add adds n where a bit is set.
func add(dst *[planeBytes]uint8, own, enemy, n uint64) {
	if own|enemy == 0 {
		return
	}
	for d := dst[:]; len(d) >= width; d = d[width:] {
		o := binary.LittleEndian.Uint64(d) + n*bitboard.Spread(uint8(own))
		e := binary.LittleEndian.Uint64(d[8:]) + n*bits.ReverseBytes64(bitboard.Spread(uint8(enemy)))
		binary.LittleEndian.PutUint64(d, o)
		binary.LittleEndian.PutUint64(d[8:], e)
		own, enemy = own>>8, enemy>>8
	}
}

// stacks writes the number of missiles of every cell.
func stacks(dst *[planeBytes]uint8, own, enemy []uint64) {
	flag(dst, own[0], enemy[0])
	for i := 1; i < td.MaxStack; i++ {
		add(dst, own[i], enemy[i], 1)
	}
}

// counted puts in the values of tesla towers, and under rules of another rhythm
// of all buildings, whose counters the boards do not hold.
func (e *Encoder) counted(dst []uint8, s *td.State, p sim.Player) {
	for side := range sim.Player(2) {
		h := &s.Half[p^side]
		cells := h.Standing(td.Tesla)
		if !e.regular {
			cells = h.Occupied
		}
		for ; cells != 0; cells &= cells - 1 {
			cell := bits.TrailingZeros64(cells)
			at := cell/td.Width*width + cell%td.Width
			if side == 1 {
				at = cell/td.Width*width + width - 1 - cell%td.Width
			}
			if h.Teslas == 2 && int(h.Tesla[1].Cell) == cell {
				dst[planeTesla*planeBytes+at] = 2
			}
			done := e.game.RoundsUntilDone(s, p^side, cell)
			dst[planeBuilding*planeBytes+at] = uint8(min(255, done))
			if done == 0 {
				dst[planeIdle*planeBytes+at] = uint8(min(255, e.game.Cooldown(s, p^side, cell)))
			}
		}
	}
}
