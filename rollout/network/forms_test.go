package network

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/network/onnx"
)

// formCases adds cases of operators that are made of others.
func formCases(add func(name string, s *sketch)) {
	s := newSketch(13)
	x, y, v := s.input(onnx.Float32, 3, 2, 5), s.input(onnx.Float32, 4, 2, 5), s.input(onnx.Float32, 5)
	for _, c := range []struct {
		equation string
		inputs   []string
	}{
		{"...j,jk->...k", list(x, s.weights(5, 3))}, {"b...d,b...d->b...", list(x, x)},
		{"bi...,bj...->b...ij", list(x, y)}, {"bihd,jk,kl->bil", list(x, s.weights(2, 3), s.weights(3, 2))},
		{"bihd,bjhd,bd->bij", list(x, y, v)}, {"i,bihd,h,d->b", list(s.weights(3), x, s.weights(2), s.weights(5))}, {"bihd,bd,hk,ki->bikd", list(x, v, s.weights(2, 3), s.weights(3, 3))},
		{"bihd,xyd->bixy", list(x, s.weights(1, 2, 5))}, {"...", list(x)},
	} {
		s.output(s.node("Einsum", c.inputs, "equation", c.equation))
	}
	add("Einsum with ellipses and many terms", s)
	s = newSketch(13)
	x, y = s.input(onnx.Float32, 3, 2, 5), s.input(onnx.Float32, 4, 2, 5)
	s.output(s.node("Einsum", list(x, y), "equation", "bi...,bj...->bij"))
	s.output(s.node("Einsum", list(x, s.weights(2, 5)), "equation", "...d,...d"))
	s.output(s.node("Einsum", list(x, s.weights(2, 1)), "equation", "...,...->..."))
	add("Einsum as NumPy has it", s)

	s = newSketch(13)
	x, v = s.input(onnx.Float32, 3, 4), s.input(onnx.Float32, 4)
	s.output(s.node("MatMul", list(x, s.weights(4))))
	s.output(s.node("MatMul", list(s.weights(3), x)))
	s.output(s.node("MatMul", list(v, s.weights(4))))
	s.output(s.node("MatMul", list(s.node("Mul", list(x, s.node("MatMul", list(s.weights(4), s.weights(4, 4))))), s.node("MatMul", list(s.weights(4, 2), s.weights(2))))))
	s.output(s.node("Atan", list(s.node("Mul", list(x, s.float(30))))))
	s.output(s.node("Atan", list(v)))
	add("MatMul with vectors, Atan", s)
	paddedCases(add)
	transposedCases(add)
	quantizedCases(add)
	normedCases(add)
	attentionCases(add)
}

// paddedCases adds cases of Pad and Resize.
func paddedCases(add func(name string, s *sketch)) {
	s := newSketch(19)
	x := s.input(onnx.Float32, 3, 4, 5)
	for _, v := range list(x, s.node("Conv", list(x, s.weights(3, 3, 1, 1)))) {
		for _, mode := range list("reflect", "edge", "wrap", "constant") {
			s.output(s.node("Pad", list(v, s.ints(0, 2, 1, 0, 0, 1, 3, 2)), "mode", mode))
			s.output(s.node("Pad", list(v, s.ints(0, -1, 1, 1, 0, 0, -2, -3)), "mode", mode))
		}
	}
	add("Pad in all modes", s)
	for _, from := range list("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric") {
		s := newSketch(19)
		x := s.input(onnx.Float32, 2, 4, 5)
		factors := func(f ...float32) string {
			return s.tensor(&onnx.Tensor{Type: onnx.Float32, Dims: []int{len(f)}, Floats: f})
		}
		for _, v := range list(x, s.node("Conv", list(x, s.weights(2, 2, 1, 1)))) {
			s.output(s.node("Resize", list(v, "", factors(1, 1, 2, 3)), "mode", "linear", "coordinate_transformation_mode", from))
			s.output(s.node("Resize", list(v, "", factors(1, 1, 0.5, 1.7)), "mode", "linear", "coordinate_transformation_mode", from))
			s.output(s.node("Resize", list(v, "", "", s.ints(1, 7)), "mode", "linear", "coordinate_transformation_mode", from, "axes", []int64{2, 3}))
			for _, nearest := range list("round_prefer_floor", "round_prefer_ceil", "floor", "ceil") {
				s.output(s.node("Resize", list(v, "", "", s.ints(6, 3)), "axes", []int64{-2, -1}, "coordinate_transformation_mode", from, "nearest_mode", nearest))
			}
		}
		add("Resize "+from, s)
	}
}

