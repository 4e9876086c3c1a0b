package network

import (
	"moonfarm/rollout/network/internal/kernel"
)

// convolution is a convolution layer.
type convolution struct {
	windows
	out, in, groups int
	weights         []float32 // [out][in/groups][kh][kw]
	bias            []float32 // [out]
	relu            bool      // applied after the second input, the residual, is added
}

// fast reports whether package kernel supports this convolution.
func (o *convolution) fast() bool {
	return o.strideY == 1 && o.strideX == 1 && o.dilationY == 1 && o.dilationX == 1 && o.groups == 1 &&
		o.top == o.bottom && o.left == o.right && o.kh <= 7 && o.kw <= 7 && o.top < 7 && o.left < 7
}

func (o *convolution) work(*node) int64 { return int64(o.h*o.w) * int64(len(o.weights)) }

func (o *convolution) lower(p *planner, n *node) (task, error) {
	if !o.fast() || n.in[0].layout.flat() || n.out.layout.flat() {
		return o.lowerPlain(p, n), nil
	}
	t := &convTask{dst: n.out.place, src: n.in[0].place, dg: n.out.layout.image, sg: n.in[0].layout.image, relu: o.relu}
	if len(n.in) > 1 {
		t.residual, t.hasResidual = n.in[1].place, true
	}
	t.conv = kernel.NewConv(kernel.Shape{Out: o.out, In: o.in, KH: o.kh, KW: o.kw, PadY: o.top, PadX: o.left}, o.weights, o.bias)
	return t, nil
}

type convTask struct {
	conv               *kernel.Conv
	dst, src, residual place
	dg, sg             kernel.Image
	hasResidual, relu  bool
}

func (t *convTask) run(r *Runner, rows int) {
	var residual []float32
	if t.hasResidual {
		residual = r.rows(&t.residual, rows)
	}
	t.conv.Run(r.rows(&t.dst, rows), t.dg, r.rows(&t.src, rows), t.sg, residual, t.relu, rows)
}

// lowerPlain makes the task of a convolution with strides, groups or dilation, or of constants.
func (o *convolution) lowerPlain(p *planner, n *node) task {
	t := &plainConv{convolution: o, dst: p.view(n.out), src: p.view(n.in[0]), h: n.in[0].shape.dims[2], w: n.in[0].shape.dims[3]}
	in, area, each := o.in/o.groups, o.kh*o.kw, o.out/o.groups
	t.blocks = (each + abreast - 1) / abreast
	t.packed = make([]float32, o.groups*t.blocks*abreast*area*in)
	t.biases = make([]float64, o.groups*t.blocks*abreast)
	for i := range o.out {
		block, lane := i/each*t.blocks+i%each/abreast, i%each%abreast
		t.biases[block*abreast+lane] = float64(o.bias[i])
		for c := range in {
			for a := range area {
				t.packed[((block*area+a)*in+c)*abreast+lane] = o.weights[(i*in+c)*area+a]
			}
		}
	}
	return rows(n, t)
}

// abreast is the number of outputs of a cell that are computed at once. A single sum waits for each addition.
const abreast = 8

// plainConv sums products in float64, in which each product is exact, in the order
// of rows, columns and channels, and rounds the sum once.
type plainConv struct {
	*convolution
	dst, src view
	h, w     int       // of the source
	blocks   int       // of outputs of a group
	packed   []float32 // [group][block][kh][kw][in/groups][abreast]
	biases   []float64 // [group][block][abreast]
}

func (t *plainConv) row(dst []float32, in inputRows, _ []float32) {
	each, src := t.out/t.groups, in[0]
	for block := range t.groups * t.blocks {
		group, o := block/t.blocks, block%t.blocks*abreast
		outputs := min(abreast, each-o)
		for y := range t.windows.h {
			d := t.dst.start + (group*each+o)*t.dst.steps[1] + y*t.dst.steps[2]
			for x := range t.windows.w {
				var sums [abreast]float32
				if outputs == 1 {
					sums[0] = t.single(src, block, y*t.strideY-t.top, x*t.strideX-t.left)
				} else {
					sums = t.cell(src, block, y*t.strideY-t.top, x*t.strideX-t.left)
				}
				for i, sum := range sums[:outputs] {
					if t.relu {
						sum = max(0, sum)
					}
					dst[d+x*t.dst.steps[3]+i*t.dst.steps[1]] = sum
				}
			}
		}
	}
}

// cell computes a block of outputs of one cell, whose window starts at y, x.
func (t *plainConv) cell(src []float32, block, y, x int) (out [abreast]float32) {
	in := t.in / t.groups
	channel := t.src.steps[1]
	first := t.src.start + block/t.blocks*in*channel
	s := (*[abreast]float64)(t.biases[block*abreast:])
	s0, s1, s2, s3, s4, s5, s6, s7 := s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7] // unlike an array, variables stay in registers
	for i := range t.kh {
		a := y + i*t.dilationY
		if a < 0 || a >= t.h {
			continue
		}
		for j := range t.kw {
			b := x + j*t.dilationX
			if b < 0 || b >= t.w {
				continue
			}
			at := first + a*t.src.steps[2] + b*t.src.steps[3]
			weights := t.packed[((block*t.kh+i)*t.kw+j)*in*abreast:][:in*abreast]
			for ; len(weights) >= abreast; weights = weights[abreast:] {
				v, w := float64(src[at]), (*[abreast]float32)(weights)
				s0, s1 = s0+float64(v*float64(w[0])), s1+float64(v*float64(w[1]))
				s2, s3 = s2+float64(v*float64(w[2])), s3+float64(v*float64(w[3]))
				s4, s5 = s4+float64(v*float64(w[4])), s5+float64(v*float64(w[5]))
				s6, s7 = s6+float64(v*float64(w[6])), s7+float64(v*float64(w[7]))
				at += channel
			}
		}
	}
	return [abreast]float32{float32(s0), float32(s1), float32(s2), float32(s3), float32(s4), float32(s5), float32(s6), float32(s7)}
}

