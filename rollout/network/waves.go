package network

import "math"

// π/2 in two parts: the first has 33 bits, so that its product with a whole number of up
// to 20 bits is exact in a float64.
const (
	quarterHigh = 1.57079632673412561417e+00
	quarterLow  = 6.07710050650619224932e-11
)

// mostWave bounds the numbers whose quarters of a period are counted exactly.
const mostWave = 1 << 20

// sine returns sin(x + quarters·π/2), with an error of at most one unit in the last place of a
// float32 for |x| up to mostWave, and with the same bits on every machine. Larger numbers are
// first reduced modulo 2π in float64, which adds an error of |x|·4e-17. For ±∞ it is NaN.
func sine(x float32, quarters int64) float32 {
	v := float64(x)
	if v-v != 0 {
		return float32(math.NaN())
	}
	if math.Abs(v) > mostWave {
		v = math.Mod(v, 2*math.Pi)
	}
	n := math.RoundToEven(float64(v * (2 / math.Pi)))
	r := v      // within ±π/4
	if n != 0 { // −0 stays
		r = v - float64(n*quarterHigh) - float64(n*quarterLow)
	}
	quarters += int64(n)
	first, last := r, 13 // terms of the series sin r = r − r³/3! + … ± r¹³/13!
	if quarters&1 != 0 {
		first, last = 1, 14 // cos r = 1 − r²/2! + … ± r¹⁴/14!
	}
	squared, sum := float64(r*r), 1.0
	for i := last; i > 1; i -= 2 {
		sum = 1 - float64(float64(squared*sum)/float64(i*(i-1)))
	}
	sum = float64(first * sum)
	if quarters&2 != 0 {
		sum = -sum
	}
	return float32(sum)
}
