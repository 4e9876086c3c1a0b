package exact

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim/prng"
)

// TestAccuracy compares the functions with package math.
func TestAccuracy(t *testing.T) {
	r := prng.New(4)
	for range 50_000 {
		x := math.Ldexp(r.Float64()+0.5, r.IntN(200)-100)
		got, want := Log(x), math.Log(x)
		require.LessOrEqualf(t, math.Abs(got-want), 4e-16*math.Abs(want)+1e-16, "log %v: %v, want %v", x, got, want)
		for _, x := range []float64{4*r.Float64() - 2, 80*r.Float64() - 40, 1400*r.Float64() - 700} {
			got, want = Exp(x), math.Exp(x)
			require.LessOrEqualf(t, math.Abs(got/want-1), max(1e-15, 2e-16*math.Abs(x)), "exp %v: %v, want %v", x, got, want)
		}
		x = (r.Float64() - 0.5) * 20
		got, want = Phi(x), math.Erfc(-x/math.Sqrt2)/2
		require.LessOrEqualf(t, math.Abs(got-want), 1e-14, "phi %v: %v, want %v", x, got, want)
	}
}

// TestEnds: the functions have values at the ends of their ranges.
func TestEnds(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct{ got, want float64 }{
		{Exp(0), 1}, {Exp(-701), 0}, {Exp(-inf), 0}, {Exp(1000), Exp(700)}, {Exp(inf), Exp(700)},
		{Log(1), 0}, {Log(0), -inf}, {Log(inf), inf}, {Phi(0), 0.5}, {Phi(-9), 0}, {Phi(9), 1}, {Round(2.346, 100), 2.35},
	} {
		assert.Equal(t, c.want, c.got)
	}
	assert.True(t, math.IsNaN(Exp(math.NaN())) && math.IsNaN(Log(math.NaN())) && math.IsNaN(Log(-1)), "NaN, or the logarithm of a negative number")
}

// TestBits: the bits are the same on every machine, and stay as they were.
func TestBits(t *testing.T) {
	r, sum := prng.New(5), prng.Digest(0)
	for range 20_000 {
		x := 1300*r.Float64() - 650
		sum.Add(math.Float64bits(Exp(x)))
		sum.Add(math.Float64bits(Exp(x / 1000)))
		sum.Add(math.Float64bits(Log(math.Ldexp(r.Float64(), r.IntN(100)-50))))
		sum.Add(math.Float64bits(Phi(x / 100)))
	}
	assert.Equal(t, uint64(0x66d40630629fbcc8), sum.Sum())
}
