package network

import (
	"fmt"
	"slices"

	"moonfarm/rollout/network/onnx"
)

// task is the work of a step: run computes `rows` rows of a block that begins at the
// runner's first row.
type task interface {
	run(r *Runner, rows int)
}

// rowwise is an operation that computes each row of its result from the rows of its inputs, where they are in
// memory. It may use scratch.
type rowwise interface {
	row(dst []float32, in inputRows, scratch []float32)
}

// inputRows are the inputs of a row.
type inputRows = [operands - 1][]float32

// rowTask is the task of a rowwise operation.
type rowTask struct {
	op  rowwise
	dst place
	in  []place
}

// rows returns the task of a node that computes each row by op.
func rows(n *node, op rowwise) *rowTask {
	t := &rowTask{op: op, dst: n.out.place}
	for _, v := range n.in {
		t.in = append(t.in, v.place)
	}
	return t
}

func (t *rowTask) run(r *Runner, rows int) {
	var in inputRows
	for row := range rows {
		for i := range t.in {
			in[i] = r.row(&t.in[i], row)
		}
		t.op.row(r.row(&t.dst, row), in, r.scratch)
	}
}

// Runner runs a model over batches, in memory that it allocates once. It serves one
// goroutine at a time.
type Runner struct {
	m       *Model
	most    int
	memory  [][]float32 // by slot
	floats  [][]float32 // per input; nil if it is of bytes
	bytes   [][]uint8   // per input; nil if it is of floats
	scratch []float32
	first   int // row of the batch at which the block begins
}

// NewRunner makes a runner for batches of at most `most` rows, at least 1.
func (m *Model) NewRunner(most int) *Runner {
	r := &Runner{m: m, most: max(most, 1), scratch: make([]float32, m.scratch)}
	for _, s := range m.slots {
		rows := min(m.block, r.most)
		if s.whole {
			rows = r.most
		}
		r.memory = append(r.memory, make([]float32, s.size*rows))
	}
	for _, v := range m.Inputs {
		var floats []float32
		var bytes []uint8
		if v.Type == onnx.Float32 {
			floats = make([]float32, v.Len()*r.most)
		} else {
			bytes = make([]uint8, v.Len()*r.most)
		}
		r.floats, r.bytes = append(r.floats, floats), append(r.bytes, bytes)
	}
	return r
}

func find(values []Value, name string) int {
	return slices.IndexFunc(values, func(v Value) bool { return v.Name == name })
}

// Floats returns the memory of a float32 input for all rows, row after row, nil if the
// model has no such input. It is always the same memory, which Run does not change.
func (r *Runner) Floats(name string) []float32 {
	if i := find(r.m.Inputs, name); i >= 0 {
		return r.floats[i]
	}
	return nil
}

// Bytes returns the memory of a uint8 or bool input, as Floats does for float32 inputs.
func (r *Runner) Bytes(name string) []uint8 {
	if i := find(r.m.Inputs, name); i >= 0 {
		return r.bytes[i]
	}
	return nil
}

// Output returns the memory of an output for all rows, row after row, nil if the model
// has no such output. It is always the same memory; each Run writes the rows it computes.
func (r *Runner) Output(name string) []float32 {
	if i := find(r.m.Outputs, name); i >= 0 {
		return r.memory[r.m.results[i].index][:r.m.Outputs[i].Len()*r.most]
	}
	return nil
}

// Run computes the outputs of the first n rows of the inputs. It panics unless n is from 0
// to the limit of NewRunner. It allocates nothing.
func (r *Runner) Run(n int) {
	if n < 0 || n > r.most {
		panic(fmt.Sprintf("network: expected 0 to %d rows, found %d", r.most, n))
	}
	all := r.m.steps
	for len(all) > 0 {
		stage := 1
		for stage < len(all) && all[stage].stage == all[0].stage {
			stage++
		}
		block := r.m.block
		if all[0].stage&1 == 1 {
			block = n
		}
		for r.first = 0; r.first < n; r.first += block {
			rows := min(block, n-r.first)
			for i := range all[:stage] {
				all[i].task.run(r, rows)
			}
		}
		all = all[stage:]
	}
}

// rows returns the memory of the first n rows of the block at a place.
func (r *Runner) rows(p *place, n int) []float32 { return r.part(p, 0, n) }

// row returns the memory of row i of the block at a place. A constant has the same row
// for every i.
func (r *Runner) row(p *place, i int) []float32 { return r.part(p, i, 1) }

// part returns the memory of n rows from row i of the block on.
func (r *Runner) part(p *place, i, n int) []float32 {
	if p.kind == placeConstant {
		return p.data
	}
	if p.whole {
		i += r.first
	}
	memory := r.memory
	if p.kind == placeInput {
		memory = r.floats
	}
	return memory[p.index][i*p.size : (i+n)*p.size]
}
