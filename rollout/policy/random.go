package policy

import (
	"math/bits"

	"moonfarm/env"
	"moonfarm/rollout"
	"moonfarm/sim/prng"
)

// random chooses uniformly among the legal choices of each head, by the mask.
// A head without a legal choice gets −1, which does nothing.
type random struct {
	words int
	heads []head
}

// head is where the choices of one head lie in the mask.
type head struct {
	word, shift int // of the first choice
	size        int
}

func newRandom(s env.Spec) (rollout.Policy, error) {
	r := &random{words: s.MaskWords}
	at := 0
	for _, size := range s.Heads {
		r.heads = append(r.heads, head{at / 64, at % 64, size})
		at += size
	}
	return r, nil
}

func (r *random) Name() string { return "random" }

func (r *random) Wants() env.Want { return env.WantMask | env.WantAction | env.WantKey }

func (r *random) Act(_ env.Vector, b *env.Batch, rows []int32) {
	for _, row := range rows {
		mask := b.Mask[int(row)*r.words:][:r.words]
		action := b.Action[int(row)*len(r.heads):][:len(r.heads)]
		g := prng.New(b.Key[row])
		for i := range action {
			action[i] = r.heads[i].pick(mask, &g)
		}
	}
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
		return int32(from + nth(chunk, n))
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

// nth is the position of set bit number n (from 0, 0 the lowest) of w, which
// has more than n bits set. Sebastiano Vigna, "Broadword implementation of
// rank/select queries", 2008: the byte is found by comparing all running byte
// counts with n at once, the bit in it by clearing those below.
func nth(w uint64, n int) int {
	const low, high = 0x0101010101010101, 0x8080808080808080
	c := w - w>>1&0x5555555555555555
	c = c&0x3333333333333333 + c>>2&0x3333333333333333
	c = (c + c>>4) & 0x0f0f0f0f0f0f0f0f * low                 // byte i: bits set in bytes 0 … i
	at := bits.OnesCount64(((uint64(n)*low|high)-c)&high) * 8 // bytes whose count is at most n
	n -= int(c << 8 >> at & 0xff)
	b := w >> at
	for ; n > 0; n-- {
		b &= b - 1
	}
	return at + bits.TrailingZeros64(b)
}
