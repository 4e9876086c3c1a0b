package network

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"moonfarm/rollout/network/onnx"
)

// whole is a constant whole number: n, or n times the size of the batch, which is unknown when
// the model is read. Exporters compute shapes with them.
type whole struct {
	n     int64
	batch bool
}

// String returns the number as text.
func (w whole) String() string {
	switch {
	case !w.batch:
		return strconv.FormatInt(w.n, 10)
	case w.n == 1:
		return "batch"
	}
	return strconv.FormatInt(w.n, 10) + "·batch"
}

// maxWhole bounds the factors of products.
const maxWhole = 1 << 40

// apply computes a op b. It fails if the result is not the same for all batches.
func (w whole) apply(op string, v whole) (whole, error) {
	unknown := fmt.Errorf("expected numbers for which %s is the same for any batch, found %v and %v", op, w, v)
	compares := op == "Min" || op == "Max" || op == "Equal" // exporters use the largest int as the end of a slice
	if !compares && max(abs64(w.n), abs64(v.n)) > maxWhole {
		return whole{}, fmt.Errorf("expected numbers within ±2^40, found %v and %v", w, v)
	}
	switch op {
	case "Mul":
		if w.batch && v.batch || abs64(w.n) > 1<<20 && abs64(v.n) > 1<<20 {
			return whole{}, unknown
		}
		return whole{w.n * v.n, w.batch || v.batch}, nil
	case "Div":
		if v.n == 0 || v.batch && !w.batch || w.batch && w.n%v.n != 0 {
			return whole{}, unknown
		}
		return whole{w.n / v.n, w.batch && !v.batch}, nil
	case "Equal":
		return truth(w == v), nil
	}
	if w.batch != v.batch {
		return whole{}, unknown
	}
	switch op {
	case "Add":
		w.n += v.n
	case "Sub":
		w.n -= v.n
	case "Min":
		w.n = min(w.n, v.n)
	case "Max":
		w.n = max(w.n, v.n)
	default:
		return whole{}, fmt.Errorf("expected constants of floating-point numbers, found whole ones")
	}
	w.batch = w.batch && w.n != 0
	return w, nil
}

func truth(is bool) whole {
	if is {
		return whole{n: 1}
	}
	return whole{}
}

func abs64(x int64) uint64 {
	if x < 0 {
		return -uint64(x)
	}
	return uint64(x)
}

// wholeFunction applies a function that exporters use in computations of shapes to constant
// whole numbers; it returns nil for other functions.
func (k *call) wholeFunction(v *value) *value {
	f := map[string]func(w whole) whole{
		"Neg": func(w whole) whole { return whole{-w.n, w.batch} },
		"Not": func(w whole) whole { return truth(w == whole{}) },
	}[k.Op]
	if f == nil {
		return nil
	}
	numbers := make([]whole, len(v.whole))
	for i, w := range v.whole {
		numbers[i] = f(w)
	}
	return k.wholeOut(v.typ, v.shape, numbers)
}

// wholeOf are the operators that constant whole numbers are folded with exactly, and that know
// multiples of the batch.
var wholeOf = map[string]bool{"Add": true, "Sub": true, "Mul": true, "Div": true, "Min": true, "Max": true, "Equal": true}

// wholeArithmetic computes an operator of constant whole numbers.
func (k *call) wholeArithmetic(typ onnx.Type, a, b *value, s shape) *value {
	k.must(k.compiler.spend(2 * s.size()))
	out := make([]whole, s.size())
	l := newLoop(s.dims, false, steps(s.dims), spread(steps(a.shape.dims), a.shape.dims, s.dims), spread(steps(b.shape.dims), b.shape.dims, s.dims))
	c := cursor{at: l.start}
	for range l.runs() {
		for i := range l.size[0] {
			w, err := a.whole[c.at[1]+i*l.step[1][0]].apply(k.Op, b.whole[c.at[2]+i*l.step[2][0]])
			k.must(err)
			out[c.at[0]+i*l.step[0][0]] = w
		}
		c.next(&l)
	}
	return k.wholeOut(typ, s, out)
}

// wholeReduce computes a reduction of all elements of constant whole numbers, such as exporters use in
// computations of shapes. It returns nil for other reductions.
func (k *call) wholeReduce(kind string, v *value, axes []int, keep bool) *value {
	op := map[string]string{"prod": "Mul", "sum": "Add", "max": "Max", "min": "Min"}[kind]
	if op == "" || len(axes) < len(v.shape.dims) || len(v.whole) == 0 {
		return nil
	}
	k.compiler.steps -= int64(len(v.whole))
	all := v.whole[0]
	for _, w := range v.whole[1:] {
		var err error
		all, err = all.apply(op, w)
		k.must(err)
	}
	return k.wholeOut(v.typ, v.shape.without(axes, keep), []whole{all})
}

