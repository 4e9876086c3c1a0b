package policy

import (
	"math/bits"

	"moonfarm/env"
	"moonfarm/features"
	"moonfarm/rollout"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/prng"
)

// random chooses uniformly among the legal choices of each head, by the mask. A head
// without a legal choice gets −1, a head without a mask 0; both mean no order.
type random struct {
	words int
	heads []head // the heads that have a mask
	all   int    // number of heads
	whole bool   // every head is one word of the mask

	last  uint64    // the set of legal choices of the latest head
	n     int       // the size of last
	legal [64]uint8 // the list of last
}

// head is the position of a head's choices in the mask.
type head struct {
	word, shift int // of the first choice
	size        int
}

// newRandom returns the policy random, which draws choices of the form features.Cells.
func newRandom(s env.Spec) (rollout.Policy, error) {
	if cells, ok := s.InForm(features.Cells); ok && needsForm(cells, s) {
		return &inForm{Policy: newRandomIn(cells), form: cells.Form}, nil
	}
	return newRandomIn(s), nil
}

// newRandomIn returns a policy that draws choices of the spec's form.
func newRandomIn(s env.Spec) *random {
	r := &random{words: s.MaskWords, all: len(s.Heads), whole: true}
	at := 0
	for _, size := range s.Heads[:len(s.Heads)-s.Unmasked] {
		r.heads = append(r.heads, head{at / 64, at % 64, size})
		at += size
		r.whole = r.whole && size == 64
	}
	return r
}

func (r *random) Name() string { return "random" }

func (r *random) Wants() env.Want { return env.WantMask | env.WantAction | env.WantRowSeed }

func (r *random) Act(_ env.Vector, b *env.Batch, rows []int32) {
	b.Need(r.Wants(), "random")
	if r.all == 1 {
		for _, row := range rows {
			b.Action[row] = pickOne(b.Mask[int(row)*r.words:][:r.words], b.RowSeed[row])
		}
		return
	}
	for _, row := range rows {
		mask := b.Mask[int(row)*r.words:][:r.words]
		action := b.Action[int(row)*r.all:][:r.all]
		clear(action[len(r.heads):])
		action = action[:len(r.heads)]
		g := draws{Rand: prng.New(b.RowSeed[row])}
		if r.whole {
			for i, chunk := range mask[:len(action)] {
				if chunk == 1 {
					action[i] = 0
				} else {
					action[i] = r.pickSmall(chunk, &g)
				}
			}
			continue
		}
		for i := range action {
			if h := &r.heads[i]; h.size <= 64 {
				action[i] = r.pickSmall(h.chunk(mask, 0), &g)
			} else {
				action[i] = h.pick(mask, &g.Rand)
			}
		}
	}
}

// draws makes two small random numbers from each number of its generator.
type draws struct {
	prng.Rand
	rest uint64
	half bool // rest holds another number, in its lower 32 bits
}

// below draws a number from 0 to n−1, n at most 64, uniform to 2⁻²⁶.
func (d *draws) below(n int) int {
	if d.half = !d.half; d.half {
		d.rest = d.Uint64()
		return int(d.rest >> 32 * uint64(n) >> 32)
	}
	return int(d.rest & (1<<32 - 1) * uint64(n) >> 32)
}

// pickSmall does the same as pick for up to 64 choices. The heads of a grid often have the
// same legal choices, so it keeps the list of the latest head.
func (r *random) pickSmall(chunk uint64, g *draws) int32 {
	if chunk == 1 {
		return 0 // the only legal choice, a frequent case; needs no draw
	}
	if chunk != r.last {
		r.last, r.n = chunk, 0
		for c := chunk; c != 0; c &= c - 1 {
			r.legal[r.n] = uint8(bits.TrailingZeros64(c))
			r.n++
		}
	}
	if r.n == 0 {
		return -1
	}
	return int32(r.legal[g.below(r.n)&63])
}

// pickOne does the same as pick for a game of one head, which has the whole mask.
func pickOne(mask []uint64, seed uint64) int32 {
	legal := 0
	for _, w := range mask {
		legal += bits.OnesCount64(w)
	}
	if legal == 0 {
		return -1
	}
	g := prng.New(seed)
	n := g.IntN(legal)
	for i, w := range mask {
		c := bits.OnesCount64(w)
		if n < c {
			return int32(i*64 + bitboard.Select(w, n))
		}
		n -= c
	}
	return -1
}

// pick draws one of the head's set bits.
func (h head) pick(mask []uint64, g *prng.Rand) int32 {
	legal := 0
	for from := 0; from < h.size; from += 64 {
		legal += bits.OnesCount64(h.chunk(mask, from))
	}
	if legal == 0 {
		return -1
	}
	n := g.IntN(legal)
	for from := 0; ; from += 64 {
		chunk := h.chunk(mask, from)
		if c := bits.OnesCount64(chunk); n >= c {
			n -= c
			continue
		}
		return int32(from + bitboard.Select(chunk, n))
	}
}

// chunk returns the head's choices from … from+63 as bits 0 … 63.
func (h head) chunk(mask []uint64, from int) uint64 {
	word := h.word + from/64
	c := mask[word] >> h.shift
	left := h.size - from
	if h.shift+left > 64 && h.shift > 0 {
		c |= mask[word+1] << (64 - h.shift)
	}
	if left < 64 {
		c &= 1<<left - 1
	}
	return c
}

// empty gives no orders.
type empty struct{}

func newEmpty(env.Spec) (rollout.Policy, error) { return empty{}, nil }

func (empty) Name() string { return "empty" }

func (empty) Wants() env.Want { return 0 }

func (empty) Act(_ env.Vector, b *env.Batch, rows []int32) {
	b.Need(0, "empty")
	for _, row := range rows {
		b.OrderLen[row] = 0
	}
}
