package network

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"moonfarm/rollout/network/internal/kernel"
	"moonfarm/rollout/network/onnx"
)

// plain is an array of the slow twin: with all dimensions, including the batch, and with
// float64 numbers for all types.
type plain struct {
	dims  []int
	data  []float64
	whole bool
	bytes bool // whole numbers of 8 bits without a sign
}

func newPlain(dims ...int) *plain { return &plain{dims: dims, data: make([]float64, product(dims))} }

// index returns the position of an element. The indices may be for a shape to which the array
// is broadcast.
func (p *plain) index(at []int) int {
	n, skip := 0, len(at)-len(p.dims)
	for i, d := range p.dims {
		x := at[i+skip]
		if d == 1 {
			x = 0
		}
		n = n*d + x
	}
	return n
}

// each calls f with the indices of all elements of dims.
func eachIndex(dims []int, f func(at []int)) {
	at := make([]int, len(dims))
	for range product(dims) {
		f(at)
		for i := len(at) - 1; i >= 0; i-- {
			if at[i]++; at[i] < dims[i] {
				break
			}
			at[i] = 0
		}
	}
}

// build makes an array by calling a function with the indices of each element.
func build(dims []int, f func(at []int) float64) *plain {
	out := newPlain(slices.Clone(dims)...)
	i := 0
	eachIndex(dims, func(at []int) {
		out.data[i] = f(at)
		i++
	})
	return out
}

func (p *plain) ints() []int {
	out := make([]int, len(p.data))
	for i, x := range p.data {
		out[i] = int(min(max(x, -1<<30), 1<<30))
	}
	return out
}

func plainTensor(t *onnx.Tensor) *plain {
	a := newPlain(t.Dims...)
	a.whole, a.bytes = !t.Type.IsFloat(), t.Type == onnx.Uint8
	for i := range a.data {
		if a.whole {
			a.data[i] = float64(t.Ints[i])
		} else {
			a.data[i] = float64(t.Floats[i])
		}
	}
	return a
}

// interpreter computes a graph node by node, with straightforward loops.
type interpreter struct {
	graph  *onnx.Graph
	values map[string]*plain
	node   *onnx.Node
}

func interpret(g *onnx.Graph, inputs map[string]*plain) map[string]*plain {
	x := &interpreter{graph: g, values: inputs}
	for _, t := range g.Initializers {
		x.values[t.Name] = plainTensor(t)
	}
	for _, n := range g.Nodes {
		x.node = n
		for i, out := range x.run() {
			x.values[n.Outputs[i]] = out
		}
	}
	return x.values
}

func (x *interpreter) in(i int) *plain {
	if i >= len(x.node.Inputs) {
		return nil
	}
	return x.values[x.node.Inputs[i]]
}

func (x *interpreter) int(name string, or int) int {
	if a := x.node.Attribute(name); a != nil {
		return int(a.Int)
	}
	return or
}

func (x *interpreter) float(name string, or float64) float64 {
	if a := x.node.Attribute(name); a != nil {
		return float64(a.Float)
	}
	return or
}

// list returns whole numbers that are an attribute or an input.
func (x *interpreter) list(name string, input int, or ...int) []int {
	if a := x.node.Attribute(name); a != nil {
		out := []int{}
		for _, v := range a.Ints {
			out = append(out, int(v))
		}
		return out
	}
	if a := x.in(input); input > 0 && a != nil {
		return a.ints()
	}
	return or
}

func wrap(axis, n int) int {
	if axis < 0 {
		return axis + n
	}
	return axis
}

