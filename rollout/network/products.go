package network

import (
	"slices"

	"moonfarm/rollout/network/internal/kernel"
	"moonfarm/rollout/network/onnx"
)

func readGemm(k *call) []*value {
	a, b := k.arg(0), k.arg(1)
	alpha, beta := k.float("alpha", 1), k.float("beta", 1)
	transA, transB := k.integer("transA", 0) != 0, k.integer("transB", 0) != 0
	if len(a.shape.dims) != 2 || len(b.shape.dims) != 2 || transA && !a.constant {
		k.fail("expected matrices, the first one not transposed, found %v and %v", a.shape, b.shape)
	}
	weights := k.constant(1, -1, "weights")
	in, out := b.shape.dims[0], b.shape.dims[1]
	if transB {
		in, out = out, in
	}
	if a.shape.dims[1] != in || transA || a.shape.axis == 1 {
		k.fail("expected rows of %d numbers for weights of %v, found %v", in, b.shape, a.shape)
	}
	k.must(k.compiler.spend(len(weights)))
	if alpha != 1 {
		weights = slices.Clone(weights)
		for i := range weights {
			weights[i] = float32(alpha * weights[i])
		}
	}
	bias := make([]float32, out)
	if k.has(2) {
		c := k.constant(2, -1, "bias")
		if s := k.arg(2).shape; len(c) != 1 && (len(c) != out || s.dims[len(s.dims)-1] != out) {
			k.fail("bias: expected %d numbers, found %v", out, s)
		}
		for i := range bias {
			bias[i] = float32(beta * c[i%len(c)])
		}
	}
	return one(k.emit(&dense{layer: layer{in: in, out: out, weights: weights, bias: bias, biased: true, turned: transB}}, onnx.Float32, a.shape.sized(1, out), a))
}

func readMatMul(k *call) []*value { return one(k.matmul(k.arg(0), k.arg(1))) }

// matmul multiplies matrices or stacks of them.
func (k *call) matmul(a, b *value) *value {
	na, nb := len(a.shape.dims), len(b.shape.dims)
	switch {
	case na == 0 || nb == 0:
		k.fail("expected vectors, matrices or stacks of matrices, found %v and %v", a.shape, b.shape)
	case na == 1 || nb == 1:
		return k.vectors(a, b)
	}
	inner, rows, columns := a.shape.dims[na-1], a.shape.dims[na-2], b.shape.dims[nb-1]
	k.rows(a.shape, na-1)
	k.rows(b.shape, nb-2, nb-1)
	k.refuse(inner != b.shape.dims[nb-2], "expected compatible matrices, found %v and %v", a.shape, b.shape)
	if nb == 2 && b.constant && !a.constant {
		weights, err := k.compiler.numbers(b)
		k.refuse(err != nil, "weights: %w", err)
		return k.emit(&dense{layer: layer{in: inner, out: columns, weights: weights, bias: make([]float32, columns)}}, onnx.Float32, a.shape.sized(na-1, columns), a)
	}
	if a.shape.axis == na-2 && (nb > 2 && product(b.shape.dims[:nb-2]) > 1 || b.shape.axis >= 0) {
		k.fail("expected one matrix for rows of the batch, found %v and %v", a.shape, b.shape)
	}
	sa, sb := a.shape.sized(na-1, 1), b.shape.sized(nb-1, 1).sized(nb-2, 1)
	s := k.broadcast(sa, sb)
	s = s.sized(len(s.dims)-1, columns)
	return k.emit(&product2{rows, inner, columns}, onnx.Float32, s, a, b)
}

// vectors multiplies two vectors, or a vector and a matrix or stack of matrices: the first one is a row, the second one
// a column.
func (k *call) vectors(a, b *value) *value {
	var gone []int
	if len(b.shape.dims) == 1 {
		k.rows(b.shape, 0)
		b, gone = k.reshaped(b, []int{b.shape.dims[0], 1}, b.shape.axis), append(gone, -1)
	}
	if len(a.shape.dims) == 1 {
		k.rows(a.shape, 0)
		a, gone = k.reshaped(a, []int{1, a.shape.dims[0]}, a.shape.axis), append(gone, -2)
	}
	out := k.matmul(a, b)
	for i := range gone {
		gone[i] += len(out.shape.dims)
	}
	s := out.shape.without(gone, false)
	return k.reshaped(out, s.dims, s.axis)
}

// layer is what dense layers and convolutions have in common.
type layer struct {
	in, out int
	weights []float32 // [in][out], or [out][in] if turned; of a convolution [out][in/groups][kh][kw]
	bias    []float32 // [out]
	turned  bool
	biased  bool // bias is already set
	relu    bool // applied after the second input, the residual, is added
}

func (l *layer) common() *layer { return l }

// dense is a dense layer over the last dimension.
type dense struct {
	layer
	order []int // channels, height and width if the input is the memory of an image
}

func (d *dense) work(n *node) int64 { return int64(n.out.shape.size()) * int64(d.in) }

