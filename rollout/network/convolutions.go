package network

import (
	"slices"

	"moonfarm/rollout/network/internal/kernel"
	"moonfarm/rollout/network/onnx"
)

// windows is the geometry of the windows of a convolution or a pooling layer.
type windows struct {
	kh, kw                   int
	strideY, strideX         int
	dilationY, dilationX     int
	top, left, bottom, right int // cells of padding
	h, w                     int // cells of the result
}

// maxWindow bounds the numbers in windows. It is a power of two.
const maxWindow = 1 << 12

// board splits a shape [batch, C, H, W].
func (k *call) board(s shape) (c, h, w int) {
	if len(s.dims) != 4 || s.axis > 0 || s.dims[0] != 1 {
		k.fail("expected boards [batch, channels, height, width], found %v", s)
	}
	k.refuse(k.arg(0).constant, "expected boards that depend on the inputs, found a constant")
	return s.dims[1], s.dims[2], s.dims[3]
}

// windows reads the attributes that convolutions and pooling layers share.
func (k *call) windows(kh, kw, h, w int) windows {
	g := windows{kh: kh, kw: kw, strideY: 1, strideX: 1, dilationY: 1, dilationX: 1}
	if s := k.integers("strides", 2, 1); s != nil {
		g.strideY, g.strideX = s[0], s[1]
	}
	if d := k.integers("dilations", 2, 1); d != nil {
		g.dilationY, g.dilationX = d[0], d[1]
	}
	pads := k.integers("pads", 4, 0)
	if pads != nil {
		g.top, g.left, g.bottom, g.right = pads[0], pads[1], pads[2], pads[3]
	}
	if kh|kw|g.strideY|g.strideX|g.dilationY|g.dilationX|g.top|g.left|g.bottom|g.right >= maxWindow {
		k.fail("expected windows, strides, dilations and pads below %d cells, found %+v", maxWindow, g)
	}
	spanY, spanX := (kh-1)*g.dilationY+1, (kw-1)*g.dilationX+1
	switch auto := k.text("auto_pad", "NOTSET"); auto {
	case "NOTSET":
	case "VALID":
		g.top, g.left, g.bottom, g.right = 0, 0, 0, 0
	case "SAME_UPPER", "SAME_LOWER":
		g.top, g.bottom = same(h, g.strideY, spanY, auto == "SAME_LOWER")
		g.left, g.right = same(w, g.strideX, spanX, auto == "SAME_LOWER")
	default:
		k.fail("auto_pad: expected NOTSET, VALID, SAME_UPPER or SAME_LOWER, found %q", auto)
	}
	g.h = (h+g.top+g.bottom-spanY)/g.strideY + 1
	g.w = (w+g.left+g.right-spanX)/g.strideX + 1
	if h+g.top+g.bottom < spanY || w+g.left+g.right < spanX {
		k.fail("expected boards of at least %d×%d cells with their padding, found %d×%d", spanY, spanX, h+g.top+g.bottom, w+g.left+g.right)
	}
	return g
}

// same returns the padding before and after with which n cells give ⌈n/stride⌉ cells.
func same(n, stride, span int, lower bool) (before, after int) {
	all := max(0, ((n+stride-1)/stride-1)*stride+span-n)
	if lower {
		return (all + 1) / 2, all / 2
	}
	return all / 2, (all + 1) / 2
}

// lines makes an operator of boards [batch, channels, height, width] one of lines [batch, channels, length], too: a
// line is a board of one row.
func lines(read func(*call) []*value) func(*call) []*value {
	return func(k *call) []*value {
		v := k.arg(0)
		d := v.shape.dims
		if len(d) != 3 {
			return read(k)
		}
		node, board := *k.Node, *k
		node.Attributes = nil
		for _, a := range k.Attributes {
			switch n := len(a.Ints); {
			case a.Name == "pads" && n == 2:
				a.Ints = []int64{0, a.Ints[0], 0, a.Ints[1]}
			case a.Name == "output_padding" && n == 1:
				a.Ints = []int64{0, a.Ints[0]}
			case n == 1:
				a.Ints = []int64{1, a.Ints[0]}
			}
			node.Attributes = append(node.Attributes, a)
		}
		board.Node, board.in = &node, slices.Clone(k.in)
		board.in[0] = board.reshaped(v, []int{d[0], d[1], 1, d[2]}, v.shape.axis)
		if w := board.in[min(1, len(k.in)-1)]; k.Op[:4] == "Conv" && board.has(1) && len(w.shape.dims) == 3 {
			board.in[1] = board.reshaped(w, []int{w.shape.dims[0], w.shape.dims[1], 1, w.shape.dims[2]}, w.shape.axis)
		}
		outs := read(&board)
		s := outs[0].shape
		return one(k.reshaped(outs[0], []int{s.dims[0], s.dims[1], s.dims[3]}, s.axis))
	}
}