var plainFunctions = map[string]func(x *interpreter, v float64) float64{
	"Abs": func(_ *interpreter, v float64) float64 { return math.Abs(v) }, "Neg": func(_ *interpreter, v float64) float64 { return -v },
	"Sqrt": func(_ *interpreter, v float64) float64 { return math.Sqrt(v) }, "Exp": func(_ *interpreter, v float64) float64 { return math.Exp(v) },
	"Log": func(_ *interpreter, v float64) float64 { return math.Log(v) }, "Erf": func(_ *interpreter, v float64) float64 { return math.Erf(v) },
	"Tanh": func(_ *interpreter, v float64) float64 { return math.Tanh(v) }, "Relu": func(_ *interpreter, v float64) float64 { return max(0, v) },
	"Sin": func(_ *interpreter, v float64) float64 { return math.Sin(v) }, "Cos": func(_ *interpreter, v float64) float64 { return math.Cos(v) },
	"Atan":       func(_ *interpreter, v float64) float64 { return math.Atan(v) },
	"Reciprocal": func(_ *interpreter, v float64) float64 { return 1 / v },
	"Sigmoid":    func(_ *interpreter, v float64) float64 { return 1 / (1 + math.Exp(-v)) },
	"Softplus":   func(_ *interpreter, v float64) float64 { return math.Log1p(math.Exp(v)) },
	"HardSwish":  func(_ *interpreter, v float64) float64 { return v * min(max(v/6+0.5, 0), 1) },
	"Not":        func(_ *interpreter, v float64) float64 { return float64(kernel.Number(v == 0)) },
	"HardSigmoid": func(x *interpreter, v float64) float64 {
		return min(max(x.float("alpha", 0.2)*v+x.float("beta", 0.5), 0), 1)
	},
	"LeakyRelu": func(x *interpreter, v float64) float64 { return max(v, 0) + x.float("alpha", 0.01)*min(v, 0) },
	"Elu":       func(x *interpreter, v float64) float64 { return max(v, 0) + x.float("alpha", 1)*math.Expm1(min(v, 0)) },
	"Gelu": func(x *interpreter, v float64) float64 {
		if a := x.node.Attribute("approximate"); a != nil && a.Text == "tanh" {
			return v / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(v+0.044715*v*v*v)))
		}
		return v / 2 * (1 + math.Erf(v/math.Sqrt2))
	},
	"Clip": func(x *interpreter, v float64) float64 {
		low, high := x.float("min", math.Inf(-1)), x.float("max", math.Inf(1))
		if a := x.in(1); a != nil {
			low = a.data[0]
		}
		if a := x.in(2); a != nil {
			high = a.data[0]
		}
		return min(max(v, low), high)
	},
	"Floor": func(_ *interpreter, v float64) float64 { return math.Floor(v) }, "Ceil": func(_ *interpreter, v float64) float64 { return math.Ceil(v) },
	"Round": func(_ *interpreter, v float64) float64 { return math.RoundToEven(v) },
	"Sign": func(_ *interpreter, v float64) float64 {
		return float64(kernel.Number(v > 0)) - float64(kernel.Number(v < 0))
	},
	"IsNaN": func(_ *interpreter, v float64) float64 { return float64(kernel.Number(math.IsNaN(v))) },
	"IsInf": func(x *interpreter, v float64) float64 {
		return float64(kernel.Number(math.IsInf(v, 1) && x.int("detect_positive", 1) != 0 || math.IsInf(v, -1) && x.int("detect_negative", 1) != 0))
	},
	"Mish":     func(_ *interpreter, v float64) float64 { return v * math.Tanh(math.Log1p(math.Exp(v))) },
	"Softsign": func(_ *interpreter, v float64) float64 { return v / (1 + math.Abs(v)) },
	"Selu": func(x *interpreter, v float64) float64 {
		return x.float("gamma", 1.0507009873554805) * (max(v, 0) + x.float("alpha", 1.6732632423543772)*math.Expm1(min(v, 0)))
	},
	"Celu": func(x *interpreter, v float64) float64 {
		a := x.float("alpha", 1)
		return max(v, 0) + a*math.Expm1(min(v, 0)/a)
	},
}

