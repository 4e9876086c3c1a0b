package network

import (
	"fmt"
	"slices"
	"strings"

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
		return 1, 1, 1
	}
	if k.arg(0).constant {
		k.fail("expected boards that depend on the inputs, found a constant")
	}
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
		return windows{kh: 1, kw: 1, h: 1, w: 1, strideY: 1, strideX: 1}
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
		if len(d) != 3 || k.err != nil {
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
		if k.err = board.err; k.err != nil {
			return outs
		}
		s := outs[0].shape
		return one(k.reshaped(outs[0], []int{s.dims[0], s.dims[1], s.dims[3]}, s.axis))
	}
}

func readConv(k *call) []*value {
	v, weights := k.arg(0), k.arg(1)
	c, h, w := k.board(v.shape)
	d := weights.shape.dims
	if k.err == nil && len(d) != 4 {
		k.fail("weights: expected [outputs, inputs, rows, columns], found %v", weights.shape)
	}
	if k.err != nil {
		return one(v)
	}
	op := &convolution{windows: k.windows(d[2], d[3], h, w), out: d[0], in: c, groups: k.integer("group", 1)}
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
	if h == 1 && w == 1 && op.kh == 1 && op.kw == 1 && op.h == 1 && op.w == 1 && op.groups == 1 && k.err == nil {
		return one(k.cell(v, op))
	}
	return one(k.emit(op, onnx.Float32, shape{[]int{1, d[0], op.h, op.w}, v.shape.axis, 1}, v))
}

// cell makes a dense layer of a convolution of boards of a single cell.
func (k *call) cell(v *value, op *convolution) *value {
	layer := &dense{in: op.in, out: op.out, weights: op.weights, bias: op.bias, biased: true, turned: true}
	return k.emit(layer, onnx.Float32, shape{[]int{1, op.out, 1, 1}, v.shape.axis, 1}, v)
}

func readGemm(k *call) []*value {
	a, b := k.arg(0), k.arg(1)
	alpha, beta := k.float("alpha", 1), k.float("beta", 1)
	transA, transB := k.integer("transA", 0) != 0, k.integer("transB", 0) != 0
	if len(a.shape.dims) != 2 || len(b.shape.dims) != 2 || transA && !a.constant {
		k.fail("expected matrices, the first one not transposed, found %v and %v", a.shape, b.shape)
	}
	if k.err != nil {
		return one(a)
	}
	weights := k.constant(1, -1, "weights")
	in, out := b.shape.dims[0], b.shape.dims[1]
	if transB {
		in, out = out, in
	}
	if a.shape.dims[1] != in || transA || a.shape.axis == 1 {
		k.fail("expected rows of %d numbers for weights of %v, found %v", in, b.shape, a.shape)
	}
	if err := k.compiler.spend(len(weights)); err != nil {
		k.fail("%w", err)
	}
	if k.err != nil {
		return one(a)
	}
	if alpha != 1 {
		weights = slices.Clone(weights)
		for i := range weights {
			weights[i] = float32(alpha * weights[i])
		}
	}
	bias := make([]float32, out)
	if k.has(2) {
		c := k.constant(2, -1, "bias")
		if s := k.arg(2).shape; k.err == nil && len(c) != 1 && (len(c) != out || s.dims[len(s.dims)-1] != out) {
			k.fail("bias: expected %d numbers, found %v", out, s)
			return one(a)
		}
		for i := range bias {
			if k.err == nil {
				bias[i] = float32(beta * c[i%len(c)])
			}
		}
	}
	return one(k.emit(&dense{in: in, out: out, weights: weights, bias: bias, biased: true, turned: transB}, onnx.Float32, a.shape.sized(1, out), a))
}

func readMatMul(k *call) []*value { return one(k.matmul(k.arg(0), k.arg(1))) }

// matmul multiplies matrices or stacks of them.
func (k *call) matmul(a, b *value) *value {
	na, nb := len(a.shape.dims), len(b.shape.dims)
	switch {
	case na == 0 || nb == 0:
		k.fail("expected vectors, matrices or stacks of matrices, found %v and %v", a.shape, b.shape)
		return a
	case na == 1 || nb == 1:
		return k.vectors(a, b)
	}
	inner, rows, columns := a.shape.dims[na-1], a.shape.dims[na-2], b.shape.dims[nb-1]
	k.rows(a.shape, na-1)
	k.rows(b.shape, nb-2, nb-1)
	if inner != b.shape.dims[nb-2] {
		k.fail("expected compatible matrices, found %v and %v", a.shape, b.shape)
	}
	if k.err != nil {
		return a
	}
	if nb == 2 && b.constant && !a.constant {
		weights, err := k.compiler.numbers(b)
		if err != nil {
			k.fail("weights: %w", err)
			return a
		}
		return k.emit(&dense{in: inner, out: columns, weights: weights, bias: make([]float32, columns)}, onnx.Float32, a.shape.sized(na-1, columns), a)
	}
	if a.shape.axis == na-2 && (nb > 2 && product(b.shape.dims[:nb-2]) > 1 || b.shape.axis >= 0) {
		k.fail("expected one matrix for rows of the batch, found %v and %v", a.shape, b.shape)
		return a
	}
	sa, sb := a.shape.sized(na-1, 1), b.shape.sized(nb-1, 1).sized(nb-2, 1)
	s, err := broadcast(sa, sb)
	if err != nil {
		k.fail("%w", err)
		return a
	}
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
	if k.err != nil {
		return a
	}
	out := k.matmul(a, b)
	for i := range gone {
		gone[i] += len(out.shape.dims)
	}
	if k.err != nil {
		return a
	}
	s := out.shape.without(gone, false)
	return k.reshaped(out, s.dims, s.axis)
}

