package kernel

import "math"

// fma is x·y + z rounded once to float32, as the instruction of that name does it,
// by arithmetic that is the same everywhere. The product of two float32 is exact in
// float64. Their sum with z is rounded there, and again to float32; the second
// rounding goes wrong only where the first has ended halfway between two float32.
func fma(x, y, z float32) float32 {
	p := float64(float64(x) * float64(y))
	s := p + float64(z)
	const (
		halfway   = 1 << 28            // of the 29 bits that float32 does not keep
		subnormal = (1023 - 125) << 52 // below, float32 keeps fewer bits than that
	)
	bits := math.Float64bits(s)
	if bits&(1<<29-1) == halfway || bits&^(1<<63) < subnormal {
		s = oddSum(p, float64(z), s)
	}
	return float32(s)
}

// oddSum is a + b, whose nearest float64 is s, rounded to odd: where s is not
// exact, the neighbour of the exact sum whose last bit is 1. Rounded again to
// float32 that gives what the exact sum rounded once gives.
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
