package network

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"moonfarm/rollout/network/onnx"
	"moonfarm/sim/texts"
)

// value is an array of the network: a constant, an input, or the result of a node.
type value struct {
	name  string
	typ   onnx.Type // in the network; memory always holds float32
	shape shape

	constant bool
	floats   []float32 // of a constant; nil if it has only whole
	whole    []whole   // of a constant of whole numbers
	perRow   []int     // for numbers that count rows of the batch: see call.trackRows

	by     *node  // the node that computes it, nil for inputs and constants
	uses   int    // number of uses by nodes and as an output
	layout layout // order of its elements in memory
	place  place
}

// node is one step of the computation.
type node struct {
	at  string // the part of the file from which it comes, for messages
	op  operation
	in  []*value
	out *value
}

// operation is the operation of a node: it is rowwise, or has a task of another kind, or is an alias or affine, which have none.
type operation any

// tasked is an operation that makes its task itself.
type tasked interface {
	lower(p *planner, n *node) task
}

// lower makes the task of the node, after all arrays have their places.
func (n *node) lower(p *planner) task {
	if op, ok := n.op.(tasked); ok {
		return op.lower(p, n)
	}
	return rows(n, n.op.(rowwise))
}

// weighted is an operation of convolutions or products of matrices.
type weighted interface {
	work(n *node) int64 // the number of multiply-adds of a row
}

// work returns the number of multiply-adds of a row in convolutions and products of matrices.
func (n *node) work() int64 {
	if op, ok := n.op.(weighted); ok {
		return op.work(n)
	}
	return 0
}

// compiler translates the nodes of a file to nodes of this package, and folds
// constants.
type compiler struct {
	graph     *onnx.Graph
	operators map[string]func(*call) []*value
	values    map[string]*value
	nodes     []*node
	inputs    []*value
	outputs   []*value

	elements int   // number of further elements that folded constants may have
	steps    int64 // number of further steps that constant folding may take
}

// Limits of constant folding. compile raises them in proportion to the size of the file.
const (
	maxElements = 1 << 22
	maxSteps    = 1 << 27
)

// maxArrays bounds the inputs and the outputs of a file, which are found by comparing names.
const maxArrays = 1 << 12

// compile translates a graph from a file of size bytes.
func compile(g *onnx.Graph, size int) (*compiler, error) {
	c := &compiler{graph: g, operators: operators, values: map[string]*value{}, elements: maxElements + size, steps: maxSteps + 8*int64(size)}
	if g.Opset < 7 {
		return nil, fmt.Errorf("expected operators of version 7 or later (opset_import), found %d", g.Opset)
	}
	if most := max(len(g.Inputs), len(g.Outputs)); most > maxArrays {
		return nil, fmt.Errorf("expected at most %d inputs and outputs each, found %d", maxArrays, most)
	}
	if err := c.knowAll(); err != nil {
		return nil, err
	}
	for _, t := range g.Initializers {
		v, err := c.tensor(t)
		if err != nil {
			return nil, fmt.Errorf("initializer %q: %w", t.Name, err)
		}
		v.name = t.Name
		c.values[t.Name] = v
	}
	for i := range g.Inputs {
		if err := c.input(&g.Inputs[i]); err != nil {
			return nil, fmt.Errorf("input %q: %w", g.Inputs[i].Name, err)
		}
	}
	for _, n := range g.Nodes {
		if err := c.add(n); err != nil {
			return nil, fmt.Errorf("%s: %w", n, err)
		}
	}
	for _, o := range g.Outputs {
		if err := c.output(o.Name); err != nil {
			return nil, fmt.Errorf("output %q: %w", o.Name, err)
		}
	}
	if len(c.outputs) == 0 {
		return nil, errors.New("expected an output, found none")
	}
	return c, nil
}

// tensor makes a constant of an array of the file.
func (c *compiler) tensor(t *onnx.Tensor) (*value, error) {
	v := &value{typ: t.Type, shape: constantShape(t.Dims...), constant: true, floats: t.Floats}
	if t.Len() == 0 && len(t.Dims) == 1 { // an empty list, such as no axes
		v.whole = []whole{}
		return v, nil
	}
	if err := v.shape.check(); err != nil {
		return nil, err
	}
	if !t.Type.IsFloat() {
		if err := c.spend(2 * t.Len()); err != nil {
			return nil, err
		}
		v.whole = make([]whole, len(t.Ints))
		for i, x := range t.Ints {
			v.whole[i].n = x
		}
	}
	return v, nil
}

