package neural

import (
	"math"
	"math/bits"
	"slices"

	"moonfarm/env"
	"moonfarm/rollout"
	"moonfarm/rollout/network"
	"moonfarm/sim/prng"
)

// Options control how a Policy chooses by the network's logits.
type Options struct {
	Greedy      bool    // plays the legal choice with the largest logit, the first one among equals
	Temperature float64 // above 0: choices are drawn in proportion to exp(logit/Temperature)
}

// batch is the number of rows that are evaluated at once. Larger batches are no faster.
const batch = 32

// Policy is a network that plays. Its choices for a row depend only on that row, and on its state
// if it is recurrent: for each head a legal choice, the best one or one drawn by the row's seed. A
// head without a legal choice gets −1.
type Policy struct {
	name    string
	options Options
	input   *input
	heads   []logits
	words   int // of a mask
	weights []float32
	values  []float32               // of the batch; nil: the model has no value
	counts  []rollout.NetworkCounts // of the latest Act, by row
	memory  memory                  // of a recurrent network
}

// New makes the policy for a model that fits the games.
func New(name string, m *network.Model, f Fit, o Options, s env.Spec) *Policy {
	p := &Policy{name: name, options: o, input: newInput(m, f, s, batch), words: s.MaskWords}
	p.heads = p.input.heads(f, batch)
	p.weights = make([]float32, slices.Max(s.Heads))
	if f.Value != "" {
		p.values = p.input.runner.Output(f.Value)
	}
	p.memory = newMemory(name, m, f, p.input.runner)
	return p
}

// Name returns the spec from which the policy was made, with the checksum of the model.
func (p *Policy) Name() string { return p.name }

// Wants returns the slabs that the model reads, the mask, the seed and the action.
func (p *Policy) Wants() env.Want {
	return p.input.wants | env.WantMask | env.WantRowSeed | env.WantAction
}

// States implements rollout.Recurrent.
func (p *Policy) States() *rollout.States { return p.memory.states }

// Act evaluates the rows and chooses for each head. For a recurrent network, States().Begin comes before the
// first action of a turn.
func (p *Policy) Act(_ env.Vector, b *env.Batch, rows []int32) {
	b.Need(p.Wants(), p.name)
	if len(p.counts) < b.Rows {
		p.counts = make([]rollout.NetworkCounts, b.Rows)
	}
	for len(rows) > 0 {
		n := min(len(rows), batch)
		for i, row := range rows[:n] {
			p.input.copy(i, b, int(row))
		}
		p.memory.load(rows[:n])
		p.input.runner.Run(n)
		p.memory.store(rows[:n])
		for i, row := range rows[:n] {
			action := b.Action[int(row)*len(p.heads):][:len(p.heads)]
			p.counts[row] = p.choose(action, i, b.Mask[int(row)*p.words:][:p.words], b.RowSeed[row])
		}
		rows = rows[n:]
	}
}

// Network implements rollout.Networked.
func (p *Policy) Network(_ *env.Batch, row int32) rollout.NetworkCounts { return p.counts[row] }

// choose writes the action of row i of the batch, and returns the counts of its evaluation.
func (p *Policy) choose(action []int32, i int, mask []uint64, seed uint64) rollout.NetworkCounts {
	random := prng.New(seed)
	at := 0
	c := rollout.NetworkCounts{Evaluations: 1}
	broken := p.values != nil && !finite(p.values[i])
	for h := range p.heads {
		logits := p.heads[h].of(i)
		legal := choices{mask: mask, at: at}
		s := legal.survey(logits)
		broken = broken || s.broken
		if s.best >= 0 {
			c.Choices++
			if logits[s.most] > logits[s.best] {
				c.Illegal++
			}
		}
		action[h] = s.best
		if !p.options.Greedy {
			action[h] = legal.draw(p.weights, logits, s.best, p.options.Temperature, &random)
		}
		at += len(logits)
	}
	if broken {
		c.NotFinite = 1
	}
	return c
}

// finite reports whether a number is neither NaN nor infinite.
func finite(x float32) bool { return x-x == 0 }

// choices are the legal choices of a head: the bits of a mask from `at` on.
type choices struct {
	mask []uint64
	at   int
}

// surveyed are the extremes of a head's logits. A NaN is less than all numbers.
type surveyed struct {
	best   int32 // the first legal choice with the largest logit, −1 if none is legal
	most   int32 // the first of all choices with the largest logit
	broken bool  // a logit is NaN or +∞, or all legal logits are −∞
}

// survey finds the extremes of a head's logits.
func (c choices) survey(logits []float32) surveyed {
	s := surveyed{best: -1}
	top := logits[0]
	for k, x := range logits {
		if x-x != 0 && !(x < 0) { // NaN or +∞
			s.broken = true
		}
		if more(x, top) {
			s.most, top = int32(k), x
		}
	}
	for from := 0; from < len(logits); from += 64 {
		for set := c.word(from, len(logits)); set != 0; set &= set - 1 {
			k := from + bits.TrailingZeros64(set)
			if s.best < 0 || more(logits[k], logits[s.best]) {
				s.best = int32(k)
			}
		}
	}
	if s.best >= 0 && logits[s.best] < -math.MaxFloat32 {
		s.broken = true
	}
	return s
}

// more reports whether x is more than y, where a NaN is less than all numbers.
func more(x, y float32) bool { return x > y || y != y && x == x }

// word returns the legal choices from k on, at most 64: bit i is choice k + i. n is the number of all choices.
func (c choices) word(k, n int) uint64 {
	at, by := (c.at+k)>>6, (c.at+k)&63
	set := c.mask[at] >> by
	if by > 0 && at+1 < len(c.mask) {
		set |= c.mask[at+1] << (64 - by)
	}
	if n-k < 64 {
		set &= 1<<(n-k) - 1
	}
	return set
}

// weigh writes exp((logit − logit of best)/temperature) of each legal choice to weights, one after the other, and
// returns their sum. A NaN weighs nothing. The logit of best must be finite.
func (c choices) weigh(weights, logits []float32, best int32, temperature float64) (sum float64) {
	n := 0
	for from := 0; from < len(logits); from += 64 {
		for set := c.word(from, len(logits)); set != 0; set &= set - 1 {
			x := logits[from+bits.TrailingZeros64(set)]
			if weights[n] = float32(float64(x-logits[best]) / temperature); x != x {
				weights[n] = float32(math.Inf(-1))
			}
			n++
		}
	}
	network.Exp(weights[:n], weights[:n])
	for _, w := range weights[:n] {
		sum += float64(w)
	}
	return sum
}

// draw draws a legal choice; weights is scratch, one for each choice. best is the one with the
// largest logit, −1 if none is legal; draw returns best if its logit is NaN or infinite, for
// which there are no probabilities.
func (c choices) draw(weights, logits []float32, best int32, temperature float64, random *prng.Rand) int32 {
	if best < 0 || !finite(logits[best]) {
		return best
	}
	sum := c.weigh(weights, logits, best, temperature)
	rest := float64(random.Float64() * sum)
	n := 0
	for from := 0; from < len(logits); from += 64 {
		for set := c.word(from, len(logits)); set != 0; set &= set - 1 {
			w := weights[n]
			if rest -= float64(w); rest < 0 && w > 0 {
				return int32(from + bits.TrailingZeros64(set))
			}
			n++
		}
	}
	return best
}
