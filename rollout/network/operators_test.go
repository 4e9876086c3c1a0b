package network

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/network/onnx"
)

// against runs a file on random rows, and compares the results with the slow twin.
func against(t *testing.T, file []byte, rows int) {
	t.Helper()
	m, err := Read(file, 0)
	require.NoError(t, err)
	g, err := onnx.Parse(file)
	require.NoError(t, err)
	r, random := m.NewRunner(rows), rand.New(rand.NewPCG(3, uint64(len(file))))
	inputs, all := map[string]*plain{}, rows
	if g.Inputs[0].Dims[0].Size == 1 {
		all = 1 // one row after the other
	}
	for _, v := range m.Inputs {
		a := newPlain(append([]int{all}, v.Dims...)...)
		a.whole, a.bytes = v.Type != onnx.Float32, v.Type == onnx.Uint8
		for i := range v.Len() * rows {
			x := float32(random.NormFloat64())
			if v.Type == onnx.Float32 {
				r.Floats(v.Name)[i] = x
			} else {
				x = float32(random.IntN(3))
				if v.Type == onnx.Bool {
					x = float32(random.IntN(2))
				}
				r.Bytes(v.Name)[i] = uint8(x)
			}
			if i < len(a.data) {
				a.data[i] = float64(x)
			}
		}
		inputs[v.Name] = a
	}
	r.Run(rows)
	values := interpret(g, inputs)
	for i, v := range m.Outputs {
		want := values[v.Name]
		if !slices.Equal(want.dims, append([]int{all}, v.Dims...)) {
			t.Errorf("%d rows: output %d has shape %v of a row, want %v", rows, i, v.Dims, want.dims)
			continue
		}
		got, floats := r.Output(v.Name)[:all*v.Len()], make([]float32, len(want.data))
		for i, x := range want.data {
			floats[i] = float32(x)
		}
		largest := 1.0
		for _, x := range want.data {
			largest = max(largest, math.Abs(x))
		}
		d := difference(got, floats)
		assert.Truef(t, d <= 2e-6*largest, "%d rows: output %d is off by %g: %v, want %v", rows, i, d, got[:min(8, len(got))], floats[:min(8, len(got))])
	}
}

// list returns a list of names.
func list(names ...string) []string { return names }

// unaryCases adds cases of functions of single elements.
func unaryCases(add func(name string, s *sketch)) {
	for _, op := range strings.Fields("Abs Neg Exp Erf Sin Cos Tanh Sigmoid Relu Softplus HardSwish LeakyRelu Elu HardSigmoid Gelu Identity Clip Floor Ceil Round Sign Softsign Selu Celu Mish") {
		for _, dims := range [][]int{{7}, {3, 4, 5}, {2, 3}} {
			s := newSketch(20)
			s.Output(s.Op(op, list(s.input(onnx.Float32, dims...))))
			add(fmt.Sprint(op, dims), s)
		}
		s := newSketch(20) // on an image whose channels do not fill its memory
		x := s.Op("Conv", list(s.input(onnx.Float32, 3, 4, 5), s.weights(5, 3, 3, 3)), "pads", []int64{1, 1, 1, 1})
		s.Output(s.Op("Conv", list(s.Op(op, list(x)), s.weights(2, 5, 3, 3)), "pads", []int64{1, 1, 1, 1}))
		add(op+" on an image", s)
	}
	for op, attribute := range map[string]any{"LeakyRelu": float32(0.3), "Elu": float32(0.7), "Celu": float32(0.7), "Selu": float32(1.1), "HardSigmoid": float32(0.1)} {
		s := newSketch(16)
		s.Output(s.Op(op, list(s.input(onnx.Float32, 9)), "alpha", attribute))
		add(op+" with alpha", s)
	}
	for _, op := range []string{"Sqrt", "Log", "Reciprocal"} {
		s := newSketch(13)
		s.Output(s.Op(op, list(s.Op("Exp", list(s.input(onnx.Float32, 9))))))
		add(op, s)
	}
	for _, p := range []float32{0, 1, 2, 3, 7} {
		s := newSketch(13)
		s.Output(s.Op("Pow", list(s.input(onnx.Float32, 9), s.float(p))))
		add(fmt.Sprint("Pow ", p), s)
	}
	s := newSketch(13)
	x := s.Op("Exp", list(s.input(onnx.Float32, 3, 4)))
	for _, p := range []float32{0.5, -1, 1.5, -2, 17, -0.3} {
		s.Output(s.Op("Pow", list(x, s.float(p))))
	}
	s.Output(s.Op("Pow", list(x, s.input(onnx.Float32, 1, 4))))
	s.Output(s.Op("Pow", list(s.float(2), x)))
	s.Output(s.Op("Pow", list(s.input(onnx.Float32, 4), s.Constant(&onnx.Tensor{Type: onnx.Int64, Dims: []int{4}, Ints: []int64{0, 1, 2, 3}}))))
	add("Pow of positive numbers", s)
	s = newSketch(20)
	s.Output(s.Op("Gelu", list(s.input(onnx.Float32, 400)), "approximate", "tanh"))
	add("Gelu tanh", s)
	s = newSketch(10)
	s.Output(s.Op("Clip", list(s.input(onnx.Float32, 9)), "min", float32(-0.5), "max", float32(0.25)))
	add("Clip by attributes", s)
	s = newSketch(13)
	s.Output(s.Op("Clip", list(s.input(onnx.Float32, 9), s.float(-0.1), s.float(0.7))))
	add("Clip by inputs", s)
}

