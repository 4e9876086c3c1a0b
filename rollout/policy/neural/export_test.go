package neural

import "moonfarm/sim/prng"

// Best is the greedy choice.
func Best(mask []uint64, logits []float32) int32 { return choices{mask: mask}.best(logits) }

// Draw is the choice drawn by a key.
func Draw(mask []uint64, logits []float32, temperature float64, key uint64) int32 {
	p := &Policy{options: Options{Temperature: temperature}, weights: make([]float32, len(logits))}
	r := prng.New(key)
	return p.draw(choices{mask: mask}, logits, &r)
}
