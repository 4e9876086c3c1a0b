// Package network runs neural networks that were trained elsewhere: it reads ONNX
// files, compiles them into a plan and runs the plan over batches of rows. It knows
// no game.
//
// The results have the same bits on every machine, for every batch, block and
// goroutine: each number is computed in one fixed order of operations. Convolutions
// and products of matrices are those of package kernel; means and other sums are
// float64 in the order of their dimensions; nothing is fused but what is fused
// everywhere. Where a network has several ways to be computed, such as batch norm
// folded into weights, the choice depends on the file alone.
//
// A Model is read-only and serves any number of goroutines; each has a Runner of its
// own, which allocates nothing once made.
package network

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"moonfarm/rollout/network/internal/kernel"
	"moonfarm/rollout/network/onnx"
)

// Value describes an input or an output of a model.
type Value struct {
	Name string
	Type onnx.Type // of inputs: onnx.Float32, onnx.Uint8 or onnx.Bool; outputs are given as float32
	Dims []int     // of a row, without the batch

	// Of outputs: what the numbers are as far as the operators tell, and the node that
	// makes them so, "" for onnx.Linear.
	Scale onnx.Scale
	By    string
}

// Len is the number of elements of a row.
func (v Value) Len() int { return product(v.Dims) }

// Model is a network that is ready to run.
type Model struct {
	inputs, outputs []Value
	operators       []string
	parameters      int
	work            int64
	sha256          string
	producer        string
	opset           int

	steps   []step
	slots   []slot
	scratch int
	results []place // of the outputs
	block   int     // rows of a block
}

// Read reads a model from the bytes of an ONNX file. It keeps none of them.
func Read(data []byte) (*Model, error) {
	sum := make(chan [sha256.Size]byte, 1)
	go func() { sum <- sha256.Sum256(data) }() // as long as all the rest for a large file
	g, err := onnx.Parse(data)
	var m *Model
	if err == nil {
		if m, err = newModel(g, len(data)); err != nil {
			err = fmt.Errorf("network: %w", err)
		}
	}
	bytes := <-sum // data is the caller's again
	if err != nil {
		return nil, err
	}
	m.sha256 = hex.EncodeToString(bytes[:])
	return m, nil
}

// newModel plans a graph from a file of size bytes.
func newModel(g *onnx.Graph, size int) (*Model, error) {
	c, err := compile(g, size)
	if err != nil {
		return nil, err
	}
	c.fuse()
	p := &planner{c: c}
	p.arrange()
	all := p.stages()
	if err := p.assign(all); err != nil {
		return nil, err
	}
	m := &Model{producer: g.Producer, opset: g.Opset}
	for i := range all {
		n := all[i].node
		if all[i].task, err = n.op.lower(p, n); err != nil {
			return nil, fmt.Errorf("%s: %w", n.at, err)
		}
		m.work += n.op.work(n)
		all[i].node = nil
	}
	m.steps, m.slots, m.scratch = all, p.slots, p.scratch
	for _, t := range g.Initializers {
		if t.Type.IsFloat() {
			m.parameters += t.Len()
		}
	}
	for _, v := range c.inputs {
		m.inputs = append(m.inputs, Value{Name: v.name, Type: v.typ, Dims: v.shape.dims[1:]})
	}
	for _, v := range c.outputs {
		o := Value{Name: v.name, Type: v.typ, Dims: v.shape.dims}
		if len(o.Dims) > 0 && o.Dims[0] == 1 {
			o.Dims = o.Dims[1:]
		}
		m.outputs = append(m.outputs, o)
		m.results = append(m.results, v.place)
	}
	Scaled(m.outputs, g)
	for _, n := range g.Nodes {
		m.operators = append(m.operators, n.Op)
	}
	slices.Sort(m.operators)
	m.operators = slices.Compact(m.operators)
	m.block = m.blockRows()
	return m, nil
}

// Scaled notes what the outputs of a graph are by its operators in descriptions of some of
// them.
func Scaled(outputs []Value, g *onnx.Graph) {
	scales, nodes := g.Scales()
	for i := range outputs {
		at := slices.IndexFunc(g.Outputs, func(v onnx.Value) bool { return v.Name == outputs[i].Name })
		if at >= 0 && nodes[at] != nil {
			outputs[i].Scale, outputs[i].By = scales[at], nodes[at].String()
		}
	}
}

// cache is how many bytes of a core's cache the values of a block may take.
const cache = 1 << 20

// blockRows is the number of rows whose values stay in the cache.
func (m *Model) blockRows() int {
	row := 0
	for _, s := range m.slots {
		if !s.whole {
			row += 4 * s.size
		}
	}
	return min(max(1, cache/max(row, 1)), 256)
}

// Inputs describes the inputs, in the order of the file.
func (m *Model) Inputs() []Value { return m.inputs }

// Outputs describes the outputs, in the order of the file.
func (m *Model) Outputs() []Value { return m.outputs }

// Operators names the ONNX operators that the model uses, sorted.
func (m *Model) Operators() []string { return m.operators }

// Parameters is the number of weights in the file.
func (m *Model) Parameters() int { return m.parameters }

// FLOPs is the number of floating-point operations of an evaluation in convolutions
// and products of matrices: two for each weight that is multiplied and added.
func (m *Model) FLOPs() int64 { return 2 * m.work }

// SHA256 is the checksum of the file, in hexadecimal digits.
func (m *Model) SHA256() string { return m.sha256 }

// Producer is the program that wrote the file, with its version, and Opset the
// version of the operators in it.
func (m *Model) Producer() string { return m.producer }
func (m *Model) Opset() int       { return m.opset }

// Path names the way in which this machine computes: "avx512", "avx2", "neon" or
// "portable". The results are the same.
func Path() string { return kernel.Features() }

// UsePath makes all networks take the path of that name until restore is called, for
// benchmarks and tests. The error names the paths that this machine has.
func UsePath(name string) (restore func(), err error) { return kernel.Use(name) }

// Peak measures how many floating-point operations a second one core can do at most
// on the path that runs, a fused multiply-add counted as two. It takes some milliseconds.
func Peak() float64 { return kernel.Peak() }
