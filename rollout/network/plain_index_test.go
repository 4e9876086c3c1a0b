package network

import (
	"math"
	"slices"
	"strings"

	"moonfarm/rollout/network/internal/kernel"
)

// plainOperators are the slow twins of the operators with indices, of running sums and of recurrent layers.
var plainOperators = map[string]func(x *interpreter) []*plain{
	"Range": plainRange, "NonZero": plainNonZero, "Size": plainSize, "Tile": plainTile, "Trilu": plainTrilu,
	"Mod": plainMod, "CumSum": plainCumSum, "TopK": plainTopK, "ArgMax": plainArg, "ArgMin": plainArg,
	"GatherND": plainGatherND, "ScatterND": plainScatterND, "ScatterElements": plainScatterElements, "OneHot": plainOneHot,
	"Einsum": plainEinsum, "DepthToSpace": plainBlocks, "SpaceToDepth": plainBlocks, "LSTM": plainRecurrent, "GRU": plainRecurrent,
}

func (x *interpreter) text(name, or string) string {
	if a := x.node.Attribute(name); a != nil {
		return a.Text
	}
	return or
}

func plainRange(x *interpreter) []*plain {
	from, to, by := x.in(0).data[0], x.in(1).data[0], x.in(2).data[0]
	out := &plain{whole: x.in(0).whole}
	for i := 0; i < int(math.Ceil((to-from)/by)); i++ {
		out.data = append(out.data, from+float64(i)*by)
	}
	out.dims = []int{len(out.data)}
	return []*plain{out}
}

func plainNonZero(x *interpreter) []*plain {
	a := x.in(0)
	lists := make([][]float64, len(a.dims))
	eachIndex(a.dims, func(at []int) {
		if a.data[a.index(at)] != 0 {
			for i, n := range at {
				lists[i] = append(lists[i], float64(n))
			}
		}
	})
	return []*plain{{dims: []int{len(a.dims), len(lists[0])}, data: slices.Concat(lists...), whole: true}}
}

func plainSize(x *interpreter) []*plain {
	return []*plain{{data: []float64{float64(len(x.in(0).data))}, whole: true}}
}

func plainTile(x *interpreter) []*plain {
	a, d := x.in(0), slices.Clone(x.in(0).dims)
	for i, n := range x.in(1).ints() {
		d[i] *= n
	}
	out := build(d, func(at []int) float64 {
		at = slices.Clone(at)
		for i := range at {
			at[i] %= a.dims[i]
		}
		return a.data[a.index(at)]
	})
	out.whole = a.whole
	return []*plain{out}
}

func plainTrilu(x *interpreter) []*plain {
	a, k := x.in(0), 0
	if x.in(1) != nil {
		k = x.in(1).ints()[0]
	}
	return []*plain{build(a.dims, func(at []int) float64 {
		beyond := at[len(at)-1] - at[len(at)-2] - k
		if upper := x.int("upper", 1) != 0; upper && beyond < 0 || !upper && beyond > 0 {
			return 0
		}
		return a.data[a.index(at)]
	})}
}

func plainMod(x *interpreter) []*plain {
	a, b := x.in(0), x.in(1)
	out := build(plainBroadcast(a, b), func(at []int) float64 {
		v, w := a.data[a.index(at)], b.data[b.index(at)]
		if x.int("fmod", 0) != 0 {
			return math.Mod(v, w)
		}
		return v - w*math.Floor(v/w)
	})
	out.whole = a.whole
	return []*plain{out}
}

func plainCumSum(x *interpreter) []*plain {
	a := x.in(0)
	axis := wrap(x.in(1).ints()[0], len(a.dims))
	exclusive, reverse := x.int("exclusive", 0) != 0, x.int("reverse", 0) != 0
	return []*plain{build(a.dims, func(at []int) float64 {
		sum, at2 := 0.0, slices.Clone(at)
		for i := range a.dims[axis] {
			if at2[axis] = i; i == at[axis] && !exclusive || i < at[axis] && !reverse || i > at[axis] && reverse {
				sum += a.data[a.index(at2)]
			}
		}
		return sum
	})}
}

