package network

import (
	"math"

	"moonfarm/rollout/exact"
	"moonfarm/rollout/network/internal/kernel"
)

// Exp writes the exponential of each number of src to dst, with the same bits on every
// machine. dst and src may be the same slice.
func Exp(dst, src []float32) { kernel.Exp(dst, src) }

// Log writes the natural logarithm of each number of src to dst, with the same bits on every
// machine: −Inf for 0, NaN for negative numbers. dst and src may be the same slice.
func Log(dst, src []float32) {
	for i, x := range src {
		dst[i] = float32(exact.Log(float64(x)))
	}
}

// function is a function of single elements with its parameters.
type function struct {
	name string
	a, b float32
	run  func(dst, src []float32, a, b float32) // dst and src have the same length
}

func newFunction(name string, a, b float32) function { return function{name, a, b, functions[name]} }

// functions are all functions by name. Functions that round more than once do so in the same
// order on every machine, without fused operations.
var functions = map[string]func(dst, src []float32, a, b float32){
	"relu":        vectors(kernel.Max, 0),
	"exp":         func(dst, src []float32, _, _ float32) { kernel.Exp(dst, src) },
	"tanh":        func(dst, src []float32, _, _ float32) { kernel.Tanh(dst, src) },
	"sigmoid":     func(dst, src []float32, _, _ float32) { kernel.Sigmoid(dst, src) },
	"erf":         func(dst, src []float32, _, _ float32) { kernel.Erf(dst, src) },
	"neg":         vectors(kernel.Neg, 0),
	"abs":         vectors(kernel.Abs, 0),
	"sqrt":        each(func(x, _, _ float32) float32 { return float32(math.Sqrt(float64(x))) }),
	"reciprocal":  each(func(x, _, _ float32) float32 { return 1 / x }),
	"log":         each(func(x, _, _ float32) float32 { return float32(exact.Log(float64(x))) }),
	"sin":         each(func(x, _, _ float32) float32 { return sine(x, 0) }),
	"cos":         each(func(x, _, _ float32) float32 { return sine(x, 1) }),
	"atan":        each(func(x, _, _ float32) float32 { return float32(arctangent(float64(x))) }),
	"leakyrelu":   each(func(x, a, _ float32) float32 { return leaky(x, a) }),
	"hardsigmoid": each(func(x, a, b float32) float32 { return hardSigmoid(x, a, b) }),
	"hardswish":   each(func(x, _, _ float32) float32 { return x * hardSigmoid(x, 1./6, 0.5) }),
	"clip":        clipped,
	"floor":       vectors(kernel.Floor, 0),
	"ceil":        vectors(kernel.Ceil, 0),
	"round":       vectors(kernel.Round, 0),
	"sign":        vectors(kernel.Sign, 0),
	"isnan":       each(func(x, _, _ float32) float32 { return kernel.Number(x != x) }),
	"isinf":       each(isInfinite),
	"softsign":    each(func(x, _, _ float32) float32 { return x / (1 + max(x, -x)) }),
	"wrap":        wraps,
	"truncate":    vectors(kernel.Trunc, 0),
	"truth":       vectors(kernel.Unequal, 0),
	"not":         vectors(kernel.Equal, 0),
	"pow":         each(power),
	"elu":         elu,
	"selu":        selu,
	"celu":        celu,
	"softplus":    softplus,
	"gelu":        gelu,
	"gelutanh":    geluTanh,
}

// each makes a function of arrays from a function of numbers.
func each(f func(x, a, b float32) float32) func(dst, src []float32, a, b float32) {
	return func(dst, src []float32, a, b float32) {
		for i, x := range src {
			dst[i] = f(x, a, b)
		}
	}
}

// vectors makes a function of arrays from a function of package kernel.
func vectors(op kernel.Op, number float32) func(dst, src []float32, a, b float32) {
	return func(dst, src []float32, _, _ float32) { kernel.With(op, dst, src, number) }
}

func clipped(dst, src []float32, low, high float32) {
	kernel.With(kernel.AtLeast, dst, src, low)
	kernel.With(kernel.AtMost, dst, dst[:len(src)], high)
}

