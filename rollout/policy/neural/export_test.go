package neural

import "moonfarm/sim/prng"

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
