package network

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/network/internal/kernel"
	"moonfarm/rollout/network/onnx"
)

// lookupCases adds cases of Gather, GatherElements and GatherND by computed indices.
func lookupCases(add func(name string, s *sketch)) {
	s := newSketch(13)
	x := s.input(onnx.Float32, 3, 4, 5)
	image := s.Op("Conv", list(x, s.weights(3, 3, 1, 1)))
	near := s.input(onnx.Uint8, 2, 2)
	far := s.Op("Cast", list(s.Op("Mul", list(s.input(onnx.Float32, 2, 2), s.float(4)))), "to", 7) // some are out of range
	for _, index := range list(near, far) {
		for _, v := range list(x, image) {
			s.Output(s.Op("GatherND", list(v, index), "batch_dims", 1))
		}
		s.Output(s.Op("GatherND", list(s.weights(3, 4, 5), index)))
		s.Output(s.Op("GatherND", list(s.weights(3, 4), index)))
		one := s.Op("Slice", list(index, s.ints(0), s.ints(1), s.ints(2)))
		s.Output(s.Op("GatherND", list(x, one), "batch_dims", 1))
		s.Output(s.Op("GatherND", list(s.Op("Squeeze", list(s.input(onnx.Float32, 2, 1, 7), s.ints(2))), one), "batch_dims", 2))
		s.Output(s.Op("Gather", list(s.weights(3, 2), index)))
		s.Output(s.Op("Transpose", list(s.Op("Gather", list(s.weights(2, 3), index), "axis", 1)), "perm", []int64{1, 0, 2, 3}))
	}
	add("GatherND and Gather", s)

	s = newSketch(13) // indices that are repeated along blocks
	x = s.input(onnx.Float32, 6, 5, 4)
	i, each := s.input(onnx.Uint8, 3), s.input(onnx.Uint8, 6, 3)
	wide := s.Op("Expand", list(s.Op("Unsqueeze", list(i, s.ints(2, 3))), s.ints(1, 3, 5, 4)))
	s.Output(s.Op("GatherElements", list(x, wide), "axis", 1))
	wide = s.Op("Expand", list(s.Op("Unsqueeze", list(each, s.ints(3))), s.ints(1, 6, 3, 4)))
	s.Output(s.Op("GatherElements", list(x, wide), "axis", 2))
	wide = s.Op("Expand", list(s.Op("Unsqueeze", list(i, s.ints(1, 3))), s.ints(1, 6, 3, 4)))
	s.Output(s.Op("GatherElements", list(x, wide), "axis", 2))
	wide = s.Op("Expand", list(s.Op("Unsqueeze", list(i, s.ints(1, 2))), s.ints(1, 6, 5, 3)))
	s.Output(s.Op("GatherElements", list(x, wide), "axis", 3))
	wide = s.Op("Expand", list(s.Op("Unsqueeze", list(i, s.ints(1, 2))), s.ints(1, 6, 4, 3)))
	s.Output(s.Op("GatherElements", list(x, wide), "axis", 3))
	wide = s.Op("Expand", list(s.Op("Unsqueeze", list(each, s.ints(2))), s.ints(1, 6, 5, 3)))
	s.Output(s.Op("GatherElements", list(x, wide), "axis", 3))
	wide = s.Op("Expand", list(s.Op("Unsqueeze", list(i, s.ints(2, 3))), s.ints(1, 3, 5, 3)))
	s.Output(s.Op("GatherElements", list(x, wide), "axis", 1))
	add("GatherElements of blocks", s)

	s = newSketch(13) // many constant indices
	x = s.input(onnx.Float32, 3, 4, 5)
	many := make([]int64, manyPicks+5)
	for _, v := range list(x, s.Op("Conv", list(x, s.weights(3, 3, 1, 1)))) {
		for axis := 1; axis < 4; axis++ {
			for i := range many {
				many[i] = int64(i*i%5+axis) % int64(axis+2)
				if i%3 == 0 {
					many[i] -= int64(axis + 2)
				}
			}
			s.Output(s.Op("Gather", list(v, s.ints(slices.Clone(many)...)), "axis", axis))
		}
	}
	add("Gather of many", s)
}

