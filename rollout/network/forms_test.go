package network

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
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
		s.Output(s.Op("Einsum", c.inputs, "equation", c.equation))
	}
	add("Einsum with ellipses and many terms", s)
	s = newSketch(13)
	x, v = s.input(onnx.Float32, 3, 4), s.input(onnx.Float32, 4)
	s.Output(s.Op("MatMul", list(x, s.weights(4))))
	s.Output(s.Op("MatMul", list(s.weights(3), x)))
	s.Output(s.Op("MatMul", list(v, s.weights(4))))
	s.Output(s.Op("MatMul", list(s.Op("Mul", list(x, s.Op("MatMul", list(s.weights(4), s.weights(4, 4))))), s.Op("MatMul", list(s.weights(4, 2), s.weights(2))))))
	s.Output(s.Op("Atan", list(s.Op("Mul", list(x, s.float(30))))))
	s.Output(s.Op("Atan", list(v)))
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
	for _, v := range list(x, s.Op("Conv", list(x, s.weights(3, 3, 1, 1)))) {
		for _, mode := range list("reflect", "edge", "wrap", "constant") {
			s.Output(s.Op("Pad", list(v, s.ints(0, 2, 1, 0, 0, 1, 3, 2)), "mode", mode))
			s.Output(s.Op("Pad", list(v, s.ints(0, -1, 1, 1, 0, 0, -2, -3)), "mode", mode))
		}
	}
	add("Pad in all modes", s)
	for _, from := range list("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric") {
		s := newSketch(19)
		x := s.input(onnx.Float32, 2, 4, 5)
		factors := func(f ...float32) string {
			return s.Constant(&onnx.Tensor{Type: onnx.Float32, Dims: []int{len(f)}, Floats: f})
		}
		for _, v := range list(x, s.Op("Conv", list(x, s.weights(2, 2, 1, 1)))) {
			s.Output(s.Op("Resize", list(v, "", factors(1, 1, 2, 3)), "mode", "linear", "coordinate_transformation_mode", from))
			s.Output(s.Op("Resize", list(v, "", factors(1, 1, 0.5, 1.7)), "mode", "linear", "coordinate_transformation_mode", from))
			s.Output(s.Op("Resize", list(v, "", "", s.ints(1, 7)), "mode", "linear", "coordinate_transformation_mode", from, "axes", []int64{2, 3}))
			for _, nearest := range list("round_prefer_floor", "round_prefer_ceil", "floor", "ceil") {
				s.Output(s.Op("Resize", list(v, "", "", s.ints(6, 3)), "axes", []int64{-2, -1}, "coordinate_transformation_mode", from, "nearest_mode", nearest))
			}
		}
		add("Resize "+from, s)
	}
}

// transposedCases adds cases of ConvTranspose.
func transposedCases(add func(name string, s *sketch)) {
	s := newSketch(11)
	x := s.input(onnx.Float32, 4, 5, 4)
	for _, v := range list(x, s.Op("Conv", list(x, s.weights(4, 4, 1, 1)))) {
		for _, attributes := range [][]any{
			nil, {"strides", []int64{2, 2}}, {"strides", []int64{2, 3}, "pads", []int64{1, 0, 1, 2}, "output_padding", []int64{1, 2}},
			{"dilations", []int64{2, 1}, "pads", []int64{3, 2, 0, 1}}, {"strides", []int64{3, 2}, "auto_pad", "SAME_UPPER"}, {"strides", []int64{3, 2}, "auto_pad", "SAME_LOWER"},
			{"strides", []int64{2, 2}, "output_shape", []int64{10, 9}}, {"strides", []int64{2, 2}, "auto_pad", "VALID", "kernel_shape", []int64{3, 2}},
		} {
			s.Output(s.Op("ConvTranspose", list(v, s.weights(4, 3, 3, 2), s.weights(3)), attributes...))
			s.Output(s.Op("ConvTranspose", list(v, s.weights(4, 3, 3, 2)), append(attributes, "group", 2)...))
		}
	}
	add("ConvTranspose", s)
	s = newSketch(11)
	x = s.input(onnx.Float32, 4, 5)
	s.Output(s.Op("ConvTranspose", list(x, s.weights(4, 3, 2), s.weights(3)), "strides", []int64{2}, "output_padding", []int64{1}))
	s.Output(s.Op("ConvTranspose", list(x, s.weights(4, 3, 3)), "pads", []int64{1, 2}))
	add("ConvTranspose of lines", s)
}

