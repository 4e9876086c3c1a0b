package kernel

import "math"

// The functions of single elements compute in float64, unfused, so that the roundings are
// the same everywhere, and round the result to float32 once. So their error is little more
// than half a unit in the last place.

// exponential splits e^x for x within ±700 into 2^k·(1 + p), |k| ≤ 1010 and p between
// −0.3 and 0.42, and returns 2^k and p.
func exponential(x float64) (scale, p float64) {
	const (
		log2e = 1.4426950408889634074
		ln2   = 0.69314718055994530942
		whole = 3 << 51 // adding it rounds x to a whole number, since such large numbers have no fraction
	)
	t := float64(x*log2e) + whole
	k := t - whole
	r := x - float64(k*ln2)
	// The series of e^r − 1 for |r| ≤ 0.347: the next term is below 2^-47.
	p = 1.0 / 39916800
	for _, c := range [...]float64{1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 1.0 / 2, 1} {
		p = float64(p*r) + c
	}
	return math.Float64frombits((math.Float64bits(t) + 1023) << 52), float64(p * r)
}

func exp(x float32) float32 {
	switch {
	case x > 89:
		return float32(math.Inf(1))
	case x < -105:
		return 0
	case x != x:
		return x
	}
	scale, p := exponential(float64(x))
	return float32(scale + float64(scale*p))
}

// Exponential returns e^x, with an error of less than 2^-45 of it, for callers that round the result to
// float32: the exponential of numbers below −700 is 0, and of numbers above 700 infinite.
func Exponential(x float64) float64 {
	switch {
	case x > 700:
		return math.Inf(1)
	case x < -700:
		return 0
	case x != x:
		return x
	}
	scale, p := exponential(x)
	return scale + float64(scale*p)
}

func tanh(x float32) float32 {
	switch {
	case x > 10:
		return 1
	case x < -10:
		return -1
	case x == 0 || x != x:
		return x
	}
	// tanh x = (e^2x − 1) / (e^2x + 1), where e^2x − 1 is exact for small x, too.
	scale, p := exponential(2 * float64(x))
	m := float64(scale*p) + (scale - 1)
	return float32(m / (m + 2))
}

func sigmoid(x float32) float32 {
	switch {
	case x > 100:
		return 1
	case x < -110:
		return 0
	case x != x:
		return x
	}
	scale, p := exponential(-float64(x))
	return float32(1 / (1 + (scale + float64(scale*p))))
}

// erfCentres are the values and the slopes of the error function at 0.75, 1.25 …
// 3.75.
var erfCentres = [7][2]float64{
	{0.7111556336535151316, 0.64293106919520732905},
	{0.92290012825645823014, 0.23652112244729078722},
	{0.98667167121918244377, 0.052774995930150374663},
	{0.9985372834133188483, 0.0071423190220179830393},
	{0.99989937807788036316, 0.0005862772470937923263},
	{0.99999569722053632488, 0.000029189025383581700722},
	{0.9999998862727434302, 8.8143219123180396655e-7},
}

// erfSeries are the coefficients of the error function's series, the highest first,
// around 0.75 at index 1 to 3.75 at index 7. Index 0 stays empty.
var erfSeries = newErfSeries()

func newErfSeries() (series [13][8]float64) {
	for i, at := range erfCentres {
		c := erfCentre(i + 1)
		// The slope g is 2/√π·e^(−x²), and g' = −2x·g.
		value, g, before := at[0], at[1], 0.0
		series[12][i+1] = value
		for n := 1; n <= 12; n++ {
			series[12-n][i+1] = g / float64(n)
			next := (-float64(float64(2*c)*g) - float64(2*before)) / float64(n)
			g, before = next, g
		}
	}
	return series
}

// erfCentre returns the middle of the numbers whose double, rounded down, is i.
func erfCentre(i int) float64 { return float64(float64(i)*0.5) + 0.25 }

func erf(x float32) float32 {
	a := math.Abs(float64(x))
	if a < 0.5 {
		// 2/√π·(x − x³/3 + x⁵/(2!·5) − …): the next term is below 2^-40 of the sum.
		z := float64(a * a)
		p := 1.0 / (40320 * 17)
		for _, c := range [...]float64{-1.0 / (5040 * 15), 1.0 / (720 * 13), -1.0 / (120 * 11), 1.0 / (24 * 9), -1.0 / (6 * 7), 1.0 / (2 * 5), -1.0 / 3, 1} {
			p = float64(p*z) + c
		}
		return float32(1.1283791670955125739 * float64(float64(x)*p))
	}
	if x != x {
		return x
	}
	sum := 1.0
	if a < 4 {
		i := int(float64(a * 2))
		h := a - erfCentre(i)
		sum = erfSeries[0][i]
		for n := 1; n < len(erfSeries); n++ {
			sum = float64(sum*h) + erfSeries[n][i]
		}
	}
	return float32(math.Copysign(sum, float64(x)))
}

// element is a function of single elements.
type element int

const (
	elementExp element = iota
	elementTanh
	elementSigmoid
	elementErf
)

// Exp sets dst to e to the power of each element of src, which may be dst.
func Exp(dst, src []float32) { elementExp.each(dst, src, exp) }

// Tanh sets dst to the hyperbolic tangents of src, which may be dst.
func Tanh(dst, src []float32) { elementTanh.each(dst, src, tanh) }

// Sigmoid sets dst to 1/(1+e^−x) for each x of src, which may be dst.
func Sigmoid(dst, src []float32) { elementSigmoid.each(dst, src, sigmoid) }

// Erf sets dst to the error function of src, which may be dst.
func Erf(dst, src []float32) { elementErf.each(dst, src, erf) }

// each sets dst to the function of each element of src; f is the portable function.
func (e element) each(dst, src []float32, f func(float32) float32) {
	within("floats of results", len(dst), len(src))
	for i := elementsAssembly(current(), e, dst, src); i < len(src); i++ {
		dst[i] = f(src[i])
	}
}