// spend counts elements of folded constants, and a step for each. It fails beyond the limits.
func (c *compiler) spend(elements int) error {
	c.elements -= elements
	c.steps -= int64(elements)
	if c.elements < 0 || c.steps < 0 {
		return errors.New("expected constants of about the file's size, found far larger ones")
	}
	return nil
}

// input makes the value of an input.
func (c *compiler) input(v *onnx.Value) error {
	if v.Type != onnx.Float32 && v.Type != onnx.Uint8 && v.Type != onnx.Bool {
		return fmt.Errorf("expected elements of float32, uint8 or bool, found %s", v.Type)
	}
	if len(v.Dims) == 0 {
		return errors.New("expected dimensions, the first of which is the batch, found none")
	}
	s := shape{axis: 0, outer: 1, dims: []int{1}}
	switch first := v.Dims[0]; {
	case first.Size == 1:
		s.axis = -1 // the file's batch is one row
	case first.Size >= 0:
		return fmt.Errorf("expected a batch of any size or of 1 as first dimension, found %d; export with dynamic_axes", first.Size)
	}
	for i, d := range v.Dims[1:] {
		if d.Size < 0 {
			return fmt.Errorf("expected a number as dimension %d, found the name %q: only the batch may vary", i+1, d.Name)
		}
		if d.Size > maxArray {
			return fmt.Errorf("expected at most %d elements a row, found dimension %d of %d", maxArray, i+1, d.Size)
		}
		s.dims = append(s.dims, int(d.Size))
	}
	if err := s.check(); err != nil {
		return err
	}
	in := &value{name: v.Name, typ: v.Type, shape: s}
	c.inputs = append(c.inputs, in)
	c.values[v.Name] = in
	if v.Type != onnx.Float32 {
		n := &node{at: fmt.Sprintf("input %q", v.Name), op: &load{}, in: []*value{in}, out: &value{name: v.Name, typ: v.Type, shape: s}}
		n.out.by = n
		c.nodes = append(c.nodes, n)
		c.values[v.Name] = n.out
	}
	return nil
}

// output adds an output, as the result of a node that copies the value.
func (c *compiler) output(name string) error {
	v := c.values[name]
	switch {
	case v.shape.axis > 0 || v.shape.axis == 0 && v.shape.dims[0] != 1:
		return fmt.Errorf("expected the batch as first dimension, found %v", v.shape)
	case v.perRow != nil:
		return errors.New("expected numbers that do not depend on the position of a row in the batch, found numbers counted from its first row")
	case v.constant && v.shape.axis < 0:
		return errors.New("expected an array that depends on the inputs, found a constant")
	}
	if slices.ContainsFunc(c.outputs, func(o *value) bool { return o.name == name }) {
		return errors.New("expected each output once, found it twice")
	}
	out := &value{name: name, typ: v.typ, shape: v.shape}
	out.by = &node{at: fmt.Sprintf("output %q", name), op: identity(v.shape), in: []*value{v}, out: out}
	if v.constant {
		if _, err := c.numbers(v); err != nil {
			return err
		}
	}
	c.nodes = append(c.nodes, out.by)
	c.outputs = append(c.outputs, out)
	return nil
}

// add translates a node of the file.
func (c *compiler) add(n *onnx.Node) (err error) {
	defer func() {
		switch fault := recover().(type) {
		case nil:
		case failure:
			err = fault.error
		default:
			panic(fault)
		}
	}()
	k := &call{Node: n, compiler: c, at: n.String(), taken: make(map[string]bool, len(n.Attributes))}
	for _, name := range n.Inputs {
		var v *value
		if name != "" {
			v = c.values[name]
			if v == nil {
				return fmt.Errorf("input %q: expected an output that its operator has here, found one that is only for training", name)
			}
		}
		k.in = append(k.in, v)
	}
	outs := operators[n.Op](k)
	k.trackRows(outs)
	for i := range n.Attributes {
		if a := &n.Attributes[i]; !k.taken[a.Name] {
			k.fail("expected attributes that are known, found %q", a.Name)
		}
	}
	for i, name := range n.Outputs {
		switch {
		case i < len(outs):
			c.values[name] = outs[i]
		case name != "" && i >= len(outs) && k.Op != "Dropout" && k.Op != "BatchNormalization" && k.Op != "LayerNormalization":
			return fmt.Errorf("expected %d outputs, found %d", len(outs), len(n.Outputs))
		}
	}
	return nil
}