// heavy reports whether the layer n has so many weights that all rows should be computed while they are read once. A
// layer over a list reads them once for many entries of one row: codecraft.onnx took an eighth longer in batches of 32 while
// the entries of all rows waited in memory for such a layer.
func (d *dense) heavy(n *node) bool {
	const list = 16
	return len(d.weights) > 1<<16 && n.out.shape.size() < list*d.out
}

func (d *dense) lower(p *planner, n *node) task {
	t := &denseTask{dst: n.out.place, src: n.in[0].place, relu: d.relu, count: n.out.shape.size() / d.out}
	t.layer = kernel.NewDense(d.in, d.out, d.matrix(), d.bias)
	if len(n.in) > 1 {
		t.residual, t.hasResidual = n.in[1].place, true
	}
	return t
}

// matrix returns the weights as [in][out], with the inputs in the order of memory.
func (d *dense) matrix() []float32 {
	if !d.turned && d.order == nil {
		return d.weights
	}
	channels, area := 1, d.in
	if d.order != nil { // memory is [height][width][channels], the weights are for [channels][height][width]
		channels, area = d.order[0], d.order[1]*d.order[2]
	}
	matrix := make([]float32, len(d.weights))
	const beside = 16 // floats of a cache line
	for first := 0; first < d.out; first += beside {
		last := min(first+beside, d.out)
		for i := range d.in {
			to := matrix[(i%area*channels+i/area)*d.out:][first:last]
			if !d.turned {
				copy(to, d.weights[i*d.out+first:])
				continue
			}
			for j := range to {
				to[j] = d.weights[(first+j)*d.in+i]
			}
		}
	}
	return matrix
}

type denseTask struct {
	layer              *kernel.Dense
	dst, src, residual place
	hasResidual, relu  bool
	count              int // rows of the layer in a row of the batch
}

func (d *denseTask) run(r *Runner, rows int) {
	var residual []float32
	if d.hasResidual {
		residual = r.rows(&d.residual, rows)
	}
	dst, src, n := r.rows(&d.dst, rows), r.rows(&d.src, rows), rows*d.count
	if d.count == 1 {
		d.layer.Run(dst, src, n, residual, d.relu)
		return
	}
	in, out := d.layer.In(), d.layer.Out()
	for first := 0; first < n; {
		last, end := d.different(src, residual, first, n)
		var plus []float32
		if d.hasResidual {
			plus = residual[first*out : last*out]
		}
		d.layer.Run(dst[first*out:last*out], src[first*in:last*in], last-first, plus, d.relu)
		for row := last; row < end; row++ {
			copy(dst[row*out:(row+1)*out], dst[(last-1)*out:])
		}
		first = end
	}
}

// fewest is the number of equal rows from which on they are copied: the kernel computes six at once.
const fewest = 8

// different returns the end of the rows from first on that must be computed, and the end of the rows
// after them that are equal to the last of these. A list of a fixed length mostly has many empty
// entries, whose inputs are equal.
func (d *denseTask) different(src, residual []float32, first, n int) (last, end int) {
	in, out := d.layer.In(), d.layer.Out()
	last = first + 1
	for end = last; end < n; end++ {
		if kernel.SameBits(src[(end-1)*in:end*in], src[end*in:(end+1)*in]) &&
			(residual == nil || kernel.SameBits(residual[(end-1)*out:end*out], residual[end*out:(end+1)*out])) {
			continue
		}
		if end-last >= fewest {
			return last, end
		}
		last = end + 1
	}
	if end-last < fewest {
		last = end
	}
	return last, end
}

// product2 multiplies stacks of matrices, at least one of which is not a constant.
type product2 struct{ m, k, n int }

func (o *product2) work(n *node) int64 { return int64(n.out.shape.size()) * int64(o.k) }

func (o *product2) lower(p *planner, n *node) task {
	p.scratch = max(p.scratch, kernel.Scratch(o.k, o.n))
	da, db, d := n.in[0].shape.dims, n.in[1].shape.dims, n.out.shape.dims
	stack := d[:len(d)-2]
	sa := spread(steps(da)[:len(da)-2], da[:len(da)-2], stack)
	sb := spread(steps(db)[:len(db)-2], db[:len(db)-2], stack)
	return rows(n, &productLoop{*o, newLoop(stack, false, sa, sb)})
}

type productLoop struct {
	product2
	stack loop // over the matrices: their indices in the two arrays
}

func (p *productLoop) row(dst []float32, in inputRows, scratch []float32) {
	l := &p.stack
	c, at := cursor{}, 0
	for range l.runs() {
		for i := range l.size[0] {
			x, y := in[0][c.at[0]+i*l.step[0][0]:][:p.m*p.k], in[1][c.at[1]+i*l.step[1][0]:][:p.k*p.n]
			kernel.MatMul(dst[at:at+p.m*p.n], x, y, p.m, p.k, p.n, scratch)
			at += p.m * p.n
		}
		c.next(l)
	}
}
