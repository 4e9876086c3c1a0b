package network

import (
	"math"

	"moonfarm/rollout/network/internal/kernel"
	"moonfarm/rollout/network/onnx"
)

// lanes are the lines of an array along one dimension: line i of block o begins at o·n·inner + i, and its
// elements are inner apart.
type lanes struct{ outer, n, inner int }

// along returns the lanes of a shape along an axis.
func (s shape) along(axis int) lanes {
	return lanes{product(s.dims[:axis]), s.dims[axis], product(s.dims[axis+1:])}
}

// readCumSum reads a CumSum: running sums along an axis, which is a constant input.
func readCumSum(k *call) []*value {
	v := k.arg(0)
	axis := k.wholes(1, "axis")
	k.refuse(len(axis) != 1 || axis[0].batch, "axis: expected one number, found %v", axis)
	a := k.axis(axis[0].n, len(v.shape.dims))
	exclusive, reverse := k.integer("exclusive", 0) != 0, k.integer("reverse", 0) != 0
	k.rows(v.shape, a)
	return one(k.emit(&runningSum{v.shape.along(a), exclusive, reverse}, v.typ, v.shape, v))
}

// runningSum computes running sums in float64, each rounded once: from the first element to each, or from the
// last to each if reverse is set; without the element itself if exclusive is set.
type runningSum struct {
	lanes
	exclusive, reverse bool
}

func (r *runningSum) row(dst []float32, in inputRows, _ []float32) {
	first, step := 0, r.inner
	if r.reverse {
		first, step = (r.n-1)*r.inner, -r.inner
	}
	for o := range r.outer {
		for i := range r.inner {
			at, sum := o*r.n*r.inner+i+first, 0.0
			for range r.n {
				x := float64(in[0][at])
				if r.exclusive {
					dst[at] = float32(sum)
				} else {
					dst[at] = float32(sum + x)
				}
				sum += x
				at += step
			}
		}
	}
}

// readTopK reads a TopK: the largest or smallest elements along an axis, and their indices.
func readTopK(k *call) []*value {
	v, count := k.arg(0), int64(k.integer("k", 0))
	if k.has(1) {
		if w := k.wholes(1, "K"); len(w) == 1 && !w[0].batch {
			count = w[0].n
		}
	}
	a := k.axis(int64(k.integer("axis", -1)), len(v.shape.dims))
	largest := k.integer("largest", 1) != 0
	k.ignore("sorted")
	k.rows(v.shape, a)
	if count < 1 || count > int64(v.shape.dims[a]) {
		k.fail("K: expected a number from 1 to %d, found %d", v.shape.dims[a], count)
	}
	index := k.emit(&top{v.shape.along(a), int(count), largest}, onnx.Int64, v.shape.sized(a, int(count)), v)
	return []*value{k.emit(&elementLookup{axis: a}, v.typ, index.shape, v, index), index}
}

// top computes the indices of the first elements along a dimension in the order of their size. Among equal
// numbers, such as 0 and −0, the one with the lower index comes first. NaN counts as larger than all numbers.
type top struct {
	lanes
	count   int
	largest bool
}

func (t *top) lower(p *planner, n *node) task {
	p.scratch = max(p.scratch, t.count)
	return rows(n, t)
}

func (t *top) row(dst []float32, in inputRows, scratch []float32) {
	for o := range t.outer {
		for i := range t.inner {
			l := ranking{src: in[0][o*t.n*t.inner+i:], step: t.inner, largest: t.largest, best: scratch[:0]}
			l.fill(t.n, t.count)
			for j, index := range l.best {
				dst[(o*t.count+j)*t.inner+i] = index
			}
		}
	}
}

// rank returns a whole number for a float that has its place in the order: equal numbers have equal ranks, and
// NaN has the highest.
func rank(x float32) int32 {
	switch b := int32(math.Float32bits(x)); {
	case x != x:
		return math.MaxInt32
	case x == 0:
		return 0
	case b < 0:
		return -(b & math.MaxInt32)
	default:
		return b
	}
}

// ranking collects the indices of the best elements of a line. While it collects, best is a heap: the worst of
// them is the first, and each is worse than those at twice its position.
type ranking struct {
	src     []float32
	step    int
	largest bool
	best    []float32 // indices, exact since arrays have at most 2^24 elements
}

// before reports whether the element at index a comes before that at index b.
func (r *ranking) before(a, b float32) bool {
	x, y := rank(r.src[int(a)*r.step]), rank(r.src[int(b)*r.step])
	switch {
	case x == y:
		return a < b
	case r.largest:
		return x > y
	}
	return x < y
}

// fill collects the best `count` of n elements, and sorts them.
func (r *ranking) fill(n, count int) {
	r.best = r.best[:count]
	for i := range r.best {
		r.best[i] = float32(i)
	}
	for i := count/2 - 1; i >= 0; i-- {
		r.sink(i, count)
	}
	for i := count; i < n; i++ {
		if x := float32(i); r.before(x, r.best[0]) {
			r.best[0] = x
			r.sink(0, count)
		}
	}
	for end := count - 1; end > 0; end-- {
		r.best[0], r.best[end] = r.best[end], r.best[0]
		r.sink(0, end)
	}
}

// sink moves the element at position i of a heap of `size` elements down to its place.
func (r *ranking) sink(i, size int) {
	for {
		next := 2*i + 1
		if next >= size {
			return
		}
		if next+1 < size && r.before(r.best[next], r.best[next+1]) {
			next++
		}
		if r.before(r.best[next], r.best[i]) {
			return
		}
		r.best[i], r.best[next] = r.best[next], r.best[i]
		i = next
	}
}

// readArgMax reads an ArgMax or ArgMin: the index of the largest or smallest element along an axis.
func readArgMax(k *call) []*value {
	v, keep := k.arg(0), k.integer("keepdims", 1) != 0
	a := k.axis(int64(k.integer("axis", 0)), len(v.shape.dims))
	last := k.integer("select_last_index", 0) != 0
	k.rows(v.shape, a)
	return one(k.emit(&extreme{v.shape.along(a), k.Op == "ArgMax", last}, onnx.Int64, v.shape.without([]int{a}, keep), v))
}

// extreme computes the index of the largest or smallest element along a dimension: the first one, or the last
// one, among equals. NaN counts as larger than all numbers.
type extreme struct {
	lanes
	largest, last bool
}

// smallest returns the index of the first of the smallest numbers, false if one number may be NaN.
func smallest(src []float32) (int, bool) {
	if low, _, ok := kernel.Extremes(src); ok {
		for i, x := range src {
			if x == low {
				return i, true
			}
		}
	}
	return 0, false
}

func (e *extreme) row(dst []float32, in inputRows, _ []float32) {
	src := in[0]
	for o := range e.outer {
		for i := range e.inner {
			at := o*e.n*e.inner + i
			if e.inner == 1 && !e.largest && !e.last {
				if k, ok := smallest(src[at : at+e.n]); ok {
					dst[o] = float32(k)
					continue
				}
			}
			found, best := 0, rank(src[at])
			for j := 1; j < e.n; j++ {
				x := rank(src[at+j*e.inner])
				if e.largest && x > best || !e.largest && x < best || e.last && x == best {
					found, best = j, x
				}
			}
			dst[o*e.inner+i] = float32(found)
		}
	}
}
