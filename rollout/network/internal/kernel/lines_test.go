package kernel

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// plainOps are the functions of Lines, from Add on.
var plainOps = []func(x, y float32) float32{
	func(x, y float32) float32 { return x + y },
	func(x, y float32) float32 { return x - y },
	func(x, y float32) float32 { return x * y },
	func(x, y float32) float32 { return x / y },
	func(x, y float32) float32 { return min(x, y) },
	func(x, y float32) float32 { return max(x, y) },
	func(x, y float32) float32 {
		if x < y {
			return y
		}
		return x
	},
	func(x, y float32) float32 {
		if x > y {
			return y
		}
		return x
	},
	plainBool(func(x, y float32) bool { return x == y }),
	plainBool(func(x, y float32) bool { return x != y }),
	plainBool(func(x, y float32) bool { return x < y }),
	plainBool(func(x, y float32) bool { return x <= y }),
	plainBool(func(x, y float32) bool { return x > y }),
	plainBool(func(x, y float32) bool { return x >= y }),
	plainBool(func(x, y float32) bool { return x != 0 && y != 0 }),
	plainBool(func(x, y float32) bool { return x != 0 || y != 0 }),
	plainBool(func(x, y float32) bool { return (x != 0) != (y != 0) }),
	func(x, _ float32) float32 { return math.Float32frombits(math.Float32bits(x) &^ (1 << 31)) },
	func(x, _ float32) float32 { return -x },
	func(x, _ float32) float32 {
		switch {
		case x > 0:
			return 1
		case x < 0:
			return -1
		}
		return x
	},
	func(x, _ float32) float32 { return float32(math.Floor(float64(x))) },
	func(x, _ float32) float32 { return float32(math.Ceil(float64(x))) },
	func(x, _ float32) float32 { return float32(math.RoundToEven(float64(x))) },
	func(x, _ float32) float32 { return float32(math.Trunc(float64(x))) },
}

func plainBool(f func(x, y float32) bool) func(x, y float32) float32 {
	return func(x, y float32) float32 {
		if f(x, y) {
			return 1
		}
		return 0
	}
}

// linesCase is one use of Lines.
type linesCase struct {
	Lines
	x, y    []float32
	inPlace bool // the result is written over x
}

// newLinesCase returns a case for a function, of rows of boards, numbers, and arrays with gaps.
func newLinesCase(r *rand.Rand, op Op) linesCase {
	c := linesCase{Lines: Lines{Op: op, N: 1 + r.IntN(70), Count: 1 + r.IntN(5)}}
	step := func(element int) Steps {
		s := Steps{Element: element, Line: r.IntN(2) * (c.N*element + r.IntN(3))}
		return s
	}
	c.Dst = Steps{1 + r.IntN(20)/19, 0}
	c.Dst.Line = c.N*c.Dst.Element + r.IntN(3)
	c.X, c.Y = step(1), step(1)
	switch r.IntN(6) {
	case 0:
		c.X = step(0)
	case 1, 2:
		c.Y = step(0)
	case 3:
		c.X, c.Y = step(r.IntN(4)), step(r.IntN(4))
	case 4:
		c.inPlace, c.X = true, c.Dst
	}
	c.x, c.y = mixed(r, c.X.end(c.N, c.Count)), mixed(r, c.Y.end(c.N, c.Count))
	return c
}

// mixed returns numbers with many zeros, whole numbers, NaN and infinite numbers.
func mixed(r *rand.Rand, n int) []float32 {
	a := random(r, n, true)
	for i := range a {
		switch r.IntN(4) {
		case 0:
			a[i] = float32(r.IntN(5) - 2)
		case 1:
			a[i] = []float32{0, float32(math.Copysign(0, -1)), float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 0.5, -2.5, 1 << 23}[r.IntN(8)]
		}
	}
	return a
}

