package kernel

import (
	"fmt"
	"math"
)

// Op is a function of two numbers, or of one. Comparisons and logical functions return 1 or 0.
type Op uint8

const (
	Add Op = iota + 1
	Sub
	Mul
	Div
	Min     // as Go's min: NaN if one number is NaN, and −0 is less than 0
	Max     // as Go's max
	AtLeast // y if x < y, else x, also if it is NaN
	AtMost  // y if x > y, else x
	Equal
	Unequal
	Less
	LessOrEqual
	Greater
	GreaterOrEqual
	And // of x ≠ 0 and y ≠ 0; NaN is not 0
	Or
	Xor

	// Functions of x alone.
	Abs
	Neg
	Sign // −1, 0 or 1; NaN and −0 stay
	Floor
	Ceil
	Round // to the nearest whole number, halves to even ones
	Trunc
)

// alone reports whether the function ignores y.
func (o Op) alone() bool { return o >= Abs }

// Steps are the steps of an array, in floats, from element to element of a line and from line to line.
type Steps struct{ Element, Line int }

// end returns the number of floats that n elements of each of `count` lines span.
func (s Steps) end(n, count int) int { return (count-1)*s.Line + (n-1)*s.Element + 1 }

// Lines is the work of computing Op for N elements of each of Count lines, where lines may be rows of boards, or of
// arrays that are broadcast. Steps are at least 0. A step of 0 repeats a number of X or Y; lines of Dst may
// have a step of 0, too, to combine all lines of Y with X's line, which is then Dst itself.
type Lines struct {
	Op        Op
	N, Count  int
	Dst, X, Y Steps
}

// Run computes the lines, one after the other. dst may be x or y if their steps are equal. It panics if the lengths do
// not fit.
func (l *Lines) Run(dst, x, y []float32) {
	if min(l.N, l.Count) < 1 || min(l.Dst.Element, l.Dst.Line, l.X.Element, l.X.Line, l.Y.Element, l.Y.Line) < 0 {
		panic(fmt.Sprintf("kernel: lines %+v", *l))
	}
	within("floats of results", len(dst), l.Dst.end(l.N, l.Count))
	within("first operands", len(x), l.X.end(l.N, l.Count))
	if !l.Op.alone() {
		within("second operands", len(y), l.Y.end(l.N, l.Count))
	}
	if p := current(); p != &portable && l.vectors() && linesAssembly(p, l, dst, x, y) {
		return
	}
	for i := range l.Count {
		l.portable(dst[i*l.Dst.Line:], x[i*l.X.Line:], y[min(i*l.Y.Line, len(y)):])
	}
}

// vectors reports whether the elements of lines are adjacent, or a number in one operand.
func (l *Lines) vectors() bool {
	switch {
	case l.Dst.Element != 1:
		return false
	case l.Op.alone():
		return l.X.Element == 1
	}
	return l.X.Element <= 1 && l.Y.Element <= 1 && l.X.Element+l.Y.Element > 0
}

// With computes op for the elements of src and one number. dst may be src.
func With(op Op, dst, src []float32, number float32) {
	if len(src) == 0 {
		return
	}
	l := Lines{Op: op, N: len(src), Count: 1, Dst: Steps{Element: 1}, X: Steps{Element: 1}}
	y := [1]float32{number}
	l.Run(dst, src, y[:])
}

// portable computes one line. Arithmetic on adjacent elements has loops of its own.
func (l *Lines) portable(dst, x, y []float32) {
	n, to, sx, sy := l.N, l.Dst.Element, l.X.Element, l.Y.Element
	if l.Op <= Div && to == 1 {
		switch {
		case sx == 1 && sy == 1:
			adjacent(l.Op, dst[:n], x[:n], y[:n])
			return
		case sx == 1 && sy == 0:
			withNumber(l.Op, dst[:n], x[:n], y[0])
			return
		}
	}
	if l.Op.alone() {
		for i := range n {
			dst[i*to] = l.Op.of(x[i*sx])
		}
		return
	}
	switch l.Op {
	case Add: // loops of their own, as for the planes of a board that become channels of cells
		for i := range n {
			dst[i*to] = x[i*sx] + y[i*sy]
		}
	case Mul:
		for i := range n {
			dst[i*to] = x[i*sx] * y[i*sy]
		}
	default:
		for i := range n {
			dst[i*to] = l.Op.ofTwo(x[i*sx], y[i*sy])
		}
	}
}

// adjacent computes elements that are adjacent in all arrays.
func adjacent(op Op, dst, x, y []float32) {
	x, y = x[:len(dst)], y[:len(dst)]
	switch op {
	case Add:
		for i := range dst {
			dst[i] = x[i] + y[i]
		}
	case Sub:
		for i := range dst {
			dst[i] = x[i] - y[i]
		}
	case Mul:
		for i := range dst {
			dst[i] = x[i] * y[i]
		}
	case Div:
		for i := range dst {
			dst[i] = x[i] / y[i]
		}
	}
}

// withNumber computes elements with one number as second operand.
func withNumber(op Op, dst, x []float32, y float32) {
	x = x[:len(dst)]
	switch op {
	case Add:
		for i := range dst {
			dst[i] = x[i] + y
		}
	case Sub:
		for i := range dst {
			dst[i] = x[i] - y
		}
	case Mul:
		for i := range dst {
			dst[i] = x[i] * y
		}
	case Div:
		for i := range dst {
			dst[i] = x[i] / y
		}
	}
}

// ofTwo computes a function of two numbers.
func (o Op) ofTwo(x, y float32) float32 {
	switch o {
	case Add:
		return x + y
	case Sub:
		return x - y
	case Mul:
		return x * y
	case Div:
		return x / y
	case Min:
		return min(x, y)
	case Max:
		return max(x, y)
	case AtLeast:
		if x < y {
			return y
		}
		return x
	case AtMost:
		if x > y {
			return y
		}
		return x
	}
	return Number(o.is(x, y))
}

// is computes a comparison or a logical function.
func (o Op) is(x, y float32) bool {
	switch o {
	case Equal:
		return x == y
	case Unequal:
		return x != y
	case Less:
		return x < y
	case LessOrEqual:
		return x <= y
	case Greater:
		return x > y
	case GreaterOrEqual:
		return x >= y
	case And:
		return x != 0 && y != 0
	case Or:
		return x != 0 || y != 0
	}
	return (x != 0) != (y != 0)
}

// Number returns 1 or 0, without a jump.
func Number(is bool) float32 {
	var bit uint32
	if is {
		bit = 1
	}
	return math.Float32frombits(-bit & 0x3f800000)
}

// of computes a function of one number.
func (o Op) of(x float32) float32 {
	switch o {
	case Abs:
		return math.Float32frombits(math.Float32bits(x) &^ (1 << 31))
	case Neg:
		return -x
	case Sign:
		switch {
		case x > 0:
			return 1
		case x < 0:
			return -1
		}
		return x
	case Floor:
		return float32(math.Floor(float64(x)))
	case Ceil:
		return float32(math.Ceil(float64(x)))
	case Round:
		return float32(math.RoundToEven(float64(x)))
	}
	return float32(math.Trunc(float64(x)))
}