// transposedCases adds cases of ConvTranspose.
func transposedCases(add func(name string, s *sketch)) {
	s := newSketch(11)
	x := s.input(onnx.Float32, 4, 5, 4)
	for _, v := range list(x, s.node("Conv", list(x, s.weights(4, 4, 1, 1)))) {
		for _, attributes := range [][]any{
			nil, {"strides", []int64{2, 2}}, {"strides", []int64{2, 3}, "pads", []int64{1, 0, 1, 2}, "output_padding", []int64{1, 2}},
			{"dilations", []int64{2, 1}, "pads", []int64{3, 2, 0, 1}}, {"strides", []int64{3, 2}, "auto_pad", "SAME_UPPER"}, {"strides", []int64{3, 2}, "auto_pad", "SAME_LOWER"},
			{"strides", []int64{2, 2}, "output_shape", []int64{10, 9}}, {"strides", []int64{2, 2}, "auto_pad", "VALID", "kernel_shape", []int64{3, 2}},
		} {
			s.output(s.node("ConvTranspose", list(v, s.weights(4, 3, 3, 2), s.weights(3)), attributes...))
			s.output(s.node("ConvTranspose", list(v, s.weights(4, 3, 3, 2)), append(attributes, "group", 2)...))
		}
	}
	add("ConvTranspose", s)
	s = newSketch(11)
	x = s.input(onnx.Float32, 4, 5)
	s.output(s.node("ConvTranspose", list(x, s.weights(4, 3, 2), s.weights(3)), "strides", []int64{2}, "output_padding", []int64{1}))
	s.output(s.node("ConvTranspose", list(x, s.weights(4, 3, 3)), "pads", []int64{1, 2}))
	add("ConvTranspose of lines", s)
}

// quantizedCases adds cases of QuantizeLinear and DequantizeLinear.
func quantizedCases(add func(name string, s *sketch)) {
	s := newSketch(21)
	x := s.input(onnx.Float32, 6, 4)
	whole := func(typ onnx.Type, dims []int, numbers ...int64) string {
		return s.tensor(&onnx.Tensor{Type: typ, Dims: dims, Ints: numbers})
	}
	eight := make([]int64, 24)
	for i := range eight {
		eight[i] = int64(i*53%256 - 128)
	}
	for _, zero := range []string{"", whole(onnx.Uint8, nil, 128), whole(onnx.Int8, nil, -3), whole(onnx.Int16, nil, 5), whole(onnx.Uint16, nil, 40000)} {
		q := s.node("QuantizeLinear", list(x, s.float(0.02), zero))
		s.output(s.node("DequantizeLinear", list(q, s.float(0.02), zero)))
	}
	zeros := whole(onnx.Int8, []int{6}, 1, 2, 3, -4, 0, 9)
	scales := s.positive(6)
	s.output(s.node("DequantizeLinear", list(s.node("QuantizeLinear", list(x, scales, zeros)), scales, zeros)))
	w := s.node("DequantizeLinear", list(whole(onnx.Int8, []int{4, 6}, eight...), s.positive(6)), "axis", 1)
	bias := s.node("DequantizeLinear", list(whole(onnx.Int32, []int{6}, 7, -9, 30000, 2, 0, 1), s.float(0.001)))
	s.output(s.node("Add", list(s.node("MatMul", list(x, w)), bias)))
	s.output(s.node("MatMul", list(x, s.node("DequantizeLinear", list(whole(onnx.Int8, []int{4, 6}, eight...), s.positive(2, 6), whole(onnx.Int8, []int{2, 6}, eight[:12]...)), "axis", 0, "block_size", 2))))
	add("QuantizeLinear and DequantizeLinear", s)
	s = newSketch(21)
	blocks := s.positive(1, 3, 4)
	s.output(s.node("DequantizeLinear", list(s.node("QuantizeLinear", list(s.input(onnx.Float32, 5, 4), blocks), "block_size", 2, "output_dtype", 3), blocks), "block_size", 2))
	add("QuantizeLinear of blocks in all rows", s)
	s = newSketch(13)
	image := s.input(onnx.Float32, 3, 5, 5)
	zero := s.tensor(&onnx.Tensor{Type: onnx.Uint8, Ints: []int64{120}})
	seen := s.node("DequantizeLinear", list(s.node("QuantizeLinear", list(image, s.float(0.03), zero)), s.float(0.03), zero))
	weights := s.tensor(&onnx.Tensor{Type: onnx.Int8, Dims: []int{2, 3, 2, 2}, Ints: eight})
	s.output(s.node("Relu", list(s.node("Conv", list(seen, s.node("DequantizeLinear", list(weights, s.positive(2), s.tensor(&onnx.Tensor{Type: onnx.Int8, Dims: []int{2}, Ints: []int64{0, 0}})), "axis", 0))))))
	add("a quantized convolution", s)
}