// single computes the first output of a block of one cell, as cell does, for groups with a single output.
func (t *plainConv) single(src []float32, block, y, x int) float32 {
	in := t.in / t.groups
	first := t.src.start + block/t.blocks*in*t.src.steps[1]
	sum := t.biases[block*abreast]
	for i := range t.kh {
		a := y + i*t.dilationY
		for j := range t.kw {
			b := x + j*t.dilationX
			if a < 0 || a >= t.h || b < 0 || b >= t.w {
				continue
			}
			at := first + a*t.src.steps[2] + b*t.src.steps[3]
			weights := t.packed[((block*t.kh+i)*t.kw+j)*in*abreast:][:in*abreast]
			for k := 0; k < len(weights); k += abreast {
				sum += float64(float64(src[at]) * float64(weights[k]))
				at += t.src.steps[1]
			}
		}
	}
	return float32(sum)
}

// dense is a dense layer over the last dimension.
type dense struct {
	in, out int
	weights []float32 // [in][out], or [out][in] if turned
	bias    []float32 // [out]
	turned  bool
	biased  bool  // bias is already set
	relu    bool  // applied after the second input, the residual, is added
	order   []int // channels, height and width if the input is the memory of an image
}

func (o *dense) work(n *node) int64 { return int64(n.out.shape.size()) * int64(o.in) }

// heavy reports whether the layer n has so many weights that all rows should be computed while they are read once. A
// layer over a list reads them once for many entries of one row: codecraft.onnx took an eighth longer in batches of 32 while
// the entries of all rows waited in memory for such a layer.
func (o *dense) heavy(n *node) bool {
	const list = 16
	return len(o.weights) > 1<<16 && n.out.shape.size() < list*o.out
}

func (o *dense) lower(p *planner, n *node) (task, error) {
	t := &denseTask{dst: n.out.place, src: n.in[0].place, relu: o.relu, count: n.out.shape.size() / o.out}
	t.layer = kernel.NewDense(o.in, o.out, o.matrix(), o.bias)
	if len(n.in) > 1 {
		t.residual, t.hasResidual = n.in[1].place, true
	}
	return t, nil
}

// matrix returns the weights as [in][out], with the inputs in the order of memory.
func (o *dense) matrix() []float32 {
	if !o.turned && o.order == nil {
		return o.weights
	}
	channels, area := 1, o.in
	if o.order != nil { // memory is [height][width][channels], the weights are for [channels][height][width]
		channels, area = o.order[0], o.order[1]*o.order[2]
	}
	matrix := make([]float32, len(o.weights))
	const beside = 16 // floats of a cache line
	for first := 0; first < o.out; first += beside {
		last := min(first+beside, o.out)
		for i := range o.in {
			to := matrix[(i%area*channels+i/area)*o.out:][first:last]
			if !o.turned {
				copy(to, o.weights[i*o.out+first:])
				continue
			}
			for j := range to {
				to[j] = o.weights[(first+j)*o.in+i]
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

func (t *denseTask) run(r *Runner, rows int) {
	var residual []float32
	if t.hasResidual {
		residual = r.rows(&t.residual, rows)
	}
	dst, src, n := r.rows(&t.dst, rows), r.rows(&t.src, rows), rows*t.count
	if t.count == 1 {
		t.layer.Run(dst, src, n, residual, t.relu)
		return
	}
	in, out := t.layer.In(), t.layer.Out()
	for first := 0; first < n; {
		last, end := t.different(src, residual, first, n)
		var plus []float32
		if t.hasResidual {
			plus = residual[first*out : last*out]
		}
		t.layer.Run(dst[first*out:last*out], src[first*in:last*in], last-first, plus, t.relu)
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
func (t *denseTask) different(src, residual []float32, first, n int) (last, end int) {
	in, out := t.layer.In(), t.layer.Out()
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

func (o *product2) lower(p *planner, n *node) (task, error) {
	p.scratch = max(p.scratch, kernel.Scratch(o.k, o.n))
	da, db, d := n.in[0].shape.dims, n.in[1].shape.dims, n.out.shape.dims
	stack := d[:len(d)-2]
	sa := spread(steps(da)[:len(da)-2], da[:len(da)-2], stack)
	sb := spread(steps(db)[:len(db)-2], db[:len(db)-2], stack)
	return rows(n, &productLoop{*o, newLoop(stack, false, sa, sb)}), nil
}

type productLoop struct {
	product2
	stack loop // over the matrices: their indices in the two arrays
}

func (t *productLoop) row(dst []float32, in inputRows, scratch []float32) {
	l := &t.stack
	c, at := cursor{}, 0
	for range l.runs() {
		for i := range l.size[0] {
			x, y := in[0][c.at[0]+i*l.step[0][0]:][:t.m*t.k], in[1][c.at[1]+i*l.step[1][0]:][:t.k*t.n]
			kernel.MatMul(dst[at:at+t.m*t.n], x, y, t.m, t.k, t.n, scratch)
			at += t.m * t.n
		}
		c.next(l)
	}
}

// affine multiplies each channel, dimension 1, by a factor and adds a summand. It never runs:
// fuse folds it into the layer before it, or replaces it by two steps.
type affine struct{ scale, shift []float64 }

func (*affine) lower(*planner, *node) (task, error) { return nil, nil }