// rowCases adds cases of indices that have the number of the row: x[arange(x.shape[0])[:, None], i].
func rowCases(add func(name string, s *sketch)) {
	s := newSketch(13)
	x, i := s.input(onnx.Float32, 3, 4), s.Op("Cast", list(s.input(onnx.Uint8, 2)), "to", 7)
	rows := s.Op("Unsqueeze", list(s.rows(x), s.ints(1)))
	flat := s.Op("Reshape", list(x, s.ints(-1, 4)))
	at := s.Op("Add", list(s.Op("Mul", list(rows, s.ints(3))), i))
	s.Output(s.Op("Gather", list(flat, at)))
	s.Output(s.Op("Gather", list(flat, s.Op("Sub", list(i, s.Op("Mul", list(s.ints(-3), rows)))))))
	s.Output(s.Op("Reshape", list(s.Op("Gather", list(flat, s.Op("Reshape", list(at, s.ints(-1))))), s.ints(-1, 2, 4))))
	s.Output(s.Op("Gather", list(x, s.rows(x))))
	cells := s.Op("Reshape", list(x, s.ints(-1)))
	s.Output(s.Op("Gather", list(cells, s.Op("Add", list(s.Op("Mul", list(rows, s.whole(12))), i)))))
	all := s.Op("Range", list(s.whole(0), s.Op("Mul", list(s.Op("Gather", list(s.Op("Shape", list(x)), s.whole(0))), s.whole(3))), s.whole(1)))
	s.Output(s.Op("Reshape", list(s.Op("Gather", list(flat, all)), s.ints(-1, 3, 4))))

	points := func(columns ...string) string {
		var in []string
		for _, c := range columns {
			shape := s.Op("Shape", list(i))
			in = append(in, s.Op("Unsqueeze", list(s.Op("Expand", list(c, shape)), s.ints(-1))))
		}
		return s.Op("Concat", in, "axis", -1)
	}
	two, three := points(rows, i), points(rows, i, s.whole(-1))
	for _, index := range list(two, three) {
		s.Output(s.Op("GatherND", list(x, index)))
	}
	s.Output(s.Op("ScatterND", list(x, two, s.input(onnx.Float32, 2, 4))))
	s.Output(s.Op("ScatterND", list(x, three, s.input(onnx.Float32, 2))))
	add("rows of the batch", s)
}