// line returns the elements along an axis, through the element at some indices.
func (p *plain) line(at []int, axis int) (all []float64) {
	at = slices.Clone(at)
	for at[axis] = range p.dims[axis] {
		all = append(all, p.data[p.index(at)])
	}
	return all
}

func plainTopK(x *interpreter) []*plain {
	a, k := x.in(0), x.int("k", 0)
	if x.in(1) != nil {
		k = x.in(1).ints()[0]
	}
	axis, d := wrap(x.int("axis", -1), len(a.dims)), slices.Clone(a.dims)
	d[axis] = k
	ranked := func(at []int) int {
		line := a.line(at, axis)
		order := make([]int, len(line))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(i, j int) int {
			if x.int("largest", 1) != 0 {
				i, j = j, i
			}
			return int(kernel.Number(line[i] > line[j])) - int(kernel.Number(line[i] < line[j]))
		})
		return order[at[axis]]
	}
	index := build(d, func(at []int) float64 { return float64(ranked(slices.Clone(at))) })
	index.whole = true
	return []*plain{build(d, func(at []int) float64 {
		return a.line(append(slices.Clone(at[:axis]), append([]int{0}, at[axis+1:]...)...), axis)[ranked(at)]
	}), index}
}

func plainArg(x *interpreter) []*plain {
	a, last := x.in(0), x.int("select_last_index", 0) != 0
	axis, d := wrap(x.int("axis", 0), len(a.dims)), slices.Clone(a.dims)
	d[axis] = 1
	out := build(d, func(at []int) float64 {
		line := a.line(at, axis)
		best := 0
		for i, v := range line {
			better := v > line[best]
			if x.node.Op == "ArgMin" {
				better = v < line[best]
			}
			if better || last && v == line[best] {
				best = i
			}
		}
		return float64(best)
	})
	out.whole = true
	if x.int("keepdims", 1) == 0 {
		out.dims = slices.Delete(d, axis, axis+1)
	}
	return []*plain{out}
}

// point returns the coordinates in the last dimension of the indices, false if one is out of range; those are
// replaced by the nearest ones.
func (p *plain) point(index *plain, first []int, dims []int) (at []int, ok bool) {
	ok = true
	for i := range index.dims[len(index.dims)-1] {
		n := wrap(int(index.data[index.index(append(slices.Clone(first), i))]), dims[i])
		ok = ok && n >= 0 && n < dims[i]
		at = append(at, min(max(n, 0), dims[i]-1))
	}
	return at, ok
}

func plainGatherND(x *interpreter) []*plain {
	a, index, b := x.in(0), x.in(1), x.int("batch_dims", 0)
	q := len(index.dims) - 1
	m := index.dims[q]
	out := build(slices.Concat(index.dims[:q], a.dims[b+m:]), func(at []int) float64 {
		point, _ := a.point(index, at[:q], a.dims[b:])
		return a.data[a.index(slices.Concat(at[:b], point, at[q:]))]
	})
	out.whole = a.whole
	return []*plain{out}
}

// change changes an element by an update.
func (x *interpreter) change(a *plain, at []int, by float64) {
	v := &a.data[a.index(at)]
	switch x.text("reduction", "none") {
	case "add":
		*v += by
	case "mul":
		*v *= by
	case "min":
		*v = min(*v, by)
	case "max":
		*v = max(*v, by)
	default:
		*v = by
	}
}

func plainScatterND(x *interpreter) []*plain {
	a, index, updates := x.in(0), x.in(1), x.in(2)
	out := &plain{dims: a.dims, data: slices.Clone(a.data), whole: a.whole}
	q := len(index.dims) - 1
	eachIndex(updates.dims, func(at []int) {
		if point, ok := a.point(index, at[:q], a.dims); ok {
			x.change(out, slices.Concat(point, at[q:]), updates.data[updates.index(at)])
		}
	})
	return []*plain{out}
}

