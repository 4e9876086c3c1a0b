package network

import (
	"math"
	"slices"

	"moonfarm/rollout/network/onnx"
)

// This file has operators that are made of others.

// readGroupNorm reads a GroupNormalization. Before version 21 each group has a factor and a summand, since then each
// channel has.
func readGroupNorm(k *call) []*value {
	v, groups := k.arg(0), k.integer("num_groups", 0)
	epsilon := k.float("epsilon", 1e-5)
	k.ignore("stash_type")
	d := v.shape.dims
	if len(d) < 3 || v.shape.axis > 0 || groups < 1 || d[1]%groups != 0 || v.constant {
		k.fail("expected [batch, channels, …] that depend on the inputs, with channels of %d groups, found %v", groups, v.shape)
		return one(v)
	}
	op := &norm{groups: groups, n: v.shape.size() / groups, epsilon: float64(epsilon), perGroup: true}
	if k.opset() < 21 {
		op.scale, op.bias = k.constant(1, groups, "scale"), k.constant(2, groups, "bias")
		return one(k.emit(op, onnx.Float32, v.shape, v))
	}
	op.scale = slices.Repeat([]float32{1}, groups)
	each := &affine{}
	for i, s := range k.constant(1, d[1], "scale") {
		each.scale = append(each.scale, float64(s))
		if bias := k.constant(2, d[1], "bias"); k.err == nil {
			each.shift = append(each.shift, float64(bias[i]))
		}
	}
	return one(k.emit(each, onnx.Float32, v.shape, k.emit(op, onnx.Float32, v.shape, v)))
}

// readRMSNorm reads an RMSNormalization: the numbers divided by the root of the mean of their squares.
func readRMSNorm(k *call) []*value {
	v, scale := k.arg(0), k.arg(1)
	k.ignore("stash_type")
	var axes []int
	for i := k.axis(int64(k.integer("axis", -1)), len(v.shape.dims)); i < len(v.shape.dims); i++ {
		k.rows(v.shape, i)
		axes = append(axes, i)
	}
	mean := k.reduce("mean", k.with("Mul", []*value{v, v}), axes, true)
	root := k.with("Sqrt", []*value{k.with("Add", []*value{mean, k.floatsOut([]float32{k.float("epsilon", 1e-5)})})})
	return one(k.with("Mul", []*value{k.with("Div", []*value{v, root}), scale}))
}

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
	if count == 0 {
		k.fail("expected a conversion to whole numbers of 8 or 16 bits, found %s", typ)
	}
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
	case k.err != nil:
		return p
	case p.shape.size() == 1 && len(d) < 2:
		return k.reshaped(p, nil, -1)
	case len(dims) == 0:
		k.fail("expected one number (input %d) for one number, found %v", i, p.shape)
		return p
	}
	axis = k.axis(int64(axis), len(dims))
	if block > 0 && len(d) == len(dims) && d[axis] == (dims[axis]+block-1)/block {
		blocks := make([]int, dims[axis])
		for j := range blocks {
			blocks[j] = j / block
		}
		return k.with("Gather", []*value{p, k.list(blocks...)}, withInt("axis", axis))
	}
	if block != 0 || len(d) != 1 || d[0] != dims[axis] {
		k.fail("expected one number (input %d), or one for each element or block of axis %d of %v, found %v", i, axis, dims, p.shape)
		return p
	}
	wide := slices.Repeat([]int{1}, len(dims)-axis)
	wide[0] = d[0]
	return k.reshaped(p, wide, p.shape.axis)
}