// scatterCases adds cases of ScatterElements, ScatterND, OneHot and Trilu.
func scatterCases(add func(name string, s *sketch)) {
	s := newSketch(18)
	x := s.input(onnx.Float32, 3, 4, 5)
	image := s.Op("Conv", list(x, s.weights(3, 3, 1, 1)))
	index := s.Op("Cast", list(s.Op("Mul", list(s.input(onnx.Float32, 2, 3, 5), s.float(4)))), "to", 7)
	updates := s.input(onnx.Float32, 2, 3, 5)
	for _, reduction := range list("none", "add", "mul", "min", "max") {
		for _, v := range list(x, image) {
			for axis := 1; axis < 4; axis++ {
				s.Output(s.Op("ScatterElements", list(v, index, updates), "axis", axis, "reduction", reduction))
			}
		}
	}
	near := s.input(onnx.Uint8, 3, 4, 5)
	s.Output(s.Op("ScatterElements", list(x, near, image), "axis", -1))
	zeros := s.Op("ConstantOfShape", list(s.Op("Shape", list(x))))
	s.Output(s.Op("ScatterElements", list(zeros, near, x), "axis", 1))
	add("ScatterElements", s)

	s = newSketch(18)
	x = s.input(onnx.Float32, 4, 3)
	turned := s.Op("Transpose", list(x), "perm", []int64{1, 2, 0}) // the batch is the last dimension
	points := s.Constant(&onnx.Tensor{Type: onnx.Int64, Dims: []int{3, 2}, Ints: []int64{0, 1, 3, -1, 0, 1}})
	rows := s.Constant(&onnx.Tensor{Type: onnx.Int64, Dims: []int{3, 1}, Ints: []int64{-4, 2, 2}})
	for _, reduction := range list("none", "add", "mul", "min", "max") {
		y := s.Op("ScatterND", list(turned, points, s.Op("Transpose", list(s.input(onnx.Float32, 3)))), "reduction", reduction)
		z := s.Op("ScatterND", list(turned, rows, s.Op("Transpose", list(s.input(onnx.Float32, 3, 3)), "perm", []int64{1, 2, 0})), "reduction", reduction)
		for _, v := range list(y, z) {
			s.Output(s.Op("Transpose", list(v), "perm", []int64{2, 0, 1}))
		}
	}
	back := s.Op("GatherND", list(turned, points))
	s.Output(s.Op("Transpose", list(back)))
	zero := s.Op("ScatterND", list(s.weights(4, 3), points, s.weights(3)))
	s.Output(s.Op("Add", list(x, zero)))
	add("ScatterND of constant points", s)

	s = newSketch(13)
	i := s.Op("Sub", list(s.Op("Cast", list(s.input(onnx.Uint8, 2, 5)), "to", 7), s.whole(1)))
	values := s.Constant(&onnx.Tensor{Type: onnx.Float32, Dims: []int{2}, Floats: []float32{-0.5, 2}})
	for axis := -3; axis < 4; axis++ {
		if axis != 0 {
			s.Output(s.Op("OneHot", list(i, s.whole(2), values), "axis", axis))
		}
	}
	s.Output(s.Op("Cast", list(s.Op("OneHot", list(i, s.ints(4), s.ints(0, 1)))), "to", 1))
	x = s.input(onnx.Float32, 4, 5)
	for diagonal := int64(-5); diagonal < 6; diagonal += 2 {
		s.Output(s.Op("Trilu", list(x, s.whole(diagonal))))
		s.Output(s.Op("Trilu", list(x, s.whole(diagonal)), "upper", 0))
	}
	s.Output(s.Op("Trilu", list(x)))
	add("OneHot and Trilu", s)
}

// orderCases adds cases of running sums, the largest numbers, and their indices.
func orderCases(add func(name string, s *sketch)) {
	s := newSketch(13)
	x, equal := s.input(onnx.Float32, 3, 4, 5), s.input(onnx.Uint8, 3, 4, 5)
	image := s.Op("Conv", list(x, s.weights(3, 3, 1, 1)))
	for _, v := range list(x, image, equal) {
		for axis := 1; axis < 4; axis++ {
			for largest := range 2 {
				for _, y := range s.Ops("TopK", 2, list(v, s.ints(2)), "axis", axis, "largest", largest) {
					s.Output(y)
				}
			}
			for _, y := range s.Ops("TopK", 2, list(v, s.ints(3)), "axis", axis, "sorted", 0) {
				s.Output(y)
			}
			for last := range 2 {
				s.Output(s.Op("ArgMax", list(v), "axis", axis, "select_last_index", last))
				s.Output(s.Op("ArgMin", list(v), "axis", axis-4, "select_last_index", last, "keepdims", 0))
			}
			for kind := range 4 {
				s.Output(s.Op("CumSum", list(v, s.whole(int64(axis))), "exclusive", kind/2, "reverse", kind%2))
			}
		}
	}
	long := s.input(onnx.Uint8, 50)
	s.Output(s.Ops("TopK", 2, list(long, s.ints(50)))[1])
	s.Output(s.Ops("TopK", 2, list(long, s.ints(20)), "largest", 0)[1])
	add("TopK, ArgMax, ArgMin and CumSum", s)
	s = newSketch(9)
	for _, y := range s.Ops("TopK", 2, list(s.input(onnx.Float32, 9)), "k", 4, "axis", 1) {
		s.Output(y)
	}
	add("older forms of TopK", s)
}