func readConv(k *call) []*value {
	v, weights := k.arg(0), k.arg(1)
	c, h, w := k.board(v.shape)
	d := weights.shape.dims
	k.refuse(len(d) != 4, "weights: expected [outputs, inputs, rows, columns], found %v", weights.shape)
	op := &convolution{windows: k.windows(d[2], d[3], h, w), layer: layer{in: c, out: d[0], turned: true, biased: true}, groups: k.integer("group", 1)}
	if shape := k.integers("kernel_shape", 2, 1); shape != nil && (shape[0] != d[2] || shape[1] != d[3]) {
		k.fail("kernel_shape: expected that of the weights %v, found %v", weights.shape, shape)
	}
	if op.groups < 1 || c%op.groups != 0 || d[0]%op.groups != 0 || d[1] != c/max(op.groups, 1) {
		k.fail("weights: expected %d channels in %d groups, found weights %v", c, op.groups, weights.shape)
	}
	op.weights = k.constant(1, -1, "weights")
	op.bias = make([]float32, d[0])
	if k.has(2) {
		copy(op.bias, k.constant(2, d[0], "bias"))
	}
	if h == 1 && w == 1 && op.kh == 1 && op.kw == 1 && op.h == 1 && op.w == 1 && op.groups == 1 { // boards of a single cell
		return one(k.emit(&dense{layer: op.layer}, onnx.Float32, shape{[]int{1, op.out, 1, 1}, v.shape.axis, 1}, v))
	}
	return one(k.emit(op, onnx.Float32, shape{[]int{1, d[0], op.h, op.w}, v.shape.axis, 1}, v))
}

// readConvTranspose reads a ConvTranspose, as a convolution of a board with zeros between its cells.
func readConvTranspose(k *call) []*value {
	v, weights := k.arg(0), k.arg(1)
	c, h, w := k.board(v.shape)
	d, groups := weights.shape.dims, k.integer("group", 1)
	if len(d) != 4 || groups < 1 || d[0] != c || c%groups != 0 {
		k.fail("weights: expected [%d, outputs of each of %d groups, rows, columns], found %v", c, groups, weights.shape)
	}
	k.constant(1, -1, "weights")
	y, x := k.gaps(0, h, d[2]), k.gaps(1, w, d[3])
	k.ignore("kernel_shape")
	if y.stride > 1 || x.stride > 1 { // each cell becomes the first of a block
		wide := k.reshaped(v, []int{1, c, h, 1, w, 1}, v.shape.axis)
		wide = k.with("Pad", []*value{wide, k.list(0, 0, 0, 0, 0, 0, 0, 0, 0, y.stride-1, 0, x.stride-1)})
		v = k.reshaped(wide, []int{1, c, h * y.stride, w * x.stride}, v.shape.axis)
	}
	v = k.with("Pad", []*value{v, k.list(0, 0, y.before, x.before, 0, 0, y.after, x.after)})
	turned := k.reshaped(weights, []int{groups, c / groups, d[1], d[2], d[3]}, -1)
	turned = k.reshaped(k.permuted(turned, []int{0, 2, 1, 3, 4}), []int{groups * d[1], c / groups, d[2], d[3]}, -1)
	turned = k.with("Slice", []*value{turned, k.list(-1, -1), k.list(-maxArray, -maxArray), k.list(2, 3), k.list(-1, -1)})
	in := []*value{v, turned}
	if k.has(2) {
		in = append(in, k.in[2])
	}
	return one(k.with("Conv", in, "group", groups, "dilations", []int64{int64(y.dilation), int64(x.dilation)}))
}

// gaps are the zeros that a ConvTranspose has along an axis.
type gaps struct{ stride, dilation, before, after int }

// gaps returns the zeros along axis i of a board, of which it has n cells, for weights of `size` cells.
func (k *call) gaps(i, n, size int) gaps {
	number := func(name string, least, or int) int {
		if list := k.integers(name, 2, least); list != nil {
			return list[i]
		}
		return or
	}
	g := gaps{stride: number("strides", 1, 1), dilation: number("dilations", 1, 1)}
	more := number("output_padding", 0, 0)
	if shape := number("kernel_shape", 1, size); shape != size {
		k.fail("kernel_shape: expected that of the weights, %d, found %d", size, shape)
	}
	var crop [2]int // cells of the result that are left out
	if pads := k.integers("pads", 4, 0); pads != nil {
		crop = [2]int{pads[i], pads[2+i]}
	}
	if size|g.stride|g.dilation|more|crop[0]|crop[1] >= maxWindow {
		k.fail("expected weights, strides, dilations and pads below %d cells", maxWindow)
	}
	span := (size-1)*g.dilation + 1
	full := (n-1)*g.stride + span + more
	auto := k.text("auto_pad", "NOTSET")
	want := 0
	switch {
	case auto == "VALID":
		crop = [2]int{}
	case auto == "SAME_UPPER", auto == "SAME_LOWER":
		want = n * g.stride
	case auto != "NOTSET":
		k.fail("auto_pad: expected NOTSET, VALID, SAME_UPPER or SAME_LOWER, found %q", auto)
	}
	if want = number("output_shape", 1, want); want > 0 {
		all := max(full-want, 0)
		crop = [2]int{all - all/2, all / 2}
		if auto == "SAME_UPPER" {
			crop = [2]int{all / 2, all - all/2}
		}
		more += want - full + all
	}
	g.before = span - 1 - crop[0]
	g.after = span - 1 - crop[1] + more - (g.stride - 1)
	return g
}