func readExpand(k *call) []*value {
	v := k.arg(0)
	target := k.wholes(1, "shape")
	k.refuse(len(target) > maxRank, "expected a shape of at most %d dimensions, found %d", maxRank, len(target))
	want := shape{axis: -1, outer: 1}
	for i, w := range target {
		k.refuse(w.n < 1 || w.n > maxArray || w.batch && want.axis >= 0, "expected a shape, found %v", target)
		if w.batch {
			want.axis = i
			if at := len(v.shape.dims) - len(target) + i; at >= 0 && at == v.shape.axis {
				want.outer = v.shape.outer
			}
		}
		want.dims = append(want.dims, int(w.n))
	}
	s := k.broadcast(v.shape, want)
	if s.equal(v.shape) {
		return one(v)
	}
	p, ahead := part{}, len(s.dims)-len(v.shape.dims)
	for i, d := range s.dims {
		step := 0
		if i >= ahead && v.shape.dims[i-ahead] == d {
			step = 1
		}
		p.along(d, i, max(i-ahead, 0), step)
	}
	if len(v.shape.dims) == 0 {
		p.scalar = true
	}
	return one(k.move(&move{parts: []part{p}, expands: true}, v.typ, s, v))
}

// readTile reads a Tile: copies of an array side by side.
func readTile(k *call) []*value {
	v := k.arg(0)
	repeats, n := k.wholes(1, "repeats"), len(v.shape.dims)
	k.refuse(len(repeats) != n, "repeats: expected %d numbers, found %d", n, len(repeats))
	var before []int // dimensions with one of size 1 before each that is repeated
	wide, axis, s := part{}, v.shape.axis, v.shape
	for i, w := range repeats {
		d := v.shape.dims[i]
		if w.batch || w.n < 1 || w.n > maxArray {
			k.fail("repeats: expected numbers from 1 to %d, found %v", maxArray, repeats)
		}
		if w.n > 1 {
			k.rows(v.shape, i)
			wide.along(int(w.n), len(before), len(before), 0)
			before = append(before, 1)
			if i < v.shape.axis {
				axis++
			}
		}
		wide.along(d, len(before), len(before), 1)
		before = append(before, d)
		s = s.sized(i, min(d*int(w.n), maxArray+1))
	}
	if len(before) == n {
		return one(v)
	}
	out := k.reshaped(v, before, axis)
	repeated := out.shape
	for _, a := range wide.axes {
		repeated = repeated.sized(a.to, a.size)
	}
	k.must(s.check())
	return one(k.reshaped(k.move(&move{parts: []part{wide}}, v.typ, repeated, out), s.dims, s.axis))
}

func readShape(k *call) []*value {
	v := k.arg(0)
	n := len(v.shape.dims)
	from, to := k.integer("start", 0), k.integer("end", n)
	if from < 0 {
		from += n
	}
	if to < 0 {
		to += n
	}
	from, to = min(max(from, 0), n), min(max(to, 0), n)
	var out []whole
	for i := from; i < to; i++ {
		out = append(out, whole{int64(v.shape.dims[i]), i == v.shape.axis})
	}
	k.refuse(len(out) == 0, "expected an array with dimensions, found a single number")
	return one(k.wholeOut(onnx.Int64, constantShape(len(out)), out))
}

func readConstant(k *call) []*value {
	var t *onnx.Tensor
	if a := k.attribute("value", onnx.KindTensor); a != nil {
		t = a.Tensor
	}
	if a := k.attribute("value_float", onnx.KindFloat); a != nil {
		t = &onnx.Tensor{Type: onnx.Float32, Floats: []float32{a.Float}}
	}
	if a := k.attribute("value_int", onnx.KindInt); a != nil {
		t = &onnx.Tensor{Type: onnx.Int64, Ints: []int64{a.Int}}
	}
	if a := k.attribute("value_floats", onnx.KindFloats); a != nil {
		t = &onnx.Tensor{Type: onnx.Float32, Floats: a.Floats, Dims: []int{len(a.Floats)}}
	}
	if a := k.attribute("value_ints", onnx.KindInts); a != nil {
		t = &onnx.Tensor{Type: onnx.Int64, Ints: a.Ints, Dims: []int{len(a.Ints)}}
	}
	k.refuse(t == nil, "expected a value of numbers, found none")
	v, err := k.compiler.tensor(t)
	k.refuse(err != nil, "value: %w", err)
	v.name = k.Outputs[0]
	return one(v)
}

// readSize translates the number of elements.
func readSize(k *call) []*value {
	v := k.arg(0)
	return one(k.wholeOut(onnx.Int64, constantShape(), []whole{{int64(v.shape.size()), v.shape.axis >= 0}}))
}

