package rating

import "math"

// The last bits of math.Exp and math.Log differ between machines. The functions here give the same
// bits everywhere: they are sums, products and quotients in one fixed order.

// inverse are 1/n for n = 14 … 1.
var inverse = [...]float64{
	1.0 / 14, 1.0 / 13, 1.0 / 12, 1.0 / 11, 1.0 / 10, 1.0 / 9, 1.0 / 8, 1.0 / 7, 1.0 / 6, 1.0 / 5, 1.0 / 4, 1.0 / 3, 1.0 / 2, 1,
}

// exp returns eˣ to a relative error of about 1e-15: 0 below e⁻⁷⁰⁰, and e⁷⁰⁰ above.
func exp(x float64) float64 {
	const (
		ln2High = 6.93147180369123816490e-01 // the first 32 bits of ln 2
		ln2Low  = 1.90821492927058770002e-10
	)
	switch {
	case math.IsNaN(x):
		return x
	case x < -700:
		return 0
	case x > 700:
		x = 700
	}
	k := math.Floor(float64(x/math.Ln2) + 0.5)
	r := x - float64(k*ln2High) - float64(k*ln2Low) // at most 0.35: rⁿ/n! is below 1e-17 at n = 15
	sum := 1.0
	for _, c := range &inverse {
		sum = 1 + float64(float64(r*c)*sum)
	}
	return math.Ldexp(sum, int(k))
}

// log returns the natural logarithm of a finite x > 0, by the series of the inverse hyperbolic
// tangent.
func log(x float64) float64 {
	frac, e := math.Frexp(x)
	if frac < math.Sqrt2/2 {
		frac, e = 2*frac, e-1
	}
	t := (frac - 1) / (frac + 1) // at most 0.172: each term is below a thirtieth of the previous one
	sum, power := 0.0, t
	for k := 1; k < 24; k += 2 {
		sum += power / float64(k)
		power *= t * t
	}
	return float64(2*sum) + float64(float64(e)*math.Ln2)
}

// round rounds x to a multiple of 1/unit.
func round(x, unit float64) float64 { return math.Round(x*unit) / unit }
