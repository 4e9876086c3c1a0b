package kernel

import (
	"fmt"
	"math"
	"slices"
)

// Conv is a convolution with stride 1. It is read-only and safe for concurrent use.
type Conv struct {
	shape   Shape
	weights []float32   // [block of 16 outputs][ky][kx][input][16]
	bias    []float32   // padded to a multiple of 16
	beyond  [][]float32 // see skipRows; nil if products with cells outside of the board cannot be left out
}

// NewConv packs weights [Out][In][KH][KW] and bias [Out], which may be nil. It
// panics if they do not fit the shape.
func NewConv(s Shape, weights, bias []float32) *Conv {
	s.check(len(weights), len(bias))
	k := s.KH * s.KW * s.In
	c := &Conv{shape: s, weights: make([]float32, padded(s.Out)*k), bias: make([]float32, padded(s.Out))}
	copy(c.bias, bias)
	at := 0
	for out := range s.Out {
		block := c.weights[out/lanes*lanes*k:]
		for in := range s.In {
			for tap := range s.KH * s.KW {
				block[(tap*s.In+in)*lanes+out%lanes] = weights[at]
				at++
			}
		}
	}
	c.skipRows(weights)
	return c
}

// skipRows prepares the convolution of rows of the board at whose upper or lower edge whole rows of the weights lie
// outside. Their products are zeros, and to leave them out saves a twelfth of the work of a 3×3 convolution on 8 rows. The
// first products leave a bias as it is unless it is −0, which then must not occur, nor may infinite weights. The last
// products make +0 of a sum that is −0 if one of them is +0: for the rows of weights from k on, beyond[k] has 1 for
// outputs with such a weight, and −1 for others, whose product with 0 has the same effect as all of them.
func (c *Conv) skipRows(weights []float32) {
	s := &c.shape
	if s.PadY == 0 || s.KH == 1 || slices.ContainsFunc(c.bias, func(x float32) bool { return math.Float32bits(x) == 1<<31 }) ||
		slices.ContainsFunc(weights, func(x float32) bool { return x-x != 0 }) {
		return
	}
	c.beyond = make([][]float32, s.KH)
	row := s.KW * s.In * lanes
	for k := s.KH - 1; k > 0; k-- {
		signs := make([]float32, padded(s.Out))
		for i := range signs {
			signs[i] = -1
			if k+1 < s.KH {
				signs[i] = c.beyond[k+1][i]
			}
		}
		for i := 0; i < len(signs); i += lanes {
			for j, w := range c.weights[(i*s.KH/lanes+k)*row:][:row] {
				if !math.Signbit(float64(w)) {
					signs[i+j%lanes] = 1
				}
			}
		}
		c.beyond[k] = signs
	}
}

// onBoard returns the first row of the weights on a board of h rows, and the end of these rows, for row y of the results.
func (c *Conv) onBoard(y, h int) (first, end int) {
	first, end = max(0, c.shape.PadY-y), min(c.shape.KH, h+c.shape.PadY-y)
	if first >= end {
		return 0, c.shape.KH
	}
	return first, end
}

// Run convolves `boards` boards of geometry sg in src to boards of geometry dg in
// dst. Each output is the bias, plus the products in the order of ky, kx and input
// channel, each added by a fused multiply-add; then plus residual, which is nil or
// of geometry dg; then max(0, ·) if relu is set. It does not write the border. src must
// not overlap dst; residual may be dst. It panics if the geometries or lengths do not
// fit.
func (c *Conv) Run(dst []float32, dg Image, src []float32, sg Image, residual []float32, relu bool, boards int) {
	c.fit(dg, sg)
	within("floats of results", len(dst), boards*dg.Size())
	within("floats of boards", len(src), boards*sg.Size())
	if residual != nil {
		within("residual floats", len(residual), boards*dg.Size())
	}
	p := current()
	for b := range boards {
		d, s, r := dst[b*dg.Size():(b+1)*dg.Size()], src[b*sg.Size():(b+1)*sg.Size()], residual
		if r != nil {
			r = r[b*dg.Size() : (b+1)*dg.Size()]
		}
		c.board(p, d, dg, s, sg, r, relu)
	}
}