// readEinsum reads an Einsum, as sums, products of two matrices each, and changes of the order of dimensions.
func readEinsum(k *call) []*value {
	ranks := make([]int, len(k.in))
	for i := range k.in {
		ranks[i] = len(k.arg(i).shape.dims)
	}
	terms, out, err := equation(k.text("equation", ""), ranks)
	if err != nil {
		k.fail("equation: %w", err)
	}
	k.widen(terms)
	a := k.arg(0)
	if len(terms) > 0 {
		a, terms[0] = k.summed(a, terms[0], out+strings.Join(terms[1:], ""))
	}
	for i := 1; i < len(terms) && k.err == nil; i++ {
		left, rest := terms[i-1], out+strings.Join(terms[i+1:], "")
		b, right := k.summed(k.in[i], terms[i], rest+left)
		if a, left = k.summed(a, left, rest+right); k.err != nil {
			break
		}
		terms[i] = out
		if i < len(terms)-1 {
			terms[i] = labels(left+labels(right, left, false), rest, true)
		}
		if b.shape.axis >= 0 && !strings.ContainsRune(left, rune(right[b.shape.axis])) { // the batch belongs to the rows of the product
			a, b, left, right = b, a, right, left
		}
		a = k.contract(a, b, left, right, terms[i])
	}
	if k.err != nil {
		return one(a)
	}
	return one(k.ordered(a, terms[len(terms)-1], out))
}

// widen checks that each letter stands for one size, and drops dimensions of size 1 where another array has more.
func (k *call) widen(terms []string) {
	sizes, batch := map[rune]int{}, map[rune]bool{}
	for i, term := range terms {
		for j, label := range term {
			n, s := sizes[label], k.in[i].shape
			if d := s.dims[j]; n > 1 && d > 1 && n != d {
				k.fail("equation: expected one size for %q, found %d and %d", label, n, d)
			}
			sizes[label], batch[label] = max(n, s.dims[j]), batch[label] || s.axis == j
		}
	}
	for i, term := range terms {
		var gone []int
		s := k.in[i].shape
		for j, label := range term {
			if s.dims[j] == 1 && s.axis != j && (sizes[label] > 1 || batch[label]) {
				gone = append(gone, j)
				terms[i] = strings.Replace(terms[i], string(label), "", 1)
			}
		}
		if len(gone) > 0 && k.err == nil {
			s = s.without(gone, false)
			k.in[i] = k.reshaped(k.in[i], s.dims, s.axis)
		}
	}
}

// equation splits the equation of an Einsum into the terms of its inputs, which have these numbers of dimensions, and that
// of the result. The dimensions of "..." become digits.
func equation(text string, ranks []int) (terms []string, out string, err error) {
	left, out, explicit := strings.Cut(strings.ReplaceAll(text, " ", ""), "->")
	terms = strings.Split(left, ",")
	if len(terms) != len(ranks) {
		return nil, "", fmt.Errorf("expected a term for each input, found %q for %d", text, len(ranks))
	}
	const digits, dots = "01234567", "..." // as many digits as an array may have dimensions
	found, most := map[rune]int{}, ""
	for i, term := range terms {
		if n := ranks[i] - len(term) + len(dots); strings.Contains(term, dots) && n >= 0 && n <= len(digits) {
			term = strings.Replace(term, dots, digits[len(digits)-n:], 1)
			most = digits[min(len(digits)-len(most), len(digits)-n):]
		}
		terms[i] = term
		for j, label := range term {
			if !(label >= 'a' && label <= 'z' || label >= 'A' && label <= 'Z' || strings.ContainsRune(most, label)) || strings.ContainsRune(term[:j], label) {
				return nil, "", fmt.Errorf("expected terms of different letters, found %q", text)
			}
			found[label]++
		}
		if len(term) != ranks[i] {
			return nil, "", fmt.Errorf("expected %d letters for input %d, found %q", ranks[i], i, text)
		}
	}
	if out = strings.Replace(out, dots, most, 1); !explicit {
		out = most
		for label := 'A'; label <= 'z'; label++ {
			if found[label] == 1 {
				out += string(label)
			}
		}
	}
	for i, label := range out {
		if found[label] == 0 || strings.ContainsRune(out[:i], label) {
			return nil, "", fmt.Errorf("expected a result with letters of the terms, each once, found %q", text)
		}
	}
	return terms, out, nil
}