// check compares all paths with single numbers, and that no other float is written.
func (l *linesCase) check(t *testing.T) {
	t.Helper()
	const beyond = 20
	want := make([]float32, l.Dst.end(l.N, l.Count)+beyond)
	for i := range want {
		want[i] = 77
	}
	for i := range l.Count {
		for j := range l.N {
			y := float32(0)
			if !l.Op.alone() {
				y = l.y[i*l.Y.Line+j*l.Y.Element]
			}
			want[i*l.Dst.Line+j*l.Dst.Element] = plainOps[l.Op-1](l.x[i*l.X.Line+j*l.X.Element], y)
		}
	}
	everyPath(t, func(name string) {
		got := make([]float32, len(want))
		for i := range got {
			got[i] = 77
		}
		x, y := slices.Clone(l.x), slices.Clone(l.y)
		if l.inPlace {
			for i := range l.Count {
				for j := range l.N {
					at := i*l.Dst.Line + j*l.Dst.Element
					got[at] = x[at]
				}
			}
			x = got[:len(x)]
		}
		l.Run(got[:len(got)-beyond], x, y)
		for i := range want {
			require.Truef(t, same(got[i], want[i]), "%s: %+v: float %d is %x, want %x", name, l.Lines, i, got[i], want[i])
		}
	})
}

// TestLines: every path gives the numbers of every function, for any steps, and writes no other number.
func TestLines(t *testing.T) {
	rounds := 150
	if os.Getenv("MOONFARM_LONG") != "" {
		rounds = 5000 // ten million numbers
	}
	r := rand.New(rand.NewPCG(18, 19))
	require.Len(t, plainOps, int(Trunc))
	for range rounds {
		for op := Add; op <= Trunc; op++ {
			c := newLinesCase(r, op)
			c.check(t)
		}
	}
}

// FuzzLines compares the paths for numbers of any bits.
func FuzzLines(f *testing.F) {
	f.Add(uint8(5), uint64(1), uint32(0x80000000), uint32(0))
	f.Add(uint8(6), uint64(2), uint32(0x7fc00000), uint32(0x3f800000))
	f.Fuzz(func(t *testing.T, op uint8, seed uint64, x, y uint32) {
		r := rand.New(rand.NewPCG(seed, 20))
		c := newLinesCase(r, Add+Op(op)%Trunc)
		c.x[r.IntN(len(c.x))], c.y[r.IntN(len(c.y))] = math.Float32frombits(x), math.Float32frombits(y)
		c.check(t)
	})
}

// TestLinesCombined: lines whose result is one line combine all of them in order, as the maximum of all cells does.
func TestLinesCombined(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for range 100 {
		n, count := 1+r.IntN(70), 1+r.IntN(9)
		l := Lines{Op: Max, N: n, Count: count, Dst: Steps{Element: 1}, X: Steps{Element: 1}, Y: Steps{1, n + r.IntN(3)}}
		first, y := mixed(r, n), mixed(r, l.Y.end(n, count))
		everyPath(t, func(name string) {
			got := slices.Clone(first)
			l.Run(got, got, y)
			for i, want := range first {
				for line := range count {
					want = max(want, y[line*l.Y.Line+i])
				}
				require.Truef(t, same(got[i], want), "%s: element %d of %d is %x, want %x", name, i, n, got[i], want)
			}
		})
	}
}

// TestAddSums: every path adds in the order of the lines.
func TestAddSums(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 24))
	for range 300 {
		n, count := r.IntN(90), 1+r.IntN(20)
		step := n + r.IntN(9)
		src, first := random(r, (count-1)*step+n, false), make([]float64, n)
		for i := range first {
			first[i] = r.NormFloat64()
		}
		want := slices.Clone(first)
		for i := range count {
			for j := range want {
				want[j] += float64(src[i*step+j])
			}
		}
		everyPath(t, func(name string) {
			got := slices.Clone(first)
			AddSums(got, src, count, step)
			require.Equalf(t, want, got, "%s: %d sums of %d", name, n, count)
		})
	}
}

// TestExtremes: every path finds the extremes that min and max give, and reports numbers that are NaN.
func TestExtremes(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 26))
	for i := range 3000 {
		src := random(r, 1+r.IntN(70), false)
		if i%2 == 0 {
			src = mixed(r, len(src))
		}
		low, high := src[0], src[0]
		for _, x := range src {
			low, high = min(low, x), max(high, x)
		}
		everyPath(t, func(name string) {
			gotLow, gotHigh, ok := Extremes(src)
			require.Equalf(t, low == low, ok, "%s: extremes of %v", name, src)
			require.Truef(t, !ok || same(gotLow, low) && same(gotHigh, high), "%s: %x and %x of %v", name, gotLow, gotHigh, src)
		})
	}
}