// binaryCases adds cases of functions of two arrays that are broadcast in all ways.
func binaryCases(add func(name string, s *sketch)) {
	for _, op := range strings.Fields("Add Sub Mul Min Max PRelu") {
		for _, dims := range [][]int{{}, {1}, {5}, {4, 1}, {4, 5}, {3, 1, 1}, {3, 1, 5}, {1, 3, 4, 5}} {
			s := newSketch(16)
			x := s.input(onnx.Float32, 3, 4, 5)
			c := s.weights(dims...)
			s.Output(s.Op(op, list(x, c)))
			if op != "PRelu" {
				s.Output(s.Op(op, list(c, x)))
			}
			image := s.Op("Conv", list(x, s.weights(3, 3, 1, 1)))
			s.Output(s.Op(op, list(image, c)))
			add(fmt.Sprint(op, dims), s)
		}
		s := newSketch(16)
		x, y, z := s.input(onnx.Float32, 3, 4, 5), s.input(onnx.Float32, 3, 1, 1), s.input(onnx.Float32, 3, 4, 5)
		image := s.Op("Conv", list(x, s.weights(3, 3, 3, 3)), "pads", []int64{1, 1, 1, 1})
		s.Output(s.Op(op, list(image, y)))
		s.Output(s.Op(op, list(image, z)))
		s.Output(s.Op(op, list(z, image)))
		s.Output(s.Op(op, list(x, x)))
		add(op+" of two inputs", s)
	}
	s := newSketch(16)
	x, y := s.input(onnx.Float32, 6), s.input(onnx.Float32, 6)
	s.Output(s.Op("Div", list(x, s.Op("Exp", list(y)))))
	s.Output(s.Op("Div", list(x, s.positive(6))))
	less := s.Op("Less", list(x, y))
	s.Output(s.Op("Where", list(less, x, s.float(3))))
	s.Output(s.Op("Where", list(s.Op("Not", list(less)), s.weights(6), y)))
	s.Output(s.Op("Where", list(s.Op("Greater", list(x, y)), x, y)))
	s.Output(s.Op("Max", list(x, y, s.weights(6))))
	add("Div, Less, Not, Greater, Where", s)
	s = newSketch(16)
	b, m := s.input(onnx.Uint8, 3, 4), s.input(onnx.Bool, 3, 4)
	zero := s.Constant(&onnx.Tensor{Type: onnx.Uint8, Ints: []int64{0}})
	s.Output(s.Op("Where", list(s.Op("Equal", list(b, zero)), s.weights(3, 4), s.float(-1e4))))
	s.Output(s.Op("Cast", list(m), "to", 1))
	two := s.Constant(&onnx.Tensor{Type: onnx.Uint8, Ints: []int64{2}})
	s.Output(s.Op("Cast", list(s.Op("Div", list(b, two))), "to", 1))
	truncated := s.Op("Cast", list(s.input(onnx.Float32, 3)), "to", 7)
	s.Output(s.Op("Cast", list(truncated), "to", 1))
	s.Output(s.Op("Cast", list(s.Op("Cast", list(b), "to", 9)), "to", 1))
	add("bytes and masks", s)
}