// wholeCases adds cases of operators of whole numbers, masks, constants, and copies.
func wholeCases(add func(name string, s *sketch)) {
	s := newSketch(18)
	a, b, x := s.input(onnx.Uint8, 3, 4), s.input(onnx.Uint8, 3, 4), s.input(onnx.Float32, 3, 4)
	y := s.input(onnx.Float32, 1, 4)
	for _, op := range list("And", "Or", "Xor") {
		s.Output(s.Op(op, list(s.Op("Less", list(x, y)), s.Op("Greater", list(x, s.float(0))))))
	}
	for _, op := range list("LessOrEqual", "GreaterOrEqual") {
		s.Output(s.Op(op, list(a, b)))
		s.Output(s.Op(op, list(x, y)))
	}
	byte := func(x int64) string { return s.Constant(&onnx.Tensor{Type: onnx.Uint8, Ints: []int64{x}}) }
	s.Output(s.Op("Sub", list(a, b)))
	s.Output(s.Op("Sub", list(a, byte(1))))
	s.Output(s.Op("Add", list(s.Op("Sub", list(byte(250), b)), byte(7))))
	s.Output(s.Op("Mul", list(byte(200), a)))
	s.Output(s.Op("Sub", list(s.Op("Cast", list(a), "to", 7), s.Op("Cast", list(b), "to", 7))))
	s.Output(s.Op("Cast", list(s.Op("Mul", list(s.Op("Cast", list(a), "to", 7), s.whole(-3)))), "to", 2))
	s.Output(s.Op("Mul", list(a, s.Op("Sub", list(byte(3), byte(5))))))
	whole := s.Op("Cast", list(s.Op("Mul", list(x, s.float(9)))), "to", 7)
	s.Output(s.Op("Mod", list(whole, s.ints(5, -3, 2, -7))))
	s.Output(s.Op("Mod", list(whole, s.ints(5, -3, 2, -7)), "fmod", 1))
	s.Output(s.Op("Mod", list(x, s.float(0.25)), "fmod", 1))
	s.Output(s.Op("IsNaN", list(x)))
	s.Output(s.Op("IsInf", list(x)))
	s.Output(s.Op("Sum", list(x, y, x)))
	s.Output(s.Op("Sum", list(y)))
	s.Output(s.Op("CastLike", list(s.Op("CastLike", list(x, whole)), y)))
	size := s.Op("Gather", list(s.Op("Shape", list(x)), s.whole(1)))
	s.Output(s.Op("Mul", list(y, s.Op("Cast", list(s.Op("Range", list(size, s.whole(-5), s.whole(-2)))), "to", 1))))
	s.Output(s.Op("Mul", list(y, s.Op("Range", list(s.float(0.5), s.float(2.4), s.float(0.5))))))
	s.Output(s.Op("Gather", list(y, s.Op("NonZero", list(s.ints(0, 3, 0, 1)))), "axis", 2))
	s.Output(s.Op("Mul", list(x, s.Op("Cast", list(s.Op("ReduceProd", list(s.Op("Slice", list(s.Op("Shape", list(x)), s.ints(1), s.ints(3)))))), "to", 1))))
	per := s.Op("Div", list(s.Op("Size", list(x)), s.Op("Gather", list(s.Op("Shape", list(x)), s.whole(0)))))
	s.Output(s.Op("Mul", list(x, s.Op("Cast", list(per), "to", 1))))
	add("whole numbers", s)

	s = newSketch(13)
	x = s.input(onnx.Float32, 4, 2, 6)
	for _, v := range list(x, s.Op("Conv", list(x, s.weights(8, 4, 1, 1)))) {
		s.Output(s.Op("Tile", list(v, s.ints(1, 2, 1, 3))))
		s.Output(s.Op("Tile", list(v, s.ints(1, 1, 1, 1))))
		s.Output(s.Op("SpaceToDepth", list(v), "blocksize", 2))
		for _, mode := range list("DCR", "CRD") {
			s.Output(s.Op("DepthToSpace", list(v), "blocksize", 2, "mode", mode))
		}
	}
	s.Output(s.Op("Add", list(x, s.Op("Tile", list(s.weights(2, 1), s.ints(1, 6))))))
	add("Tile and blocks", s)
}

