package onnx

import "fmt"

// Sketch builds a graph for Encode, node by node. It makes up the names of nodes and constants.
type Sketch struct{ Graph }

// Input adds an input with these dimensions after the batch.
func (s *Sketch) Input(name string, typ Type, dims ...int) string {
	v := Value{Name: name, Type: typ, Dims: []Dim{{Size: -1, Name: "batch"}}}
	for _, d := range dims {
		v.Dims = append(v.Dims, Dim{Size: int64(d)})
	}
	s.Inputs = append(s.Inputs, v)
	return name
}

// Constant adds an array, and sets its name.
func (s *Sketch) Constant(t *Tensor) string {
	t.Name = fmt.Sprintf("constant%d", len(s.Initializers))
	s.Initializers = append(s.Initializers, t)
	return t.Name
}

// Op adds a node with one output, whose name it returns. Attributes are those of Attributes.
func (s *Sketch) Op(op string, inputs []string, attributes ...any) string {
	return s.Ops(op, 1, inputs, attributes...)[0]
}

// Ops adds a node with several outputs.
func (s *Sketch) Ops(op string, outputs int, inputs []string, attributes ...any) []string {
	n := &Node{Name: fmt.Sprintf("%s_%d", op, len(s.Nodes)), Op: op, Inputs: inputs, Attributes: Attributes(attributes...)}
	for i := range outputs {
		n.Outputs = append(n.Outputs, fmt.Sprintf("%s.%d", n.Name, i))
	}
	s.Nodes = append(s.Nodes, n)
	return n.Outputs
}

// Output adds an output: the array of that name.
func (s *Sketch) Output(name string) {
	s.Outputs = append(s.Outputs, Value{Name: name, Type: Float32})
}

// Result makes an array an output of another name.
func (s *Sketch) Result(name, of string) {
	s.Op("Identity", []string{of})
	s.Nodes[len(s.Nodes)-1].Outputs[0] = name
	s.Output(name)
}

// Attributes returns a list of attributes. Each of them is a name and a value: an int, a float32, a string, an []int64, an
// []float32, a []string or a *Tensor.
func Attributes(list ...any) (all []Attribute) {
	for i := 0; i < len(list); i += 2 {
		a := Attribute{Name: list[i].(string)}
		switch v := list[i+1].(type) {
		case int:
			a.Kind, a.Int = KindInt, int64(v)
		case float32:
			a.Kind, a.Float = KindFloat, v
		case string:
			a.Kind, a.Text = KindText, v
		case []int64:
			a.Kind, a.Ints = KindInts, v
		case []float32:
			a.Kind, a.Floats = KindFloats, v
		case []string:
			a.Kind, a.Texts = KindTexts, v
		case *Tensor:
			a.Kind, a.Tensor = KindTensor, v
		default:
			panic(fmt.Sprintf("onnx: attribute %s of %T", a.Name, v))
		}
		all = append(all, a)
	}
	return all
}
