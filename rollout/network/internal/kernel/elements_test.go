package kernel

import (
	"hash/crc64"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

// elementCases are the functions, the exact functions, and the errors that are allowed, in
// units in the last place.
var elementCases = []struct {
	name string
	f    func(dst, src []float32)
	want func(float64) float64
	ulps float64
	sum  uint64 // of the bits of the results over everyFloat
}{
	{"exp", Exp, math.Exp, 0.501, 0xddab2a1fc651cb33},
	{"tanh", Tanh, math.Tanh, 0.501, 0xe554b7d2fe553561},
	{"sigmoid", Sigmoid, func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }, 0.501, 0xc4603e8c9cc16967},
	{"erf", Erf, math.Erf, 0.501, 0x251c654c394c03fa},
}

// everyFloat returns float32 of all magnitudes and both signs, without NaN: one of every
// 16,381.
func everyFloat() (all []float32) {
	for bits := uint64(0); bits < 1<<32; bits += 16381 {
		if x := math.Float32frombits(uint32(bits)); x == x {
			all = append(all, x)
		}
	}
	return all
}

// TestElements: the errors of the functions are within their bounds, and their bits are the
// same on every machine.
func TestElements(t *testing.T) {
	src := everyFloat()
	everyPath(t, func(name string) {
		for _, c := range elementCases {
			t.Run(name+" "+c.name, func(t *testing.T) {
				dst, bits := make([]float32, len(src)), make([]byte, 0, 4*len(src))
				c.f(dst, src)
				worst, at := 0.0, float32(0)
				for i, y := range dst {
					b := math.Float32bits(y)
					bits = append(bits, byte(b), byte(b>>8), byte(b>>16), byte(b>>24))
					if e := distance(y, c.want(float64(src[i]))); !(e <= worst) {
						worst, at = e, src[i]
					}
				}
				assert.Truef(t, worst <= c.ulps, "%s: %s(%v) is off by %v units in the last place, want %v", name, c.name, at, worst, c.ulps)
				sum := crc64.Checksum(bits, crc64.MakeTable(crc64.ECMA))
				assert.Equalf(t, c.sum, sum, "%s: %s: the bits have the sum", name, c.name)
			})
		}
	})
}

// distance returns the distance of y from want, in units in the last place of float32.
func distance(y float32, want float64) float64 {
	if math.Abs(want) > math.MaxFloat32 {
		if math.IsInf(float64(y), int(math.Copysign(1, want))) {
			return 0
		}
		return math.Inf(1)
	}
	ulp := float64(math.Nextafter32(float32(math.Abs(want)), float32(math.Inf(1)))) - math.Abs(float64(float32(want)))
	return math.Abs(float64(y)-want) / ulp
}

// TestElementsPaths: every path gives the bits of the portable one, for any length and also in
// place, and writes only that many elements.
func TestElementsPaths(t *testing.T) {
	r := rand.New(rand.NewPCG(16, 17))
	for n := range 70 {
		src := random(r, n, true)
		for i := range src {
			if i%3 == 0 {
				src[i] = 12 * float32(r.NormFloat64())
			}
		}
		for _, c := range elementCases {
			var want []float32
			for _, p := range slices.Backward(paths) { // the portable one is the last
				restore, err := Use(p.name)
				if err != nil {
					t.Fatal(err)
				}
				got := append(slices.Clone(src), 12345, 12345)
				c.f(got[:n:n], got[:n:n])
				restore()
				if want == nil {
					want = got
				}
				for i := range got {
					if !same(got[i], want[i]) {
						t.Fatalf("%s: %s of element %d of %d, %x, is %x, want %x", p.name, c.name, i, n, append(src, 0, 0)[i], got[i], want[i])
					}
				}
			}
		}
	}
}

// TestElementsOdd: infinities, zeros and NaN.
func TestElementsOdd(t *testing.T) {
	inf, nan, minus := float32(math.Inf(1)), float32(math.NaN()), float32(math.Copysign(0, -1))
	src := []float32{0, minus, inf, -inf, nan}
	// Enough copies of each to fill vectors.
	odd := slices.Repeat(src, 8)
	everyPath(t, func(name string) {
		for i, want := range [][]float32{
			{1, 1, inf, 0, nan},
			{0, minus, 1, -1, nan},
			{0.5, 0.5, 1, 0, nan},
			{0, minus, 1, -1, nan},
		} {
			dst := make([]float32, len(odd))
			elementCases[i].f(dst, odd)
			for j := range dst {
				if !same(dst[j], want[j%5]) {
					t.Errorf("%s: %s(%v) = %v, want %v", name, elementCases[i].name, odd[j], dst[j], want[j%5])
				}
			}
		}
	})
}