var plainBinary = map[string]func(a, b float64) float64{
	"Add": func(a, b float64) float64 { return a + b }, "Sub": func(a, b float64) float64 { return a - b },
	"Mul": func(a, b float64) float64 { return a * b }, "Div": func(a, b float64) float64 { return a / b },
	"Min": func(a, b float64) float64 { return min(a, b) }, "Max": func(a, b float64) float64 { return max(a, b) },
	"Equal":   func(a, b float64) float64 { return float64(kernel.Number(a == b)) },
	"Less":    func(a, b float64) float64 { return float64(kernel.Number(a < b)) },
	"Greater": func(a, b float64) float64 { return float64(kernel.Number(a > b)) },
	"PRelu":   func(a, b float64) float64 { return max(a, 0) + b*min(a, 0) },
	"Sum":     func(a, b float64) float64 { return a + b },
	"Pow":     math.Pow,

	"LessOrEqual":    func(a, b float64) float64 { return float64(kernel.Number(a <= b)) },
	"GreaterOrEqual": func(a, b float64) float64 { return float64(kernel.Number(a >= b)) },
	"And":            func(a, b float64) float64 { return a * b },
	"Or":             math.Max,
	"Xor":            func(a, b float64) float64 { return math.Abs(a - b) },
}

func plainBroadcast(a, b *plain) []int {
	n := max(len(a.dims), len(b.dims))
	out := make([]int, n)
	for i := range n {
		out[i] = 1
		for _, v := range []*plain{a, b} {
			if at := i - n + len(v.dims); at >= 0 {
				out[i] = max(out[i], v.dims[at])
			}
		}
	}
	return out
}

// run computes the current node.
func (x *interpreter) run() []*plain {
	a, b := x.in(0), x.in(1)
	if f := plainFunctions[x.node.Op]; f != nil {
		return []*plain{build(a.dims, func(at []int) float64 { return f(x, a.data[a.index(at)]) })}
	}
	if f := plainBinary[x.node.Op]; f != nil {
		for i := 1; i < len(x.node.Inputs); i++ {
			v, w := a, x.in(i)
			a = build(plainBroadcast(v, w), func(at []int) float64 {
				y := f(v.data[v.index(at)], w.data[w.index(at)])
				if v.whole {
					y = math.Trunc(y)
				}
				if v.bytes && w.bytes && strings.Contains("Add Sub Mul", x.node.Op) {
					y = float64(uint8(int(y)))
				}
				return y
			})
			a.whole, a.bytes = v.whole, v.bytes
		}
		return []*plain{a}
	}
	if f := plainOperators[x.node.Op]; f != nil {
		return f(x)
	}
	switch x.node.Op {
	case "Where":
		c := x.in(2)
		d := plainBroadcast(newPlain(plainBroadcast(a, b)...), c)
		return []*plain{build(d, func(at []int) float64 {
			if a.data[a.index(at)] != 0 {
				return b.data[b.index(at)]
			}
			return c.data[c.index(at)]
		})}
	case "Cast", "CastLike":
		to := onnx.Type(x.int("to", 0))
		if x.node.Op == "CastLike" {
			if to = onnx.Float32; b.whole {
				to = onnx.Int64
			}
		}
		out := build(a.dims, func(at []int) float64 {
			v := a.data[a.index(at)]
			if to == onnx.Bool {
				v = float64(kernel.Number(v != 0))
			} else if !to.IsFloat() {
				v = math.Trunc(v)
			}
			if to == onnx.Uint8 && a.whole {
				v = float64(uint8(int(v)))
			}
			return v
		})
		out.whole, out.bytes = !to.IsFloat(), to == onnx.Uint8
		return []*plain{out}
	case "Identity", "Dropout":
		return []*plain{a}
	case "Constant":
		for _, at := range x.node.Attributes {
			if at.Tensor != nil {
				return []*plain{plainTensor(at.Tensor)}
			}
		}
	case "ConstantOfShape":
		v := 0.0
		if at := x.node.Attribute("value"); at != nil {
			v = plainTensor(at.Tensor).data[0]
		}
		return []*plain{build(a.ints(), func([]int) float64 { return v })}
	case "Conv", "MaxPool", "AveragePool":
		return []*plain{x.lines()}
	case "Gemm", "MatMul":
		return []*plain{x.product()}
	case "BatchNormalization", "LayerNormalization", "InstanceNormalization", "Softmax", "LogSoftmax":
		return []*plain{x.normalize()}
	case "GlobalAveragePool", "GlobalMaxPool", "ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
		"ReduceLogSumExp":
		return []*plain{x.reduce()}
	case "Split":
		return x.split()
	}
	return []*plain{x.reorder()}
}

