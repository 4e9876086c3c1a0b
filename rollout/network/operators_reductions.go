package network

import (
	"slices"

	"moonfarm/rollout/network/onnx"
)

func readReduce(kind string) func(*call) []*value {
	return func(k *call) []*value {
		v, keep := k.arg(0), k.integer("keepdims", 1) != 0
		axes := k.axes(k.listed("axes", 1), len(v.shape.dims))
		if len(axes) == 0 {
			if k.integer("noop_with_empty_axes", 0) != 0 {
				return one(v)
			}
			for i := range v.shape.dims {
				axes = append(axes, i)
			}
		}
		k.ignore("noop_with_empty_axes")
		k.rows(v.shape, axes...)
		if v.constant && v.whole != nil && v.shape.axis < 0 && k.err == nil {
			if out := k.wholeReduce(kind, v, axes, keep); out != nil {
				return one(out)
			}
		}
		return one(k.reduce(kind, v, axes, keep))
	}
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
		if all, err = all.apply(op, w); err != nil {
			k.fail("%w", err)
			return v
		}
	}
	return k.wholeOut(v.typ, v.shape.without(axes, keep), []whole{all})
}

func (k *call) reduce(kind string, v *value, axes []int, keep bool) *value {
	slices.Sort(axes)
	return k.emit(&reduction{kind: kind, axes: axes}, v.typ, v.shape.without(axes, keep), v)
}

func readGlobalPool(kind string) func(*call) []*value {
	return func(k *call) []*value {
		v := k.arg(0)
		if len(v.shape.dims) < 3 || v.shape.axis > 1 {
			k.fail("expected [batch, channels, …], found %v", v.shape)
			return one(v)
		}
		var axes []int
		for i := 2; i < len(v.shape.dims); i++ {
			axes = append(axes, i)
		}
		return one(k.reduce(kind, v, axes, true))
	}
}

func readPool(k *call) []*value {
	v := k.arg(0)
	c, h, w := k.board(v.shape)
	size := k.integers("kernel_shape", 2, 1)
	if size == nil {
		k.fail("kernel_shape: expected rows and columns, found none")
		return one(v)
	}
	up := k.integer("ceil_mode", 0) != 0
	k.ignore("storage_order")
	op := &pool{max: k.Op == "MaxPool", all: k.integer("count_include_pad", 0) != 0, channels: c}
	op.windows = k.windows(size[0], size[1], h, w)
	if k.err == nil && (op.top >= op.kh*op.dilationY || op.left >= op.kw*op.dilationX || op.bottom >= op.kh*op.dilationY || op.right >= op.kw*op.dilationX) {
		k.fail("expected less padding than the window of %d×%d has cells", op.kh, op.kw)
	}
	if k.err != nil {
		return one(v)
	}
	if up { // the last window may be incomplete, but starts within the board or the padding before it
		spanY, spanX := (op.kh-1)*op.dilationY+1, (op.kw-1)*op.dilationX+1
		op.h = roundedUp(h, op.top, op.bottom, spanY, op.strideY)
		op.w = roundedUp(w, op.left, op.right, spanX, op.strideX)
	}
	return one(k.emit(op, onnx.Float32, shape{[]int{1, c, op.h, op.w}, v.shape.axis, 1}, v))
}

func roundedUp(n, before, after, span, stride int) int {
	out := (n+before+after-span+stride-1)/stride + 1
	if (out-1)*stride >= n+before {
		out--
	}
	return out
}

// readSoftmax translates Softmax and LogSoftmax. Before version 13 they normalized over all
// dimensions from axis on together.
func readSoftmax(k *call) []*value {
	v := k.arg(0)
	s := v.shape
	or := -1
	if k.opset() < 13 {
		or = 1
	}
	a := k.axis(int64(k.integer("axis", or)), len(s.dims))
	if k.err != nil {
		return one(v)
	}
	op := &softmax{log: k.Op == "LogSoftmax", outer: product(s.dims[:a]), n: s.dims[a], inner: product(s.dims[a+1:])}
	k.rows(s, a)
	if k.opset() < 13 {
		for i := a; i < len(s.dims); i++ {
			k.rows(s, i)
		}
		op.n, op.inner = op.n*op.inner, 1
	}
	return one(k.emit(op, onnx.Float32, s, v))
}

func readLayerNorm(k *call) []*value {
	v := k.arg(0)
	a := k.axis(int64(k.integer("axis", -1)), len(v.shape.dims))
	epsilon := k.float("epsilon", 1e-5)
	k.ignore("stash_type")
	for i := a; i < len(v.shape.dims); i++ {
		k.rows(v.shape, i)
	}
	if len(k.Outputs) > 1 {
		k.fail("expected one output, found %d", len(k.Outputs))
	}
	n := product(v.shape.dims[a:])
	op := &norm{groups: v.shape.size() / n, n: n, epsilon: float64(epsilon), scale: k.constant(1, n, "scale")}
	if k.has(2) {
		op.bias = k.constant(2, n, "bias")
	}
	return one(k.emit(op, onnx.Float32, v.shape, v))
}

func readInstanceNorm(k *call) []*value {
	v := k.arg(0)
	epsilon := k.float("epsilon", 1e-5)
	if len(v.shape.dims) < 3 || v.shape.axis > 0 {
		k.fail("expected [batch, channels, …], found %v", v.shape)
		return one(v)
	}
	c := v.shape.dims[1]
	op := &norm{groups: c, n: product(v.shape.dims[2:]), epsilon: float64(epsilon), perGroup: true}
	op.scale, op.bias = k.constant(1, c, "scale"), k.constant(2, c, "bias")
	return one(k.emit(op, onnx.Float32, v.shape, v))
}