// readRange translates a range of constants, or the numbers of the rows of the batch: see trackRows.
func readRange(k *call) []*value {
	start, limit, delta := k.arg(0), k.arg(1), k.arg(2)
	for _, v := range []*value{start, limit, delta} {
		if !v.constant || v.shape.axis >= 0 || v.shape.size() != 1 {
			k.fail("expected constants, found %v: the size of an array must not depend on the data", v.shape)
		}
	}
	if start.whole == nil {
		return one(k.floatRange(start.typ))
	}
	from, to, by := k.wholes(0, "start")[0], k.wholes(1, "limit"), k.wholes(2, "delta")
	n, d := to[0].n, by[0].n
	if d == 0 || from.batch || by[0].batch || abs64(from.n)|abs64(n)|abs64(d) > maxWhole || to[0].batch && (from.n != 0 || d < 0 || n%d != 0) {
		k.fail("expected a range of constants or from 0 to a multiple of the batch, found %v to %v by %v", from, to[0], by[0])
	}
	count := (n - from.n) / d
	if rest := (n - from.n) % d; rest != 0 && (rest > 0) == (d > 0) {
		count++
	}
	s := constantShape(int(min(max(count, 0), maxArray+1)))
	if to[0].batch {
		s.axis = 0
	}
	k.must(s.check())
	k.must(k.compiler.spend(int(count)))
	numbers := make([]whole, count)
	for i := range numbers {
		numbers[i].n = from.n + int64(i)*d
	}
	out := k.wholeOut(start.typ, s, numbers)
	if to[0].batch {
		out.perRow = []int{int(n)}
	}
	return one(out)
}

// floatRange returns a range of constant floats. Each is rounded once.
func (k *call) floatRange(typ onnx.Type) *value {
	from, to, by := k.constant(0, 1, "start"), k.constant(1, 1, "limit"), k.constant(2, 1, "delta")
	out := k.floatsOut([]float32{0}, 1)
	out.typ = typ
	n := math.Ceil((float64(to[0]) - float64(from[0])) / float64(by[0]))
	if !(n >= 1 && n <= maxArray) {
		k.fail("expected a range of 1 to %d numbers, found %g to %g by %g", maxArray, from[0], to[0], by[0])
	}
	k.must(k.compiler.spend(int(n)))
	out.shape, out.floats = constantShape(int(n)), make([]float32, int(n))
	for i := range out.floats {
		out.floats[i] = float32(float64(from[0]) + float64(float64(i)*float64(by[0])))
	}
	return out
}

// readNonZero translates a NonZero of constants.
func readNonZero(k *call) []*value {
	v := k.arg(0)
	if !v.constant || v.shape.axis >= 0 {
		k.fail("expected a constant, found an array computed from the inputs: the size of the result would depend on the data; use a mask and Where instead")
	}
	floats := k.constant(0, -1, "array")
	k.must(k.compiler.spend((1 + len(v.shape.dims)) * len(floats)))
	var found []int
	for i, x := range floats {
		if x != 0 {
			found = append(found, i)
		}
	}
	s := constantShape(len(v.shape.dims), len(found))
	k.must(s.check())
	numbers := make([]whole, 0, s.size())
	for d, step := range steps(v.shape.dims) {
		for _, i := range found {
			numbers = append(numbers, whole{n: int64(i / step % v.shape.dims[d])})
		}
	}
	return one(k.wholeOut(onnx.Int64, s, numbers))
}

func readConstantOfShape(k *call) []*value {
	t := &onnx.Tensor{Type: onnx.Float32, Floats: []float32{0}}
	if a := k.attribute("value", onnx.KindTensor); a != nil {
		t = a.Tensor
	}
	target := k.wholes(0, "shape")
	if t.Len() != 1 || len(target) > maxRank {
		k.fail("expected one number and a shape of at most %d dimensions, found %v and %v", maxRank, t.Dims, target)
	}
	s := shape{axis: -1, outer: 1}
	for i, w := range target {
		k.refuse(w.n < 1 || w.n > maxArray || w.batch && s.axis >= 0, "expected a shape, found %v", target)
		if w.batch {
			s.axis = i
		}
		s.dims = append(s.dims, int(w.n))
	}
	k.must(s.check())
	k.must(k.compiler.spend(2 * s.size()))
	v := &value{name: k.Outputs[0], typ: t.Type, shape: s, constant: true}
	if t.Type.IsFloat() {
		v.floats = slices.Repeat(t.Floats, s.size())
		return one(v)
	}
	v.whole = slices.Repeat([]whole{{n: t.Ints[0]}}, s.size())
	return one(v)
}