// productCases adds cases of convolutions, dense layers and products of matrices.
func productCases(add func(name string, s *sketch)) {
	for _, c := range []struct {
		in, out, kh, kw int
		attributes      []any
	}{
		{3, 5, 1, 1, nil}, {3, 17, 3, 3, []any{"pads", []int64{1, 1, 1, 1}}}, {16, 16, 3, 3, nil}, {2, 3, 5, 3, []any{"pads", []int64{2, 1, 2, 1}}},
		{3, 4, 3, 3, []any{"strides", []int64{2, 2}, "pads", []int64{1, 1, 1, 1}}}, {4, 6, 3, 2, []any{"group", 2, "pads", []int64{1, 0, 0, 1}}},
		{4, 4, 2, 2, []any{"dilations", []int64{2, 3}}}, {4, 4, 3, 3, []any{"group", 4, "auto_pad", "SAME_UPPER"}},
		{2, 2, 3, 3, []any{"strides", []int64{2, 3}, "auto_pad", "SAME_LOWER"}}, {2, 3, 7, 8, nil}, {2, 3, 1, 1, []any{"pads", []int64{1, 1, 1, 1}}},
	} {
		s := newSketch(17)
		group := 1
		for i := 0; i < len(c.attributes); i += 2 {
			if c.attributes[i] == "group" {
				group = c.attributes[i+1].(int)
			}
		}
		x := s.input(onnx.Float32, c.in, 7, 8)
		y := s.Op("Conv", list(x, s.weights(c.out, c.in/group, c.kh, c.kw), s.weights(c.out)), c.attributes...)
		s.Output(s.Op("Relu", list(y)))
		norm := s.Op("BatchNormalization", list(s.Op("Conv", list(x, s.weights(c.out, c.in/group, c.kh, c.kw)), c.attributes...), s.positive(c.out), s.weights(c.out), s.weights(c.out), s.positive(c.out)))
		s.Output(norm)
		s.Output(s.Op("Relu", list(s.Op("Add", list(norm, y)))))
		add(fmt.Sprint("Conv ", c), s)
	}
	s := newSketch(17)
	x := s.input(onnx.Float32, 6, 1, 1)
	s.Output(s.Op("Conv", list(x, s.weights(4, 6, 1, 1), s.weights(4))))
	s.Output(s.Op("BatchNormalization", list(x, s.positive(6), s.weights(6), s.weights(6), s.positive(6)), "epsilon", float32(0.01)))
	add("a board of one cell", s)
	s = newSketch(17)
	x = s.input(onnx.Float32, 6, 9)
	line := s.Op("Conv", list(x, s.weights(4, 6, 3), s.weights(4)), "pads", []int64{1, 2})
	s.Output(s.Op("Conv", list(line, s.weights(4, 2, 2)), "strides", []int64{2}, "dilations", []int64{3}, "group", 2, "kernel_shape", []int64{2}))
	s.Output(s.Op("MaxPool", list(s.Op("Relu", list(line))), "kernel_shape", []int64{3}, "strides", []int64{2}))
	s.Output(s.Op("AveragePool", list(x), "kernel_shape", []int64{2}, "pads", []int64{1, 0}))
	add("lines", s)
	s = newSketch(17)
	x = s.input(onnx.Float32, 6)
	s.Output(s.Op("Gemm", list(x, s.weights(6, 5), s.weights(5))))
	s.Output(s.Op("Gemm", list(x, s.weights(5, 6), s.weights(1, 5)), "transB", 1, "alpha", float32(0.5), "beta", float32(2)))
	s.Output(s.Op("BatchNormalization", list(s.Op("Gemm", list(x, s.weights(6, 5))), s.positive(5), s.weights(5), s.weights(5), s.positive(5))))
	y := s.Op("Add", list(s.weights(5), s.Op("MatMul", list(x, s.weights(6, 5)))))
	s.Output(s.Op("Relu", list(s.Op("Add", list(s.Op("Gemm", list(x, s.weights(6, 5))), y)))))
	add("Gemm", s)
	s = newSketch(17)
	a, b := s.input(onnx.Float32, 2, 3, 4), s.input(onnx.Float32, 2, 4, 5)
	s.Output(s.Op("MatMul", list(a, b)))
	s.Output(s.Op("MatMul", list(a, s.weights(4, 7))))
	s.Output(s.Op("MatMul", list(s.weights(6, 3), a)))
	s.Output(s.Op("MatMul", list(a, s.weights(2, 4, 3))))
	s.Output(s.Op("MatMul", list(s.weights(2, 3, 4), b)))
	s.Output(s.Op("MatMul", list(a, s.Op("MatMul", list(s.weights(4, 2), s.weights(2, 6))))))
	add("MatMul", s)
	s = newSketch(17) // two layers that read one image, and a layer that reads it as rows
	image := s.Op("Conv", list(s.input(onnx.Float32, 3, 4, 5), s.weights(7, 3, 3, 3)), "pads", []int64{1, 1, 1, 1})
	flat := s.Op("Flatten", list(image))
	s.Output(s.Op("Gemm", list(flat, s.weights(140, 6), s.weights(6))))
	s.Output(s.Op("Gemm", list(flat, s.weights(140, 500), s.weights(500))))
	again := s.Op("Flatten", list(image))
	s.Output(s.Op("Gemm", list(s.Op("Gemm", list(again, s.weights(140, 500))), s.weights(500, 140))))
	s.Output(again)
	s.Output(s.Op("Add", list(s.Op("MatMul", list(image, s.weights(5, 5))), image)))
	add("Flatten and Gemm", s)
}

