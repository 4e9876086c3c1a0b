package network

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/rollout/network/internal/kernel"
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
	same := func(what string, want, got float32, x []float32) {
		require.Equalf(t, math.Float32bits(want), math.Float32bits(got), "%s of %v: want %v, got %v", what, x, want, got)
	}
	shortcuts := 0
	for range 20_000 {
		x := oddNumbers(&r)
		first, low, high, nan := 0, x[0], x[0], false
		for i, v := range x {
			nan = nan || v != v
			low, high = min(low, v), max(high, v)
			if rank(v) < rank(x[first]) {
				first = i
			}
		}
		if got, ok := smallest(x); ok {
			require.Equalf(t, first, got, "the smallest of %v", x)
		} else {
			require.Truef(t, nan, "smallest refuses %v", x)
		}
		if least, most, ok := kernel.Extremes(x); ok {
			same("the least", low, least, x)
			same("the most", high, most, x)
			require.False(t, nan)
			shortcuts++
		} else {
			require.Truef(t, nan, "extremes refuses %v", x)
		}
		y := oddNumbers(&r)[0]
		got, cut, no, in := make([]float32, len(x)), make([]float32, len(x)), make([]float32, len(x)), make([]float32, len(x))
		kernel.With(kernel.Equal, got, x, y)
		functions["truncate"](cut, x, 0, 0)
		functions["not"](no, x, 0, 0)
		wraps(in, x, -1, 2)
		for i, v := range x {
			same("equality", number(v == y), got[i], []float32{v, y})
			same("truncation", float32(math.Trunc(float64(v))), cut[i], x)
			same("negation", number(v == 0), no[i], x)
			same("wrapping", wrapped(v, -1, 2), in[i], x)
		}
	}
	require.Greater(t, shortcuts, 5000)
}
