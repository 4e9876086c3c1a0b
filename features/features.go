// Package features turns states into observations for a learner, and the
// learner's actions into orders. It declares the two interfaces that each game
// implements in features/<game>: Encoder and ActionSpace.
package features

import "moonfarm/sim"

// Shape gives the sizes of one observation.
type Shape struct {
	Planes, Height, Width int // uint8 planes [Planes, Height, Width], row-major
	Scalars               int // float32 scalars [Scalars]
	Words                 int // uint64 words of the packed form of the planes [Words]
}

// PlaneBytes returns the length of the uint8 planes of one observation.
func (s Shape) PlaneBytes() int { return s.Planes * s.Height * s.Width }

// Field documents one plane or one scalar.
type Field struct {
	Name  string  `json:"name"`  // stable, snake_case
	Unit  string  `json:"unit"`  // "flag", "health points", "rounds", …
	Scale float32 `json:"scale"` // the largest usual value: value/Scale is about 0 … 1
	Doc   string  `json:"doc"`
}

// Description documents an observation for people and for programs that unpack
// it: one Field per plane and per scalar, in order, and the layout of the
// packed words.
type Description struct {
	Planes       []Field `json:"planes"`
	Scalars      []Field `json:"scalars"`
	Packed       string  `json:"packed"`
	PackedLayout *Layout `json:"packed_layout,omitempty"`
	// Tensors divide the uint8 values of a form that has no planes. Its Shape is
	// one plane of one row, and the tensors lie in it one after the other.
	Tensors []Tensor `json:"tensors,omitempty"`
}

// Tensor documents a part of the uint8 values of an observation.
type Tensor struct {
	Name string `json:"name"` // stable, snake_case
	Doc  string `json:"doc"`
	Dims []int  `json:"dims"` // row-major
	// Fields document the values along one axis, in order.
	Axis   int     `json:"axis"`
	Fields []Field `json:"fields"`
}

// Len returns the number of values of the tensor.
func (t *Tensor) Len() int {
	n := 1
	for _, d := range t.Dims {
		n *= d
	}
	return n
}

// Encoder writes what seat p may see of a state, from p's own side of the
// board, into memory of the caller. Every call overwrites all of dst and
// allocates nothing. An Encoder is immutable, so that goroutines may share it.
type Encoder[S any] interface {
	Shape() Shape
	Description() Description
	// Planes writes uint8 [Planes, Height, Width].
	Planes(dst []uint8, s *S, p sim.Player)
	// Packed writes uint64 [Words]: the planes as bits, laid out as
	// Description().Packed explains.
	Packed(dst []uint64, s *S, p sim.Player)
	// Scalars writes float32 [Scalars].
	Scalars(dst []float32, s *S, p sim.Player)
}

// Rows holds the observations of all seats of one game, seat after seat. Slices
// that are nil are not written.
type Rows struct {
	Planes  []uint8   // [seats, Planes, Height, Width]
	Packed  []uint64  // [seats, Words]
	Scalars []float32 // [seats, Scalars]
}

// BatchEncoder is an Encoder that can also write the observations of all seats
// at once, which shares work between them. All writes the same bytes as one
// call per seat.
type BatchEncoder[S any] interface {
	Encoder[S]
	All(dst *Rows, s *S)
}

// ActionSpace defines what the outputs of a policy network mean. An action is a
// vector of int32 with one choice per head: one head is a Discrete space of
// Gymnasium, several heads are a MultiDiscrete one. With several heads choice 0
// of a head orders nothing. A choice out of range, such as −1, orders nothing
// either and does not affect the other heads. An ActionSpace is immutable, so
// that goroutines may share it.
type ActionSpace[S any] interface {
	// Heads lists the number of choices of each head. It is constant.
	Heads() []int
	// Mask writes the legal choices as bits: choice c of head h is bit
	// offset(h)+c, where offset(h) is the sum of the sizes of the heads before
	// h; bit i is bit i%64 of dst[i/64]. Bits past the last choice are 0. With a
	// single head the mask is sound and complete: the rules accept every choice
	// whose bit is set and refuse every other. With several heads this holds for
	// each head while the others choose 0.
	Mask(dst []uint64, s *S, p sim.Player)
	// AppendOrders appends the orders that the action stands for. A choice out
	// of range, such as −1, adds no order.
	AppendOrders(dst []sim.Order, action []int32, s *S, p sim.Player) []sim.Order
	// Action is the inverse of AppendOrders: it writes the action that stands
	// for the orders. Each head gets the choice for the orders that belong to
	// the head, or −1 if no choice expresses them. If no orders belong to a
	// head, it gets 0; a single head gets the choice for no orders, which is
	// the same in every state and always legal.
	//
	// Action reports whether the action expresses all orders that have an
	// effect. It returns false if a head is −1, or if an order belongs to no
	// head and is lost. The choices of the other heads still stand for their
	// orders. With several heads Action writes no choice that the mask forbids;
	// with a single head it may write a choice that the rules refuse.
	Action(dst []int32, orders []sim.Order, s *S, p sim.Player) bool
	// Doc explains the choices in a few lines.
	Doc() string
}

// Choices returns the total number of choices of all heads.
func Choices(heads []int) int {
	n := 0
	for _, h := range heads {
		n += h
	}
	return n
}

// MaskWords returns the number of uint64 words of a mask over the heads, at one
// bit per choice.
func MaskWords(heads []int) int { return (Choices(heads) + 63) / 64 }

// Measure is a number of one seat that a reward can be made from, such as its
// health or its score.
type Measure[S any] struct {
	Name string // stable, lower case; the name of the reward
	Doc  string
	Of   func(g sim.Game[S], s *S, p sim.Player) float64
}

// Kit is everything that moonfarm needs of a game beyond its rules.
type Kit[S any] struct {
	Encoder  Encoder[S] // of the form Cells
	Actions  ActionSpace[S]
	Forms    []Form[S] // the other forms
	Default  string    // name of the form that is used where none is named; "": Cells
	Measures []Measure[S]
	Fog      *Fog // nil: the rules hide no cells
	// AppendText appends the board as text for people.
	AppendText func(dst []byte, s *S) []byte
	// Scene sets dst to what a person at that seat sees of the state: nothing that
	// the rules hide from the seat. Spectator sees everything. It keeps the memory
	// of the lists of dst. It is nil if the game has no pictures.
	Scene func(dst *Scene, s *S, seat int)
	// Frames plays a turn on s, which it may leave in any state, and calls frame
	// with a scene of each moment of the turn, in their order, as a person at the
	// seat sees it. The last scene is that of the state after the turn, with what
	// Scene has, and the events since the moment before. frame may not keep the
	// scene. Frames is nil if the game has no moments within a turn and no events. It
	// is not safe for concurrent use.
	Frames func(s *S, t *sim.Turn, seat int, frame func(*Scene))
	// Paths calls path with a way from each place where units or missiles of either
	// seat can start now, and go by a way that the rules know. path may not keep it.
	// Paths is nil if the game has no such ways. It is not safe for concurrent use.
	Paths func(s *S, path func(*Path))
	// Command says what an order of a seat does, with places in the frame of
	// scenes, whatever order it is. It is nil if the game has no pictures.
	Command func(o sim.Order, seat sim.Player) Command
}

// Fog names the planes that fog of war affects. Each of them has one byte per
// cell.
type Fog struct {
	Visible    string   // the plane that is not 0 where a cell is in sight
	Remembered []string // planes of things that do not move, so that what was last seen is worth keeping
}