// split splits an array into parts.
func (x *interpreter) split() (out []*plain) {
	a := x.in(0)
	axis := wrap(x.int("axis", 0), len(a.dims))
	sizes := x.list("split", 1)
	if sizes == nil {
		for range x.node.Outputs {
			sizes = append(sizes, a.dims[axis]/len(x.node.Outputs))
		}
	}
	from := 0
	for _, n := range sizes {
		d := slices.Clone(a.dims)
		d[axis] = n
		start := from
		out = append(out, build(d, func(at []int) float64 {
			at = slices.Clone(at)
			at[axis] += start
			return a.data[a.index(at)]
		}))
		from += n
	}
	return out
}

// reorder computes the operators that move elements.
func (x *interpreter) reorder() *plain {
	a := x.in(0)
	n := len(a.dims)
	d := slices.Clone(a.dims)
	same := func(d []int) *plain { return &plain{dims: d, data: a.data, whole: a.whole} }
	switch x.node.Op {
	case "Shape":
		out := newPlain(n)
		for i, v := range a.dims {
			out.data[i] = float64(v)
		}
		out.whole = true
		return out
	case "Flatten":
		axis := wrap(x.int("axis", 1), n)
		return same([]int{product(d[:axis]), product(d[axis:])})
	case "Reshape":
		target, free := x.in(1).ints(), -1
		for i, v := range target {
			if v == 0 {
				target[i] = d[i]
			} else if v < 0 {
				free, target[i] = i, 1
			}
		}
		if free >= 0 {
			target[free] = len(a.data) / product(target)
		}
		return same(target)
	case "Squeeze":
		axes := x.list("axes", 1)
		var out []int
		for i, v := range d {
			if axes == nil && v != 1 || axes != nil && !slices.Contains(axes, i) && !slices.Contains(axes, i-n) {
				out = append(out, v)
			}
		}
		return same(out)
	case "Unsqueeze":
		axes := x.list("axes", 1)
		m := n + len(axes)
		var out []int
		for i := range m {
			if slices.Contains(axes, i) || slices.Contains(axes, i-m) {
				out = append(out, 1)
			} else {
				out, d = append(out, d[0]), d[1:]
			}
		}
		return same(out)
	}
	return x.copied(a, d)
}