// normedCases adds cases of GroupNormalization and RMSNormalization.
func normedCases(add func(name string, s *sketch)) {
	for _, opset := range []int{18, 21} {
		s := newSketch(opset)
		x := s.input(onnx.Float32, 6, 4, 3)
		each := map[int]int{18: 3, 21: 6}[opset]
		for _, v := range list(x, s.node("Conv", list(x, s.weights(6, 6, 1, 1)))) {
			s.output(s.node("GroupNormalization", list(v, s.weights(each), s.weights(each)), "num_groups", 3))
			s.output(s.node("Relu", list(s.node("GroupNormalization", list(v, s.positive(each), s.weights(each)), "num_groups", 3, "epsilon", float32(0.1)))))
		}
		add(fmt.Sprint("GroupNormalization ", opset), s)
	}
	s := newSketch(23)
	x := s.input(onnx.Float32, 3, 4, 5)
	s.output(s.node("RMSNormalization", list(x, s.weights(5))))
	s.output(s.node("RMSNormalization", list(x, s.weights(4, 5)), "axis", -2, "epsilon", float32(0.01)))
	s.output(s.node("RMSNormalization", list(s.node("Conv", list(x, s.weights(3, 3, 1, 1))), s.weights(1)), "axis", 1))
	add("RMSNormalization", s)
}

// attentionCases adds cases of Attention.
func attentionCases(add func(name string, s *sketch)) {
	s := newSketch(23)
	q, kv, four := s.input(onnx.Float32, 6, 8), s.input(onnx.Float32, 5, 8), s.input(onnx.Float32, 4, 6, 2)
	mask := s.input(onnx.Float32, 4, 6, 5)
	known := s.node("Less", list(mask, s.float(1.2)))
	s.output(s.node("Attention", list(q, q, q), "q_num_heads", 2, "kv_num_heads", 2))
	s.output(s.node("Attention", list(q, kv, kv, mask), "q_num_heads", 4, "kv_num_heads", 4, "scale", float32(0.3)))
	s.output(s.node("Attention", list(q, kv, kv, known), "q_num_heads", 4, "kv_num_heads", 4))
	s.output(s.node("Attention", list(q, q, q, s.weights(6, 6)), "q_num_heads", 4, "kv_num_heads", 4, "is_causal", 1))
	s.output(s.node("Attention", list(q, q, s.node("Slice", list(q, s.ints(2), s.ints(6), s.ints(2)))), "q_num_heads", 2, "kv_num_heads", 2, "softcap", float32(0.7)))
	s.output(s.node("Attention", list(four, four, four), "is_causal", 1, "softcap", float32(2)))
	grouped := s.node("Slice", list(four, s.ints(0), s.ints(2), s.ints(1)))
	s.output(s.node("Attention", list(four, grouped, grouped)))
	past := s.input(onnx.Float32, 2, 3, 2)
	for _, name := range s.nodes("Attention", 3, list(four, grouped, grouped, "", past, past), "is_causal", 1) {
		s.output(name)
	}
	add("Attention", s)
}