// shapeCases adds cases of operators that move elements.
func shapeCases(add func(name string, s *sketch)) {
	s := newSketch(17)
	x := s.input(onnx.Float32, 3, 4, 5)
	image := s.Op("Conv", list(x, s.weights(3, 3, 1, 1)))
	for _, v := range list(x, image) {
		s.Output(s.Op("Transpose", list(v), "perm", []int64{0, 2, 3, 1}))
		s.Output(s.Op("Transpose", list(s.Op("Transpose", list(v))), "perm", []int64{3, 2, 0, 1}))
		s.Output(s.Op("Reshape", list(v, s.ints(0, -1, 2))))
		s.Output(s.Op("Concat", list(v, x, image), "axis", 1))
		s.Output(s.Op("Concat", list(v, x), "axis", -1))
		s.Output(s.Op("Slice", list(v, s.ints(1, -2), s.ints(1<<62, 100), s.ints(1, -1))))
		s.Output(s.Op("Slice", list(v, s.ints(-1), s.ints(-1<<62), s.ints(2), s.ints(-2))))
		for _, part := range s.Ops("Split", 2, list(v, s.ints(1, 3)), "axis", 2) {
			s.Output(part)
		}
		s.Output(s.Op("Gather", list(v, s.ints(2, 0, -1, 2)), "axis", 1))
		s.Output(s.Op("Gather", list(v, s.Constant(&onnx.Tensor{Type: onnx.Int64, Ints: []int64{1}})), "axis", 3))
		s.Output(s.Op("Pad", list(v, s.ints(0, 0, 1, 2, 0, 1, 0, 3), s.float(0.5))))
		s.Output(s.Op("Pad", list(v, s.ints(2, 0, 1, 1), s.float(-1), s.ints(-1, 2))))
		s.Output(s.Op("Unsqueeze", list(v, s.ints(1, -1))))
		s.Output(s.Op("Conv", list(s.Op("Concat", list(v, v), "axis", 1), s.weights(4, 6, 3, 3)), "pads", []int64{1, 1, 1, 1}))
	}
	add("moves", s)
	s = newSketch(17)
	x = s.input(onnx.Float32, 1, 5)
	size := s.Op("Gather", list(s.Op("Shape", list(x)), s.ints(0)))
	s.Output(s.Op("Expand", list(x, s.Op("Concat", list(size, s.ints(4, 5)), "axis", 0))))
	s.Output(s.Op("Squeeze", list(x, s.ints(1))))
	s.Output(s.Op("Concat", list(x, s.Op("ConstantOfShape", list(s.Op("Concat", list(size, s.ints(1, 5)), "axis", 0)), "value", &onnx.Tensor{Type: onnx.Float32, Dims: []int{1}, Floats: []float32{0.5}})), "axis", 1))
	table := s.weights(3, 4)
	s.Output(s.Op("Gather", list(table, s.input(onnx.Uint8, 2, 3))))
	s.Output(s.Op("Dropout", list(x)))
	add("Expand, Squeeze, Gather by an input", s)
	s = newSketch(11)
	x = s.input(onnx.Float32, 4, 6)
	s.Output(s.Op("Squeeze", list(s.Op("Unsqueeze", list(x), "axes", []int64{2})), "axes", []int64{2}))
	s.Output(s.Op("Slice", list(x, s.ints(1), s.ints(3), s.ints(1))))
	for _, part := range s.Ops("Split", 3, list(x), "axis", 2) {
		s.Output(part)
	}
	heads := s.Op("Reshape", list(s.Op("Transpose", list(x), "perm", []int64{1, 0, 2}), s.ints(4, -1, 2)))
	s.Output(s.Op("Transpose", list(s.Op("Reshape", list(s.Op("Relu", list(heads)), s.ints(4, -1, 6)))), "perm", []int64{1, 0, 2}))
	add("older forms", s)
}

