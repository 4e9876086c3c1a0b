package network

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/sim/prng"
)

// oddNumbers returns numbers among which many are equal, zeros of both signs, infinite or NaN of both signs.
func oddNumbers(r *prng.Rand) []float32 {
	odd := []float32{0, float32(math.Copysign(0, -1)), 1, -1, 2.5, float32(math.Inf(1)), float32(math.Inf(-1)), math.SmallestNonzeroFloat32,
		math.Float32frombits(0x7fc00000), math.Float32frombits(0xffc00000), math.Float32frombits(0x7f800001)}
	some := odd[:1+r.IntN(len(odd))] // mostly without NaN
	x := make([]float32, 1+r.IntN(9))
	for i := range x {
		if x[i] = some[r.IntN(len(some))]; r.IntN(3) == 0 {
			x[i] = float32(r.Float64() - 0.5)
		}
	}
	return x
}

// The loops without jumps have the results of the plain ones, or say that they have none.
func TestWithoutJumps(t *testing.T) {
	r := prng.New(1)
	found := 0
	for range 20_000 {
		x := oddNumbers(&r)
		first, nan := 0, false
		for i, v := range x {
			if nan = nan || v != v; rank(v) < rank(x[first]) {
				first = i
			}
		}
		if got, ok := smallest(x); ok {
			require.Equalf(t, first, got, "the smallest of %v", x)
			found++
		} else {
			require.Truef(t, nan, "smallest refuses %v", x)
		}
		in := make([]float32, len(x))
		wraps(in, x, -1, 2)
		for i, v := range x {
			require.Equalf(t, math.Float32bits(wrapped(v, -1, 2)), math.Float32bits(in[i]), "%v wrapped", v)
		}
	}
	require.Greater(t, found, 5000)
}
