package kernel

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim/simtest"
)

// exactFMA computes fma in arbitrary precision.
func exactFMA(x, y, z float32) float32 {
	for _, v := range []float32{x, y, z} {
		if v-v != 0 { // infinite or NaN: the processor's rules
			return float32(float64(float64(x)*float64(y)) + float64(z))
		}
	}
	p := new(big.Float).SetPrec(2000).Mul(big.NewFloat(float64(x)), big.NewFloat(float64(y)))
	s := new(big.Float).SetPrec(2000).Add(p, big.NewFloat(float64(z)))
	if s.Sign() == 0 { // the sign of a sum that is zero
		return float32(float64(float64(x)*float64(y)) + float64(z))
	}
	r, _ := s.Float32()
	return r
}

// oddFloat returns a float32 of any kind: small, large, subnormal, zero.
func oddFloat(r *rand.Rand) float32 {
	switch r.IntN(8) {
	case 0:
		return math.Float32frombits(r.Uint32() & 0x807fffff) // subnormal
	case 1:
		return math.Float32frombits(r.Uint32() & 0x80000000) // zero
	case 2:
		return math.Float32frombits(r.Uint32()&0x807fffff | uint32(r.IntN(254)+1)<<23)
	case 3:
		return float32(r.IntN(17)-8) / 4
	}
	return float32(r.NormFloat64())
}

// same reports whether two results have the same bits, or are both NaN.
func same(a, b float32) bool {
	return math.Float32bits(a) == math.Float32bits(b) || a != a && b != b
}

func TestFMA(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300_000 {
		x, y, z := oddFloat(r), oddFloat(r), oddFloat(r)
		switch r.IntN(4) {
		case 0: // few bits, so that sums lie halfway
			x, y = math.Float32frombits(math.Float32bits(x)&0xfffff000), math.Float32frombits(math.Float32bits(y)&0xfffff000)
		case 1: // a product next to half the last bit of z
			y = float32(math.Ldexp(1, r.IntN(6)-27)) * z / x
		}
		got, want := fma(x, y, z), exactFMA(x, y, z)
		require.Truef(t, same(got, want), "fma(%x, %x, %x) = %x, want %x", x, y, z, got, want)
	}
}

// TestFMAHalfway: sums next to the middle of two float32, above and below it, of normal and
// subnormal numbers.
func TestFMAHalfway(t *testing.T) {
	tiny := math.Float32frombits(1)
	for _, z := range []float32{1, -1, 1.5, math.Float32frombits(0x3f800001), 0x1p-126, 0x1p-127, 3 * tiny, -4 * tiny} {
		ulp := float64(math.Nextafter32(z, float32(math.Inf(1)))) - float64(z)
		for _, bump := range []float32{1, 1 + 0x1p-23, 1 - 0x1p-24} {
			for _, half := range []float64{ulp / 2, -ulp / 2, ulp / 4, -ulp / 4} {
				e := math.Ldexp(1, int(math.Ilogb(half))/2)
				x, y := float32(e)*bump, float32(half/e)*bump
				if got, want := fma(x, y, z), exactFMA(x, y, z); !same(got, want) {
					t.Errorf("fma(%x, %x, %x) = %x, want %x", x, y, z, got, want)
				}
			}
		}
	}
}

// random returns n floats, ordinary or odd ones.
func random(r *rand.Rand, n int, odd bool) []float32 {
	a := make([]float32, n)
	for i := range a {
		if odd {
			a[i] = oddFloat(r)
		} else {
			a[i] = float32(r.NormFloat64())
		}
	}
	return a
}

// onBoards returns values [board][channel][y][x] as boards of geometry g.
func onBoards(g Image, boards int, values []float32) []float32 {
	a := make([]float32, boards*g.Size())
	for b := range boards {
		for c := range g.C {
			for y := range g.H {
				for x := range g.W {
					a[b*g.Size()+g.At(y, x)+c] = values[((b*g.C+c)*g.H+y)*g.W+x]
				}
			}
		}
	}
	return a
}

