package network

import (
	"slices"

	"moonfarm/rollout/network/onnx"
)

// readDequantize reads a DequantizeLinear: (x − zero point) · scale.
func readDequantize(k *call) []*value {
	v := k.arg(0)
	typ := onnx.Type(k.integer("output_dtype", 0))
	if typ == 0 {
		typ = k.arg(1).typ
	}
	out := k.cast(v, onnx.Float32)
	if k.has(2) {
		out = k.with("Sub", []*value{out, k.cast(k.perAxis(2, v.shape.dims), onnx.Float32)})
	}
	return one(k.cast(k.with("Mul", []*value{out, k.perAxis(1, v.shape.dims)}), typ))
}

// readQuantize reads a QuantizeLinear: x/scale, rounded to a whole number, plus the zero point, within the type.
func readQuantize(k *call) []*value {
	v := k.arg(0)
	k.ignore("saturate", "precision")
	typ := onnx.Type(k.integer("output_dtype", 0))
	switch {
	case k.has(2):
		typ = k.arg(2).typ
	case typ == 0:
		typ = onnx.Uint8
	}
	least, count := narrow(typ)
	k.refuse(count == 0, "expected a conversion to whole numbers of 8 or 16 bits, found %s", typ)
	out := k.with("Round", []*value{k.with("Div", []*value{v, k.perAxis(1, v.shape.dims)})})
	if k.has(2) {
		out = k.with("Add", []*value{out, k.cast(k.perAxis(2, v.shape.dims), onnx.Float32)})
	}
	out = k.emit(&unary{newFunction("clip", least, least+count-1)}, typ, out.shape, out)
	return one(out)
}

// perAxis returns a scale or a zero point, input i, in a form that is broadcast to an array of dims: one number, a number
// for each element of an axis, or for each block of an axis.
func (k *call) perAxis(i int, dims []int) *value {
	p, block := k.arg(i), k.integer("block_size", 0)
	d := p.shape.dims
	axis := k.integer("axis", 1)
	switch {
	case p.shape.size() == 1 && len(d) < 2:
		return k.reshaped(p, nil, -1)
	case len(dims) == 0:
		k.fail("expected one number (input %d) for one number, found %v", i, p.shape)
	}
	axis = k.axis(int64(axis), len(dims))
	if block > 0 && len(d) == len(dims) && d[axis] == (dims[axis]+block-1)/block {
		blocks := make([]int, dims[axis])
		for j := range blocks {
			blocks[j] = j / block
		}
		return k.with("Gather", []*value{p, k.list(blocks...)}, "axis", axis)
	}
	if block != 0 || len(d) != 1 || d[0] != dims[axis] {
		k.fail("expected one number (input %d), or one for each element or block of axis %d of %v, found %v", i, axis, dims, p.shape)
	}
	wide := slices.Repeat([]int{1}, len(dims)-axis)
	wide[0] = d[0]
	return k.reshaped(p, wide, p.shape.axis)
}
