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