func wraps(dst, src []float32, least, count float32) {
	for i, x := range src {
		if dst[i] = x; !(x >= least && x < least+count) {
			dst[i] = wrapped(x, least, count)
		}
	}
}

func leaky(x, a float32) float32 {
	if x < 0 {
		return float32(a * x)
	}
	return x
}

func hardSigmoid(x, a, b float32) float32 { return clip(float32(a*x)+b, 0, 1) }

// clip limits x to low … high; NaN stays NaN.
func clip(x, low, high float32) float32 {
	if x < low {
		x = low
	}
	if x > high {
		x = high
	}
	return x
}

// isInfinite tells whether x is −∞, if below is not 0, or +∞, if above is not 0.
func isInfinite(x, below, above float32) float32 {
	return kernel.Number(below != 0 && x < -mostFloat || above != 0 && x > mostFloat)
}

// wrapped returns the number from least on, below least + count, that differs from the whole number x
// by a multiple of count: the result of arithmetic in a type of few bits.
func wrapped(x, least, count float32) float32 {
	if x >= least && x < least+count {
		return x
	}
	return float32(modulo(float64(x)-float64(least), float64(count))) + least
}

// modulo returns the remainder of x/y that has the sign of y. It is exact.
func modulo(x, y float64) float64 {
	r := remainder(x, y)
	if r != 0 && (r < 0) != (y < 0) {
		r += y
	}
	return r
}

// remainder returns the remainder of x/y that has the sign of x. It is exact.
func remainder(x, y float64) float64 {
	if math.Abs(x) < 1<<53 && math.Abs(y) < 1<<53 && y != 0 {
		if n, m := int64(x), int64(y); float64(n) == x && float64(m) == y { // in a tenth of the time of Mod
			return float64(n % m)
		}
	}
	return math.Mod(x, y)
}

// power returns x to the power of a whole number n ≥ 0: (x·x)·x ….
func power(x, n, _ float32) float32 {
	y := float32(1)
	for range int(n) {
		y = float32(y * x)
	}
	return y
}

// stack is the size of the pieces in which functions that need scratch memory work.
const stack = 256

// elu computes x above 0 and a·(e^x − 1) below; celu a·(e^(x/a) − 1) there.
func elu(dst, src []float32, a, _ float32)  { exponentialBelow(dst, src, a, 1) }
func celu(dst, src []float32, a, _ float32) { exponentialBelow(dst, src, a, a) }

// exponentialBelow computes x above 0 and a·(e^(x/by) − 1) below.
func exponentialBelow(dst, src []float32, a, by float32) {
	var e [stack]float32
	for len(src) > 0 {
		n := min(len(src), stack)
		from := src[:n]
		if by != 1 {
			for i, x := range from {
				e[i] = x / by
			}
			from = e[:n]
		}
		kernel.Exp(e[:n], from)
		for i, x := range src[:n] {
			if x < 0 {
				x = float32(a * (e[i] - 1))
			}
			dst[i] = x
		}
		dst, src = dst[n:], src[n:]
	}
}

// selu computes b·x above 0 and b·a·(e^x − 1) below.
func selu(dst, src []float32, a, b float32) {
	elu(dst, src, a, 0)
	for i, x := range dst[:len(src)] {
		dst[i] = float32(b * x)
	}
}

// softplus computes log(1 + e^x), which for large x is x.
func softplus(dst, src []float32, _, _ float32) {
	var e [stack]float32
	for len(src) > 0 {
		n := min(len(src), stack)
		kernel.Exp(e[:n], src[:n])
		for i, x := range src[:n] {
			if !(x > 20) {
				x = float32(exact.Log(1 + float64(e[i])))
			}
			dst[i] = x
		}
		dst, src = dst[n:], src[n:]
	}
}

// gelu computes x/2 · (1 + erf(x/√2)).
func gelu(dst, src []float32, _, _ float32) {
	var e [stack]float32
	for len(src) > 0 {
		n := min(len(src), stack)
		for i, x := range src[:n] {
			e[i] = float32(x * (1 / math.Sqrt2))
		}
		kernel.Erf(e[:n], e[:n])
		for i, x := range src[:n] {
			dst[i] = float32(float32(0.5*x) * (1 + e[i]))
		}
		dst, src = dst[n:], src[n:]
	}
}

