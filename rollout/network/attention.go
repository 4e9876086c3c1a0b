package network

import (
	"math"

	"moonfarm/rollout/network/onnx"
)

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
		keys = k.with("Concat", []*value{earlier, keys}, "axis", 2)
		values = k.with("Concat", []*value{k.arg(5), values}, "axis", 2)
		past = earlier.shape.dims[2]
	}
	if len(k.in) > 6 && k.has(6) {
		k.fail("nonpad_kv_seqlen (input 6): expected none, since the size of an array must not depend on the data")
	}
	d := q.shape.dims
	scores := k.with("MatMul", []*value{k.with("Mul", []*value{q, k.floatsOut([]float32{k.float("scale", float32(1/math.Sqrt(float64(d[3]))))})}),
		k.permuted(k.shared(keys, d[1]), []int{0, 1, 3, 2})})
	probabilities := k.with("Softmax", []*value{k.biased(scores, past)})
	y := k.with("MatMul", []*value{probabilities, k.shared(values, d[1])})
	if flat {
		y = k.permuted(y, []int{0, 2, 1, 3})
		y = k.reshaped(y, []int{1, d[2], d[1] * y.shape.dims[3]}, y.shape.axis)
	}
	return []*value{y, keys, values}
}

// heads returns an array [batch, length, heads·size] as [batch, heads, length, size]; one of four dimensions is so already.
func (k *call) heads(v *value, n int) *value {
	d := v.shape.dims
	switch {
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
	if d[1] == n {
		return v
	}
	k.refuse(n%d[1] != 0, "expected a multiple of %d heads for queries, found %d", d[1], n)
	heads := make([]int, n)
	for i := range heads {
		heads[i] = i * d[1] / n
	}
	return k.with("Gather", []*value{v, k.list(heads...)}, "axis", 1)
}

// biased returns the scores of an Attention with its mask; `past` keys are from before the first query.
func (k *call) biased(scores *value, past int) *value {
	limit, none := k.float("softcap", 0), k.floatsOut([]float32{float32(math.Inf(-1))})
	if limit != 0 {
		most := k.floatsOut([]float32{limit})
		scores = k.with("Mul", []*value{k.with("Tanh", []*value{k.with("Div", []*value{scores, most})}), most})
	}
	if k.integer("is_causal", 0) != 0 {
		allowed := k.mask(scores.shape.dims[2], scores.shape.dims[3], func(query, key int) bool { return key <= query+past })
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