// readAttention reads an Attention: softmax(Q·Kᵀ·scale + mask)·V for each head. With earlier keys and values (past) it also
// returns all of them.
func readAttention(k *call) []*value {
	q, keys, values := k.arg(0), k.arg(1), k.arg(2)
	k.ignore("qk_matmul_output_mode", "softmax_precision")
	flat, queries, others := len(q.shape.dims) == 3, k.integer("q_num_heads", 0), k.integer("kv_num_heads", 0)
	q, keys, values = k.heads(q, queries), k.heads(keys, others), k.heads(values, others)
	past := 0
	if k.has(4) || k.has(5) {
		earlier := k.arg(4)
		keys = k.with("Concat", []*value{earlier, keys}, withInt("axis", 2))
		values = k.with("Concat", []*value{k.arg(5), values}, withInt("axis", 2))
		if k.err == nil {
			past = earlier.shape.dims[2]
		}
	}
	if len(k.in) > 6 && k.has(6) {
		k.fail("nonpad_kv_seqlen (input 6): expected none, since the size of an array must not depend on the data")
	}
	if k.err != nil {
		return []*value{q, keys, values}
	}
	outs := []*value{nil, keys, values}
	d := q.shape.dims
	scores := k.with("MatMul", []*value{k.with("Mul", []*value{q, k.floatsOut([]float32{k.float("scale", float32(1/math.Sqrt(float64(d[3]))))})}),
		k.permuted(k.shared(keys, d[1]), []int{0, 1, 3, 2})})
	probabilities := k.with("Softmax", []*value{k.biased(scores, past)})
	y := k.with("MatMul", []*value{probabilities, k.shared(values, d[1])})
	if flat && k.err == nil {
		y = k.permuted(y, []int{0, 2, 1, 3})
		y = k.reshaped(y, []int{1, d[2], d[1] * y.shape.dims[3]}, y.shape.axis)
	}
	outs[0] = y
	return outs
}

// heads returns an array [batch, length, heads·size] as [batch, heads, length, size]; one of four dimensions is so already.
func (k *call) heads(v *value, n int) *value {
	d := v.shape.dims
	switch {
	case k.err != nil:
	case len(d) == 4 && v.shape.axis <= 0:
	case len(d) == 3 && v.shape.axis <= 0 && n > 0 && d[2]%n == 0:
		v = k.permuted(k.reshaped(v, []int{d[0], d[1], n, d[2] / n}, v.shape.axis), []int{0, 2, 1, 3})
	default:
		k.fail("expected [batch, heads, length, size], or [batch, length, heads·size] with q_num_heads and kv_num_heads, found %v and %d heads", v.shape, n)
	}
	return v
}

// shared returns keys or values for n heads of queries: several of these in turn share a head.
func (k *call) shared(v *value, n int) *value {
	d := v.shape.dims
	if k.err != nil || d[1] == n {
		return v
	}
	if n%d[1] != 0 {
		k.fail("expected a multiple of %d heads for queries, found %d", d[1], n)
		return v
	}
	heads := make([]int, n)
	for i := range heads {
		heads[i] = i * d[1] / n
	}
	return k.with("Gather", []*value{v, k.list(heads...)}, withInt("axis", 1))
}

// biased returns the scores of an Attention with its mask; `past` keys are from before the first query.
func (k *call) biased(scores *value, past int) *value {
	limit, none := k.float("softcap", 0), k.floatsOut([]float32{float32(math.Inf(-1))})
	if limit != 0 {
		most := k.floatsOut([]float32{limit})
		scores = k.with("Mul", []*value{k.with("Tanh", []*value{k.with("Div", []*value{scores, most})}), most})
	}
	if k.integer("is_causal", 0) != 0 && k.err == nil {
		queries, keys := scores.shape.dims[2], scores.shape.dims[3]
		if k.err = k.compiler.spend(queries * keys); k.err != nil {
			return scores
		}
		allowed := k.floatsOut(make([]float32, queries*keys), queries, keys)
		allowed.typ = onnx.Bool
		for i := range allowed.floats {
			allowed.floats[i] = number(i%keys <= i/keys+past)
		}
		scores = k.with("Where", []*value{allowed, scores, none})
	}
	switch {
	case !k.has(3):
		return scores
	case k.in[3].typ == onnx.Bool:
		return k.with("Where", []*value{k.in[3], scores, none})
	}
	return k.with("Add", []*value{scores, k.in[3]})
}
