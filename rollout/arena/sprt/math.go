package sprt

import "math"

// The functions of this file have the same last bits on every machine, unlike those of package
// math, since a decision must not depend on the machine. The conversions around products keep the
// compiler from fusing them with sums.

// ln returns the natural logarithm of a positive finite x, by the series of the inverse hyperbolic
// tangent.
func ln(x float64) float64 {
	frac, exp := math.Frexp(x)
	if frac < math.Sqrt2/2 {
		frac, exp = float64(2*frac), exp-1
	}
	t := (frac - 1) / (frac + 1) // at most 0.172: each term is below a thirtieth of the previous one
	square := float64(t * t)
	sum := 0.0
	for k := len(odd) - 1; k >= 0; k-- {
		sum = float64(sum*square) + odd[k]
	}
	return float64(2*float64(t*sum)) + float64(float64(exp)*math.Ln2)
}

// odd are the coefficients of the series of ln.
var odd = [...]float64{1, 1. / 3, 1. / 5, 1. / 7, 1. / 9, 1. / 11, 1. / 13, 1. / 15, 1. / 17, 1. / 19, 1. / 21, 1. / 23}

// exp returns e to the power x, up to 700, by its series between −ln 2/2 and ln 2/2.
func exp(x float64) float64 {
	if x < -740 {
		return 0
	}
	k := math.Round(x / math.Ln2)
	r := x - float64(k*math.Ln2)
	sum, term := 1.0, 1.0
	for i := 1; i < 18; i++ {
		term = float64(term*r) / float64(i)
		sum += term
	}
	return math.Ldexp(sum, int(k))
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
	return max(0, min(1, 0.5+float64(density*float64(sum*exp(-square/2)))))
}