// labels returns the letters of a term that are in another one, or those that are not in it.
func labels(term, other string, in bool) string {
	return strings.Map(func(label rune) rune {
		if strings.ContainsRune(other, label) != in {
			return -1
		}
		return label
	}, term)
}

// summed sums an array over the dimensions whose letters are not in keep, and returns it with its new term.
func (k *call) summed(v *value, term, keep string) (*value, string) {
	var gone []int
	for i, label := range term {
		if !strings.ContainsRune(keep, label) {
			gone = append(gone, i)
		}
	}
	k.rows(v.shape, gone...)
	if len(gone) == 0 || k.err != nil {
		return v, term
	}
	return k.reduce("sum", v, gone, false), labels(term, keep, true)
}

// ordered returns an array with its dimensions in the order of another term.
func (k *call) ordered(v *value, term, to string) *value {
	if term == to || k.err != nil {
		return v
	}
	var perm []int
	for _, label := range to {
		perm = append(perm, strings.IndexRune(term, label))
	}
	return k.permuted(v, perm)
}

// contract multiplies two arrays and sums over the letters that both have and the result lacks.
func (k *call) contract(a, b *value, left, right, out string) *value {
	both := labels(left, right, true)
	stack, sum := labels(both, out, true), labels(both, out, false)
	rows, columns := labels(left, right, false), labels(right, left, false)
	var dims []int
	batch, lead := -1, stack // lead: the stack of the first array and of the result
	if a.shape.axis >= 0 {
		label := left[a.shape.axis : a.shape.axis+1]
		if strings.Contains(rows, label) && stack != "" { // rows of the batch cannot be rows of several matrices
			lead, rows = label+stack, strings.Replace(rows, label, "", 1)
		}
		batch = strings.Index(lead+rows, label)
	}
	for _, label := range lead + rows {
		dims = append(dims, a.shape.dims[strings.IndexRune(left, label)])
	}
	for _, label := range columns {
		dims = append(dims, b.shape.dims[strings.IndexRune(right, label)])
	}
	joint := k.matmul(k.matrices(a, left, lead, rows, sum), k.matrices(b, right, stack, sum, columns))
	if k.err != nil {
		return a
	}
	return k.ordered(k.reshaped(joint, dims, batch), lead+rows+columns, out)
}

// matrices returns an array as a stack of matrices, whose rows and columns each may be several dimensions.
func (k *call) matrices(v *value, term, stack, rows, columns string) *value {
	v = k.ordered(v, term, stack+rows+columns)
	if k.err != nil {
		return v
	}
	n := len(stack)
	dims := append(slices.Clone(v.shape.dims[:n]), product(v.shape.dims[n:n+len(rows)]), product(v.shape.dims[n+len(rows):]))
	axis := v.shape.axis
	if axis >= n {
		axis = n + min(1, max(0, axis-n-len(rows)+1))
	}
	return k.reshaped(v, dims, axis)
}

// readBatchNorm translates a batch normalization. Its statistics are constants, so it is one
// factor and one summand for each channel.
func readBatchNorm(k *call) []*value {
	v := k.arg(0)
	epsilon := k.float("epsilon", 1e-5)
	k.ignore("momentum", "spatial")
	if k.integer("training_mode", 0) != 0 && len(k.Outputs) > 1 && k.Outputs[1] != "" {
		k.fail("training_mode: expected 0, since networks are not trained here")
	}
	if len(v.shape.dims) < 2 || v.shape.axis == 1 {
		k.fail("expected [batch, channels, …], found %v", v.shape)
		return one(v)
	}
	c := v.shape.dims[1]
	scale, bias := k.constant(1, c, "scale"), k.constant(2, c, "bias")
	mean, variance := k.constant(3, c, "mean"), k.constant(4, c, "variance")
	if k.err != nil {
		return one(v)
	}
	op := &affine{scale: make([]float64, c), shift: make([]float64, c)}
	for i := range c {
		op.scale[i] = float64(scale[i]) / sqrt(float64(variance[i])+float64(epsilon))
		op.shift[i] = float64(bias[i]) - float64(float64(mean[i])*op.scale[i])
	}
	if v.constant {
		k.fail("expected an array that depends on the inputs, found a constant")
	}
	return one(k.emit(op, onnx.Float32, v.shape, v))
}
