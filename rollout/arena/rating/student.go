package rating

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// normal95 is the two-sided 95 % point of the normal distribution.
const normal95 = 1.959963984540054

// tail returns the probability that a variable with Student's t distribution is above t, which is not negative. With
// x = ν/(ν+t²) it is half the regularised incomplete beta function Iₓ(ν/2, ½). Package distuv, which has the same, needs
// twenty packages more.
func tail(freedom, t float64) float64 {
	return mathext.RegIncBeta(freedom/2, 0.5, freedom/(freedom+float64(t*t))) / 2
}

// quantile95 returns the two-sided 95 % point of the t distribution.
func quantile95(freedom float64) float64 {
	x := mathext.InvRegIncBeta(freedom/2, 0.5, 0.05)
	return math.Sqrt(freedom * (1 - x) / x)
}
