package network

import (
	"math"
	"slices"

	"moonfarm/rollout/network/onnx"
)

// reshaped returns the value with other dimensions; dimension axis holds the batch.
func (k *call) reshaped(v *value, dims []int, axis int) *value {
	s, err := v.shape.reshaped(dims, axis)
	k.must(err)
	if v.constant && v.whole != nil {
		return k.wholeOut(v.typ, s, v.whole)
	}
	return k.emit(&alias{}, v.typ, s, v)
}

func readIdentity(k *call) []*value {
	k.ignore("ratio", "seed", "is_test")
	v := k.arg(0)
	if k.has(2) {
		if w := k.wholes(2, "training_mode"); len(w) != 1 || w[0].n != 0 {
			k.fail("training_mode: expected false, since networks are not trained here")
		}
	}
	return one(v)
}

func readFlatten(k *call) []*value {
	v := k.arg(0)
	n := len(v.shape.dims)
	a := k.integer("axis", 1)
	if a < -n || a > n {
		k.fail("expected an axis from %d to %d, found %d", -n, n, a)
	}
	if a < 0 {
		a += n
	}
	axis := v.shape.axis
	if axis >= 0 && axis < a {
		axis = 0
	} else if axis >= 0 {
		axis = 1
	}
	return one(k.reshaped(v, []int{product(v.shape.dims[:a]), product(v.shape.dims[a:])}, axis))
}

func readReshape(k *call) []*value {
	v, keep := k.arg(0), k.integer("allowzero", 0) == 0
	target := k.wholes(1, "shape")
	k.refuse(len(target) > maxRank, "expected a shape of at most %d dimensions, found %d", maxRank, len(target))
	dims, axis, free, rest := make([]int, len(target)), -1, -1, int64(1)
	for i, w := range target {
		switch {
		case w == whole{n: -1} && free < 0:
			free = i
			continue
		case w.n == 0 && keep && i < len(v.shape.dims):
			w = whole{int64(v.shape.dims[i]), i == v.shape.axis}
		}
		if w.n < 1 || w.n > maxArray || w.batch && axis >= 0 {
			k.fail("expected a shape for %v, found %v", v.shape, target)
		}
		if w.batch {
			axis = i
		}
		dims[i] = int(w.n)
		rest = min(rest*w.n, maxArray+1)
	}
	if free >= 0 {
		dims[free] = max(1, v.shape.size()/int(rest))
		if axis < 0 && v.shape.axis >= 0 {
			axis = free
		}
	}
	return one(k.reshaped(v, dims, axis))
}

func readTranspose(k *call) []*value {
	v := k.arg(0)
	n := len(v.shape.dims)
	perm := k.integers("perm", n, 0)
	if k.attribute("perm", onnx.KindInts) == nil {
		perm = between(0, n)
		slices.Reverse(perm)
	}
	seen := 0
	for _, p := range perm {
		k.refuse(p >= n || seen&(1<<p) != 0, "perm: expected each axis from 0 to %d once, found %v", n-1, perm)
		seen |= 1 << p
	}
	return one(k.permuted(v, perm))
}

// permuted returns a value with its dimensions in another order.
func (k *call) permuted(v *value, perm []int) *value {
	s := shape{axis: -1, outer: v.shape.outer}
	m := &move{parts: []part{{}}}
	for i, p := range perm {
		s.dims = append(s.dims, v.shape.dims[p])
		if p == v.shape.axis {
			s.axis = i
		}
		m.parts[0].along(v.shape.dims[p], i, p, 1)
	}
	return k.move(m, v.typ, s, v)
}

// move emits a move, or computes it at once for constant whole numbers. A list of these may be empty.
func (k *call) move(m *move, typ onnx.Type, s shape, in ...*value) *value {
	wholes := len(in) > 0
	for _, v := range in {
		wholes = wholes && v.constant && v.whole != nil
	}
	if wholes && len(s.dims) == 1 && s.dims[0] == 0 {
		return k.wholeOut(typ, s, []whole{})
	}
	k.must(s.check())
	if !wholes {
		return k.emit(m, typ, s, in...)
	}
	return k.wholeOut(typ, s, moveWhole(m, s, in))
}

