// Package network runs neural networks from ONNX files: Read compiles a file into a
// plan, a Model, and a Runner runs the plan over batches of rows. It knows no game.
//
// The results have the same bits on every machine, for every batch, block and
// goroutine: each number is computed in one fixed order of operations. Package kernel
// computes convolutions and products of matrices; means and other sums are float64, in
// the order of their dimensions; multiply-adds are fused on all machines or on none. If
// a network can be computed in several ways, such as with batch norm folded into
// weights, the choice depends only on the file.
//
// # Operators
//
// Operators of versions 7 to 24 mean what ONNX says, with these additions:
//
//   - Whole numbers are exact within ±2^24. Those of 8 and 16 bits wrap around in sums, differences, products and
//     conversions of whole numbers.
//   - Computed indices: negative ones count from the end. Indices out of range select the nearest element in Gather,
//     GatherElements and GatherND; in ScatterElements, ScatterND and OneHot they have no effect. NaN selects the
//     first element, or has no effect. Updates of one element apply in the order of the indices.
//   - TopK, ArgMax and ArgMin: among equal numbers, the lower index comes first; 0 and −0 are equal, and NaN counts as
//     larger than all numbers.
//   - Each row of the batch is computed alone. The numbers of the rows, Range from 0 to the batch, can only be a part
//     of indices, each of which selects elements of its own row, as x[arange(x.shape[0])[:, None], i] does.
//   - The size of an array never depends on the data: NonZero and Range need constants.
//   - Einsum has terms of different letters. Resize has the modes nearest and linear. Attention does not return its
//     scores.
//   - QuantizeLinear has whole numbers of 8 and 16 bits; what is dequantized is computed as float32.
//   - A ConvTranspose is a convolution of a board with zeros between its cells, and takes as long.
//   - Functions of the file are replaced by their nodes.
//   - CumSum sums in float64. LSTM and GRU have the usual activations, and neither peepholes nor lengths of
//     sequences.
//
// # Speed of lists
//
// A network that sees a list of entities spends its time in convolutions and products of matrices. A dense layer over a
// list computes equal entries once where at least nine follow each other, as those of missing entities do; everything
// else is computed for all entries. Measured before that rule, on one core of Zen 4 with AVX-512 (118 GFLOP/s), for a
// map of 80×80 codes with an embedding of 8 numbers, two convolutions of 16 channels, the cell of each of 256 entities,
// of which 100 are there, and three dense layers of 64 for each entity:
//
//	                                                  microseconds
//	as described                                               560, of which 390 in the convolutions
//	pixel_unshuffle(2) before the convolutions                 415
//	and 128 of the entities, chosen by TopK, attention
//	of 4 heads between them                                    780
//	attention of 4 heads between all 256                     1,700
//	windows of 7×7 cells around each of the 256                800
//	windows of 15×15 cells                                   1,600
//
// A board is best gathered by cells, x.permute(0, 2, 3, 1)[rows, y, x]: in the other order it is copied number by number
// first (180 microseconds more). In attention the queries should be scaled, not the products with the keys, and missing keys should be the last ones,
// where a mask with a large negative number saves their exponentials. Convolutions with strides, groups or dilations
// have no kernels: a product takes some thirty times as long.
//
// A Model is read-only and safe for concurrent use. Each goroutine needs its own Runner,
// which allocates nothing after it is made.
package network

import (
	"cmp"
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
	Type onnx.Type // of inputs: onnx.Float32, onnx.Uint8 or onnx.Bool; outputs are always float32 in memory
	Dims []int     // of a row, without the batch

	// For outputs: the kind of the numbers, as far as the operators determine it, and
	// the node that determines it, "" for onnx.Linear.
	Scale onnx.Scale
	By    string
}

// Len returns the number of elements of a row.
func (v Value) Len() int { return product(v.Dims) }

// Model is a network that is ready to run.
type Model struct {
	Inputs, Outputs []Value  // in the order of the file
	Operators       []string // the names of the ONNX operators that the model uses, sorted
	Parameters      int      // weights in the file
	// Operations is about the number of operations of an evaluation, those of all operators: two for
	// each multiply-add, and for all else as many as a kernel does in that time: 4 for each element that is
	// read or written, and 32 for each cell of a pool's windows and each multiply-add without a kernel.
	Operations int64
	SHA256     string // of the file, in hexadecimal digits
	Producer   string // the program that wrote the file, with its version
	Opset      int    // the version of the file's operators

	work    int64 // multiply-adds
	steps   []step
	slots   []slot
	scratch int
	results []place // of the outputs
	block   int     // rows of a block
}