func plainScatterElements(x *interpreter) []*plain {
	a, index, updates := x.in(0), x.in(1), x.in(2)
	axis := wrap(x.int("axis", 0), len(a.dims))
	out := &plain{dims: a.dims, data: slices.Clone(a.data), whole: a.whole}
	eachIndex(index.dims, func(at []int) {
		to := slices.Clone(at)
		if to[axis] = wrap(int(index.data[index.index(at)]), a.dims[axis]); to[axis] >= 0 && to[axis] < a.dims[axis] {
			x.change(out, to, updates.data[updates.index(at)])
		}
	})
	return []*plain{out}
}

func plainOneHot(x *interpreter) []*plain {
	index, depth, values := x.in(0), x.in(1).ints()[0], x.in(2)
	axis := wrap(x.int("axis", -1), len(index.dims)+1)
	return []*plain{build(slices.Insert(slices.Clone(index.dims), axis, depth), func(at []int) float64 {
		n := index.data[index.index(slices.Delete(slices.Clone(at), axis, axis+1))]
		return values.data[int(kernel.Number(wrap(int(n), depth) == at[axis]))]
	})}
}

func plainEinsum(x *interpreter) []*plain {
	left, out, explicit := strings.Cut(strings.ReplaceAll(x.text("equation", ""), " ", ""), "->")
	terms, most := strings.Split(left, ","), ""
	sizes := map[byte]int{}
	var all []byte
	for i, term := range terms {
		if n := len(x.in(i).dims) - len(term) + 3; strings.Contains(term, "...") {
			term = strings.Replace(term, "...", "VWXYZ"[5-n:], 1) // letters that no equation has
			most = "VWXYZ"[5-max(n, len(most)):]
		}
		terms[i] = term
		for j := range len(term) {
			if sizes[term[j]] == 0 {
				all = append(all, term[j])
			}
			sizes[term[j]] = max(sizes[term[j]], x.in(i).dims[j])
		}
	}
	left, out = strings.Join(terms, ","), strings.Replace(out, "...", most, 1)
	if !explicit {
		slices.Sort(all)
		for _, label := range all {
			if strings.Count(left, string(label)) == 1 || strings.Contains(most, string(label)) {
				out += string(label)
			}
		}
	}
	var dims, every []int
	for i := range len(out) {
		dims = append(dims, sizes[out[i]])
	}
	for _, label := range all {
		every = append(every, sizes[label])
	}
	pick := func(term string, at []int) (picked []int) {
		for i := range len(term) {
			picked = append(picked, at[slices.Index(all, term[i])])
		}
		return picked
	}
	sum := newPlain(dims...)
	eachIndex(every, func(at []int) {
		v := 1.0
		for i, term := range terms {
			v *= x.in(i).data[x.in(i).index(pick(term, at))]
		}
		sum.data[sum.index(pick(out, at))] += v
	})
	return []*plain{sum}
}

// lines computes convolutions and pooling, of lines as boards of one row.
func (x *interpreter) lines() *plain {
	a, w := x.in(0), x.in(1)
	if len(a.dims) == 4 {
		return x.window()
	}
	node := *x.node
	board := &interpreter{graph: x.graph, node: &node, values: map[string]*plain{"x": {dims: slices.Insert(slices.Clone(a.dims), 2, 1), data: a.data}}}
	node.Inputs, node.Attributes = []string{"x"}, nil
	if w != nil {
		board.values["w"] = &plain{dims: slices.Insert(slices.Clone(w.dims), 2, 1), data: w.data}
		node.Inputs = append(node.Inputs, "w")
	}
	if b := x.in(2); b != nil {
		board.values["b"] = b
		node.Inputs = append(node.Inputs, "b")
	}
	for _, at := range x.node.Attributes {
		switch {
		case at.Name == "pads":
			at.Ints = []int64{0, at.Ints[0], 0, at.Ints[1]}
		case len(at.Ints) == 1:
			at.Ints = []int64{1, at.Ints[0]}
		}
		node.Attributes = append(node.Attributes, at)
	}
	out := board.window()
	out.dims = slices.Delete(out.dims, 2, 3)
	return out
}

