package network

import (
	"fmt"
	"math"
	"math/rand/v2"

	"google.golang.org/protobuf/encoding/protowire"

	"moonfarm/rollout/network/onnx"
)

// message builds protobuf messages.
type message []byte

func (m message) number(field protowire.Number, x int64) message {
	return protowire.AppendVarint(protowire.AppendTag(m, field, protowire.VarintType), uint64(x))
}

func (m message) bytes(field protowire.Number, b []byte) message {
	return protowire.AppendBytes(protowire.AppendTag(m, field, protowire.BytesType), b)
}

func (m message) text(field protowire.Number, s string) message { return m.bytes(field, []byte(s)) }

// encode writes a graph as an ONNX file.
func encode(g *onnx.Graph) []byte {
	var graph message
	for _, n := range g.Nodes {
		var b message
		for _, s := range n.Inputs {
			b = b.text(1, s)
		}
		for _, s := range n.Outputs {
			b = b.text(2, s)
		}
		b = b.text(3, n.Name).text(4, n.Op)
		for i := range n.Attributes {
			b = b.bytes(5, encodeAttribute(&n.Attributes[i]))
		}
		graph = graph.bytes(1, b)
	}
	for _, t := range g.Initializers {
		graph = graph.bytes(5, encodeTensor(t))
	}
	for i := range g.Inputs {
		graph = graph.bytes(11, encodeValue(&g.Inputs[i]))
	}
	for i := range g.Outputs {
		graph = graph.bytes(12, encodeValue(&g.Outputs[i]))
	}
	return message(nil).number(1, 8).bytes(7, graph).bytes(8, message(nil).number(2, int64(g.Opset)))
}

func encodeAttribute(a *onnx.Attribute) message {
	b := message(nil).text(1, a.Name).number(20, int64(a.Kind))
	switch a.Kind {
	case onnx.KindFloat:
		b = protowire.AppendFixed32(protowire.AppendTag(b, 2, protowire.Fixed32Type), math.Float32bits(a.Float))
	case onnx.KindInt:
		b = b.number(3, a.Int)
	case onnx.KindText:
		b = b.text(4, a.Text)
	case onnx.KindTensor:
		b = b.bytes(5, encodeTensor(a.Tensor))
	case onnx.KindInts:
		for _, x := range a.Ints {
			b = b.number(8, x)
		}
	}
	return b
}

func encodeTensor(t *onnx.Tensor) message {
	var b message
	for _, d := range t.Dims {
		b = b.number(1, int64(d))
	}
	b = b.number(2, int64(t.Type)).text(8, t.Name)
	if t.Type == onnx.Float32 {
		var raw []byte
		for _, x := range t.Floats {
			raw = protowire.AppendFixed32(raw, math.Float32bits(x))
		}
		return b.bytes(9, raw)
	}
	field := protowire.Number(5)
	if t.Type == onnx.Int64 {
		field = 7
	}
	var packed []byte
	for _, x := range t.Ints {
		packed = protowire.AppendVarint(packed, uint64(x))
	}
	return b.bytes(field, packed)
}

func encodeValue(v *onnx.Value) message {
	var shape message
	for _, d := range v.Dims {
		if d.Size >= 0 {
			shape = shape.bytes(1, message(nil).number(1, d.Size))
		} else {
			shape = shape.bytes(1, message(nil).text(2, d.Name))
		}
	}
	tensor := message(nil).number(1, int64(v.Type)).bytes(2, shape)
	return message(nil).text(1, v.Name).bytes(2, message(nil).bytes(1, tensor))
}

// sketch builds a graph.
type sketch struct {
	onnx.Graph
	random *rand.Rand
}

func newSketch(opset int) *sketch {
	return &sketch{onnx.Graph{Opset: opset}, rand.New(rand.NewPCG(uint64(opset), 1))}
}

// input adds an input of these dimensions behind the batch.
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

// node adds a node with attributes, each a name and an int, a float32, a string or
// []int64; what is not of these is an input.
func (s *sketch) node(op string, inputs []string, attributes ...any) string {
	return s.nodes(op, 1, inputs, attributes...)[0]
}

// nodes is node with several outputs.
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
