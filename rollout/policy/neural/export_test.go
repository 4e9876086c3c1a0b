package neural

import (
	"math"

	"moonfarm/rollout/network"
	"moonfarm/sim/prng"
)

// Best returns the greedy choice.
func Best(mask []uint64, logits []float32) int32 { return choices{mask: mask}.survey(logits).best }

// Draw returns the choice drawn by a seed.
func Draw(mask []uint64, logits []float32, temperature float64, seed uint64) int32 {
	r := prng.New(seed)
	c := choices{mask: mask}
	return c.draw(make([]float32, len(logits)), logits, c.survey(logits).best, temperature, &r)
}

// Survey reports whether only the mask prevents an illegal choice, and whether logits are not
// finite.
func Survey(mask []uint64, logits []float32) (illegal, broken bool) {
	s := choices{mask: mask}.survey(logits)
	return s.best >= 0 && logits[s.most] > logits[s.best], s.broken
}

func (c choices) legal(k int) bool {
	k += c.at
	return c.mask[k>>6]>>(k&63)&1 != 0
}

// SurveyAt returns the best legal choice and the largest logit's, where the choices begin at a bit of a mask, and what the
// plain way of finding them gives.
func SurveyAt(mask []uint64, at int, logits []float32) (got, want [2]int32) {
	c := choices{mask: mask, at: at}
	s := c.survey(logits)
	got, want = [2]int32{s.best, s.most}, [2]int32{-1, 0}
	for k, x := range logits {
		if c.legal(k) && (want[0] < 0 || more(x, logits[want[0]])) {
			want[0] = int32(k)
		}
		if more(x, logits[want[1]]) {
			want[1] = int32(k)
		}
	}
	return got, want
}

// DrawAt returns the choice drawn by a seed where the choices begin at a bit of a mask, and what the plain way of
// drawing it gives, which weighs all choices.
func DrawAt(mask []uint64, at int, logits []float32, temperature float64, seed uint64) (got, want int32) {
	c := choices{mask: mask, at: at}
	best := c.survey(logits).best
	r, plain := prng.New(seed), prng.New(seed)
	got = c.draw(make([]float32, len(logits)), logits, best, temperature, &r)
	if best < 0 || !finite(logits[best]) {
		return got, best
	}
	weights, sum := make([]float32, len(logits)), 0.0
	for k, x := range logits {
		weights[k] = float32(math.Inf(-1))
		if c.legal(k) && x == x {
			weights[k] = float32(float64(x-logits[best]) / temperature)
		}
	}
	network.Exp(weights, weights)
	for _, w := range weights {
		sum += float64(w)
	}
	rest := float64(plain.Float64() * sum)
	for k, w := range weights {
		if rest -= float64(w); rest < 0 && w > 0 {
			return got, int32(k)
		}
	}
	return got, best
}
