package towerdefence

import (
	"math/bits"

	"moonfarm/features"
	"moonfarm/features/towerdefence/internal/halves"
	"moonfarm/sim"
	td "moonfarm/sim/towerdefence"
)

// The planes: one value per cell, own half in columns 0 … 7, enemy's half in 8
// … 15.
const (
	planeDefense  = halves.Defense
	planeAttack   = halves.Attack
	planeEnergy   = halves.Energy
	planeTesla    = halves.Tesla
	planeBuilding = halves.Building
	planeHits     = halves.Hits
	planeIdle     = halves.Idle
	planeOwn      = halves.Own
	planeEnemy    = halves.Enemy
	planes        = halves.Count
)

const (
	width      = 2 * td.Width
	planeBytes = halves.Bytes
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
	var a, b halves.Words
	numbers(&a, &own)
	numbers(&b, &enemy)
	halves.One((*halves.Planes)(dst), &a, &b)
	e.patch(dst, s, p)
}

// Packed writes the words of the own half, then those of the enemy's half.
func (e *Encoder) Packed(dst []uint64, s *td.State, p sim.Player) {
	features.CheckLength("packed", len(dst), 2*wordsPerHalf)
	e.halfWords((*half)(dst[:wordsPerHalf]), s, p)
	e.halfWords((*half)(dst[wordsPerHalf:2*wordsPerHalf]), s, p^1)
}

// All writes the observations of both seats: the same two halves in opposite
// order.
func (e *Encoder) All(dst *features.Rows, s *td.State) {
	if dst.Planes != nil {
		var a, b half
		e.halfWords(&a, s, 0)
		e.halfWords(&b, s, 1)
		first, second := dst.Planes[:planes*planeBytes], dst.Planes[planes*planeBytes:2*planes*planeBytes]
		e.planes((*halves.Planes)(first), (*halves.Planes)(second), &a, &b, s)
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

// planes writes the planes of both seats from the words of their halves.
func (e *Encoder) planes(first, second *halves.Planes, a, b *half, s *td.State) {
	var own, enemy halves.Words
	numbers(&own, a)
	numbers(&enemy, b)
	halves.Both(first, second, &own, &enemy)
	e.patch(first[:], s, 0)
	e.patch(second[:], s, 1)
}

// numbers writes the numbers of the planes of a half.
func numbers(dst *halves.Words, h *half) {
	dst.Defense[0], dst.Attack[0], dst.Energy[0], dst.Tesla[0] = h[wordDefense], h[wordAttack], h[wordEnergy], h[wordTesla]
	dst.Building = halves.Number2{h[wordBuilding0], h[wordBuilding1]}
	dst.Idle = halves.Number2{h[wordIdle0], h[wordIdle1]}
	// The missiles that a building withstands are one more than its number.
	all, extra0, extra1 := h[wordDefense]|h[wordAttack]|h[wordEnergy]|h[wordTesla], h[wordExtra0], h[wordExtra1]
	carry := all & extra0
	dst.Hits = halves.Number3{all ^ extra0, extra1 ^ carry, extra1 & carry}
	dst.Owner = stack(h[wordOwner], h[wordOwner+1], h[wordOwner+2], h[wordOwner+3])
	dst.Visitor = stack(h[wordVisitor], h[wordVisitor+1], h[wordVisitor+2], h[wordVisitor+3])
}

// stack returns the number of missiles of every cell, of which there are at least 1, 2, 3 and 4 on the
// cells of the arguments. Each argument contains the next.
func stack(one, two, three, four uint64) halves.Number3 {
	return halves.Number3{one ^ two ^ three ^ four, two &^ four, four}
}

// patch overwrites what the boards do not hold in the planes of seat p.
func (e *Encoder) patch(dst []uint8, s *td.State, p sim.Player) {
	if s.Half[0].Teslas|s.Half[1].Teslas != 0 {
		towers(dst, s, p)
	}
	if !e.regular {
		e.counted(dst, s, p)
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