// einsumCases adds cases of Einsum.
func einsumCases(add func(name string, s *sketch)) {
	s := newSketch(13)
	x, y := s.input(onnx.Float32, 3, 2, 5), s.input(onnx.Float32, 4, 2, 5)
	for _, c := range []struct {
		equation string
		inputs   []string
	}{
		{"bihd,bjhd->bhij", list(x, y)}, {"bihd, bjhd -> bijh", list(x, y)}, {"bihd,bjhd->bij", list(x, y)}, {"bihd,bjhe->bi", list(x, y)},
		{"bihd->bdhi", list(x)}, {"bihd->bi", list(x)}, {"bihd", list(x)}, {"bihd,de->bihe", list(x, s.weights(5, 3))}, {"de,bihd->bhei", list(s.weights(5, 3), x)},
		{"bihd,bihd->bihd", list(x, x)}, {"bihd,hd->bih", list(x, s.weights(2, 5))}, {"bihd,ihd->b", list(x, s.weights(3, 2, 5))}, {"bihd,ci->bchd", list(x, s.weights(2, 3))},
		{"bihd,c->bcihd", list(x, s.weights(2))},
	} {
		s.Output(s.Op("Einsum", c.inputs, "equation", c.equation))
	}
	add("Einsum", s)
	s = newSketch(13)
	x, y = s.input(onnx.Float32, 3, 2, 5), s.input(onnx.Float32, 4, 2, 5)
	s.Output(s.Op("Einsum", list(x, y), "equation", "bi...,bj...->bij"))
	s.Output(s.Op("Einsum", list(x, s.weights(2, 5)), "equation", "...d,...d"))
	s.Output(s.Op("Einsum", list(x, s.weights(2, 1)), "equation", "...,...->..."))
	add("Einsum as NumPy has it", s)
}

// recurrentCases adds cases of LSTM and GRU.
func recurrentCases(add func(name string, s *sketch)) {
	for op, gates := range map[string]int{"LSTM": 4, "GRU": 3} {
		for _, direction := range list("forward", "reverse", "bidirectional") {
			for reset := range 2 {
				s := newSketch(14)
				n := 1 + int(kernel.Number(direction == "bidirectional"))
				const steps, in, hidden = 4, 6, 5
				x := s.Op("Transpose", list(s.input(onnx.Float32, steps, in)), "perm", []int64{1, 0, 2})
				weights := list(x, s.weights(n, gates*hidden, in), s.weights(n, gates*hidden, hidden))
				attributes := []any{"hidden_size", hidden, "direction", direction}
				if op == "GRU" {
					attributes = append(attributes, "linear_before_reset", reset)
				}
				outputs := 2 + int(kernel.Number(op == "LSTM"))
				several := s.Ops(op, outputs, weights, attributes...)
				state := s.Op("Transpose", list(s.input(onnx.Float32, n, hidden)), "perm", []int64{1, 0, 2})
				weights = append(weights, s.weights(n, 2*gates*hidden), "", state)
				if op == "LSTM" {
					weights = append(weights, s.Op("Transpose", list(s.input(onnx.Float32, n, hidden)), "perm", []int64{1, 0, 2}))
				}
				several = append(several, s.Ops(op, outputs, weights, attributes...)...)
				for _, v := range several {
					perm := []int64{1, 0, 2}
					if v == several[0] || v == several[outputs] {
						perm = []int64{2, 0, 1, 3}
					}
					s.Output(s.Op("Transpose", list(v), "perm", perm))
				}
				add(fmt.Sprint(op, " ", direction, reset), s)
			}
		}
	}
	s := newSketch(14) // several sequences in each row
	x := s.Op("Reshape", list(s.Op("Transpose", list(s.input(onnx.Float32, 7, 3, 2)), "perm", []int64{2, 0, 1, 3}), s.ints(3, -1, 2)))
	y := s.Ops("GRU", 2, list(x, s.weights(1, 12, 2), s.weights(1, 12, 4)), "hidden_size", 4)[1]
	s.Output(s.Op("Reshape", list(y, s.ints(-1, 7, 4))))
	add("GRU of entities", s)
}