// Most is the usual bound of Model.Operations: seconds of one core for each evaluation.
const Most = 20_000_000_000

// Read reads a model from the bytes of an ONNX file. It keeps no reference to data. It refuses a model
// whose evaluation takes more operations than `most`; with 0, more than Most.
func Read(data []byte, most int64) (*Model, error) {
	sum := make(chan [sha256.Size]byte, 1)
	go func() { sum <- sha256.Sum256(data) }() // for a large file it takes as long as all the rest
	g, err := onnx.Parse(data)
	var m *Model
	if err == nil {
		if m, err = newModel(g, len(data), cmp.Or(most, Most)); err != nil {
			err = fmt.Errorf("network: %w", err)
		}
	}
	bytes := <-sum // data is not read after Read returns
	if err != nil {
		return nil, err
	}
	m.SHA256 = hex.EncodeToString(bytes[:])
	return m, nil
}

// newModel plans a graph from a file of size bytes, of at most `most` operations.
func newModel(g *onnx.Graph, size int, most int64) (*Model, error) {
	c, err := compile(g, size)
	if err != nil {
		return nil, err
	}
	c.fuse()
	m := &Model{Producer: g.Producer, Opset: g.Opset}
	if m.Operations, err = c.operations(most); err != nil {
		return nil, err
	}
	p := &planner{c: c}
	p.arrange()
	all := p.stages()
	if err := p.assign(all); err != nil {
		return nil, err
	}
	for i := range all {
		n := all[i].node
		all[i].task = n.lower(p)
		m.work += n.work()
		all[i].node = nil
	}
	m.steps, m.slots, m.scratch = all, p.slots, p.scratch
	for _, t := range g.Initializers {
		if _, quantized := narrow(t.Type); quantized > 0 || t.Type.IsFloat() {
			m.Parameters += t.Len()
		}
	}
	for _, v := range c.inputs {
		m.Inputs = append(m.Inputs, Value{Name: v.name, Type: v.typ, Dims: v.shape.dims[1:]})
	}
	for _, v := range c.outputs {
		o := Value{Name: v.name, Type: v.typ, Dims: v.shape.dims}
		if len(o.Dims) > 0 && o.Dims[0] == 1 {
			o.Dims = o.Dims[1:]
		}
		m.Outputs = append(m.Outputs, o)
		m.results = append(m.results, v.place)
	}
	scales, nodes := g.Scales()
	for i, by := range nodes {
		if by != nil {
			m.Outputs[i].Scale, m.Outputs[i].By = scales[i], by.String()
		}
	}
	for _, n := range g.Nodes {
		m.Operators = append(m.Operators, n.Op)
	}
	slices.Sort(m.Operators)
	m.Operators = slices.Compact(m.Operators)
	m.block = m.blockRows()
	return m, nil
}

// cache bounds the bytes of a core's cache that the values of a block take.
const cache = 1 << 20

// blockRows returns the number of rows whose values fit in the cache.
func (m *Model) blockRows() int {
	row := 0
	for _, s := range m.slots {
		if !s.whole {
			row += 4 * s.size
		}
	}
	return min(max(1, cache/max(row, 1)), 256)
}

// FLOPs returns the number of floating-point operations of an evaluation in convolutions
// and products of matrices, with a multiplication and an addition for each use of a weight.
func (m *Model) FLOPs() int64 { return 2 * m.work }

// Path returns the name of the code path of this machine: "avx512", "avx2", "neon" or
// "portable". All paths have the same results.
func Path() string { return kernel.Features() }

// UsePath makes all networks use the path of that name until restore is called, for
// benchmarks and tests. The error for an unknown path lists the paths of this machine.
func UsePath(name string) (restore func(), err error) { return kernel.Use(name) }

// Peak measures the maximal number of floating-point operations per second of one core on the
// current path. A fused multiply-add counts as two. It takes some milliseconds.
func Peak() float64 { return kernel.Peak() }