// plainQuantized computes QuantizeLinear and DequantizeLinear.
func plainQuantized(x *interpreter) []*plain {
	a, scale, zero := x.in(0), x.in(1), x.in(2)
	axis, block := wrap(x.int("axis", 1), max(len(a.dims), 1)), x.int("block_size", 0)
	of := func(p *plain, at []int) float64 {
		switch {
		case p == nil:
			return 0
		case len(p.data) == 1:
			return p.data[0]
		case block == 0:
			return p.data[at[axis]]
		}
		at = slices.Clone(at)
		at[axis] /= block
		return p.data[p.index(at)]
	}
	least, most := 0.0, 255.0
	if t := plainType(x.graph, x.node); t != 0 {
		low, count := narrow(t)
		least, most = float64(low), float64(low+count-1)
	}
	return []*plain{build(a.dims, func(at []int) float64 {
		v := a.data[a.index(at)]
		if x.node.Op == "DequantizeLinear" {
			return (v - of(zero, at)) * of(scale, at)
		}
		return min(max(math.RoundToEven(float64(float32(v)/float32(of(scale, at))))+of(zero, at), least), most)
	})}
}

// plainType returns the type of the zero point of a node, or that of its attribute.
func plainType(g *onnx.Graph, n *onnx.Node) onnx.Type {
	for _, t := range g.Initializers {
		if len(n.Inputs) > 2 && t.Name == n.Inputs[2] {
			return t.Type
		}
	}
	if a := n.Attribute("output_dtype"); a != nil {
		return onnx.Type(a.Int)
	}
	return 0
}

// plainNorm computes GroupNormalization and RMSNormalization.
func plainNorm(x *interpreter) []*plain {
	a, scale := x.in(0), x.in(1)
	epsilon, out := x.float("epsilon", 1e-5), newPlain(a.dims...)
	n, groups := product(a.dims[wrap(x.int("axis", -1), len(a.dims)):]), x.int("num_groups", 0)
	if groups > 0 {
		n = product(a.dims[1:]) / groups
	}
	for i := range a.data {
		group, mean, squares := a.data[i/n*n:][:n], 0.0, 0.0
		for _, v := range group {
			mean, squares = mean+v/float64(n), squares+v*v/float64(n)
		}
		if groups == 0 {
			out.data[i] = a.data[i] / math.Sqrt(squares+epsilon) * scale.data[i%n%len(scale.data)]
			continue
		}
		c := i / product(a.dims[2:]) % a.dims[1] * len(scale.data) / a.dims[1]
		out.data[i] = (a.data[i]-mean)/math.Sqrt(squares-mean*mean+epsilon)*scale.data[c] + x.in(2).data[c]
	}
	return []*plain{out}
}

