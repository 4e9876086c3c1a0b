package rating

import (
	"math"

	"moonfarm/rollout/exact"
)

// normal95 is the two-sided 95 % point of the normal distribution.
const normal95 = 1.959963984540054

// tail returns the probability that a variable with Student's t distribution is above t, which is not negative. It has
// at least one degree of freedom. With x = ν/(ν+t²) it is half the regularised incomplete beta function Iₓ(ν/2, ½).
func tail(freedom, t float64) float64 {
	a, x := freedom/2, freedom/(freedom+float64(t*t))
	front := inverseBeta(a) * exact.Exp(a*exact.Log(x)) * math.Sqrt(1-x)
	if x < (a+1)/(a+2.5) {
		return front * fraction(a, 0.5, x) / a / 2
	}
	return 0.5 - float64(front*fraction(0.5, a, 1-x))
}

// quantile95 returns the two-sided 95 % point of the t distribution. Its tail is convex there, so Newton's method climbs
// from the point of the normal distribution.
func quantile95(freedom float64) float64 {
	t := normal95
	for range 60 {
		density := inverseBeta(freedom/2) / math.Sqrt(freedom) * exact.Exp(-(freedom+1)/2*exact.Log(1+float64(t*t)/freedom))
		step := (tail(freedom, t) - 0.025) / density
		if t += step; step < 1e-12*t {
			break
		}
	}
	return t
}

// inverseBeta returns 1/B(a, ½) = Γ(a+½)/(Γ(a)√π), by Stirling's series for a large a.
func inverseBeta(a float64) float64 {
	ratio := 1 / math.Sqrt(math.Pi)
	for ; a < 30; a++ {
		ratio *= a / (a + 0.5)
	}
	y := 1 / a
	series := 1 + float64(y*(-1./8+float64(y*(1./128+float64(y*(5./1024-float64(y*21/32768)))))))
	return ratio * math.Sqrt(a) * series
}

// fraction returns the continued fraction of the incomplete beta function by Lentz's method: W. H. Press et al., "Numerical
// Recipes", 6.4.
func fraction(a, b, x float64) float64 {
	nonzero := func(y float64) float64 {
		if math.Abs(y) < 1e-300 {
			return 1e-300
		}
		return y
	}
	c, d := 1.0, 1/nonzero(1-float64((a+b)*x)/(a+1))
	h := d
	for i := range 100_000 {
		m := float64(i + 1)
		even := m * (b - m) * x / (a + 2*m - 1) / (a + 2*m)
		odd := -(a + m) * (a + b + m) * x / (a + 2*m) / (a + 2*m + 1)
		factor := 1.0
		for _, term := range [2]float64{even, odd} {
			d = 1 / nonzero(1+float64(term*d))
			c = nonzero(1 + term/c)
			factor = c * d
			h *= factor
		}
		if math.Abs(factor-1) < 1e-15 {
			break
		}
	}
	return h
}