func plainBlocks(x *interpreter) []*plain {
	a, b := x.in(0), x.int("blocksize", 0)
	n, c, h, w := a.dims[0], a.dims[1], a.dims[2], a.dims[3]
	if x.node.Op == "SpaceToDepth" {
		return []*plain{build([]int{n, c * b * b, h / b, w / b}, func(at []int) float64 {
			block := at[1] / c
			return a.data[a.index([]int{at[0], at[1] % c, at[2]*b + block/b, at[3]*b + block%b})]
		})}
	}
	c /= b * b
	return []*plain{build([]int{n, c, h * b, w * b}, func(at []int) float64 {
		block := at[2]%b*b + at[3]%b
		from := block*c + at[1]
		if x.text("mode", "DCR") == "CRD" {
			from = at[1]*b*b + block
		}
		return a.data[a.index([]int{at[0], from, at[2] / b, at[3] / b})]
	})}
}

// plainRecurrent computes each cell by the formulas of ONNX.
func plainRecurrent(x *interpreter) []*plain {
	v, w, r := x.in(0), x.in(1), x.in(2)
	steps, batch, in, n, hidden := v.dims[0], v.dims[1], v.dims[2], w.dims[0], r.dims[2]
	get := func(input, d, b, i int) float64 {
		if a := x.in(input); a != nil {
			return a.data[a.index([]int{d, b, i})]
		}
		return 0
	}
	y, last, memory := newPlain(steps, n, batch, hidden), newPlain(n, batch, hidden), newPlain(n, batch, hidden)
	for d := range n {
		for b := range batch {
			h, c := make([]float64, hidden), make([]float64, hidden)
			for i := range h {
				h[i], c[i] = get(5, d, b, i), get(6, d, b, i)
			}
			for t := range steps {
				if d == 1 || x.text("direction", "forward") == "reverse" {
					t = steps - 1 - t
				}
				fromInput := func(gate, i int) float64 {
					sum := 0.0
					for j := range in {
						sum += v.data[v.index([]int{t, b, j})] * w.data[w.index([]int{d, gate*hidden + i, j})]
					}
					if x.in(3) != nil {
						sum += x.in(3).data[x.in(3).index([]int{d, gate*hidden + i})]
					}
					return sum
				}
				fromState := func(gate, i int, h []float64) float64 {
					sum := 0.0
					for j := range hidden {
						sum += h[j] * r.data[r.index([]int{d, gate*hidden + i, j})]
					}
					if x.in(3) != nil {
						sum += x.in(3).data[x.in(3).index([]int{d, w.dims[1] + gate*hidden + i})]
					}
					return sum
				}
				h, c = x.cell(h, c, fromInput, fromState)
				for i := range h {
					y.data[y.index([]int{t, d, b, i})] = h[i]
				}
			}
			for i := range h {
				last.data[last.index([]int{d, b, i})], memory.data[memory.index([]int{d, b, i})] = h[i], c[i]
			}
		}
	}
	return []*plain{y, last, memory}[:min(3, len(x.node.Outputs))]
}

// cell computes one step of a cell.
func (x *interpreter) cell(h, c []float64, in func(gate, i int) float64, state func(gate, i int, h []float64) float64) (newH, newC []float64) {
	sigmoid := func(v float64) float64 { return 1 / (1 + math.Exp(-v)) }
	gate := func(g, i int) float64 { return in(g, i) + state(g, i, h) }
	newH, newC = make([]float64, len(h)), make([]float64, len(h))
	reset := make([]float64, len(h))
	for i := range h {
		if x.node.Op == "GRU" {
			reset[i] = sigmoid(gate(1, i)) * h[i]
		}
	}
	for i := range h {
		switch x.node.Op {
		case "LSTM":
			newC[i] = sigmoid(gate(2, i))*c[i] + sigmoid(gate(0, i))*math.Tanh(gate(3, i))
			newH[i] = sigmoid(gate(1, i)) * math.Tanh(newC[i])
		case "GRU":
			z, last := sigmoid(gate(0, i)), in(2, i)
			if x.int("linear_before_reset", 0) != 0 {
				last += sigmoid(gate(1, i)) * state(2, i, h)
			} else {
				last += state(2, i, reset)
			}
			newH[i] = (1-z)*math.Tanh(last) + z*h[i]
		}
	}
	return newH, newC
}