// geluTanh computes x/2 · (1 + tanh(√(2/π)·(x + 0.044715·x³))).
func geluTanh(dst, src []float32, _, _ float32) {
	var e [stack]float32
	for len(src) > 0 {
		n := min(len(src), stack)
		for i, x := range src[:n] {
			cube := float32(float32(x*x) * x)
			e[i] = float32(0.7978845608028654 * (x + float32(0.044715*cube)))
		}
		kernel.Tanh(e[:n], e[:n])
		for i, x := range src[:n] {
			dst[i] = float32(float32(0.5*x) * (1 + e[i]))
		}
		dst, src = dst[n:], src[n:]
	}
}

// binaryOp is a function of two numbers: one of package kernel, or run.
type binaryOp struct {
	op  kernel.Op
	run func(x, y float32) float32
}

// raised returns x to the power of y: of whole exponents up to 16 by products, of others by an
// exponential and a logarithm in float64. For negative x and other exponents it is NaN.
func raised(x, y float32) float32 {
	n := float32(math.Trunc(float64(y)))
	switch {
	case y == 0 || x == 1:
		return 1
	case x != x || y != y:
		return x + y
	case n == y && y >= 0 && y <= 16:
		return power(x, y, 0)
	case y == 0.5:
		return float32(math.Sqrt(float64(x)))
	}
	odd := n == y && max(y, -y) < 1<<24 && math.Mod(float64(y), 2) != 0
	base := float64(x)
	if n == y && base <= 0 {
		base = math.Abs(base)
	}
	out := kernel.Exponential(float64(float64(y) * exact.Log(base)))
	if odd && math.Signbit(float64(x)) {
		out = -out
	}
	return float32(out)
}

var (
	slope    = binaryOp{run: func(x, a float32) float32 { return leaky(x, a) }}
	raise    = binaryOp{run: raised}
	leftOver = binaryOp{run: func(x, y float32) float32 { return float32(remainder(float64(x), float64(y))) }}
	quotient = binaryOp{run: func(x, y float32) float32 { return float32(math.Trunc(float64(x / y))) }}
)

// binaryOf are the functions of two numbers by their operators.
var binaryOf = map[string]binaryOp{
	"Add": {op: kernel.Add}, "Sub": {op: kernel.Sub}, "Mul": {op: kernel.Mul}, "Div": {op: kernel.Div}, "Min": {op: kernel.Min}, "Max": {op: kernel.Max},
	"Equal": {op: kernel.Equal}, "Less": {op: kernel.Less}, "Greater": {op: kernel.Greater},
	"GreaterOrEqual": {op: kernel.GreaterOrEqual}, "LessOrEqual": {op: kernel.LessOrEqual},
	"And": {op: kernel.And}, "Or": {op: kernel.Or}, "Xor": {op: kernel.Xor},
	"Mod": {run: func(x, y float32) float32 { return float32(modulo(float64(x), float64(y))) }},
}

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

// arctangent returns atan x, with an error of some units in the last place of a float64, and with the
// same bits on every machine: atan x = π/2 − atan 1/x, and atan x = π/6 + atan (√3·x − 1)/(√3 + x).
func arctangent(x float64) float64 {
	const root = 1.7320508075688772 // √3
	t, first := math.Abs(x), 0.0
	if t > 1 {
		t, first = 1/t, math.Pi/2
	}
	sixth := t > 2-root // t is above tan π/12
	if sixth {
		t = (float64(root*t) - 1) / (root + t)
	}
	squared, sum := float64(t*t), 0.0
	for i := 29; i >= 1; i -= 2 { // t − t³/3 + t⁵/5 − … + t²⁹/29
		sum = 1/float64(i) - float64(sum*squared)
	}
	sum = float64(sum * t)
	if sixth {
		sum += math.Pi / 6
	}
	if first != 0 {
		sum = first - sum
	}
	return math.Copysign(sum, x)
}