// readBlocks reads DepthToSpace and SpaceToDepth, which move blocks of cells between the board and its channels.
func readBlocks(k *call) []*value {
	v, b := k.arg(0), k.integer("blocksize", 0)
	c, h, w := k.board(v.shape)
	mode := k.text("mode", "DCR")
	if b < 1 || b > maxWindow || mode != "DCR" && mode != "CRD" {
		k.fail("expected blocks of 1 to %d cells, DCR or CRD, found %d, %q", maxWindow, b, mode)
	}
	var dims, perm, to []int
	switch {
	case k.Op == "SpaceToDepth" && h%b == 0 && w%b == 0:
		dims, perm, to = []int{1, c, h / b, b, w / b, b}, []int{0, 3, 5, 1, 2, 4}, []int{1, c * b * b, h / b, w / b}
	case k.Op == "DepthToSpace" && c%(b*b) == 0 && mode == "DCR":
		dims, perm, to = []int{1, b, b, c / b / b, h, w}, []int{0, 3, 4, 1, 5, 2}, []int{1, c / b / b, h * b, w * b}
	case k.Op == "DepthToSpace" && c%(b*b) == 0:
		dims, perm, to = []int{1, c / b / b, b, b, h, w}, []int{0, 1, 4, 2, 5, 3}, []int{1, c / b / b, h * b, w * b}
	default:
		k.fail("expected boards that divide into blocks of %d×%d, found %v", b, b, v.shape)
	}
	out := k.reshaped(v, dims, v.shape.axis)
	return one(k.reshaped(k.permuted(out, perm), to, v.shape.axis))
}

func readSqueeze(k *call) []*value {
	v := k.arg(0)
	axes := k.axes(k.listed("axes", 1), len(v.shape.dims))
	if len(axes) == 0 {
		for i, d := range v.shape.dims {
			if d == 1 && i != v.shape.axis {
				axes = append(axes, i)
			}
		}
	}
	k.rows(v.shape, axes...)
	for _, a := range axes {
		k.refuse(v.shape.dims[a] != 1, "expected a dimension of 1 as axis %d, found %v", a, v.shape)
	}
	s := v.shape.without(axes, false)
	return one(k.reshaped(v, s.dims, s.axis))
}

func readUnsqueeze(k *call) []*value {
	v := k.arg(0)
	list := k.listed("axes", 1)
	n := len(v.shape.dims) + len(list)
	k.refuse(n > maxRank, "expected at most %d dimensions, found %d", maxRank, n)
	axes := k.axes(list, n)
	dims, axis := []int{}, -1
	for i, from := 0, 0; i < n; i++ {
		if slices.Contains(axes, i) {
			dims = append(dims, 1)
			continue
		}
		if from == v.shape.axis {
			axis = i
		}
		dims = append(dims, v.shape.dims[from])
		from++
	}
	return one(k.reshaped(v, dims, axis))
}

func readConcat(k *call) []*value {
	first := k.arg(0)
	s := first.shape
	a := k.axis(int64(k.integer("axis", 0)), len(s.dims))
	var in []*value
	m, at := &move{}, 0
	for i := range k.in {
		v := k.arg(i)
		if len(v.whole) == 0 && v.whole != nil && v.shape.size() == 0 {
			continue // an empty list
		}
		if len(v.shape.dims) != len(s.dims) || !v.shape.sized(a, s.dims[a]).equal(s) {
			if v.constant != first.constant && len(v.shape.dims) == len(s.dims) && (v.shape.axis < 0) != (s.axis < 0) {
				k.fail("expected arrays that all have the batch, found %v and %v", s, v.shape)
			}
			k.fail("expected arrays that differ only in axis %d, found %v and %v", a, s, v.shape)
		}
		p := window(v.shape.dims)
		p.from, p.to[a] = len(in), at
		m.parts, in = append(m.parts, p), append(in, v)
		if at += v.shape.dims[a]; at > maxArray {
			k.fail("expected at most %d elements along axis %d, found more", maxArray, a)
		}
	}
	k.refuse(len(in) == 0, "expected arrays, found empty ones")
	k.rows(s, a)
	return one(k.move(m, first.typ, s.sized(a, at), in...))
}

