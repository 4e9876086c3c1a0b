package network

import (
	"slices"

	"moonfarm/rollout/network/internal/kernel"
	"moonfarm/rollout/network/onnx"
)

// recurrent is a layer of LSTM or GRU cells over the steps of sequences. Its result has the states after
// each step: [steps, directions, sequences, size], with the cells' memories behind the states in an LSTM.
type recurrent struct {
	kind               string // of the operator
	steps, sequences   int
	in, hidden         int
	gates              int // of a cell
	size               int // numbers that a sequence has after each step
	directions         []direction
	reset              bool // of a GRU: its reset gate applies after the product with the weights
	hasState, hasCells bool // the node has initial states and memories as inputs
}

// direction has the weights of one direction.
type direction struct {
	reverse     bool
	input       *kernel.Dense // all gates from the input, with the biases of both
	state       *kernel.Dense // all gates from the state; of a GRU without reset: the first two
	resetOfLast *kernel.Dense // of a GRU without reset: the last gate from the product of state and reset
}

// readRecurrent reads an LSTM or GRU.
func readRecurrent(k *call) []*value {
	v, weights := k.arg(0), k.arg(1)
	d, w := v.shape.dims, weights.shape.dims
	if len(d) != 3 || len(w) != 3 || v.shape.axis == 0 || v.shape.axis == 2 || v.shape.axis < 0 && d[1] != 1 {
		k.fail("expected [steps, batch, inputs] and weights of three dimensions, found %v and %v", v.shape, weights.shape)
	}
	o := &recurrent{kind: k.Op, steps: d[0], sequences: d[1], in: d[2], hidden: k.integer("hidden_size", 0), gates: map[string]int{"LSTM": 4, "GRU": 3}[k.Op]}
	o.size = o.hidden * map[string]int{"LSTM": 2, "GRU": 1}[k.Op]
	k.cells(o)
	names := map[string][]bool{"forward": {false}, "reverse": {true}, "bidirectional": {false, true}}[k.text("direction", "forward")]
	n, wide := len(names), o.gates*max(o.hidden, 1)
	if n == 0 || o.hidden < 1 || !slices.Equal(w, []int{n, wide, o.in}) {
		k.fail("expected weights [directions, %d, %d], found %v", wide, o.in, weights.shape)
	}
	input, state, bias := k.constant(1, n*wide*o.in, "W"), k.constant(2, n*wide*o.hidden, "R"), make([]float32, 2*n*wide)
	if k.has(3) {
		bias = k.constant(3, 2*n*wide, "B")
	}
	k.must(k.compiler.spend(len(input) + len(state)))
	k.refuse(o.scratch() > maxRow, "expected at most %d numbers in memory, found cells that need more", maxRow)
	for i, reverse := range names {
		o.directions = append(o.directions, o.direction(reverse, input[i*wide*o.in:][:wide*o.in], state[i*wide*o.hidden:][:wide*o.hidden], bias[2*i*wide:][:2*wide]))
	}
	in := []*value{v}
	in, o.hasState = k.initial(in, 5, o)
	in, o.hasCells = k.initial(in, 6, o)
	s := shape{[]int{o.steps, n, o.sequences, o.size}, v.shape.axis, v.shape.outer}
	if s.axis >= 0 {
		s.axis++
	}
	return k.states(o, k.emit(o, onnx.Float32, s, in...))
}

// cells reads the attributes of the cells.
func (k *call) cells(o *recurrent) {
	o.reset = k.integer("linear_before_reset", 0) != 0
	if k.integer("layout", 0) != 0 || k.integer("input_forget", 0) != 0 || k.has(4) || k.has(7) {
		k.fail("expected no other layout, no coupled gates, no lengths of sequences and no peepholes")
	}
	a := k.attribute("activations", onnx.KindTexts)
	if a == nil {
		return
	}
	usual := map[string][]string{"LSTM": {"Sigmoid", "Tanh", "Tanh"}, "GRU": {"Sigmoid", "Tanh"}}[k.Op]
	for part := range slices.Chunk(a.Texts, len(usual)) {
		k.refuse(!slices.Equal(part, usual), "activations: expected %q, found %q", usual, a.Texts)
	}
}