// example is an example of the ONNX specification, with the batch as an additional first dimension of the arrays
// that are not constants.
type example struct {
	op         string
	in         []*onnx.Tensor // the first is the input, the others are constants
	attributes []any
	want       [][]float32
}

func floatTensor(dims []int, x ...float32) *onnx.Tensor {
	return &onnx.Tensor{Type: onnx.Float32, Dims: dims, Floats: x}
}
func intTensor(dims []int, x ...int64) *onnx.Tensor {
	return &onnx.Tensor{Type: onnx.Int64, Dims: dims, Ints: x}
}

var examples = []example{
	{"TopK", []*onnx.Tensor{floatTensor([]int{1, 3, 4}, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11), intTensor([]int{1}, 3)}, []any{"axis", 2},
		[][]float32{{3, 2, 1, 7, 6, 5, 11, 10, 9}, {3, 2, 1, 3, 2, 1, 3, 2, 1}}},
	{"TopK", []*onnx.Tensor{floatTensor([]int{1, 3, 4}, 0, 1, 2, 3, 4, 5, 6, 7, 11, 10, 9, 8), intTensor([]int{1}, 3)}, []any{"axis", -1, "largest", 0},
		[][]float32{{0, 1, 2, 4, 5, 6, 8, 9, 10}, {0, 1, 2, 0, 1, 2, 3, 2, 1}}},
	{"TopK", []*onnx.Tensor{floatTensor([]int{1, 4}, 0, 0, 0, 0), intTensor([]int{1}, 3)}, nil, [][]float32{{0, 0, 0}, {0, 1, 2}}},
	{"CumSum", []*onnx.Tensor{floatTensor([]int{1, 5}, 1, 2, 3, 4, 5), intTensor(nil, 1)}, nil, [][]float32{{1, 3, 6, 10, 15}}},
	{"CumSum", []*onnx.Tensor{floatTensor([]int{1, 3}, 1<<24, 1, 1), intTensor(nil, 1)}, nil, [][]float32{{1 << 24, 1 << 24, 1<<24 + 2}}}, // each sum is rounded once
	{"CumSum", []*onnx.Tensor{floatTensor([]int{1, 5}, 1, 2, 3, 4, 5), intTensor(nil, 1)}, []any{"exclusive", 1}, [][]float32{{0, 1, 3, 6, 10}}},
	{"CumSum", []*onnx.Tensor{floatTensor([]int{1, 5}, 1, 2, 3, 4, 5), intTensor(nil, 1)}, []any{"reverse", 1}, [][]float32{{15, 14, 12, 9, 5}}},
	{"CumSum", []*onnx.Tensor{floatTensor([]int{1, 5}, 1, 2, 3, 4, 5), intTensor(nil, -1)}, []any{"reverse", 1, "exclusive", 1}, [][]float32{{14, 12, 9, 5, 0}}},
	{"ArgMax", []*onnx.Tensor{floatTensor([]int{1, 2, 2}, 2, 2, 3, 10)}, []any{"axis", 2}, [][]float32{{0, 1}}},
	{"ArgMax", []*onnx.Tensor{floatTensor([]int{1, 2, 2}, 2, 2, 3, 10)}, []any{"axis", 2, "select_last_index", 1}, [][]float32{{1, 1}}},
	{"ArgMin", []*onnx.Tensor{floatTensor([]int{1, 2, 2}, 2, 1, 3, 10)}, []any{"axis", -1, "keepdims", 0}, [][]float32{{1, 0}}},
	{"Mod", []*onnx.Tensor{floatTensor([]int{1, 6}, -4, 7, 5, 4, -7, 8), floatTensor([]int{6}, 2, -3, 8, -2, 3, 5)}, nil, [][]float32{{0, -2, 5, 0, 2, 3}}},
	{"Mod", []*onnx.Tensor{floatTensor([]int{1, 6}, -4.5, 7.25, 5, 4.5, -7.25, 8), floatTensor([]int{6}, 2, -3, 8, -2, 3, 5)}, []any{"fmod", 1}, [][]float32{{-0.5, 1.25, 5, 0.5, -1.25, 3}}},
	{"Round", []*onnx.Tensor{floatTensor([]int{1, 15}, 0.1, 0.5, 0.9, 1.2, 1.5, 1.8, 2.3, 2.5, 2.7, -1.1, -1.5, -1.9, -2.2, -2.5, -2.8)}, nil,
		[][]float32{{0, 0, 1, 1, 2, 2, 2, 2, 3, -1, -2, -2, -2, -2, -3}}},
	{"ScatterElements", []*onnx.Tensor{floatTensor([]int{1, 5}, 1, 2, 3, 4, 5), intTensor([]int{1, 2}, 1, 3), floatTensor([]int{1, 2}, 1.5, 2.5)}, []any{"axis", 1}, [][]float32{{1, 1.5, 3, 2.5, 5}}},
	{"ScatterElements", []*onnx.Tensor{floatTensor([]int{1, 5}, 1, 2, 3, 4, 5), intTensor([]int{1, 2}, 1, -3), floatTensor([]int{1, 2}, 1.5, 2.5)}, []any{"axis", 1}, [][]float32{{1, 1.5, 2.5, 4, 5}}},
	{"ScatterElements", []*onnx.Tensor{floatTensor([]int{1, 5}, 1, 2, 3, 4, 5), intTensor([]int{1, 2}, 1, 1), floatTensor([]int{1, 2}, 1.5, 2.5)}, []any{"axis", 1, "reduction", "add"}, [][]float32{{1, 6, 3, 4, 5}}},
	{"OneHot", []*onnx.Tensor{floatTensor([]int{1, 3}, 0, -7, 12), intTensor(nil, 10), floatTensor([]int{2}, 1, 3)}, []any{"axis", -1},
		[][]float32{{3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}}},
	{"Tile", []*onnx.Tensor{floatTensor([]int{1, 2, 2}, 0, 1, 2, 3), intTensor([]int{3}, 1, 2, 2)}, nil, [][]float32{{0, 1, 0, 1, 2, 3, 2, 3, 0, 1, 0, 1, 2, 3, 2, 3}}},
	{"Trilu", []*onnx.Tensor{floatTensor([]int{1, 2, 3}, 4, 7, 3, 1, 2, 8), intTensor(nil, 1)}, []any{"upper", 1}, [][]float32{{0, 7, 3, 0, 0, 8}}},
	{"ReduceL2", []*onnx.Tensor{floatTensor([]int{1, 2}, 3, 4), intTensor([]int{1}, 1)}, nil, [][]float32{{5}}},
	{"Celu", []*onnx.Tensor{floatTensor([]int{1, 2}, 0, 3)}, []any{"alpha", float32(2)}, [][]float32{{0, 3}}},
	{"Pow", []*onnx.Tensor{floatTensor([]int{1, 4}, -2, -8, 0, 4), floatTensor([]int{4}, 3, -1, 0, 1.5)}, nil, [][]float32{{-8, -0.125, 1, 8}}},
}

// TestExamples computes the examples of the specification. The batch of the file is one row.
func TestExamples(t *testing.T) {
	for _, e := range examples {
		t.Run(fmt.Sprint(e.op, e.attributes), func(t *testing.T) {
			s := newSketch(18)
			x := s.input(onnx.Float32, e.in[0].Dims[1:]...)
			s.Inputs[0].Dims[0] = onnx.Dim{Size: 1}
			in := list(x)
			for _, c := range e.in[1:] {
				copied := *c
				in = append(in, s.Constant(&copied))
			}
			for _, y := range s.Ops(e.op, len(e.want), in, e.attributes...) {
				s.Output(y)
			}
			m, err := Read(onnx.Encode(&s.Graph), 0)
			require.NoError(t, err)
			r := m.NewRunner(1)
			copy(r.Floats(x), e.in[0].Floats)
			r.Run(1)
			for i, v := range m.Outputs {
				assert.Equal(t, e.want[i], r.Output(v.Name))
			}
		})
	}
}
