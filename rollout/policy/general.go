package policy

import (
	"math/bits"

	"moonfarm/env"
	"moonfarm/features"
	"moonfarm/rollout"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/prng"
)

// random chooses uniformly among the legal choices of each head, which the mask has. It
// chooses −1, no order, for a head without a legal choice.
type random struct {
	words int
	heads []head
	runs  []run // the same heads

	lists [lists]list // sets of legal choices that heads had lately
}

// list lists a set of choices of a head. The zero value lists the empty set.
type list struct {
	set    uint64
	n      uint64
	choice [64]uint8
}

// lists is the number of lists that are kept. The heads of a grid have few different sets.
const lists = 16

// listOf returns the list of a set.
func (r *random) listOf(set uint64) *list {
	l := &r.lists[set*0x9e3779b97f4a7c15>>60%lists]
	if l.set != set {
		l.fill(set)
	}
	return l
}

func (l *list) fill(set uint64) {
	l.set, l.n = set, 0
	for c := set; c != 0; c &= c - 1 {
		l.choice[l.n&63] = uint8(bits.TrailingZeros64(c))
		l.n++
	}
}

// head is the position of a head's choices in the mask.
type head struct {
	word, shift int // of the first choice
	size        int
}

// run has consecutive heads of the same size. If even is set, the size divides 64 and no head
// crosses the border of two words of the mask.
type run struct {
	first, n int
	even     bool
}

// newRandom returns the policy random. In a sequential form it draws choices of the form features.Cells.
func newRandom(s env.Spec) (rollout.Policy, error) {
	if cells, ok := s.InForm(features.Cells); ok && s.Sequential {
		return &inForm{Policy: newRandomIn(cells), form: cells.Form}, nil
	}
	return newRandomIn(s), nil
}

// newRandomIn returns a policy that draws choices of the spec's form.
func newRandomIn(s env.Spec) *random {
	r := &random{words: s.MaskWords}
	at := 0
	for i, size := range s.Heads {
		if i == 0 || size != s.Heads[i-1] {
			r.runs = append(r.runs, run{first: i, even: 64%size == 0 && at%size == 0})
		}
		r.runs[len(r.runs)-1].n++
		r.heads = append(r.heads, head{at / 64, at % 64, size})
		at += size
	}
	return r
}

func (r *random) Name() string { return "random" }

func (r *random) Wants() env.Want { return env.WantMask | env.WantAction | env.WantRowSeed }

func (r *random) Act(_ env.Vector, b *env.Batch, rows []int32) {
	b.Need(r.Wants(), "random")
	n := len(r.heads)
	if n == 1 {
		for _, row := range rows {
			b.Action[row] = pickOne(b.Mask[int(row)*r.words:][:r.words], b.RowSeed[row])
		}
		return
	}
	for _, row := range rows {
		mask := b.Mask[int(row)*r.words:][:r.words]
		action := b.Action[int(row)*n:][:n]
		g := draws{Rand: prng.New(b.RowSeed[row])}
		for k := range r.runs {
			u := &r.runs[k]
			if u.even {
				r.pickEven(action[u.first:u.first+u.n], mask, &r.heads[u.first], &g)
				continue
			}
			for i := u.first; i < u.first+u.n; i++ {
				if h := &r.heads[i]; h.size <= 64 {
					action[i] = r.pickSmall(h.chunk(mask, 0), &g)
				} else {
					action[i] = h.pick(mask, &g.Rand)
				}
			}
		}
	}
}

// pickEven does the same as pickSmall for the heads of an even run, whose first head is h. It goes
// through the mask word by word. Most heads have the same legal choices as the one before: if all
// heads of a word have, pickAll chooses in that word and in all equal words after it.
func (r *random) pickEven(action []int32, mask []uint64, h *head, g *draws) {
	size, choices, each := h.size&63, ^uint64(0)>>(64-h.size), 64/h.size
	firsts := ^uint64(0) / choices // the first choices of the heads of a word
	mask = mask[h.word:]
	word, left, next := mask[0]>>h.shift, each-h.shift/h.size, 1
	l := &r.lists[0]
	for i := 0; i < len(action); i++ {
		if left == 0 {
			word, left = mask[next], each
			if n := len(action) - i; n >= each && each > 1 && word == word&choices*firsts {
				words := 1
				for (words+1)*each <= n && mask[next+words] == word {
					words++
				}
				n = words * each
				r.listOf(word&choices).pickAll(action[i:i+n], g)
				i, next, left = i+n-1, next+words, 0
				continue
			}
			next++
		}
		chunk := word & choices
		word >>= size // of a head of 64 choices no choice is left
		left--
		if chunk == 1 {
			action[i] = 0
			continue
		}
		if l.set != chunk {
			l = r.listOf(chunk)
		}
		if l.n == 0 {
			action[i] = -1
			continue
		}
		draw := g.rest & (1<<32 - 1)
		if g.half = !g.half; g.half {
			g.rest = g.Uint64()
			draw = g.rest >> 32
		}
		action[i] = int32(l.choice[draw*l.n>>32&63])
	}
}

// pickAll does the same as pickSmall for an even number of heads whose legal choices are the list.
func (l *list) pickAll(action []int32, g *draws) {
	if l.set <= 1 { // no choice, or only 0
		for i := range action {
			action[i] = int32(l.set) - 1
		}
		return
	}
	n, rest, r := l.n, g.rest, g.Rand
	if g.half {
		for ; len(action) >= 2; action = action[2:] {
			action[0] = int32(l.choice[rest&(1<<32-1)*n>>32&63])
			rest = r.Uint64()
			action[1] = int32(l.choice[rest>>32*n>>32&63])
		}
	} else {
		for ; len(action) >= 2; action = action[2:] {
			rest = r.Uint64()
			action[0] = int32(l.choice[rest>>32*n>>32&63])
			action[1] = int32(l.choice[rest&(1<<32-1)*n>>32&63])
		}
	}
	g.rest, g.Rand = rest, r
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

// pickSmall does the same as pick for up to 64 choices.
func (r *random) pickSmall(chunk uint64, g *draws) int32 {
	if chunk == 1 {
		return 0 // the only legal choice, a frequent case; needs no draw
	}
	l := r.listOf(chunk)
	if l.n == 0 {
		return -1
	}
	return int32(l.choice[g.below(int(l.n))&63])
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