// initial appends input i, the states before the first step, if there is one.
func (k *call) initial(in []*value, i int, o *recurrent) ([]*value, bool) {
	if !k.has(i) {
		return in, false
	}
	v, x := k.arg(i), in[0].shape
	if !slices.Equal(v.shape.dims, []int{len(o.directions), o.sequences, o.hidden}) || v.shape.axis != x.axis || v.shape.outer != x.outer {
		k.fail("initial state: expected [directions, batch, hidden_size], found %v", v.shape)
	}
	return append(in, v), true
}

// direction packs the weights of one direction, [gates·hidden][inputs], and its biases for input and state.
func (r *recurrent) direction(reverse bool, input, state, bias []float32) direction {
	wide := r.gates * r.hidden
	all, ofState := make([]float32, wide), make([]float32, wide)
	for i := range all {
		if r.kind == "GRU" && r.reset && i >= 2*r.hidden { // its reset gate applies to this bias, too
			all[i], ofState[i] = bias[i], bias[wide+i]
		} else {
			all[i] = bias[i] + bias[wide+i]
		}
	}
	d := direction{reverse: reverse, input: kernel.NewDense(r.in, wide, turned(input, wide, r.in), all)}
	if r.kind == "GRU" && !r.reset {
		first := 2 * r.hidden * r.hidden
		d.state = kernel.NewDense(r.hidden, 2*r.hidden, turned(state[:first], 2*r.hidden, r.hidden), nil)
		d.resetOfLast = kernel.NewDense(r.hidden, r.hidden, turned(state[first:], r.hidden, r.hidden), nil)
	} else {
		d.state = kernel.NewDense(r.hidden, wide, turned(state, wide, r.hidden), ofState)
	}
	return d
}

// turned returns a matrix [rows][columns] as [columns][rows].
func turned(m []float32, rows, columns int) []float32 {
	out := make([]float32, len(m))
	for i, x := range m {
		out[i%columns*rows+i/columns] = x
	}
	return out
}

// states returns the outputs: the states after each step, and the last states and memories of each direction.
func (k *call) states(o *recurrent, all *value) []*value {
	s := all.shape
	one := func(first int) *value {
		p := window(s.sized(3, o.hidden).dims)
		p.start[3] = first
		return k.move(&move{parts: []part{p}}, all.typ, s.sized(3, o.hidden), all)
	}
	last := func(first int) *value {
		m := &move{}
		for i, d := range o.directions {
			p := part{}
			p.to[0], p.start[1], p.start[3] = i, i, first
			if !d.reverse {
				p.start[0] = o.steps - 1
			}
			p.along(o.sequences, 1, 2, 1)
			p.along(o.hidden, 2, 3, 1)
			m.parts = append(m.parts, p)
		}
		return k.move(m, all.typ, shape{[]int{len(o.directions), o.sequences, o.hidden}, max(s.axis-1, -1), s.outer}, all)
	}
	if o.kind == "LSTM" {
		return []*value{one(0), last(0), last(o.hidden)}
	}
	return []*value{all, last(0)}
}

func (r *recurrent) work(*node) int64 {
	return int64(r.steps*r.sequences*len(r.directions)) * int64(r.gates*r.hidden) * int64(r.in+r.hidden)
}

// together is the number of rows of the batch whose sequences are computed at once.
const together = 8

// scratch returns the number of floats of scratch memory.
func (r *recurrent) scratch() int64 {
	return together * int64(r.sequences) * (int64(r.in) + 2*int64(r.gates*r.hidden) + 3*int64(r.hidden))
}

func (r *recurrent) lower(p *planner, n *node) task {
	t := &recurrentTask{recurrent: r, dst: n.out.place, src: n.in[0].place}
	p.scratch = max(p.scratch, int(r.scratch()))
	if r.hasState {
		t.state = n.in[1].place
	}
	if r.hasCells {
		t.cells = n.in[len(n.in)-1].place
	}
	return t
}

type recurrentTask struct {
	*recurrent
	dst, src, state, cells place
}

// sequence has the arrays of the sequences that are computed at once, one after the other.
type sequence struct {
	n                  int       // number of sequences
	x                  []float32 // inputs of a step
	gates, ofState     []float32
	state, cells, last []float32 // last: of a GRU, the products of state and reset
}

