package kernel

import "math"

// fma returns x·y + z rounded once to float32, like the instruction of that name, by
// arithmetic that is the same everywhere. The product of two float32 is exact in
// float64. Its sum with z is rounded to float64, and then to float32; the second
// rounding is wrong only if the first has ended halfway between two float32.
func fma(x, y, z float32) float32 {
	p := float64(float64(x) * float64(y))
	s := p + float64(z)
	const (
		halfway   = 1 << 28            // of the 29 bits that float32 does not keep
		subnormal = (1023 - 125) << 52 // below it, float32 keeps fewer bits
	)
	bits := math.Float64bits(s)
	if bits&(1<<29-1) == halfway || bits&^(1<<63) < subnormal {
		s = oddSum(p, float64(z), s)
	}
	return float32(s)
}

// oddSum returns a + b rounded to odd: if its nearest float64, s, is not exact, the
// neighbour of the exact sum whose last bit is 1. Rounding that to float32 gives the same
// result as rounding the exact sum.
func oddSum(a, b, s float64) float64 {
	// Knuth's exact error of the sum.
	t := s - a
	e := (a - (s - t)) + (b - t)
	bits := math.Float64bits(s)
	if e == 0 || e != e || bits&1 == 1 {
		return s
	}
	if (e > 0) == (s > 0) {
		return math.Float64frombits(bits + 1)
	}
	return math.Float64frombits(bits - 1)
}