// plainConv computes a convolution by its definition, over values [board][channel][y][x].
func plainConv(s Shape, weights, bias, src []float32, h, w int, residual []float32, relu bool, boards int) []float32 {
	oh, ow := h+2*s.PadY-s.KH+1, w+2*s.PadX-s.KW+1
	dst := make([]float32, boards*s.Out*oh*ow)
	for i := range dst {
		b, out, y, x := i/(s.Out*oh*ow), i/(oh*ow)%s.Out, i/ow%oh, i%ow
		var sum float32
		if bias != nil {
			sum = bias[out]
		}
		for ky := range s.KH {
			for kx := range s.KW {
				for in := range s.In {
					var v float32
					if yy, xx := y+ky-s.PadY, x+kx-s.PadX; yy >= 0 && yy < h && xx >= 0 && xx < w {
						v = src[((b*s.In+in)*h+yy)*w+xx]
					}
					sum = fma(v, weights[((out*s.In+in)*s.KH+ky)*s.KW+kx], sum)
				}
			}
		}
		if residual != nil {
			sum += residual[i]
		}
		if relu && 0 > sum {
			sum = 0
		}
		dst[i] = sum
	}
	return dst
}

// convCase is a convolution with its weights and inputs.
type convCase struct {
	s                            Shape
	dg, sg                       Image
	weights, bias, src, residual []float32
	relu                         bool
	boards                       int
}

func (c *convCase) String() string {
	return fmt.Sprintf("%+v from %+v to %+v, %d boards, bias %v, residual %v, relu %v", c.s, c.sg, c.dg, c.boards, c.bias != nil, c.residual != nil, c.relu)
}

// newConvCase makes a convolution of a given shape with random values.
func newConvCase(r *rand.Rand, s Shape, h, w, borderFrom, borderTo, boards int, odd bool) *convCase {
	c := &convCase{s: s, boards: boards, relu: r.IntN(2) == 0}
	c.sg = Image{h, w, s.In, max(s.PadY, s.PadX) + borderFrom}
	c.dg = Image{h + 2*s.PadY - s.KH + 1, w + 2*s.PadX - s.KW + 1, s.Out, borderTo}
	c.weights, c.src = random(r, s.Out*s.In*s.KH*s.KW, odd), random(r, boards*s.In*h*w, odd)
	if r.IntN(4) > 0 {
		c.bias = random(r, s.Out, odd)
	}
	if r.IntN(2) > 0 {
		c.residual = random(r, boards*s.Out*c.dg.H*c.dg.W, odd)
	}
	return c
}

// run returns the result of a path as boards. It checks that the path has not changed memory
// outside of the boards nor the border.
func (c *convCase) run(t *testing.T, name string) []float32 {
	t.Helper()
	restore, err := Use(name)
	require.NoError(t, err)
	defer restore()
	n := c.boards * c.dg.Size()
	guarded := make([]float32, n+2*guard)
	for i := range guarded {
		guarded[i] = 12345
	}
	clear(guarded[guard : guard+n])
	var residual []float32
	if c.residual != nil {
		residual = onBoards(c.dg, c.boards, c.residual)
	}
	NewConv(c.s, c.weights, c.bias).Run(guarded[guard:guard+n:guard+n], c.dg, onBoards(c.sg, c.boards, c.src), c.sg, residual, c.relu, c.boards)
	for i := range guard {
		require.Truef(t, guarded[i] == 12345 && guarded[guard+n+i] == 12345, "%s wrote outside of its result: %v", name, c)
	}
	return guarded[guard : guard+n]
}

const guard = 64

// compare compares every path with the plain twin.
func (c *convCase) compare(t *testing.T) {
	t.Helper()
	want := onBoards(c.dg, c.boards, plainConv(c.s, c.weights, c.bias, c.src, c.sg.H, c.sg.W, c.residual, c.relu, c.boards))
	for _, p := range paths {
		got := c.run(t, p.name)
		for i := range want {
			// Padded channels hold 0 if all numbers are finite.
			if !same(got[i], want[i]) && (i%c.dg.Stride() < c.dg.C || got[i] == got[i]) {
				t.Fatalf("%s, %v: float %d is %x, want %x", p.name, c, i, got[i], want[i])
			}
		}
	}
}

func TestConv(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for i := range 150 {
		kh, kw := 1+r.IntN(4), 1+r.IntN(4)
		s := Shape{1 + r.IntN(90), 1 + r.IntN(40), kh, kw, r.IntN(kh), r.IntN(kw)}
		newConvCase(r, s, kh+r.IntN(6), kw+r.IntN(20), r.IntN(2), r.IntN(3), 1+r.IntN(2), i%3 == 0).compare(t)
	}
}