func readSlice(k *call) []*value {
	v := k.arg(0)
	n := len(v.shape.dims)
	starts, ends := k.listed("starts", 1), []whole(nil)
	for _, x := range k.attributeOrNil("ends") {
		ends = append(ends, whole{n: x})
	}
	if k.has(2) {
		ends = k.wholes(2, "ends")
	}
	axes, strides := k.listed("axes", 3), k.listed("steps", 4)
	if axes == nil {
		for i := range starts {
			axes = append(axes, int64(i))
		}
	}
	if len(starts) != len(ends) || len(axes) != len(starts) || strides != nil && len(strides) != len(starts) {
		k.fail("expected as many starts as ends, axes and steps, found %d, %d, %d and %d", len(starts), len(ends), len(axes), len(strides))
	}
	at := k.axes(axes, n)
	s, p := v.shape, window(v.shape.dims)
	for i, a := range at {
		step := int64(1)
		if strides != nil {
			step = strides[i]
		}
		size := s.dims[a]
		if a == s.axis {
			if starts[i] != 0 || step != 1 || ends[i].n < int64(size) || !ends[i].batch && ends[i].n < math.MaxInt32 {
				k.rows(s, a)
			}
			continue
		}
		from, count := k.span(starts[i], ends[i], step, size)
		s = s.sized(a, count)
		p.start[a], p.axes[a].step, p.axes[a].size = from, int(step), count
	}
	return one(k.move(&move{parts: []part{p}}, v.typ, s, v))
}

// attributeOrNil returns the whole numbers of an attribute, nil if it is missing.
func (k *call) attributeOrNil(name string) []int64 {
	if a := k.attribute(name, onnx.KindInts); a != nil {
		return a.Ints
	}
	return nil
}

// span returns the start of a slice of a dimension, and the number of its elements.
func (k *call) span(start int64, end whole, step int64, size int) (from, count int) {
	n := int64(size)
	if step == 0 || step < -n-1 || step > maxArray || end.batch {
		k.fail("expected steps that are not 0, and ends within a row, found %d and %v", step, end)
	}
	stop := end.n
	if start < 0 {
		start += n
	}
	if stop < 0 {
		stop += n
	}
	if step > 0 {
		start, stop = min(max(start, 0), n), min(max(stop, 0), n)
		return int(start), int(max(0, (stop-start+step-1)/step))
	}
	start, stop = min(max(start, -1), n-1), min(max(stop, -1), n-1)
	return int(max(start, 0)), int(max(0, (start-stop-step-1)/-step))
}

func readSplit(k *call) []*value {
	v := k.arg(0)
	a := k.axis(int64(k.integer("axis", 0)), len(v.shape.dims))
	sizes := k.listed("split", 1)
	k.ignore("num_outputs")
	k.rows(v.shape, a)
	if all := v.shape.dims[a]; sizes == nil {
		each := (all + len(k.Outputs) - 1) / len(k.Outputs)
		for left := all; left > 0 && each > 0; left -= each {
			sizes = append(sizes, int64(min(each, left)))
		}
	}
	if len(sizes) != len(k.Outputs) {
		k.fail("expected as many parts as outputs, %d, found %d", len(k.Outputs), len(sizes))
	}
	var out []*value
	at := int64(0)
	for _, n := range sizes {
		k.refuse(n < 1 || at+n > int64(v.shape.dims[a]), "expected parts of axis %d of %v, found %v", a, v.shape, sizes)
		p := window(v.shape.dims)
		p.start[a], p.axes[a].size = int(at), int(n)
		out = append(out, k.move(&move{parts: []part{p}}, v.typ, v.shape.sized(a, int(n)), v))
		at += n
	}
	k.refuse(at != int64(v.shape.dims[a]), "expected parts that make up axis %d of %v, found %v", a, v.shape, sizes)
	return out
}
