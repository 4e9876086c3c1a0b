package network

import (
	"slices"

	"moonfarm/rollout/network/internal/kernel"
	"moonfarm/rollout/network/onnx"
)

// combine tells how a scattered element changes the element at its index: it replaces it, or is added to it,
// multiplied with it, or compared with it.
type combine uint8

const (
	replace combine = iota
	addTo
	multiplyBy
	least
	most
)

// combinations are the values of the attribute "reduction".
var combinations = map[string]combine{"none": replace, "add": addTo, "mul": multiplyBy, "min": least, "max": most}

// reduction reads the attribute of that name.
func (k *call) reduction() combine {
	name := k.text("reduction", "none")
	c, ok := combinations[name]
	k.refuse(!ok, "reduction: expected none, add, mul, min or max, found %q", name)
	return c
}

// apply changes elements by as many others.
func (c combine) apply(dst, by []float32) {
	dst = dst[:len(by)]
	switch c {
	case replace:
		copy(dst, by)
	case addTo:
		for i, x := range by {
			dst[i] += x
		}
	case multiplyBy:
		for i, x := range by {
			dst[i] *= x
		}
	case least:
		for i, x := range by {
			dst[i] = min(dst[i], x)
		}
	case most:
		for i, x := range by {
			dst[i] = max(dst[i], x)
		}
	}
}

// readScatterElements reads a ScatterElements, or its older form Scatter: each element of the updates has its
// own index along an axis.
func readScatterElements(k *call) []*value {
	v, index, updates := k.arg(0), k.arg(1), k.arg(2)
	op := &elementScatter{combine: k.reduction(), axis: k.elementAxis(v, index)}
	if !index.shape.equal(updates.shape) {
		k.fail("expected updates of the shape %v, found %v", index.shape, updates.shape)
	}
	return one(k.emit(op, v.typ, v.shape, v, index, updates))
}

// elementScatter copies an array, and changes one element of it for each of the updates, in their order. The
// coordinates are those of the update, except along one axis, where the index counts. Updates with an index
// out of range have no effect.
type elementScatter struct {
	combine
	axis int
}

func (e *elementScatter) lower(_ *planner, n *node) task {
	return rows(n, &elementScatterLoop{e.combine, n.out.shape.size(), newElementLoop(n, e.axis)})
}

type elementScatterLoop struct {
	combine
	size int // of the array
	elementLoop
}

func (e *elementScatterLoop) row(dst []float32, in inputRows, _ []float32) {
	l := &e.loop
	copy(dst[:e.size], in[0])
	c := cursor{at: l.start}
	for range l.runs() {
		for i, x := range in[1][c.at[0]:][:l.size[0]] {
			if n, ok := position(x, e.count); ok {
				e.apply(dst[c.at[1]+i*l.step[1][0]+n*e.step:], in[2][c.at[0]+i:][:1])
			}
		}
		c.next(l)
	}
}

// readScatterND reads a ScatterND: the last dimension of the indices has coordinates in the array.
func readScatterND(k *call) []*value {
	v, index, updates := k.arg(0), k.arg(1), k.arg(2)
	c := k.reduction()
	want, m, count := k.coordinates(v, index, 0)
	if v.shape.axis < 0 && index.shape.axis >= 0 {
		k.fail("expected indices of elements within a row of the batch, found %v for the array %v", index.shape, v.shape)
	}
	if !want.equal(updates.shape) || want.axis >= 0 && want.outer != updates.shape.outer {
		k.fail("expected updates of the shape %v, found %v", want, updates.shape)
	}
	return one(k.emit(&pointScatter{c, newPoints(v.shape.dims, m, count)}, v.typ, v.shape, v, index, updates))
}

// pointScatter copies an array, and changes the elements or blocks at computed coordinates, in the order of the
// updates. Updates with a coordinate out of range have no effect.
type pointScatter struct {
	combine
	points
}

func (p *pointScatter) row(dst []float32, in inputRows, _ []float32) {
	m := len(p.dims)
	copy(dst[:p.size], in[0])
	for i := range p.count {
		if at, ok := p.exact(in[1][i*m:]); ok {
			p.apply(dst[at:], in[2][i*p.inner:(i+1)*p.inner])
		}
	}
}

// readOneHot reads a OneHot: a new dimension that is "on" at the index, and "off" elsewhere.
func readOneHot(k *call) []*value {
	v, values := k.arg(0), k.arg(2)
	depth, offOn := k.constant(1, 1, "depth"), k.constant(2, 2, "values")
	n := len(v.shape.dims)
	a := k.axis(int64(k.integer("axis", -1)), n+1)
	if !(depth[0] >= 1 && depth[0] <= maxArray) {
		k.fail("depth: expected a number from 1 to %d, found %g", maxArray, depth[0])
	}
	s := v.shape
	s.dims = slices.Insert(slices.Clone(s.dims), a, int(depth[0]))
	if s.axis >= a {
		s.axis++
	}
	op := &oneHot{off: offOn[0], on: offOn[1], depth: int(depth[0]), inner: product(v.shape.dims[a:]), indices: v.shape.size()}
	return one(k.emit(op, values.typ, s, v))
}

// oneHot writes "on" where the position along a dimension is the index, and "off" elsewhere. An index out of
// range gives "off" alone.
type oneHot struct {
	off, on      float32
	depth, inner int // sizes of the dimension, and of those after it
	indices      int
}

func (o *oneHot) row(dst []float32, in inputRows, _ []float32) {
	dst = dst[:o.indices*o.depth]
	for i := range dst {
		dst[i] = o.off
	}
	for i, x := range in[0][:o.indices] {
		if at, ok := position(x, o.depth); ok {
			dst[(i/o.inner*o.depth+at)*o.inner+i%o.inner] = o.on
		}
	}
}

// readTrilu reads a Trilu: the upper or lower triangle of matrices, with 0 elsewhere.
func readTrilu(k *call) []*value {
	v, upper, diagonal := k.arg(0), k.integer("upper", 1) != 0, 0
	if k.has(1) {
		if w := k.wholes(1, "k"); len(w) == 1 && abs64(w[0].n) < maxArray {
			diagonal = int(w[0].n)
		}
	}
	n := len(v.shape.dims)
	k.refuse(n < 2, "expected matrices or stacks of them, found %v", v.shape)
	k.rows(v.shape, n-2, n-1)
	mask := k.mask(v.shape.dims[n-2], v.shape.dims[n-1], func(row, column int) bool {
		beyond := column - row - diagonal
		return upper && beyond >= 0 || !upper && beyond <= 0
	})
	return one(k.emit(&choose{}, v.typ, v.shape, mask, v, k.floatsOut([]float32{0})))
}

// mask returns a constant matrix of bools.
func (k *call) mask(rows, columns int, is func(row, column int) bool) *value {
	k.must(k.compiler.spend(rows * columns))
	v := k.floatsOut(make([]float32, rows*columns), rows, columns)
	v.typ = onnx.Bool
	for i := range v.floats {
		v.floats[i] = kernel.Number(is(i/columns, i%columns))
	}
	return v
}