// TestConvShapes: the convolutions of usual networks, and every width of a row.
func TestConvShapes(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, s := range []Shape{{64, 9, 3, 3, 1, 1}, {64, 64, 3, 3, 1, 1}, {2, 64, 1, 1, 0, 0}, {16, 5, 7, 7, 3, 3}} {
		newConvCase(r, s, 8, 16, 0, 1, 1, false).compare(t)
	}
	for w := 1; w <= 30; w++ {
		newConvCase(r, Shape{16 * (1 + w%5), 3, 3, 3, 1, 1}, 2, w, 0, 1, 1, false).compare(t)
	}
}

// TestSkippedRows: leaving out the products of rows outside of the board changes no bit, also where sums are zeros of both
// signs, and with biases of −0 and infinite weights.
func TestSkippedRows(t *testing.T) {
	r := rand.New(rand.NewPCG(27, 28))
	minus := float32(math.Copysign(0, -1))
	values := []float32{0, minus, minus, 1e-30, -1e-30, 1e-30, -1e-30, 1, -1}
	some := func(n int, from []float32) []float32 {
		a := make([]float32, n)
		for i := range a {
			a[i] = from[r.IntN(len(from))]
		}
		return a
	}
	for i := range 1500 {
		kh := 2 + r.IntN(4)
		s := Shape{1 + r.IntN(20), 1 + r.IntN(2), kh, 1 + r.IntN(2), 1 + r.IntN(kh-1), 0}
		c := newConvCase(r, s, max(1, kh-2*s.PadY)+r.IntN(5), s.KW+r.IntN(9), 0, 0, 1, false)
		c.relu, c.src = false, some(len(c.src), values)
		c.weights = some(len(c.weights), values[:3+r.IntN(len(values)-2)])
		for out := range s.Out { // often all weights of the last rows are negative
			if each := c.weights[out*s.In*kh*s.KW:][:s.In*kh*s.KW]; r.IntN(2) == 0 {
				for j := range each {
					each[j] = -max(each[j], -each[j])
				}
			}
		}
		if c.bias != nil {
			c.bias = some(s.Out, values[:1+r.IntN(1+i%2)])
		}
		if c.residual != nil {
			c.residual = some(len(c.residual), values[:3])
		}
		if i%10 == 0 {
			c.weights[r.IntN(len(c.weights))] = float32(math.Inf(1))
		}
		c.compare(t)
	}
}

// TestSingleBlocks: a path whose tiles of one block another path computes has such tiles of its own, for other
// processors.
func TestSingleBlocks(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	for _, p := range paths {
		if p.single == nil {
			continue
		}
		before := *p
		p.single, p.cells[1] = nil, 8
		for w := 1; w <= 30; w++ {
			newConvCase(r, Shape{1 + w%16, 1 + w%7, 3, 3, 1, 1}, 2, w, 0, 1, 1, w%2 == 0).compare(t)
		}
		*p = before
	}
}

// FuzzConv compares the paths with the plain twin over shapes. An access beyond a slice shows
// as a panic or a changed guard.
func FuzzConv(f *testing.F) {
	f.Add(uint64(1), uint8(64), uint8(9), uint8(3), uint8(3), uint8(8), uint8(16), uint8(0))
	f.Fuzz(func(t *testing.T, seed uint64, out, in, kh, kw, h, w, flags uint8) {
		r := rand.New(rand.NewPCG(seed, 7))
		s := Shape{1 + int(out)%100, 1 + int(in)%40, 1 + int(kh)%7, 1 + int(kw)%7, 0, 0}
		s.PadY, s.PadX = int(flags)%s.KH, int(flags>>3)%s.KW
		newConvCase(r, s, s.KH+int(h)%5, s.KW+int(w)%20, int(flags>>6)&1, int(flags>>7), 1+int(flags)%2, flags%5 == 0).compare(t)
	})
}

