// Package exact has functions that give the same bits on every machine, unlike those of package math:
// sums, products and quotients in one fixed order, with conversions around products that keep the
// compiler from fusing them with sums. Networks, sequential tests and fits of ratings compute with them,
// and do not depend on the machine. Intervals of ratings also use gonum's t distribution, which may differ
// in last bits: package rating rounds its results.
package exact

import "math"

// Exp returns eˣ: 0 below e⁻⁷⁰⁰, and e⁷⁰⁰ above. Its relative error is at most the larger of 1e-15 and
// |x|·2e-16.
func Exp(x float64) float64 {
	switch {
	case math.IsNaN(x):
		return x
	case x < -700:
		return 0
	case x > 700:
		x = 700
	}
	k := math.Round(x / math.Ln2)
	r := x - float64(k*math.Ln2)
	sum, term := 1.0, 1.0 // |r| is at most 0.35: rⁿ/n! is below 1e-17 at n = 15
	for i := 1; i < 18; i++ {
		term = float64(term*r) / float64(i)
		sum += term
	}
	return math.Ldexp(sum, int(k))
}

// odd are 1/23, 1/21 … 1, the coefficients of the series of Log.
var odd = [...]float64{1. / 23, 1. / 21, 1. / 19, 1. / 17, 1. / 15, 1. / 13, 1. / 11, 1. / 9, 1. / 7, 1. / 5, 1. / 3, 1}

// Log returns the natural logarithm, with an error of some units in the last place: x = m·2^k with m
// from √½ to √2, and log m = 2·artanh((m−1)/(m+1)). It is NaN for negative x and −∞ for 0.
func Log(x float64) float64 {
	switch {
	case x != x || x < 0:
		return math.NaN()
	case x == 0:
		return math.Inf(-1)
	case x > math.MaxFloat64:
		return x
	}
	m, k := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, k = 2*m, k-1
	}
	t := (m - 1) / (m + 1) // at most 0.172: each term is below a thirtieth of the previous one
	square, sum := float64(t*t), 0.0
	for _, c := range &odd {
		sum = float64(sum*square) + c
	}
	return float64(float64(k)*math.Ln2) + float64(2*float64(t*sum))
}

// Phi returns the distribution function of the standard normal distribution, to an absolute error
// of 1e-15, by the series of G. Marsaglia, "Evaluating the Normal Distribution", Journal of
// Statistical Software 11 (2004).
func Phi(x float64) float64 {
	if x < -8 {
		return 0
	}
	if x > 8 {
		return 1
	}
	square := float64(x * x)
	sum, term := x, x
	for k := 3.0; k < 400; k += 2 {
		term = float64(term*square) / k
		next := sum + term
		if next == sum {
			break
		}
		sum = next
	}
	const density = 0.398942280401432677939946 // 1/√(2π)
	return max(0, min(1, 0.5+float64(density*float64(sum*Exp(-square/2)))))
}

// Round rounds x to a multiple of 1/unit.
func Round(x, unit float64) float64 { return math.Round(x*unit) / unit }
