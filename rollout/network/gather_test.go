package network

import (
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/rollout/network/onnx"
)

// elementLookupCases adds cases of GatherElements.
func elementLookupCases(add func(name string, s *sketch)) {
	s := newSketch(13)
	x := s.input(onnx.Float32, 3, 4, 5)
	image := s.Op("Conv", list(x, s.weights(3, 3, 3, 3)), "pads", []int64{1, 1, 1, 1})
	index := s.Op("Cast", list(s.Op("Mul", list(s.input(onnx.Float32, 2, 3, 5), s.float(4)))), "to", 7)
	for _, v := range list(x, image) { // some indices are out of range, in both directions
		s.Output(s.Op("GatherElements", list(v, s.input(onnx.Uint8, 3, 7, 5)), "axis", 2))
		s.Output(s.Op("GatherElements", list(v, index), "axis", 1))
		s.Output(s.Op("GatherElements", list(v, s.Op("Cast", list(x), "to", 6)), "axis", -1))
	}
	s.Output(s.Op("GatherElements", list(s.input(onnx.Float32, 9), s.input(onnx.Bool, 1)), "axis", 1))
	known := s.Op("GatherElements", list(s.weights(2, 3), s.Constant(&onnx.Tensor{Type: onnx.Int64, Dims: []int{1, 3}, Ints: []int64{1, 0, -1}})))
	s.Output(s.Op("Add", list(x, s.Op("Slice", list(known, s.ints(0), s.ints(1), s.ints(1))))))
	add("GatherElements", s)
}

// TestElementLookupRefused: arrays and indices that do not fit each other are refused.
func TestElementLookupRefused(t *testing.T) {
	for _, c := range []struct {
		name          string
		axis          int
		array, index  []int
		constant, why string
	}{
		{"the axis of the batch", 0, []int{3, 4}, []int{3, 4}, "", "expected an axis within a row"},
		{"fewer dimensions", 1, []int{3, 4}, []int{12}, "", "expected indices with the dimensions and the batch"},
		{"too many indices", 1, []int{3, 4}, []int{2, 5}, "", "expected indices for at most the array [batch, 3, 4] in all axes but 1"},
		{"no such axis", 3, []int{3, 4}, []int{3, 4}, "", "expected an axis from -3 to 2"},
		{"a constant array", 2, []int{3, 4}, []int{3, 4}, "array", "expected indices with the dimensions and the batch"},
		{"constant indices", 2, []int{3, 4}, []int{3, 4}, "index", "expected indices with the dimensions and the batch"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSketch(13)
			x, index := s.input(onnx.Float32, c.array...), s.input(onnx.Uint8, c.index...)
			switch c.constant {
			case "array":
				x = s.weights(append([]int{1}, c.array...)...)
			case "index":
				index = s.Constant(&onnx.Tensor{Type: onnx.Int64, Dims: append([]int{1}, c.index...), Ints: make([]int64, product(c.index))})
			}
			s.Output(s.Op("GatherElements", list(x, index), "axis", c.axis))
			_, err := Read(onnx.Encode(&s.Graph), 0)
			require.ErrorContains(t, err, c.why)
		})
	}
}