// plainDense computes a dense layer by its definition.
func plainDense(src, weights, bias, residual []float32, relu bool, m, k, n int) []float32 {
	dst := make([]float32, m*n)
	for i := range dst {
		row, out := i/n, i%n
		var sum float32
		if bias != nil {
			sum = bias[out]
		}
		for j := range k {
			sum = fma(src[row*k+j], weights[j*n+out], sum)
		}
		if residual != nil {
			sum += residual[i]
		}
		if relu && 0 > sum {
			sum = 0
		}
		dst[i] = sum
	}
	return dst
}

// everyPath runs f on each path.
func everyPath(t *testing.T, f func(name string)) {
	t.Helper()
	for _, p := range paths {
		restore, err := Use(p.name)
		require.NoError(t, err)
		f(p.name)
		restore()
	}
}

func TestDense(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	for i := range 200 {
		m, k, n, odd, relu := 1+r.IntN(20), 1+r.IntN(300), 1+r.IntN(200), i%3 == 0, i%2 == 0
		src, weights := random(r, m*k, odd), random(r, k*n, odd)
		var bias, residual []float32
		if i%5 > 0 {
			bias = random(r, n, odd)
		}
		if i%7 < 3 {
			residual = random(r, m*n, odd)
		}
		want := plainDense(src, weights, bias, residual, relu, m, k, n)
		plain := plainDense(src, weights, nil, nil, false, m, k, n)
		everyPath(t, func(name string) {
			got := make([]float32, m*n)
			NewDense(k, n, weights, bias).Run(got, src, m, residual, relu)
			product := make([]float32, m*n)
			scratch := random(r, Scratch(k, n), false)
			MatMul(product, src, weights, m, k, n, scratch)
			for j := range want {
				if !same(got[j], want[j]) || !same(product[j], plain[j]) {
					t.Fatalf("%s, %d×%d×%d: output %d is %x and %x, want %x and %x", name, m, k, n, j, got[j], product[j], want[j], plain[j])
				}
			}
		})
	}
}

// TestInPlace: the residual may be the memory of the result.
func TestInPlace(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 11))
	c := newConvCase(r, Shape{70, 70, 3, 3, 1, 1}, 5, 17, 0, 1, 2, false)
	c.residual = random(r, 2*70*5*17, false)
	d, residual := NewDense(30, 71, random(r, 30*71, false), nil), random(r, 13*71, false)
	src := random(r, 13*30, false)
	everyPath(t, func(name string) {
		want, got := c.run(t, name), onBoards(c.dg, 2, c.residual)
		NewConv(c.s, c.weights, c.bias).Run(got, c.dg, onBoards(c.sg, 2, c.src), c.sg, got, c.relu, 2)
		for i := range want {
			require.Truef(t, same(got[i], want[i]), "%s: convolution in place: float %d is %x, want %x", name, i, got[i], want[i])
		}
		flat, in := make([]float32, len(residual)), append([]float32(nil), residual...)
		d.Run(flat, src, 13, residual, false)
		d.Run(in, src, 13, in, false)
		for i := range flat {
			require.Truef(t, same(flat[i], in[i]), "%s: dense in place: float %d is %x, want %x", name, i, in[i], flat[i])
		}
	})
}

func TestNoAllocations(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 13))
	c := newConvCase(r, Shape{64, 9, 3, 3, 1, 1}, 8, 16, 0, 1, 1, false)
	conv, src, dst := NewConv(c.s, c.weights, c.bias), onBoards(c.sg, 1, c.src), make([]float32, c.dg.Size())
	d, flat, out := NewDense(40, 30, random(r, 1200, false), nil), random(r, 120, false), make([]float32, 90)
	scratch := make([]float32, Scratch(40, 3))
	everyPath(t, func(name string) {
		n := testing.AllocsPerRun(3, func() {
			conv.Run(dst, c.dg, src, c.sg, dst, true, 1)
			d.Run(out, flat, 3, out, true)
			MatMul(out, flat[:120], flat, 3, 40, 3, scratch)
			Exp(out, out)
		})
		assert.Zerof(t, n, "%s: %v allocations", name, n)
	})
}

func TestVectorPaths(t *testing.T) {
	all := map[string]bool{}
	if runtime.GOARCH == "amd64" {
		all["avx512"], all["avx2"] = false, false
	}
	for _, p := range machinePaths() {
		all[p.name] = true
	}
	simtest.VectorPaths(t, "rollout/network/internal/kernel", all)
}
