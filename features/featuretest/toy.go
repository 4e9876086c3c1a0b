package featuretest

import (
	"fmt"

	"moonfarm/features"
	"moonfarm/sim"
	"moonfarm/sim/simtest"
)

// ToyKit returns the encoder, the action space and the measure of a toy game.
// With one order per turn the action space is Discrete (9), with n orders it is
// MultiDiscrete (n times 9).
func ToyKit(g simtest.Toy) features.Kit[simtest.ToyState] {
	heads := make([]int, g.Orders)
	for h := range heads {
		heads[h] = toyChoices
	}
	return features.Kit[simtest.ToyState]{
		Encoder: toyEncoder{seats: g.Seats},
		AppendText: func(dst []byte, s *simtest.ToyState) []byte {
			return fmt.Appendf(dst, "heaps %d, turn %d\n", s.Heap, s.Turn)
		},
		Actions: toyActions{game: g, heads: heads},
		Forms:   []features.Form[simtest.ToyState]{toyOrders(g)},
		Measures: []features.Measure[simtest.ToyState]{{
			Name: "stones", Doc: "stones taken",
			Of: func(_ sim.Game[simtest.ToyState], s *simtest.ToyState, p sim.Player) float64 {
				return float64(s.Taken[p])
			},
		}},
	}
}

// toyEncoder shows the heaps, the heaps that the seat named in the turn before,
// and the stones taken. It hides the heaps that others named.
type toyEncoder struct{ seats int }

func (t toyEncoder) Shape() features.Shape {
	return features.Shape{Planes: 2, Height: 1, Width: simtest.ToyHeaps, Scalars: 3, Words: 2}
}

func (t toyEncoder) Description() features.Description {
	return features.Description{
		Planes: []features.Field{
			{Name: "heap", Unit: "stones", Scale: simtest.ToyStones, Doc: "stones of the heap"},
			{Name: "named", Unit: "flag", Scale: 1, Doc: "this seat named the heap in the turn before"},
		},
		Scalars: []features.Field{
			{Name: "taken", Unit: "stones", Scale: 72, Doc: "stones of this seat"},
			{Name: "best_other", Unit: "stones", Scale: 72, Doc: "stones of the best other seat"},
			{Name: "turn", Unit: "turns", Scale: simtest.ToyTurns, Doc: "turns played"},
		},
		Packed: "word 0: byte h is plane heap at h; word 1: bit h is plane named at h",
		PackedLayout: &features.Layout{
			Cells: [][]features.Run{features.Whole(t.Shape())},
			Parts: []features.Part{
				{Plane: 0, Number: features.Bits{First: 0, Step: 8, Width: 8}, Times: 1},
				{Plane: 1, Number: features.Bits{First: 64, Step: 1, Width: 1}, Times: 1},
			},
		},
	}
}

func (t toyEncoder) Planes(dst []uint8, s *simtest.ToyState, p sim.Player) {
	features.CheckLength("planes", len(dst), t.Shape().PlaneBytes())
	n := copy(dst, s.Heap[:])
	for h := range simtest.ToyHeaps {
		dst[n+h] = uint8(s.Named[p] >> h & 1)
	}
}

func (t toyEncoder) Packed(dst []uint64, s *simtest.ToyState, p sim.Player) {
	features.CheckLength("packed", len(dst), t.Shape().Words)
	dst[0] = 0
	for h, n := range s.Heap {
		dst[0] |= uint64(n) << (8 * h)
	}
	dst[1] = uint64(s.Named[p])
}

func (t toyEncoder) Scalars(dst []float32, s *simtest.ToyState, p sim.Player) {
	features.CheckLength("scalars", len(dst), t.Shape().Scalars)
	best := uint16(0)
	for q := range t.seats {
		if q != int(p) {
			best = max(best, s.Taken[q])
		}
	}
	dst[0], dst[1], dst[2] = float32(s.Taken[p]), float32(best), float32(s.Turn)
}

// toyChoices is the number of choices per head: 0 names no heap, h+1 names heap
// h.
const toyChoices = simtest.ToyHeaps + 1

// toyActions has one head per order.
type toyActions struct {
	game  simtest.Toy
	heads []int
}

func (t toyActions) Heads() []int { return t.heads }

func (t toyActions) Doc() string {
	return "one head per order; choice 0 names no heap, choice h+1 names heap h"
}

func (t toyActions) Mask(dst []uint64, s *simtest.ToyState, p sim.Player) {
	features.CheckLength("mask", len(dst), features.MaskWords(t.heads))
	clear(dst)
	var legal uint64 = 1
	for h, n := range s.Heap {
		if n > 0 && s.Named[p]>>h&1 == 0 {
			legal |= 2 << h
		}
	}
	for h := range t.heads {
		at := h * toyChoices
		dst[at/64] |= legal << (at % 64)
		if at%64+toyChoices > 64 {
			dst[at/64+1] |= legal >> (64 - at%64)
		}
	}
}

func (t toyActions) AppendOrders(dst []sim.Order, action []int32, _ *simtest.ToyState, _ sim.Player) []sim.Order {
	features.CheckLength("action", len(action), len(t.heads))
	for _, c := range action {
		if c > 0 && c < toyChoices {
			dst = append(dst, sim.Order(c))
		}
	}
	return dst
}

func (t toyActions) Action(dst []int32, orders []sim.Order, _ *simtest.ToyState, _ sim.Player) bool {
	features.CheckLength("action", len(dst), len(t.heads))
	clear(dst)
	n, said := 0, true
	for _, o := range orders {
		if o == 0 {
			continue
		}
		if n == len(dst) { // the order belongs to no head
			return false
		}
		dst[n] = int32(o)
		if o >= toyChoices {
			dst[n], said = -1, false
		}
		n++
	}
	return said
}