func (x *interpreter) copied(a *plain, d []int) *plain {
	n := len(a.dims)
	whole := func(out *plain) *plain { out.whole = a.whole; return out }
	switch x.node.Op {
	case "Transpose":
		perm := x.list("perm", 0)
		if perm == nil {
			for i := range n {
				perm = append(perm, n-1-i)
			}
		}
		for i, p := range perm {
			d[i] = a.dims[p]
		}
		return whole(build(d, func(at []int) float64 {
			from := make([]int, n)
			for i, p := range perm {
				from[p] = at[i]
			}
			return a.data[a.index(from)]
		}))
	case "Expand":
		return whole(build(plainBroadcast(a, newPlain(x.in(1).ints()...)), func(at []int) float64 { return a.data[a.index(at)] }))
	case "Concat":
		axis := wrap(x.int("axis", 0), n)
		d[axis] = 0
		for i := range x.node.Inputs {
			d[axis] += x.in(i).dims[axis]
		}
		return whole(build(d, func(at []int) float64 {
			at = slices.Clone(at)
			for i := range x.node.Inputs {
				v := x.in(i)
				if at[axis] < v.dims[axis] {
					return v.data[v.index(at)]
				}
				at[axis] -= v.dims[axis]
			}
			panic("beyond the parts")
		}))
	case "Pad":
		pads, fill := x.list("pads", 1), x.float("value", 0)
		if axes := x.list("axes", 3); axes != nil {
			all := make([]int, 2*n)
			for i, a := range axes {
				all[wrap(a, n)], all[n+wrap(a, n)] = pads[i], pads[len(axes)+i]
			}
			pads = all
		}
		if v := x.in(2); v != nil {
			fill = v.data[0]
		}
		for i := range d {
			d[i] += pads[i] + pads[n+i]
		}
		return whole(build(d, func(at []int) float64 {
			from := slices.Clone(at)
			for i, n := range a.dims {
				low, high := max(-pads[i], 0), n+min(pads[len(d)+i], 0)
				from[i] -= pads[i]
				for (from[i] < low || from[i] >= high) && x.text("mode", "constant") != "constant" {
					switch x.text("mode", "constant") {
					case "edge":
						from[i] = min(max(from[i], low), high-1)
					case "wrap":
						from[i] -= (high - low) * int(kernel.Number(from[i] >= high)*2-1)
					case "reflect":
						if from[i] = 2*low - from[i]; from[i] < low {
							from[i] += 2 * (high - low - 1)
						}
					}
				}
				if from[i] < 0 || from[i] >= n {
					return fill
				}
			}
			return a.data[a.index(from)]
		}))
	case "Gather":
		index, axis := x.in(1), wrap(x.int("axis", 0), n)
		m := len(index.dims)
		return whole(build(slices.Concat(d[:axis], index.dims, d[axis+1:]), func(at []int) float64 {
			i := wrap(int(index.data[index.index(at[axis:axis+m])]), a.dims[axis])
			from := slices.Concat(at[:axis], []int{min(max(i, 0), a.dims[axis]-1)}, at[axis+m:])
			return a.data[a.index(from)]
		}))
	case "GatherElements":
		index, axis := x.in(1), wrap(x.int("axis", 0), n)
		return whole(build(index.dims, func(at []int) float64 {
			i := wrap(int(index.data[index.index(at)]), d[axis])
			from := slices.Clone(at)
			from[axis] = min(max(i, 0), d[axis]-1)
			return a.data[a.index(from)]
		}))
	case "Slice":
		return whole(x.slice(a, d))
	}
	panic(fmt.Sprintf("the twin has no %s", x.node.Op))
}

func (x *interpreter) slice(a *plain, d []int) *plain {
	starts, ends, axes, by := x.list("starts", 1), x.list("ends", 2), x.list("axes", 3), x.list("steps", 4)
	from, step := make([]int, len(d)), make([]int, len(d))
	for i := range step {
		step[i] = 1
	}
	for i, start := range starts {
		axis, end := i, ends[i]
		if axes != nil {
			axis = wrap(axes[i], len(d))
		}
		if by != nil {
			step[axis] = by[i]
		}
		n := d[axis]
		var picked []int
		start, end = wrap(start, n), wrap(end, n)
		if step[axis] > 0 {
			for at := max(start, 0); at < min(end, n); at += step[axis] {
				picked = append(picked, at)
			}
		} else {
			for at := min(start, n-1); at > max(end, -1); at += step[axis] {
				picked = append(picked, at)
			}
		}
		if d[axis] = len(picked); len(picked) > 0 {
			from[axis] = picked[0]
		}
	}
	return build(d, func(at []int) float64 {
		at = slices.Clone(at)
		for i := range at {
			at[i] = from[i] + at[i]*step[i]
		}
		return a.data[a.index(at)]
	})
}

