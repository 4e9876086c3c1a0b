package simtest

import (
	"fmt"

	"moonfarm/sim"
	"moonfarm/sim/prng"
)

// Toy is the smallest game that exercises everything built on games: two to
// four seats that move at once, one or several orders per turn, moves that are
// illegal for one seat only, and a start that depends on the seed.
//
//  1. There are eight heaps of one to nine stones, by the seed.
//  2. Each turn every seat names up to Orders different heaps. A heap that is
//     empty, or that the seat named in the turn before, is refused.
//  3. A seat alone in naming a heap takes all of it. Of a heap that several
//     name, one stone is lost.
//  4. The game ends when no stone is left, at the latest after ToyTurns turns.
//     The seat with the most stones wins.
//
// Order h+1 names heap h, 0 … 7; all others do nothing.
type Toy struct {
	Seats  int // 2 … sim.MaxPlayers
	Orders int // heaps a seat may name in one turn, 1 … ToyHeaps
}

const (
	ToyHeaps  = 8  // heaps on the table
	ToyTurns  = 16 // turns after which the game ends by its rules
	ToyStones = 9  // stones of the largest heap
)

// ToyState is the state of a Toy: 22 bytes without padding.
type ToyState struct {
	Heap  [ToyHeaps]uint8            // stones left
	Taken [sim.MaxPlayers]uint16     // stones of each seat
	Named [sim.MaxPlayers]ToyHeapSet // heaps each seat named in the turn before
	Turn  uint16                     // turns played
}

// ToyHeapSet is a set of heaps: bit h is heap h.
type ToyHeapSet uint8

// Info implements sim.Game.
func (g Toy) Info() sim.Info {
	return sim.Info{
		Name: "toy", Rules: "1", Config: fmt.Sprintf("seats=%d orders=%d", g.Seats, g.Orders),
		Players: g.Seats, MaxTurns: ToyTurns, MaxOrders: g.Orders,
	}
}

// Reset implements sim.Game.
func (g Toy) Reset(s *ToyState, seed uint64) {
	*s = ToyState{}
	r := prng.New(prng.Mix(seed))
	for h := range s.Heap {
		s.Heap[h] = uint8(1 + r.IntN(ToyStones))
	}
}

// Step implements sim.Game.
func (g Toy) Step(s *ToyState, t *sim.Turn) sim.Status {
	var named [sim.MaxPlayers]ToyHeapSet
	for p := range g.Seats {
		named[p] = g.accepted(s, t.Orders(sim.Player(p)), sim.Player(p))
	}
	for h := range s.Heap {
		g.share(s, h, &named)
	}
	s.Named = named
	s.Turn++
	if s.Heap == [ToyHeaps]uint8{} || s.Turn >= ToyTurns {
		return sim.Over
	}
	return sim.Running
}

// accepted returns the heaps that the orders of seat p name and the rules
// accept (clause 2).
func (g Toy) accepted(s *ToyState, orders []sim.Order, p sim.Player) (named ToyHeapSet) {
	for i, o := range orders {
		if i < g.Orders && s.mayName(o, p) {
			named |= 1 << (o - 1)
		}
	}
	return named
}

func (t *ToyState) mayName(o sim.Order, p sim.Player) bool {
	return o-1 < ToyHeaps && t.Heap[o-1] > 0 && t.Named[p]>>(o-1)&1 == 0
}

// share settles heap h (clause 3).
func (g Toy) share(s *ToyState, h int, named *[sim.MaxPlayers]ToyHeapSet) {
	claims, last := 0, 0
	for p := range g.Seats {
		if named[p]>>h&1 != 0 {
			claims, last = claims+1, p
		}
	}
	switch {
	case claims == 1:
		s.Taken[last] += uint16(s.Heap[h])
		s.Heap[h] = 0
	case claims > 1:
		s.Heap[h]--
	}
}

// AppendOrders implements sim.Game.
func (g Toy) AppendOrders(dst []sim.Order, s *ToyState, p sim.Player) []sim.Order {
	dst = append(dst, 0)
	for o := sim.Order(1); o <= ToyHeaps; o++ {
		if s.mayName(o, p) {
			dst = append(dst, o)
		}
	}
	return dst
}

// Outcome implements sim.Game. The score is the number of stones taken.
func (g Toy) Outcome(s *ToyState, p sim.Player) sim.Outcome {
	below, above := 0, 0
	for q := range g.Seats {
		switch {
		case s.Taken[q] < s.Taken[p]:
			below++
		case s.Taken[q] > s.Taken[p]:
			above++
		}
	}
	return sim.Outcome{
		Result: float32(below-above) / float32(g.Seats-1),
		Score:  float64(s.Taken[p]),
	}
}

// Hash implements sim.Game.
func (g Toy) Hash(s *ToyState) uint64 {
	h := uint64(s.Turn)
	for _, n := range s.Heap {
		h = prng.Mix(h<<8 ^ h>>56 ^ uint64(n))
	}
	for p := range s.Taken {
		h = prng.Mix(h ^ uint64(s.Taken[p])<<8 ^ uint64(s.Named[p]))
	}
	return h
}

// Mirror writes src with the seats in reverse order to dst.
func (g Toy) Mirror(dst, src *ToyState) {
	*dst = *src
	for p := range g.Seats {
		q := g.Seats - 1 - p
		dst.Taken[p], dst.Named[p] = src.Taken[q], src.Named[q]
	}
}
