package network

import (
	"fmt"
	"math/rand/v2"

	"moonfarm/rollout/network/onnx"
)

// sketch builds a graph, node by node.
type sketch struct {
	onnx.Graph
	random *rand.Rand
}

func newSketch(opset int) *sketch {
	return &sketch{onnx.Graph{Opset: opset}, rand.New(rand.NewPCG(uint64(opset), 1))}
}

// input adds an input with these dimensions after the batch.
func (s *sketch) input(typ onnx.Type, dims ...int) string {
	v := onnx.Value{Name: fmt.Sprintf("in%d", len(s.Inputs)), Type: typ, Dims: []onnx.Dim{{Size: -1, Name: "batch"}}}
	for _, d := range dims {
		v.Dims = append(v.Dims, onnx.Dim{Size: int64(d)})
	}
	s.Inputs = append(s.Inputs, v)
	return v.Name
}

func (s *sketch) tensor(t *onnx.Tensor) string {
	t.Name = fmt.Sprintf("constant%d", len(s.Initializers))
	s.Initializers = append(s.Initializers, t)
	return t.Name
}

// weights adds a constant of random numbers.
func (s *sketch) weights(dims ...int) string {
	t := &onnx.Tensor{Type: onnx.Float32, Dims: dims, Floats: make([]float32, product(dims))}
	for i := range t.Floats {
		t.Floats[i] = float32(s.random.NormFloat64()) / 2
	}
	return s.tensor(t)
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
	return s.tensor(&onnx.Tensor{Type: onnx.Float32, Floats: []float32{x}})
}

// ints adds a constant list of whole numbers.
func (s *sketch) ints(x ...int64) string {
	return s.tensor(&onnx.Tensor{Type: onnx.Int64, Dims: []int{len(x)}, Ints: x})
}

// whole adds a constant whole number.
func (s *sketch) whole(x int64) string {
	return s.tensor(&onnx.Tensor{Type: onnx.Int64, Ints: []int64{x}})
}

// rows adds the numbers of the rows of an input, as PyTorch writes them: arange(x.shape[0]).
func (s *sketch) rows(x string) string {
	n := s.node("Cast", list(s.node("Gather", list(s.node("Shape", list(x)), s.whole(0)))), "to", 7)
	return s.node("Range", list(s.whole(0), n, s.whole(1)))
}

// node adds a node with attributes: each is a name and an int, a float32, a string, an
// []int64, a []string or a tensor.
func (s *sketch) node(op string, inputs []string, attributes ...any) string {
	return s.nodes(op, 1, inputs, attributes...)[0]
}

// nodes adds a node with several outputs.
func (s *sketch) nodes(op string, outputs int, inputs []string, attributes ...any) []string {
	n := &onnx.Node{Name: fmt.Sprintf("%s_%d", op, len(s.Nodes)), Op: op, Inputs: inputs}
	for i := range outputs {
		n.Outputs = append(n.Outputs, fmt.Sprintf("%s.%d", n.Name, i))
	}
	for i := 0; i < len(attributes); i += 2 {
		a := onnx.Attribute{Name: attributes[i].(string)}
		switch v := attributes[i+1].(type) {
		case int:
			a.Kind, a.Int = onnx.KindInt, int64(v)
		case float32:
			a.Kind, a.Float = onnx.KindFloat, v
		case string:
			a.Kind, a.Text = onnx.KindText, v
		case []int64:
			a.Kind, a.Ints = onnx.KindInts, v
		case []float32:
			a.Kind, a.Floats = onnx.KindFloats, v
		case []string:
			a.Kind, a.Texts = onnx.KindTexts, v
		case *onnx.Tensor:
			a.Kind, a.Tensor = onnx.KindTensor, v
		default:
			panic(fmt.Sprintf("attribute %s of %T", a.Name, v))
		}
		n.Attributes = append(n.Attributes, a)
	}
	s.Nodes = append(s.Nodes, n)
	return n.Outputs
}

func (s *sketch) output(name string) {
	s.Outputs = append(s.Outputs, onnx.Value{Name: name, Type: onnx.Float32})
}