func (x *interpreter) reduce() *plain {
	a := x.in(0)
	n := len(a.dims)
	axes, keep := x.list("axes", 1), x.int("keepdims", 1) != 0
	if x.node.Op[0] == 'G' {
		for i := 2; i < n; i++ {
			axes = append(axes, i)
		}
	}
	gone := func(i int) bool { return axes == nil || slices.Contains(axes, i) || slices.Contains(axes, i-n) }
	var kept, dims []int
	for i, d := range a.dims {
		if gone(i) {
			d = 1
		}
		kept = append(kept, d)
		if keep || !gone(i) {
			dims = append(dims, d)
		}
	}
	out := build(kept, func(at []int) float64 {
		sum, count, high, low := 0.0, 0, math.Inf(-1), math.Inf(1)
		prod, absolute, squares, exponentials := 1.0, 0.0, 0.0, 0.0
		eachIndex(a.dims, func(in []int) {
			for i := range in {
				if !gone(i) && in[i] != at[i] {
					return
				}
			}
			v := a.data[a.index(in)]
			sum, count, high, low = sum+v, count+1, max(high, v), min(low, v)
			prod, absolute, squares, exponentials = prod*v, absolute+math.Abs(v), squares+v*v, exponentials+math.Exp(v)
		})
		switch x.node.Op {
		case "ReduceProd":
			return prod
		case "ReduceL1":
			return absolute
		case "ReduceL2":
			return math.Sqrt(squares)
		case "ReduceLogSumExp":
			return math.Log(exponentials)
		case "ReduceSum":
			return sum
		case "ReduceMax", "GlobalMaxPool":
			return high
		case "ReduceMin":
			return low
		}
		return sum / float64(count)
	})
	out.dims = dims
	return out
}

func (x *interpreter) normalize() *plain {
	a := x.in(0)
	n := len(a.dims)
	epsilon := x.float("epsilon", 1e-5)
	switch x.node.Op {
	case "BatchNormalization":
		scale, bias, mean, variance := x.in(1), x.in(2), x.in(3), x.in(4)
		return build(a.dims, func(at []int) float64 {
			c := at[1]
			return (a.data[a.index(at)]-mean.data[c])/math.Sqrt(variance.data[c]+epsilon)*scale.data[c] + bias.data[c]
		})
	case "LayerNormalization", "InstanceNormalization":
		axis := wrap(x.int("axis", -1), n)
		if x.node.Op == "InstanceNormalization" {
			axis = 2
		}
		m := product(a.dims[axis:])
		out := newPlain(slices.Clone(a.dims)...)
		for i := range out.data {
			group := a.data[i/m*m : i/m*m+m]
			mean, variance := 0.0, 0.0
			for _, v := range group {
				mean += v / float64(m)
			}
			for _, v := range group {
				variance += (v - mean) * (v - mean) / float64(m)
			}
			j := i % m
			if axis == 2 && x.node.Op == "InstanceNormalization" {
				j = i / m % a.dims[1]
			}
			out.data[i] = (a.data[i] - mean) / math.Sqrt(variance+epsilon) * x.in(1).data[j]
			if b := x.in(2); b != nil {
				out.data[i] += b.data[j]
			}
		}
		return out
	}
	or, inner := -1, 1
	if x.graph.Opset < 13 {
		or = 1
	}
	axis := wrap(x.int("axis", or), n)
	m := a.dims[axis]
	if x.graph.Opset < 13 {
		m = product(a.dims[axis:])
	} else {
		inner = product(a.dims[axis+1:])
	}
	out := newPlain(slices.Clone(a.dims)...)
	for i := range out.data {
		first := i/(m*inner)*(m*inner) + i%inner
		high, sum := math.Inf(-1), 0.0
		for j := range m {
			high = max(high, a.data[first+j*inner])
		}
		for j := range m {
			sum += math.Exp(a.data[first+j*inner] - high)
		}
		out.data[i] = a.data[i] - high - math.Log(sum)
		if x.node.Op == "Softmax" {
			out.data[i] = math.Exp(out.data[i])
		}
	}
	return out
}