// plainTransposed computes a ConvTranspose: each cell adds its product with the weights to the result.
func plainTransposed(x *interpreter) []*plain {
	a, w := x.in(0), x.in(1)
	axes := len(a.dims) - 2
	ones, zeros := slices.Repeat([]int{1}, axes), make([]int, 2*axes)
	strides, dilations := x.list("strides", 0, ones...), x.list("dilations", 0, ones...)
	pads, more, auto, groups := x.list("pads", 0, zeros...), x.list("output_padding", 0, zeros...), x.text("auto_pad", ""), x.int("group", 1)
	d := []int{a.dims[0], w.dims[1] * groups}
	for i := range axes {
		full := (a.dims[2+i]-1)*strides[i] + (w.dims[2+i]-1)*dilations[i] + 1 + more[i]
		want := full - pads[i] - pads[axes+i]
		if strings.HasPrefix(auto, "SAME") {
			want = a.dims[2+i] * strides[i]
		}
		want = x.list("output_shape", 0, slices.Repeat([]int{want}, axes)...)[i]
		if want != full-pads[i]-pads[axes+i] {
			if pads[i] = (full - want + 1) / 2; auto == "SAME_UPPER" {
				pads[i] = (full - want) / 2
			}
		}
		d = append(d, want)
	}
	out := build(d, func(at []int) float64 {
		if b := x.in(2); b != nil {
			return b.data[at[1]]
		}
		return 0
	})
	in, each := a.dims[1]/groups, w.dims[1]
	eachIndex(a.dims, func(at []int) {
		eachIndex(w.dims[1:], func(of []int) {
			to := []int{at[0], at[1]/in*each + of[0]}
			for i := range axes {
				y := at[2+i]*strides[i] + of[1+i]*dilations[i] - pads[i]
				if y < 0 || y >= d[2+i] {
					return
				}
				to = append(to, y)
			}
			out.data[out.index(to)] += a.data[a.index(at)] * w.data[w.index(append([]int{at[1]}, of...))]
		})
	})
	return []*plain{out}
}

func plainAttention(x *interpreter) []*plain {
	split := func(a *plain, heads int) *plain {
		if len(a.dims) == 4 {
			return a
		}
		n := a.dims[2] / heads
		return build([]int{a.dims[0], heads, a.dims[1], n}, func(at []int) float64 { return a.data[a.index([]int{at[0], at[2], at[1]*n + at[3]})] })
	}
	after := func(past, a *plain) *plain {
		if past == nil {
			return a
		}
		n := past.dims[2]
		return build([]int{a.dims[0], a.dims[1], n + a.dims[2], a.dims[3]}, func(at []int) float64 {
			if at[2] < n {
				return past.data[past.index(at)]
			}
			return a.data[a.index([]int{at[0], at[1], at[2] - n, at[3]})]
		})
	}
	q, k, v := split(x.in(0), x.int("q_num_heads", 0)), split(x.in(1), x.int("kv_num_heads", 0)), split(x.in(2), x.int("kv_num_heads", 0))
	earlier := 0
	if past := x.in(4); past != nil {
		earlier = past.dims[2]
	}
	k, v = after(x.in(4), k), after(x.in(5), v)
	size, keys := q.dims[3], k.dims[2]
	scale, most := x.float("scale", 1/math.Sqrt(float64(size))), x.float("softcap", 0)
	y := build([]int{q.dims[0], q.dims[1], q.dims[2], v.dims[3]}, func(at []int) float64 {
		shared := at[1] * k.dims[1] / q.dims[1]
		sum, all := 0.0, 0.0
		for j := range keys {
			score := 0.0
			for i := range size {
				score += q.data[q.index([]int{at[0], at[1], at[2], i})] * k.data[k.index([]int{at[0], shared, j, i})] * scale
			}
			if most != 0 {
				score = most * math.Tanh(score/most)
			}
			if m := x.in(3); m != nil {
				m := m.data[m.index([]int{at[0], at[1], at[2], j}[4-len(m.dims):])]
				if of := x.node.Inputs[3]; strings.HasPrefix(of, "Less") {
					m = math.Log(m)
				}
				score += m
			}
			if x.int("is_causal", 0) != 0 && j > at[2]+earlier {
				continue
			}
			e := math.Exp(score)
			sum, all = sum+e, all+e*v.data[v.index([]int{at[0], shared, j, at[3]})]
		}
		return all / sum
	})
	if len(x.in(0).dims) == 3 {
		n := y.dims[3]
		flat := build([]int{y.dims[0], y.dims[2], y.dims[1] * n}, func(at []int) float64 { return y.data[y.index([]int{at[0], at[2] / n, at[1], at[2] % n})] })
		return []*plain{flat, k, v}[:len(x.node.Outputs)]
	}
	return []*plain{y, k, v}[:len(x.node.Outputs)]
}