func (t *recurrentTask) run(r *Runner, rows int) {
	for first := 0; first < rows; first += together {
		n := min(together, rows-first)
		for i := range t.directions {
			t.direction(r, first, n, i)
		}
	}
}

// direction computes all steps of one direction of n rows.
func (t *recurrentTask) direction(r *Runner, first, n, which int) {
	d, m := &t.directions[which], n*t.sequences
	wide := t.gates * t.hidden
	s, rest := sequence{n: m}, r.scratch
	take := func(size int) (part []float32) {
		part, rest = rest[:size], rest[size:]
		return part
	}
	s.x, s.gates, s.ofState = take(m*t.in), take(m*wide), take(m*wide)
	s.state, s.cells, s.last = take(m*t.hidden), take(m*t.hidden), take(m*t.hidden)
	t.begin(r, s.state, &t.state, t.hasState, first, n, which)
	t.begin(r, s.cells, &t.cells, t.hasCells, first, n, which)
	each := t.sequences * t.in
	for i := range t.steps {
		if d.reverse {
			i = t.steps - 1 - i
		}
		for row := range n {
			copy(s.x[row*each:(row+1)*each], r.row(&t.src, first+row)[i*each:])
		}
		d.input.Run(s.gates, s.x, m, nil, false)
		if t.kind == "LSTM" {
			t.lstm(d, &s)
		} else {
			t.gru(d, &s)
		}
		at := (i*len(t.directions) + which) * t.sequences
		for j := range m {
			to := r.row(&t.dst, first+j/t.sequences)[(at+j%t.sequences)*t.size:][:t.size]
			copy(to, s.state[j*t.hidden:(j+1)*t.hidden])
			if t.kind == "LSTM" {
				copy(to[t.hidden:], s.cells[j*t.hidden:(j+1)*t.hidden])
			}
		}
	}
}

// begin sets the states before the first step: those of an input, or 0.
func (t *recurrentTask) begin(r *Runner, to []float32, from *place, has bool, first, n, which int) {
	if !has {
		clear(to)
		return
	}
	each := t.sequences * t.hidden
	for row := range n {
		copy(to[row*each:(row+1)*each], r.row(from, first+row)[which*each:])
	}
}

// lstm computes one step: its gates are those of input, output and forgetting, and the new memory.
func (t *recurrentTask) lstm(d *direction, s *sequence) {
	h := t.hidden
	d.state.Run(s.gates, s.state, s.n, s.gates, false)
	for j := range s.n {
		g, state, cells := s.gates[j*4*h:][:4*h], s.state[j*h:][:h], s.cells[j*h:][:h]
		kernel.Sigmoid(g[:3*h], g[:3*h])
		kernel.Tanh(g[3*h:], g[3*h:])
		for i := range cells {
			cells[i] = float32(g[2*h+i]*cells[i]) + float32(g[i]*g[3*h+i])
		}
		kernel.Tanh(state, cells)
		for i := range state {
			state[i] = float32(g[h+i] * state[i])
		}
	}
}

// gru computes one step: its gates are those of update and reset, and the new state.
func (t *recurrentTask) gru(d *direction, s *sequence) {
	h := t.hidden
	wide := d.state.Out()
	d.state.Run(s.ofState, s.state, s.n, nil, false)
	for j := range s.n {
		g, of, state := s.gates[j*3*h:][:3*h], s.ofState[j*wide:][:wide], s.state[j*h:][:h]
		for i := range g[:2*h] {
			g[i] += of[i]
		}
		kernel.Sigmoid(g[:2*h], g[:2*h])
		for i := range h {
			if t.reset {
				g[2*h+i] += float32(g[h+i] * of[2*h+i])
			} else {
				s.last[j*h+i] = float32(g[h+i] * state[i])
			}
		}
	}
	if !t.reset {
		d.resetOfLast.Run(s.ofState, s.last, s.n, nil, false)
	}
	for j := range s.n {
		g, state := s.gates[j*3*h:][:3*h], s.state[j*h:][:h]
		if !t.reset {
			for i, x := range s.ofState[j*h : (j+1)*h] {
				g[2*h+i] += x
			}
		}
		kernel.Tanh(g[2*h:], g[2*h:])
		for i := range state {
			state[i] = float32((1-g[i])*g[2*h+i]) + float32(g[i]*state[i])
		}
	}
}
