package policy

import (
	"math/bits"

	"moonfarm/env"
	"moonfarm/rollout"
	"moonfarm/sim/bitboard"
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
	if len(r.heads) == 1 {
		for _, row := range rows {
			b.Action[row] = pickOne(b.Mask[int(row)*r.words:][:r.words], b.Key[row])
		}
		return
	}
	for _, row := range rows {
		mask := b.Mask[int(row)*r.words:][:r.words]
		action := b.Action[int(row)*len(r.heads):][:len(r.heads)]
		g := prng.New(b.Key[row])
		for i := range action {
			action[i] = r.heads[i].pick(mask, &g)
		}
	}
}

// pickOne is pick for a single head, which has the whole mask: the common case.
func pickOne(mask []uint64, key uint64) int32 {
	legal := 0
	for _, w := range mask {
		legal += bits.OnesCount64(w)
	}
	if legal == 0 {
		return -1
	}
	g := prng.New(key)
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
