package neural

import (
	"math"
	"slices"

	"moonfarm/env"
	"moonfarm/rollout/network"
	"moonfarm/sim/prng"
)

// Options say how a network's logits become choices.
type Options struct {
	Greedy      bool    // the legal choice with the largest logit, the first of those that tie
	Temperature float64 // above 0: choices are drawn in proportion to exp(logit/Temperature)
}

// batch is how many rows are evaluated at once. Larger ones are no faster.
const batch = 32

// Policy is a network that plays. Its choices for a row depend on that row alone: the
// legal choices of each head, drawn by the row's key or the best. A head without a
// legal choice gets −1.
type Policy struct {
	name    string
	options Options
	input   *input
	heads   []logits
	masked  int // heads that have a mask
	words   int // of a mask
	weights []float32
}

// New makes the policy for a model that fits the games.
func New(name string, m Model, f Fit, o Options, s env.Spec) *Policy {
	p := &Policy{name: name, options: o, input: newInput(m, f, s, batch), masked: len(s.Heads) - s.Unmasked, words: s.MaskWords}
	p.heads = p.input.heads(f, batch)
	p.weights = make([]float32, slices.Max(s.Heads))
	return p
}

// Name is the text from which the policy was made, with the checksum of the model.
func (p *Policy) Name() string { return p.name }

// Wants are the slabs that the model reads, the mask, the key and the action.
func (p *Policy) Wants() env.Want { return p.input.wants | env.WantMask | env.WantKey | env.WantAction }

// Act evaluates the rows and chooses for each head.
func (p *Policy) Act(_ env.Vector, b *env.Batch, rows []int32) {
	b.Need(p.Wants(), p.name)
	for len(rows) > 0 {
		n := min(len(rows), batch)
		for i, row := range rows[:n] {
			p.input.copy(i, b, int(row))
		}
		p.input.runner.Run(n)
		for i, row := range rows[:n] {
			action := b.Action[int(row)*len(p.heads):][:len(p.heads)]
			p.choose(action, i, b.Mask[int(row)*p.words:][:p.words], b.Key[row])
		}
		rows = rows[n:]
	}
}

// choose writes the action of row i of the batch.
func (p *Policy) choose(action []int32, i int, mask []uint64, key uint64) {
	random := prng.New(key)
	at := 0
	for h := range p.heads {
		logits := p.heads[h].of(i)
		legal := choices{mask: mask, at: at}
		if h >= p.masked {
			legal.mask = nil
		}
		if p.options.Greedy {
			action[h] = legal.best(logits)
		} else {
			action[h] = p.draw(legal, logits, &random)
		}
		at += len(logits)
	}
}

// choices are the legal ones of a head: bits of a mask from at on; all without a mask.
type choices struct {
	mask []uint64
	at   int
}

func (c choices) legal(k int) bool {
	k += c.at
	return c.mask == nil || c.mask[k>>6]>>(k&63)&1 != 0
}

// best is the first legal choice with the largest logit, −1 if none is legal. A NaN is
// less than all numbers.
func (c choices) best(logits []float32) int32 {
	best := int32(-1)
	for k, x := range logits {
		if c.legal(k) && (best < 0 || x > logits[best] || logits[best] != logits[best] && x == x) {
			best = int32(k)
		}
	}
	return best
}

// draw draws a legal choice, −1 if none is legal.
func (p *Policy) draw(c choices, logits []float32, random *prng.Rand) int32 {
	best := c.best(logits)
	if best < 0 || math.IsInf(float64(logits[best]), 0) || logits[best] != logits[best] {
		return best
	}
	weights := p.weights[:len(logits)]
	for k, x := range logits {
		weights[k] = float32(math.Inf(-1))
		if c.legal(k) && x == x {
			weights[k] = float32(float64(x-logits[best]) / p.options.Temperature)
		}
	}
	network.Exp(weights, weights)
	sum := 0.0
	for _, w := range weights {
		sum += float64(w)
	}
	rest := float64(random.Float64() * sum)
	for k, w := range weights {
		if rest -= float64(w); rest < 0 && w > 0 {
			return int32(k)
		}
	}
	return best
}