// emit adds a node and returns its result. A node whose inputs are all constants is
// computed at once.
func (k *call) emit(op operation, typ onnx.Type, s shape, in ...*value) *value {
	out := &value{name: k.Outputs[0], typ: typ, shape: s}
	n := &node{at: k.at, op: op, in: in, out: out}
	k.must(s.check())
	known := true
	for _, v := range in {
		if v.constant {
			_, err := k.compiler.numbers(v)
			k.must(err)
		}
		known = known && v.constant
	}
	if known {
		k.must(k.compiler.fold(n))
		return out
	}
	out.by = n
	k.compiler.nodes = append(k.compiler.nodes, n)
	return out
}

// operations returns about the number of operations of a node for a row: see Model.Operations.
func (n *node) operations() int64 {
	const element, slow = 4, 32
	all := 2 * n.work()
	for _, v := range append([]*value{n.out}, n.in...) {
		all += element * int64(v.shape.size())
	}
	switch op := n.op.(type) {
	case *alias:
		return 0
	case *convolution:
		if !op.fast() {
			all += (slow - 2) * op.work(n)
		}
	case *unary:
		all += slow * int64(n.out.shape.size())
	case *binary:
		if op.op == 0 { // such as Pow: no kernel has it
			all += 3 * slow * int64(n.out.shape.size())
		}
	case *pool:
		all += slow * int64(n.out.shape.size()) * int64(op.kh) * int64(op.kw)
	case *top:
		_, depth := math.Frexp(float64(op.count)) // of a heap
		all += slow * int64(n.in[0].shape.size()) * int64(depth)
	}
	return all
}

// operations returns the sum of the operations of all nodes. It fails if that is more than `most`.
func (c *compiler) operations(most int64) (all int64, err error) {
	worst, share := (*node)(nil), int64(-1)
	for _, n := range c.nodes {
		x := n.operations()
		if x > share {
			worst, share = n, x
		}
		all = min(all+x, 1<<60)
	}
	if all > most {
		const giga = 1_000_000_000
		err = fmt.Errorf("expected at most %s G operations an evaluation, found %s G, of which %s has %s G; the option work=N allows N G",
			texts.Group(most/giga), texts.Group((all+giga-1)/giga), worst.at, texts.Group(share/giga))
	}
	return all, err
}

// fold computes a node of constants.
func (c *compiler) fold(n *node) error {
	size := n.out.shape.size()
	c.steps -= n.operations()
	for _, v := range n.in {
		v.place = place{kind: placeConstant, data: v.floats}
	}
	if err := c.spend(size); err != nil {
		return err
	}
	out := n.out
	out.constant = true
	if _, ok := n.op.(*alias); ok {
		out.floats = n.in[0].floats
	} else {
		out.floats = make([]float32, size)
		out.place = place{kind: placeConstant, data: out.floats}
		p := &planner{}
		t := n.lower(p)
		t.run(&Runner{scratch: make([]float32, p.scratch)}, 1)
	}
	if !out.typ.IsFloat() { // later nodes may need the whole numbers, such as for a shape
		if err := c.spend(2 * size); err != nil {
			return err
		}
		out.whole = make([]whole, size)
		for i, x := range out.floats {
			if x < -1<<24 || x > 1<<24 || x != x {
				return fmt.Errorf("expected whole numbers within ±2^24, found %g", x)
			}
			out.whole[i].n = int64(x)
		}
	}
	return nil
}

// numbers returns the elements of a constant as float32.
func (c *compiler) numbers(v *value) ([]float32, error) {
	if v.floats != nil || v.whole == nil {
		return v.floats, nil
	}
	if err := c.spend(len(v.whole)); err != nil {
		return nil, err
	}
	if len(v.whole) == 0 {
		return nil, errors.New("expected numbers, found an empty constant")
	}
	floats := make([]float32, len(v.whole))
	for i, w := range v.whole {
		if w.batch {
			return nil, fmt.Errorf("expected a number that is the same for any batch, found %v", w)
		}
		floats[i] = float32(w.n)
	}
	v.floats = floats
	return floats, nil
}

// wholeOut returns a constant of whole numbers as the result of the call.
func (k *call) wholeOut(typ onnx.Type, s shape, numbers []whole) *value {
	k.must(k.compiler.spend(2 * len(numbers)))
	s.dims = slices.Clone(s.dims)
	return &value{name: k.Outputs[0], typ: typ, shape: s, constant: true, whole: numbers}
}