// convolution is a convolution layer.
type convolution struct {
	windows
	layer
	groups int
}

// fast reports whether package kernel supports this convolution.
func (o *convolution) fast() bool {
	return o.strideY == 1 && o.strideX == 1 && o.dilationY == 1 && o.dilationX == 1 && o.groups == 1 &&
		o.top == o.bottom && o.left == o.right && o.kh <= 7 && o.kw <= 7 && o.top < 7 && o.left < 7
}

func (o *convolution) work(*node) int64 { return int64(o.h*o.w) * int64(len(o.weights)) }

func (o *convolution) lower(p *planner, n *node) task {
	if !o.fast() || n.in[0].layout.flat() || n.out.layout.flat() {
		return o.lowerPlain(p, n)
	}
	t := &convTask{dst: n.out.place, src: n.in[0].place, dg: n.out.layout.image, sg: n.in[0].layout.image, relu: o.relu}
	if len(n.in) > 1 {
		t.residual, t.hasResidual = n.in[1].place, true
	}
	t.conv = kernel.NewConv(kernel.Shape{Out: o.out, In: o.in, KH: o.kh, KW: o.kw, PadY: o.top, PadX: o.left}, o.weights, o.bias)
	return t
}

type convTask struct {
	conv               *kernel.Conv
	dst, src, residual place
	dg, sg             kernel.Image
	hasResidual, relu  bool
}

func (c *convTask) run(r *Runner, rows int) {
	var residual []float32
	if c.hasResidual {
		residual = r.rows(&c.residual, rows)
	}
	c.conv.Run(r.rows(&c.dst, rows), c.dg, r.rows(&c.src, rows), c.sg, residual, c.relu, rows)
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

func (p *plainConv) row(dst []float32, in inputRows, _ []float32) {
	each, src := p.out/p.groups, in[0]
	for block := range p.groups * p.blocks {
		group, o := block/p.blocks, block%p.blocks*abreast
		outputs := min(abreast, each-o)
		for y := range p.windows.h {
			d := p.dst.start + (group*each+o)*p.dst.steps[1] + y*p.dst.steps[2]
			for x := range p.windows.w {
				var sums [abreast]float32
				if outputs == 1 {
					sums[0] = p.single(src, block, y*p.strideY-p.top, x*p.strideX-p.left)
				} else {
					sums = p.cell(src, block, y*p.strideY-p.top, x*p.strideX-p.left)
				}
				for i, sum := range sums[:outputs] {
					if p.relu {
						sum = max(0, sum)
					}
					dst[d+x*p.dst.steps[3]+i*p.dst.steps[1]] = sum
				}
			}
		}
	}
}

// cell computes a block of outputs of one cell, whose window starts at y, x.
func (p *plainConv) cell(src []float32, block, y, x int) (out [abreast]float32) {
	in := p.in / p.groups
	channel := p.src.steps[1]
	first := p.src.start + block/p.blocks*in*channel
	s := (*[abreast]float64)(p.biases[block*abreast:])
	s0, s1, s2, s3, s4, s5, s6, s7 := s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7] // unlike an array, variables stay in registers
	for i := range p.kh {
		a := y + i*p.dilationY
		if a < 0 || a >= p.h {
			continue
		}
		for j := range p.kw {
			b := x + j*p.dilationX
			if b < 0 || b >= p.w {
				continue
			}
			at := first + a*p.src.steps[2] + b*p.src.steps[3]
			weights := p.packed[((block*p.kh+i)*p.kw+j)*in*abreast:][:in*abreast]
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
func (p *plainConv) single(src []float32, block, y, x int) float32 {
	in := p.in / p.groups
	first := p.src.start + block/p.blocks*in*p.src.steps[1]
	sum := p.biases[block*abreast]
	for i := range p.kh {
		a := y + i*p.dilationY
		for j := range p.kw {
			b := x + j*p.dilationX
			if a < 0 || a >= p.h || b < 0 || b >= p.w {
				continue
			}
			at := first + a*p.src.steps[2] + b*p.src.steps[3]
			weights := p.packed[((block*p.kh+i)*p.kw+j)*in*abreast:][:in*abreast]
			for k := 0; k < len(weights); k += abreast {
				sum += float64(float64(src[at]) * float64(weights[k]))
				at += p.src.steps[1]
			}
		}
	}
	return float32(sum)
}
