package rollout

// Weights draws numbers 0 … n−1, each with a probability in proportion to its weight. Entry i is the
// bound below which a draw of drawBits bits gives a number up to i.
type Weights []uint64

// drawBits is the number of random bits of a draw.
const drawBits = 53

// NewWeights returns the Weights of finite numbers from 0, at least one of them above 0. A number with the weight
// 0 is never drawn.
func NewWeights(weights []float64) Weights {
	largest, sum := 0.0, 0.0
	for _, w := range weights {
		largest = max(largest, w)
	}
	// Divided by the largest, the sum cannot overflow.
	for _, w := range weights {
		sum += w / largest
	}
	at, bounds := 0.0, make(Weights, len(weights))
	for i, w := range weights {
		at += w / largest // the same sums in the same order, so that the last bound is above every draw
		bounds[i] = uint64(float64(at / sum * (1 << drawBits)))
	}
	return bounds
}

// Draw returns the number that 64 random bits draw.
func (w Weights) Draw(random uint64) int {
	i := 0
	for random>>(64-drawBits) >= w[i] {
		i++
	}
	return i
}
