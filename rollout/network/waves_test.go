package network

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestSine: sine and cosine are exact to one unit in the last place, and have the same bits on
// every machine.
func TestSine(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	sum := uint64(14695981039346656037)
	for _, size := range []float64{1e-30, 1e-3, 1, math.Pi, 64, 1e4, mostWave} {
		for range 5000 {
			x := float32((2*r.Float64() - 1) * size)
			for quarters, exact := range []func(float64) float64{math.Sin, math.Cos} {
				got, want := sine(x, int64(quarters)), exact(float64(x))
				unit := math.Nextafter32(float32(math.Abs(want)), 2) - float32(math.Abs(want))
				if math.Abs(float64(got)-want) > float64(unit)+1e-12 {
					t.Fatalf("function %d of %g is %g, want %g", quarters, x, got, want)
				}
				sum = (sum ^ uint64(math.Float32bits(got))) * 1099511628211
			}
		}
	}
	assert.Equal(t, uint64(0x19e3bbf89eb7b3c4), sum, "the bits of all answers: %#x", sum)
	for _, x := range []float32{1 << 21, -3e7, 1e8} {
		assert.InDelta(t, math.Sin(float64(x)), float64(sine(x, 0)), 1e-6, "%g", x)
	}
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		assert.True(t, math.IsNaN(float64(sine(float32(x), 0))), "%g", x)
	}
	assert.LessOrEqual(t, math.Abs(float64(sine(math.MaxFloat32, 0))), 1.0)
	assert.Equal(t, math.Float32bits(float32(math.Copysign(0, -1))), math.Float32bits(sine(float32(math.Copysign(0, -1)), 0)))
}

// TestPower: powers are exact to one unit in the last place, and have the same bits on every machine.
func TestPower(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	sum := uint64(14695981039346656037)
	for range 20000 {
		x, y := float32(math.Ldexp(1+r.Float64(), r.IntN(40)-20)), float32(16*r.Float64()-8)
		if r.IntN(4) == 0 { // negative numbers have whole exponents
			x, y = -x, float32(r.IntN(60)-30)
		}
		got, want := raised(x, y), math.Pow(float64(x), float64(y))
		exact := float32(want)
		unit := math.Nextafter32(float32(math.Abs(want)), float32(math.Inf(1))) - float32(math.Abs(want))
		steps := 1.0
		if y == float32(math.Trunc(float64(y))) && y >= 0 && y <= 16 {
			steps = 8 // products, each of which is rounded
		}
		if exact-exact == 0 && math.Abs(float64(got)-want) > steps*float64(unit)+1e-44 || exact-exact != 0 && got != exact {
			t.Fatalf("%g to the power of %g is %g, want %g", x, y, got, want)
		}
		sum = (sum ^ uint64(math.Float32bits(got))) * 1099511628211
	}
	assert.Equal(t, uint64(0x12d3def24e5e039c), sum, "the bits of all answers: %#x", sum)
	inf := float32(math.Inf(1))
	for _, c := range [][3]float32{{0, 0, 1}, {0, 2.5, 0}, {0, -1, inf}, {-2, -1, -0.5}, {-8, 17, -2251799813685248}, {inf, 0.3, inf}, {inf, -2, 0}, {1, inf, 1}, {2, -inf, 0}} {
		assert.Equalf(t, c[2], raised(c[0], c[1]), "%g to the power of %g", c[0], c[1])
	}
	for _, c := range [][2]float32{{-1, 0.5}, {-2, 1.5}, {float32(math.NaN()), 1}, {2, float32(math.NaN())}} {
		assert.Truef(t, math.IsNaN(float64(raised(c[0], c[1]))), "%g to the power of %g", c[0], c[1])
	}
}

// TestSoftmax: the quick loop has the bits of the slow one, for masks, infinite numbers and NaN, too.
func TestSoftmax(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	odd := []float32{-1e9, float32(math.Inf(-1)), -105.5, -107, 3e38, float32(math.Inf(1)), float32(math.NaN())}
	op := &softmax{lanes: lanes{inner: 1}}
	for range 5000 {
		n := 1 + r.IntN(40)
		src, scratch := make([]float32, n), make([]float32, n)
		for i := range src {
			src[i] = float32(10 * r.NormFloat64())
			if masked := i > r.IntN(n); masked || r.IntN(50) == 0 {
				src[i] = odd[min(r.IntN(2)+r.IntN(300)/200*r.IntN(6), 6)]
			}
		}
		want, got := make([]float32, n), make([]float32, n)
		op.shares(want, src, scratch)
		adjacentShares(got, src, scratch)
		for i := range got {
			if math.Float32bits(got[i]) != math.Float32bits(want[i]) && (got[i] == got[i] || want[i] == want[i]) {
				t.Fatalf("number %d of %v is %g, want %g", i, src, got[i], want[i])
			}
		}
	}
}
