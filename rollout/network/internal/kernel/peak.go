package kernel

import "time"

// Peak measures the maximal number of floating-point operations per second of one core on the
// path in use, where a fused multiply-add counts as two. It is the best of several loops of
// multiply-adds, which take a tenth of a second together.
func Peak() float64 {
	p, best := current(), 0.0
	for range 50 {
		const rounds = 20_000
		start := time.Now()
		var products int
		if p == &portable {
			products = peakPortable(rounds)
		} else {
			products = peakAssembly(p, rounds)
		}
		best = max(best, 2*float64(products)/time.Since(start).Seconds())
	}
	return best
}

// peakPortable adds products to 16 sums, `rounds` times, and returns their number. 16 sums keep
// a core busy though each addition waits for the previous one of its sum.
func peakPortable(rounds int) int {
	var sums [16]float32
	for range rounds {
		for i, s := range sums {
			sums[i] = fma(0.5, s, 1)
		}
	}
	if sums[0] > 2 { // never; keeps the compiler from removing the loop
		return 0
	}
	return rounds * len(sums)
}
