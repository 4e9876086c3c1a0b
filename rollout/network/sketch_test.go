package network

import (
	"fmt"
	"math/rand/v2"

	"moonfarm/rollout/network/onnx"
)

// sketch builds a graph of random numbers.
type sketch struct {
	onnx.Sketch
	random *rand.Rand
}

func newSketch(opset int) *sketch {
	return &sketch{onnx.Sketch{Graph: onnx.Graph{Opset: opset}}, rand.New(rand.NewPCG(uint64(opset), 1))}
}

// input adds an input with these dimensions after the batch.
func (s *sketch) input(typ onnx.Type, dims ...int) string {
	return s.Input(fmt.Sprintf("in%d", len(s.Inputs)), typ, dims...)
}

// weights adds a constant of random numbers.
func (s *sketch) weights(dims ...int) string {
	t := &onnx.Tensor{Type: onnx.Float32, Dims: dims, Floats: make([]float32, product(dims))}
	for i := range t.Floats {
		t.Floats[i] = float32(s.random.NormFloat64()) / 2
	}
	return s.Constant(t)
}

// positive adds a constant of random numbers from ½ to 1½.
func (s *sketch) positive(dims ...int) string {
	name := s.weights(dims...)
	floats := s.Initializers[len(s.Initializers)-1].Floats
	for i := range floats {
		floats[i] = 0.5 + s.random.Float32()
	}
	return name
}

func (s *sketch) float(x float32) string {
	return s.Constant(&onnx.Tensor{Type: onnx.Float32, Floats: []float32{x}})
}

// ints adds a constant list of whole numbers.
func (s *sketch) ints(x ...int64) string {
	return s.Constant(&onnx.Tensor{Type: onnx.Int64, Dims: []int{len(x)}, Ints: x})
}

// whole adds a constant whole number.
func (s *sketch) whole(x int64) string {
	return s.Constant(&onnx.Tensor{Type: onnx.Int64, Ints: []int64{x}})
}

// rows adds the numbers of the rows of an input, as PyTorch writes them: arange(x.shape[0]).
func (s *sketch) rows(x string) string {
	n := s.Op("Cast", list(s.Op("Gather", list(s.Op("Shape", list(x)), s.whole(0)))), "to", 7)
	return s.Op("Range", list(s.whole(0), n, s.whole(1)))
}