// quantizedCases adds cases of QuantizeLinear and DequantizeLinear.
func quantizedCases(add func(name string, s *sketch)) {
	s := newSketch(21)
	x := s.input(onnx.Float32, 6, 4)
	whole := func(typ onnx.Type, dims []int, numbers ...int64) string {
		return s.Constant(&onnx.Tensor{Type: typ, Dims: dims, Ints: numbers})
	}
	eight := make([]int64, 24)
	for i := range eight {
		eight[i] = int64(i*53%256 - 128)
	}
	for _, zero := range []string{"", whole(onnx.Uint8, nil, 128), whole(onnx.Int8, nil, -3), whole(onnx.Int16, nil, 5), whole(onnx.Uint16, nil, 40000)} {
		q := s.Op("QuantizeLinear", list(x, s.float(0.02), zero))
		s.Output(s.Op("DequantizeLinear", list(q, s.float(0.02), zero)))
	}
	zeros := whole(onnx.Int8, []int{6}, 1, 2, 3, -4, 0, 9)
	scales := s.positive(6)
	s.Output(s.Op("DequantizeLinear", list(s.Op("QuantizeLinear", list(x, scales, zeros)), scales, zeros)))
	w := s.Op("DequantizeLinear", list(whole(onnx.Int8, []int{4, 6}, eight...), s.positive(6)), "axis", 1)
	bias := s.Op("DequantizeLinear", list(whole(onnx.Int32, []int{6}, 7, -9, 30000, 2, 0, 1), s.float(0.001)))
	s.Output(s.Op("Add", list(s.Op("MatMul", list(x, w)), bias)))
	s.Output(s.Op("MatMul", list(x, s.Op("DequantizeLinear", list(whole(onnx.Int8, []int{4, 6}, eight...), s.positive(2, 6), whole(onnx.Int8, []int{2, 6}, eight[:12]...)), "axis", 0, "block_size", 2))))
	add("QuantizeLinear and DequantizeLinear", s)
	s = newSketch(13)
	image := s.input(onnx.Float32, 3, 5, 5)
	zero := s.Constant(&onnx.Tensor{Type: onnx.Uint8, Ints: []int64{120}})
	seen := s.Op("DequantizeLinear", list(s.Op("QuantizeLinear", list(image, s.float(0.03), zero)), s.float(0.03), zero))
	weights := s.Constant(&onnx.Tensor{Type: onnx.Int8, Dims: []int{2, 3, 2, 2}, Ints: eight})
	s.Output(s.Op("Relu", list(s.Op("Conv", list(seen, s.Op("DequantizeLinear", list(weights, s.positive(2), s.Constant(&onnx.Tensor{Type: onnx.Int8, Dims: []int{2}, Ints: []int64{0, 0}})), "axis", 0))))))
	add("a quantized convolution", s)
}

// normedCases adds cases of GroupNormalization and RMSNormalization.
func normedCases(add func(name string, s *sketch)) {
	for _, opset := range []int{18, 21} {
		s := newSketch(opset)
		x := s.input(onnx.Float32, 6, 4, 3)
		each := map[int]int{18: 3, 21: 6}[opset]
		for _, v := range list(x, s.Op("Conv", list(x, s.weights(6, 6, 1, 1)))) {
			s.Output(s.Op("GroupNormalization", list(v, s.weights(each), s.weights(each)), "num_groups", 3))
			s.Output(s.Op("Relu", list(s.Op("GroupNormalization", list(v, s.positive(each), s.weights(each)), "num_groups", 3, "epsilon", float32(0.1)))))
		}
		add(fmt.Sprint("GroupNormalization ", opset), s)
	}
	s := newSketch(23)
	x := s.input(onnx.Float32, 3, 4, 5)
	s.Output(s.Op("RMSNormalization", list(x, s.weights(5))))
	s.Output(s.Op("RMSNormalization", list(x, s.weights(4, 5)), "axis", -2, "epsilon", float32(0.01)))
	s.Output(s.Op("RMSNormalization", list(s.Op("Conv", list(x, s.weights(3, 3, 1, 1))), s.weights(1)), "axis", 1))
	add("RMSNormalization", s)
}

