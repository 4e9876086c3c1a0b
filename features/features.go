// Package features turns states into what a learner sees and a learner's
// choices into orders. It declares the two interfaces a game implements once,
// in features/<game>: Encoder and ActionSpace.
package features

import "moonfarm/sim"

// Shape gives the sizes of one observation.
type Shape struct {
	Planes, Height, Width int // uint8 planes [Planes, Height, Width], row-major
	Scalars               int // float32 scalars [Scalars]
	Words                 int // uint64 words of the packed form of the planes [Words]
}

// PlaneBytes is the length of the uint8 planes of one observation.
func (s Shape) PlaneBytes() int { return s.Planes * s.Height * s.Width }

// Field documents one plane or one scalar.
type Field struct {
	Name  string  `json:"name"`  // stable, snake_case
	Unit  string  `json:"unit"`  // "flag", "health points", "rounds", …
	Scale float32 `json:"scale"` // the largest usual value: value/Scale is about 0 … 1
	Doc   string  `json:"doc"`
}

// Description documents an observation: one Field per plane and per scalar, in
// order, and how the packed words relate to the planes: for people, and for
// programs that unpack them.
type Description struct {
	Planes       []Field `json:"planes"`
	Scalars      []Field `json:"scalars"`
	Packed       string  `json:"packed"`
	PackedLayout *Layout `json:"packed_layout,omitempty"`
}

// Encoder writes what seat p may see of a state, from p's own side of the
// board, into memory of the caller. Every call overwrites all of dst and
// allocates nothing. Implementations hold no mutable memory: one value serves
// all goroutines.
type Encoder[S any] interface {
	Shape() Shape
	Description() Description
	// Planes writes uint8 [Planes, Height, Width].
	Planes(dst []uint8, s *S, p sim.Player)
	// Packed writes uint64 [Words]: the planes as bits, as Description().Packed says.
	Packed(dst []uint64, s *S, p sim.Player)
	// Scalars writes float32 [Scalars].
	Scalars(dst []float32, s *S, p sim.Player)
}

// Rows are the observations of all seats of one game, seat after seat. A nil
// slab is not wanted.
type Rows struct {
	Planes  []uint8   // [seats, Planes, Height, Width]
	Packed  []uint64  // [seats, Words]
	Scalars []float32 // [seats, Scalars]
}

// BatchEncoder is an Encoder that can also write the observations of all seats at
// once, because they have work in common. It writes what the calls for each
// seat would.
type BatchEncoder[S any] interface {
	Encoder[S]
	All(dst Rows, s *S)
}

// ActionSpace says what the outputs of a policy network mean. An action is a
// vector of int32, one choice per head: one head is a Discrete space, several
// are MultiDiscrete. Of several heads choice 0 says nothing. −1, or any other
// number that is no choice, does what saying nothing does: in that head alone.
// Implementations hold no mutable memory.
type ActionSpace[S any] interface {
	// Heads lists the number of choices of each head. It is constant.
	Heads() []int
	// Mask writes the legal choices as bits: choice c of head h is bit
	// offset(h)+c, where offset(h) is the sum of the sizes of the heads before
	// h; bit i is bit i%64 of dst[i/64]. Bits past the last choice are 0. Heads
	// that the mask leaves out (see Unmasked) have no bits. For a single head
	// the mask is sound and complete: a set bit is accepted by the rules, a
	// clear one refused. Of several heads that holds for each while the others
	// say nothing.
	Mask(dst []uint64, s *S, p sim.Player)
	// AppendOrders appends the orders that the action stands for. Choices out
	// of range, −1 among them, give none.
	AppendOrders(dst []sim.Order, action []int32, s *S, p sim.Player) []sim.Order
	// Action writes the action that says the orders: in each head the choice
	// that stands for those that belong to it, −1 if there is none, and of
	// several heads 0 where none belong. For a single head no orders are the same
	// choice in every state, and no mask leaves it out. A head that is −1 takes nothing from
	// the others: they stand for their orders, and AppendOrders gives those.
	// Orders without an effect need not be said. Action reports whether all
	// others are: no head is −1, and there is none that belongs to no head at
	// all and so leaves no trace in dst. Of several heads no choice is found
	// that is masked out; a single one may say an order that the rules refuse.
	Action(dst []int32, orders []sim.Order, s *S, p sim.Player) bool
	// Doc explains the choices in a few lines.
	Doc() string
}

// Unmasked is an ActionSpace whose masks leave out the last heads: so many, all
// of whose choices are always accepted, because they say nothing but along with
// heads that have a mask.
type Unmasked interface{ Unmasked() int }

// UnmaskedHeads is the number of heads at the end that have no mask: 0 but for
// spaces that are Unmasked.
func UnmaskedHeads[S any](a ActionSpace[S]) int {
	if u, ok := a.(Unmasked); ok {
		return u.Unmasked()
	}
	return 0
}

// Choices is the total number of choices over all heads.
func Choices(heads []int) int {
	n := 0
	for _, h := range heads {
		n += h
	}
	return n
}

// MaskWords is the number of uint64 words of a mask over the heads: one bit for
// each of their choices.
func MaskWords(heads []int) int { return (Choices(heads) + 63) / 64 }

// Measure is a number of one seat from which a reward can be made, such as
// its health or its score.
type Measure[S any] struct {
	Name string // stable, lower case; the name of the reward
	Doc  string
	Of   func(g sim.Game[S], s *S, p sim.Player) float64
}

// Kit is all that moonfarm knows of a game beyond its rules.
type Kit[S any] struct {
	Encoder  Encoder[S]
	Actions  ActionSpace[S]
	Measures []Measure[S]
	Fog      *Fog // nil: the rules hide no cells
	// AppendText appends the board as text for people; nil: there is no such text.
	AppendText func(dst []byte, s *S) []byte
}

// Fog says by their names which planes show what is hidden by fog of war. They
// have one byte a cell.
type Fog struct {
	Visible    string   // is not 0 where a cell is in sight
	Remembered []string // what they show does not move by itself, so it is worth remembering out of sight
}