// fit panics if the geometries do not fit the shape.
func (c *Conv) fit(dg, sg Image) {
	s := &c.shape
	if sg.C != s.In || dg.C != s.Out || s.PadY > sg.Border || s.PadX > sg.Border ||
		dg.H != sg.H+2*s.PadY-s.KH+1 || dg.W != sg.W+2*s.PadX-s.KW+1 || dg.H < 1 || dg.W < 1 {
		panic(fmt.Sprintf("kernel: convolution of shape %+v from %+v to %+v", *s, sg, dg))
	}
}

// board convolves one board, in strips of columns.
func (c *Conv) board(p *path, dst []float32, dg Image, src []float32, sg Image, residual []float32, relu bool) {
	s := &c.shape
	k := s.KH * s.KW * s.In
	skips := p != &portable && c.beyond != nil && (residual == nil || &residual[0] != &dst[0]) // skipEnd writes dst before it reads residual
	w := sweep{
		dstCell: dg.Stride(), dstTile: dg.Row(), srcCell: sg.Stride(), srcTile: sg.Row(), wBlock: k * lanes,
		rows: s.KH, rowStep: sg.Row(), taps: s.KW, tapStep: sg.Stride(), n: s.In,
		tiles: dg.H, relu: relu,
	}
	if w.n == w.tapStep { // the taps of a row follow each other without a gap
		w.n, w.taps, w.tapStep = w.n*w.taps, 1, 0
	}
	for block, end := 0, padded(s.Out)/lanes; block < end; block += w.blocks {
		w.blocks = partSize(end-block, p.blocks(dg.W))
		w.bias = c.bias[block*lanes:]
		for x := 0; x < dg.W; x += w.cells {
			w.cells = partSize(dg.W-x, p.cells[w.blocks])
			for y := 0; y < dg.H; y += w.tiles {
				first, end := 0, s.KH
				if skips {
					first, end = c.rows(&w, y, dg.H, sg.H)
				}
				w.weights = c.weights[block*w.wBlock+first*s.KW*s.In*lanes:]
				at := dg.At(y, x) + block*lanes
				w.dst, w.src = dst[at:], src[sg.At(y-s.PadY+first, x-s.PadX):]
				if residual != nil {
					w.residual = residual[at:]
				}
				if end < s.KH {
					w.skipEnd(p, c.beyond[end][block*lanes:])
				} else {
					p.run(&w)
				}
			}
		}
	}
}

// rows sets the number of rows of the results from y on that one sweep computes, which have the same rows of weights on the
// board, and returns these.
func (c *Conv) rows(w *sweep, y, h, from int) (first, end int) {
	first, end = c.onBoard(y, from)
	w.rows, w.tiles = end-first, 1
	for y+w.tiles < h {
		if a, b := c.onBoard(y+w.tiles, from); a != first || b != end {
			break
		}
		w.tiles++
	}
	return first, end
}

// skipEnd computes a sweep without the last products, which are zeros, and one product with 0 instead of them.
func (s *sweep) skipEnd(p *path, signs []float32) {
	part := *s
	part.residual, part.relu = nil, false
	p.run(&part)
	part = *s
	part.src, part.srcCell, part.srcTile = zero[:], 0, 0
	part.weights, part.wBlock, part.bias = signs, lanes, nil
	part.rows, part.rowStep, part.taps, part.tapStep, part.n = 1, 0, 1, 0, 1
	p.run(&part)
}

var zero [1]float32

// partSize splits n into the fewest parts of at most `most`, of about equal size, the larger ones
// first, and returns the size of the first part.
func partSize(n, most int) int {
	size, _ := partSizes(n, most)
	return size
}

// partSizes returns the size of the first of these parts, and the number of parts of that size.
func partSizes(n, most int) (size, parts int) {
	all := (n + most - 1) / most
	size = (n + all - 1) / all
	return size, all - (all*size - n)
}