// plainResize computes a Resize: each element of the result is a mean of elements, weighted in each axis.
func plainResize(x *interpreter) []*plain {
	a := x.in(0)
	d, scales := slices.Clone(a.dims), slices.Repeat([]float64{1}, len(a.dims))
	axes := x.list("axes", 0)
	if axes == nil {
		for i := range d {
			axes = append(axes, i)
		}
	}
	for i, axis := range axes {
		axis = wrap(axis, len(d))
		switch at := x.node.Attribute("scales"); {
		case at != nil:
			scales[axis] = float64(at.Floats[i])
		case x.in(3) != nil:
			d[axis] = x.in(3).ints()[i]
			scales[axis] = float64(float32(d[axis]) / float32(a.dims[axis]))
			continue
		default:
			scales[axis] = x.in(len(x.node.Inputs) - 1).data[i]
		}
		d[axis] = int(float64(a.dims[axis]) * scales[axis])
	}
	from, nearest := x.text("coordinate_transformation_mode", "half_pixel"), x.text("nearest_mode", "round_prefer_floor")
	place := func(i, axis int) float64 {
		v := float64(float32((float64(i)+0.5)/scales[axis])) - 0.5
		switch {
		case from == "asymmetric":
			v = float64(float32(float64(i) / scales[axis]))
		case from == "align_corners" && d[axis] > 1:
			v = float64(float32(i*(a.dims[axis]-1)) / float32(d[axis]-1))
		case from != "half_pixel" && d[axis] == 1:
			v = 0
		}
		if x.text("mode", "nearest") == "nearest" {
			switch nearest {
			case "floor":
				v = math.Floor(v)
			case "ceil":
				v = math.Ceil(v)
			case "round_prefer_ceil":
				v = math.Floor(v + 0.5)
			default:
				v = math.Ceil(v - 0.5)
			}
		}
		return min(max(v, 0), float64(a.dims[axis]-1))
	}
	return []*plain{build(d, func(at []int) float64 {
		sum := 0.0
		eachIndex(slices.Repeat([]int{2}, len(d)), func(side []int) {
			weight, of := 1.0, make([]int, len(d))
			for i := range d {
				v := place(at[i], i)
				low := math.Floor(v)
				of[i] = min(int(low)+side[i], a.dims[i]-1)
				weight *= math.Abs(float64(1-side[i]) - (v - low))
			}
			sum += weight * a.data[a.index(of)]
		})
		return sum
	})}
}

// TestRuntime compares the cases of formCases with the numbers of ONNX Runtime 1.30 (without optimizations, some of which
// round to 8 bits). A line of the file has the name of a case and, for each output, the sum of its numbers times sin 1,
// sin 2, … for two rows; the numbers of each input are sin 1, sin 2, …. The folder MOONFARM_FORMS gets the files of the cases.
func TestRuntime(t *testing.T) {
	want := map[string][]string{}
	for line := range strings.Lines(string(testFile(t, "onnxruntime.txt"))) {
		name, sums, _ := strings.Cut(strings.TrimSpace(line), ": ")
		want[name] = strings.Fields(sums)
	}
	compared := 0
	formCases(func(name string, s *sketch) {
		const rows = 2
		file := onnx.Encode(&s.Graph)
		if dir := os.Getenv("MOONFARM_FORMS"); dir != "" {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name+".onnx"), file, 0o666))
		}
		m, err := Read(file, 0)
		require.NoError(t, err, name)
		r := m.NewRunner(rows)
		for i := range m.inputs {
			for j := range r.floats[i] {
				r.floats[i][j] = float32(math.Sin(float64(j + 1)))
			}
		}
		r.Run(rows)
		for i, expected := range want[name] {
			sum, size := 0.0, 1.0
			for j, x := range r.Output(m.outputs[i].Name) {
				sum, size = sum+float64(x)*math.Sin(float64(j+1)), max(size, math.Abs(float64(x)))
			}
			is, err := strconv.ParseFloat(expected, 64)
			require.NoError(t, err)
			assert.InDeltaf(t, is, sum, 1e-5*size, "%s, output %d", name, i)
			compared++
		}
	})
	assert.GreaterOrEqual(t, compared, 140)
}