// reductionCases adds cases of sums, means, pooling and normalization.
func reductionCases(add func(name string, s *sketch)) {
	for _, op := range strings.Fields("ReduceMean ReduceSum ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceLogSumExp") {
		s := newSketch(18)
		x := s.input(onnx.Float32, 3, 4, 5)
		image := s.Op("Conv", list(x, s.weights(3, 3, 1, 1)))
		for _, axes := range [][]int64{{1}, {2, 3}, {-1}, {1, 3}, {1, 2, 3}} {
			for _, v := range list(x, image) {
				s.Output(s.Op(op, list(v, s.ints(axes...)), "keepdims", 0))
				s.Output(s.Op(op, list(v, s.ints(axes...))))
			}
		}
		s.Output(s.Op("Conv", list(s.Op(op, list(image, s.ints(1))), s.weights(2, 1, 3, 3)), "pads", []int64{1, 1, 1, 1}))
		many := s.Op("Conv", list(x, s.weights(2*neighbours+3, 3, 1, 1)))
		s.Output(s.Op(op, list(many, s.ints(2, 3))))
		s.Output(s.Op(op, list(many, s.ints(2))))
		add(op, s)
	}
	for _, opset := range []int{11, 13} {
		for _, op := range []string{"Softmax", "LogSoftmax"} {
			s := newSketch(opset)
			x := s.input(onnx.Float32, 3, 4, 5)
			s.Output(s.Op(op, list(x)))
			s.Output(s.Op(op, list(x), "axis", 2))
			s.Output(s.Op(op, list(s.Op("Conv", list(x, s.weights(3, 3, 1, 1)))), "axis", 1))
			add(fmt.Sprint(op, opset), s)
		}
	}
	s := newSketch(17)
	x := s.input(onnx.Float32, 3, 7, 8)
	image := s.Op("Conv", list(x, s.weights(3, 3, 1, 1)))
	for _, v := range list(x, image) {
		s.Output(s.Op("GlobalAveragePool", list(v)))
		s.Output(s.Op("GlobalMaxPool", list(v)))
		for _, op := range []string{"MaxPool", "AveragePool"} {
			s.Output(s.Op(op, list(v), "kernel_shape", []int64{2, 3}, "strides", []int64{2, 2}))
			s.Output(s.Op(op, list(v), "kernel_shape", []int64{3, 3}, "strides", []int64{2, 2}, "pads", []int64{1, 1, 1, 1}, "ceil_mode", 1))
			s.Output(s.Op("Conv", list(s.Op(op, list(v), "kernel_shape", []int64{3, 3}, "pads", []int64{1, 1, 1, 1}), s.weights(2, 3, 3, 3)), "pads", []int64{1, 1, 1, 1}))
		}
		s.Output(s.Op("AveragePool", list(v), "kernel_shape", []int64{3, 3}, "pads", []int64{1, 0, 1, 2}, "count_include_pad", 1))
		s.Output(s.Op("LayerNormalization", list(v, s.weights(8), s.weights(8))))
		s.Output(s.Op("LayerNormalization", list(v, s.weights(7, 8)), "axis", 2, "epsilon", float32(0.1)))
		s.Output(s.Op("InstanceNormalization", list(v, s.weights(3), s.weights(3))))
	}
	add("pools and norms", s)
}

// TestOperators compares each operator, in all its forms, with the slow twin.
func TestOperators(t *testing.T) {
	covered := map[string]bool{"Constant": true}
	add := func(name string, s *sketch) {
		for _, n := range s.Nodes {
			covered[n.Op] = true
		}
		t.Run(name, func(t *testing.T) {
			for _, rows := range []int{1, 3} {
				against(t, onnx.Encode(&s.Graph), rows)
			}
		})
	}
	unaryCases(add)
	binaryCases(add)
	productCases(add)
	shapeCases(add)
	elementLookupCases(add)
	lookupCases(add)
	rowCases(add)
	scatterCases(add)
	orderCases(add)
	wholeCases(add)
	einsumCases(add)
	recurrentCases(add)
	formCases(func(_ string, s *sketch) { // which TestRuntime compares
		for _, n := range s.Nodes {
			covered[n.Op] = true
		}
	})
	reductionCases(add)
	for _, op := range known() {
		assert.Truef(t, covered[op], "no case has %s", op)
	}
}

// TestFunctions: the functions outside of package kernel are exact to a few units in the last
// place.
func TestFunctions(t *testing.T) {
	for _, x := range []float64{0, 1e-300, 1e-9, 0.1, 0.2679, 0.268, 0.5, 1, 1.0000001, 2, 3.73, 3.74, 10, 1e10, 1e300, math.Inf(1)} {
		assert.InDeltaf(t, math.Atan(x), arctangent(x), 4e-16, "atan %g", x)
		assert.Equalf(t, -arctangent(x), arctangent(-x), "atan %g", -x)
	}
	assert.True(t, math.IsNaN(arctangent(math.NaN())) && math.Signbit(arctangent(math.Copysign(0, -1))), "atan of NaN and −0")
}