// attentionCases adds cases of Attention.
func attentionCases(add func(name string, s *sketch)) {
	s := newSketch(23)
	q, kv, four := s.input(onnx.Float32, 6, 8), s.input(onnx.Float32, 5, 8), s.input(onnx.Float32, 4, 6, 2)
	mask := s.input(onnx.Float32, 4, 6, 5)
	known := s.Op("Less", list(mask, s.float(1.2)))
	s.Output(s.Op("Attention", list(q, q, q), "q_num_heads", 2, "kv_num_heads", 2))
	s.Output(s.Op("Attention", list(q, kv, kv, mask), "q_num_heads", 4, "kv_num_heads", 4, "scale", float32(0.3)))
	s.Output(s.Op("Attention", list(q, kv, kv, known), "q_num_heads", 4, "kv_num_heads", 4))
	s.Output(s.Op("Attention", list(q, q, q, s.weights(6, 6)), "q_num_heads", 4, "kv_num_heads", 4, "is_causal", 1))
	s.Output(s.Op("Attention", list(q, q, s.Op("Slice", list(q, s.ints(2), s.ints(6), s.ints(2)))), "q_num_heads", 2, "kv_num_heads", 2, "softcap", float32(0.7)))
	s.Output(s.Op("Attention", list(four, four, four), "is_causal", 1, "softcap", float32(2)))
	grouped := s.Op("Slice", list(four, s.ints(0), s.ints(2), s.ints(1)))
	s.Output(s.Op("Attention", list(four, grouped, grouped)))
	past := s.input(onnx.Float32, 2, 3, 2)
	for _, name := range s.Ops("Attention", 3, list(four, grouped, grouped, "", past, past), "is_causal", 1) {
		s.Output(name)
	}
	add("Attention", s)
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
	formCases(func(name string, s *sketch) {
		const rows = 2
		file := onnx.Encode(&s.Graph)
		if dir := os.Getenv("MOONFARM_FORMS"); dir != "" {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name+".onnx"), file, 0o666))
		}
		m, err := Read(file, 0)
		require.NoError(t, err, name)
		r := m.NewRunner(rows)
		for i := range m.Inputs {
			for j := range r.floats[i] {
				r.floats[i][j] = float32(math.Sin(float64(j + 1)))
			}
		}
		r.Run(rows)
		require.Len(t, want[name], len(m.Outputs), name)
		for i, expected := range want[name] {
			sum, size := 0.0, 1.0
			for j, x := range r.Output(m.Outputs[i].Name) {
				sum, size = sum+float64(x)*math.Sin(float64(j+1)), max(size, math.Abs(float64(x)))
			}
			is, err := strconv.ParseFloat(expected, 64)
			require.NoError(t, err)
			assert.InDeltaf(t, is, sum, 1e-5*size, "%s, output %d", name, i)
		}
	})
}

// TestResizeBySizes: sizes that the file computes from the shape of its input are those of factors.
func TestResizeBySizes(t *testing.T) {
	s := newSketch(13)
	x := s.input(onnx.Float32, 2, 3, 4)
	size := s.Op("Slice", list(s.Op("Shape", list(x)), s.ints(0), s.ints(2)))
	by := s.Op("Resize", list(x, "", "", s.Op("Concat", list(size, s.ints(6, 12)), "axis", 0)), "mode", "nearest")
	factors := s.Constant(&onnx.Tensor{Type: onnx.Float32, Dims: []int{4}, Floats: []float32{1, 1, 2, 3}})
	s.Output(s.Op("Sub", list(by, s.Op("Resize", list(x, "", factors), "mode", "nearest"))))
	m, err := Read(onnx.Encode(&s.Graph), 0)
	require.NoError(t, err)
	assert.Equal(t, []int{2, 6, 12}, m.Outputs[0].Dims)
	r := m.NewRunner(3)
	for i := range r.floats[0] {
		r.floats[0][i] = float32(i)
	}
	r.Run(3)
	assert.Equal(t, make([]float32, 3*2*6*12), r.Output(m.Outputs[0].Name))
}