func (x *interpreter) product() *plain {
	a, b := x.in(0), x.in(1)
	if len(b.dims) == 1 { // a vector is a matrix of one column, or of one row
		x := *x
		x.values = map[string]*plain{x.node.Inputs[0]: a, x.node.Inputs[1]: {dims: []int{b.dims[0], 1}, data: b.data}}
		out := x.product()
		return &plain{dims: out.dims[:len(out.dims)-1], data: out.data}
	}
	if len(a.dims) == 1 {
		x := *x
		x.values = map[string]*plain{x.node.Inputs[0]: {dims: []int{1, a.dims[0]}, data: a.data}, x.node.Inputs[1]: b}
		out := x.product()
		return &plain{dims: slices.Delete(out.dims, len(out.dims)-2, len(out.dims)-1), data: out.data}
	}
	na, nb := len(a.dims), len(b.dims)
	alpha, beta, transB := x.float("alpha", 1), x.float("beta", 1), x.int("transB", 0) != 0
	k := a.dims[na-1]
	d := slices.Concat(plainBroadcast(newPlain(a.dims[:na-2]...), newPlain(b.dims[:nb-2]...)), []int{a.dims[na-2], b.dims[nb-1]})
	if transB {
		d[1] = b.dims[0]
	}
	return build(d, func(at []int) float64 {
		left, right := slices.Clone(at), slices.Clone(at)
		sum := 0.0
		for i := range k {
			left[len(at)-1], right[len(at)-2] = i, i
			if transB {
				sum += a.data[a.index(left)] * b.data[at[1]*k+i]
			} else {
				sum += a.data[a.index(left)] * b.data[b.index(right)]
			}
		}
		if x.node.Op == "Gemm" {
			sum *= alpha
			if c := x.in(2); c != nil {
				sum += beta * c.data[c.index(at)]
			}
		}
		return sum
	})
}

// window computes convolutions and pooling.
func (x *interpreter) window() *plain {
	a, conv := x.in(0), x.node.Op == "Conv"
	strides, dilations, pads := x.list("strides", 0, 1, 1), x.list("dilations", 0, 1, 1), x.list("pads", 0, 0, 0, 0, 0)
	kernel, out := x.list("kernel_shape", 0), a.dims[1]
	groups := x.int("group", 1)
	var weights *plain
	if conv {
		weights = x.in(1)
		kernel, out = weights.dims[2:], weights.dims[0]
	}
	if auto := x.node.Attribute("auto_pad"); auto != nil {
		for i := range 2 {
			out := (a.dims[2+i] + strides[i] - 1) / strides[i]
			all := max(0, (out-1)*strides[i]+(kernel[i]-1)*dilations[i]+1-a.dims[2+i])
			pads[i], pads[2+i] = all/2, all-all/2
			if auto.Text == "SAME_LOWER" {
				pads[i], pads[2+i] = all-all/2, all/2
			}
		}
	}
	size := []int{a.dims[0], out, 0, 0}
	for i := range 2 {
		free := a.dims[2+i] + pads[i] + pads[2+i] - (kernel[i]-1)*dilations[i] - 1
		size[2+i] = free/strides[i] + 1
		if x.int("ceil_mode", 0) != 0 {
			size[2+i] = (free+strides[i]-1)/strides[i] + 1
			if (size[2+i]-1)*strides[i] >= a.dims[2+i]+pads[i] {
				size[2+i]--
			}
		}
	}
	return build(size, func(at []int) float64 {
		sum, count, high := 0.0, 0, math.Inf(-1)
		each := func(channel, i, j int, w float64) {
			y, z := at[2]*strides[0]-pads[0]+i*dilations[0], at[3]*strides[1]-pads[1]+j*dilations[1]
			if y < 0 || y >= a.dims[2] || z < 0 || z >= a.dims[3] {
				if x.int("count_include_pad", 0) != 0 && y < a.dims[2]+pads[2] && z < a.dims[3]+pads[3] {
					count++
				}
				return
			}
			v := a.data[a.index([]int{at[0], channel, y, z})]
			sum, count, high = sum+v*w, count+1, max(high, v)
		}
		for i := range kernel[0] {
			for j := range kernel[1] {
				if !conv {
					each(at[1], i, j, 1)
					continue
				}
				in := weights.dims[1]
				for c := range in {
					each(at[1]/(out/groups)*in+c, i, j, weights.data[weights.index([]int{at[1], c, i, j})])
				}
			}
		}
		switch x.node.Op {
		case "MaxPool":
			return high
		case "AveragePool":
			return sum / float64(max(count, 1))
		}
		if b := x.in(2); b != nil {
			sum += b.data[at[1]]
		}
		return sum
	})
}
