package network

import "slices"

// along is a dimension of a part: `size` elements along dimension `to` of the result, which
// come from dimension `from` of the source in steps of `step`.
type along struct{ size, to, from, step int }

// part is a block of the result that is copied from a source.
type part struct {
	from   int          // index of the input
	to     [maxRank]int // its start in the result
	start  [maxRank]int // its start in the source
	axes   []along
	scalar bool // the source is a single number without dimensions
}

func (p *part) along(size, to, from, step int) {
	p.axes = append(p.axes, along{size, to, from, step})
}

// window returns a part that is a whole source.
func window(dims []int) part {
	p := part{}
	for i, d := range dims {
		p.along(d, i, i, 1)
	}
	return p
}

// loop returns the loop that copies the part between arrays with these steps.
func (p *part) loop(to, from []int) loop {
	var sizes, dst, src []int
	for _, a := range p.axes {
		sizes, dst = append(sizes, a.size), append(dst, to[a.to])
		step := 0
		if !p.scalar {
			step = a.step * from[a.from]
		}
		src = append(src, step)
	}
	l := newLoop(sizes, true, dst, src)
	for i := range to {
		l.start[0] += p.to[i] * to[i]
	}
	for i := range from {
		l.start[1] += p.start[i] * from[i]
	}
	return l
}

// move copies elements: it transposes, slices, concatenates, repeats and pads.
type move struct {
	parts   []part
	fills   bool // elements that no part covers are set to fill
	fill    float32
	expands bool // it is an Expand: the only part has a dimension for each one of the result, in order, with step 0 where it repeats the source
}

// identity returns a move of a whole array.
func identity(s shape) *move { return &move{parts: []part{window(s.dims)}} }

func (m *move) lower(p *planner, n *node) task {
	dst := p.view(n.out)
	t := &moveTask{dst: dst.place, fills: m.fills, fill: [1]float32{m.fill}}
	if m.fills {
		t.interior = newLoop(n.out.shape.dims, true, dst.steps, make([]int, len(dst.steps)))
		t.interior.start[0] = dst.start
	}
	for i := range m.parts {
		src := p.view(n.in[m.parts[i].from])
		l := m.parts[i].loop(dst.steps, src.steps)
		l.start[0] += dst.start
		l.start[1] += src.start
		t.parts = append(t.parts, movePart{src.place, l})
	}
	return t
}

type movePart struct {
	src  place
	loop loop
}

type moveTask struct {
	dst      place
	parts    []movePart
	fills    bool
	fill     [1]float32
	interior loop // over the result, without a border, and fill
}

func (m *moveTask) run(r *Runner, rows int) {
	for row := range rows {
		dst := r.row(&m.dst, row)
		if m.fills {
			copyLoop(dst, m.fill[:], &m.interior)
		}
		for i := range m.parts {
			p := &m.parts[i]
			copyLoop(dst, r.row(&p.src, row), &p.loop)
		}
	}
}

// copyLoop copies the elements of a loop's second array into its first.
func copyLoop[T any](dst, src []T, l *loop) {
	c := cursor{at: l.start}
	n, to, from := l.size[0], l.step[0][0], l.step[1][0]
	for range l.runs() {
		if to == 1 && from == 1 {
			copy(dst[c.at[0]:c.at[0]+n], src[c.at[1]:c.at[1]+n])
		} else {
			d, s := c.at[0], c.at[1]
			for range n {
				dst[d] = src[s]
				d, s = d+to, s+from
			}
		}
		c.next(l)
	}
}

// moveWhole moves constant whole numbers.
func moveWhole(m *move, s shape, in []*value) []whole {
	out := make([]whole, s.size())
	for i := range m.parts {
		p := &m.parts[i]
		l := p.loop(steps(s.dims), steps(in[p.from].shape.dims))
		copyLoop(out, in[p.from].whole, &l)
	}
	return out
}

// load converts an input of bytes to float32.
type load struct{}

func (*load) lower(p *planner, n *node) task {
	dst := p.view(n.out)
	l := newLoop(n.out.shape.dims, true, dst.steps, steps(n.out.shape.dims))
	l.start[0] = dst.start
	return &loadTask{dst: dst.place, input: n.in[0].place.index, size: n.out.shape.size(), loop: l}
}

type loadTask struct {
	dst   place
	input int
	size  int
	loop  loop
}

func (t *loadTask) run(r *Runner, rows int) {
	l := &t.loop
	n, to, from := l.size[0], l.step[0][0], l.step[1][0]
	for row := range rows {
		dst, src := r.row(&t.dst, row), r.bytes[t.input][(r.first+row)*t.size:][:t.size]
		c := cursor{at: l.start}
		for range l.runs() {
			d, s := c.at[0], c.at[1]
			for range n {
				dst[d] = float32(src[s])
				d, s = d+to, s+from
			}
			c.next(l)
		}
	}
}

// alias gives an array another shape or type. The result uses the same memory, unless that
// holds an image.
type alias struct{}

// operands bounds the arrays of a loop, including the result.
const operands = 4

// loop iterates over the elements of several arrays at once, each with its own steps.
// Dimension 0 is the innermost.
type loop struct {
	n     int
	size  [maxRank]int
	step  [operands][maxRank]int
	start [operands]int
}

// newLoop makes a loop over dimensions with these sizes, outermost first; steps has the steps
// of each array. If any is true the order of the dimensions does not matter, and the loop
// takes that of the first array in memory; otherwise the last dimension is the innermost.
func newLoop(sizes []int, any bool, steps ...[]int) loop {
	order := make([]int, 0, len(sizes))
	for i := len(sizes) - 1; i >= 0; i-- {
		if sizes[i] > 1 {
			order = append(order, i)
		}
	}
	if any {
		slices.SortStableFunc(order, func(a, b int) int { return abs(steps[0][a]) - abs(steps[0][b]) })
	}
	l := loop{}
	for _, d := range order {
		if l.n > 0 && l.follows(sizes[d], d, steps) {
			l.size[l.n-1] *= sizes[d]
			continue
		}
		l.size[l.n] = sizes[d]
		for o := range steps {
			l.step[o][l.n] = steps[o][d]
		}
		l.n++
	}
	if l.n == 0 {
		l.n, l.size[0] = 1, 1
		for o := range steps {
			l.step[o][0] = 1
		}
	}
	return l
}

// follows reports whether dimension d continues the last one of the loop in all
// arrays.
func (l *loop) follows(size, d int, steps [][]int) bool {
	last := l.n - 1
	for o := range steps {
		if steps[o][d] != l.size[last]*l.step[o][last] {
			return false
		}
	}
	return true
}

func abs(x int) int {
	if x < 0 {
		return -x
	}
	return x
}

// runs returns the number of runs of the innermost dimension.
func (l *loop) runs() int { return product(l.size[1:l.n]) }

// cursor is the state of a loop: for each array, the index at which the next run of the
// innermost dimension starts.
type cursor struct {
	at    [operands]int
	index [maxRank]int
}

// next advances to the next run.
func (c *cursor) next(l *loop) {
	for d := 1; d < l.n; d++ {
		c.index[d]++
		for o := range operands {
			c.at[o] += l.step[o][d]
		}
		if c.index[d] < l.size[d] {
			return
		}
		c.index[d] = 0
		for o := range operands {
			c.at[o] -= l.size[d] * l.step[o][d]
		}
	}
}
