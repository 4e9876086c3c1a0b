package kernel

import "time"

// Peak measures how many floating-point operations a second one core can do at most
// on the path that runs, counting a fused multiply-add as two: the best of several
// loops of nothing else, in a tenth of a second in all.
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

// peakPortable adds 16 products rounds times, and returns their number: so many sums
// keep a core busy though each waits for the one before.
func peakPortable(rounds int) int {
	var sums [16]float32
	for range rounds {
		for i, s := range sums {
			sums[i] = fma(0.5, s, 1)
		}
	}
	if sums[0] > 2 { // never, but the compiler does not know
		return 0
	}
	return rounds * len(sums)
}
