// Package tron turns states of the light cycles into observations and choices
// into orders: 6 planes of 8 × 8 cells, 1 scalar, 3 actions. Both seats see
// their own cycle start to the right.
package tron

import (
	"encoding/binary"
	"math/bits"

	"moonfarm/features"
	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/tron"
)

// Kit returns the encoder, the actions and the measures for the rules of g.
func Kit(g *tron.Game) features.Kit[tron.State] {
	return features.Kit[tron.State]{
		Encoder:    Encoder{g},
		AppendText: tron.AppendText,
		Scene:      func(dst *features.Scene, s *tron.State, _ int) { scene(dst, g, s) },
		Command:    describe,
		Frames:     func(s *tron.State, t *sim.Turn, _ int, frame func(*features.Scene)) { frames(g, s, t, frame) },
		Actions:    Actions{},
		Measures: []features.Measure[tron.State]{
			{Name: "nearer", Doc: "free cells that the own cycle comes to first",
				Of: func(_ sim.Game[tron.State], s *tron.State, p sim.Player) float64 {
					return float64(bits.OnesCount64(g.Nearer(s)[p]))
				}},
		},
	}
}

// The planes. Each is one word of the packed form: bit y*8 + x is cell x, y.
const (
	planeOwnTrail = iota
	planeEnemyTrail
	planeOwnHead
	planeEnemyHead
	planeOwnAhead
	planeEnemyAhead
	planes
)

// Encoder implements features.Encoder. Both players see everything.
type Encoder struct{ game *tron.Game }

// Shape gives the sizes: planes [6, 8, 8], 1 scalar, 6 packed words.
func (e Encoder) Shape() features.Shape {
	return features.Shape{Planes: planes, Height: tron.Size, Width: tron.Size, Scalars: 1, Words: planes}
}

// Description documents the planes, the scalar and the packed words.
func (e Encoder) Description() features.Description {
	flag := func(name, doc string) features.Field {
		return features.Field{Name: name, Unit: "flag", Scale: 1, Doc: doc}
	}
	t := features.Description{
		Planes: []features.Field{
			planeOwnTrail:   flag("own_trail", "a cell of the own trail, the cycle's own included"),
			planeEnemyTrail: flag("enemy_trail", "a cell of the enemy's trail"),
			planeOwnHead:    flag("own_head", "the own cycle"),
			planeEnemyHead:  flag("enemy_head", "the enemy's cycle"),
			planeOwnAhead:   flag("own_ahead", "the cell that the own cycle enters if it goes straight on; none if there is the wall"),
			planeEnemyAhead: flag("enemy_ahead", "the same of the enemy's cycle"),
		},
		Scalars: []features.Field{{Name: "turn", Unit: "turns", Scale: tron.Cells / 2, Doc: "turns played"}},
		Packed:  "a word for each plane, in their order: bit y*8+x is cell x, y",
	}
	t.PackedLayout = &features.Layout{Cells: [][]features.Run{features.Whole(e.Shape())}}
	for i := range planes {
		t.PackedLayout.Parts = append(t.PackedLayout.Parts,
			features.Part{Plane: i, Number: features.Bits{First: 64 * i, Step: 1, Width: 1}, Times: 1})
	}
	return t
}

// words returns the packed words of what seat p sees.
func (e Encoder) words(s *tron.State, p sim.Player) (w [planes]uint64) {
	v := s.View(p)
	for q := range v.Head {
		head := uint64(1) << v.Head[q]
		w[planeOwnTrail+q], w[planeOwnHead+q], w[planeOwnAhead+q] = v.Trail[q], head, e.game.Beside(head, v.Heading[q])
	}
	return w
}

// Planes writes the uint8 planes.
func (e Encoder) Planes(dst []uint8, s *tron.State, p sim.Player) {
	features.CheckLength("planes", len(dst), planes*tron.Cells)
	for i, w := range e.words(s, p) {
		for y := range tron.Size {
			binary.LittleEndian.PutUint64(dst[i*tron.Cells+y*tron.Size:], bitboard.Spread(uint8(w>>(y*tron.Size))))
		}
	}
}

// Packed writes the words of the planes.
func (e Encoder) Packed(dst []uint64, s *tron.State, p sim.Player) {
	features.CheckLength("packed", len(dst), planes)
	w := e.words(s, p)
	copy(dst, w[:])
}

// Scalars writes the turn.
func (e Encoder) Scalars(dst []float32, s *tron.State, _ sim.Player) {
	features.CheckLength("scalars", len(dst), 1)
	dst[0] = float32(s.Turn)
}

// Actions implements features.ActionSpace: one head, whose choices are the
// orders.
type Actions struct{}

// Heads returns the one head.
func (Actions) Heads() []int { return []int{tron.Orders} }

// Doc explains the choices.
func (Actions) Doc() string { return "One choice a turn: 0 straight on, 1 turn left, 2 turn right." }

// Mask writes the one word: every choice is legal in every turn.
func (Actions) Mask(dst []uint64, _ *tron.State, _ sim.Player) {
	features.CheckLength("mask", len(dst), 1)
	dst[0] = 1<<tron.Orders - 1
}

// AppendOrders appends the order of the choice.
func (Actions) AppendOrders(dst []sim.Order, action []int32, _ *tron.State, _ sim.Player) []sim.Order {
	features.CheckLength("action", len(action), 1)
	if c := action[0]; c >= 0 && c < tron.Orders {
		dst = append(dst, sim.Order(c))
	}
	return dst
}

// Action writes the choice for the first order; the rules ignore the others. An
// order that is no turn goes straight on.
func (Actions) Action(dst []int32, orders []sim.Order, _ *tron.State, _ sim.Player) bool {
	features.CheckLength("action", len(dst), 1)
	dst[0] = int32(tron.Straight)
	if len(orders) > 0 && orders[0] < tron.Orders {
		dst[0] = int32(orders[0])
	}
	return true
}
