package kernel

import "fmt"

// Conv is a convolution with stride 1. It is read-only and safe for concurrent use.
type Conv struct {
	shape   Shape
	weights []float32 // [block of 16 outputs][ky][kx][input][16]
	bias    []float32 // padded to a multiple of 16
}

// NewConv packs weights [Out][In][KH][KW] and bias [Out], which may be nil. It
// panics if they do not fit the shape.
func NewConv(s Shape, weights, bias []float32) *Conv {
	if err := s.check(len(weights), len(bias)); err != nil {
		panic(err.Error())
	}
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
	return c
}

// Shape returns the shape of the convolution.
func (c *Conv) Shape() Shape { return c.shape }

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

// board convolves one board, in strips of columns: all rows of a strip are one sweep.
func (c *Conv) board(p *path, dst []float32, dg Image, src []float32, sg Image, residual []float32, relu bool) {
	s := &c.shape
	k := s.KH * s.KW * s.In
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
		w.weights, w.bias = c.weights[block*w.wBlock:], c.bias[block*lanes:]
		for x := 0; x < dg.W; x += w.cells {
			w.cells = partSize(dg.W-x, p.cells[w.blocks])
			at := dg.At(0, x) + block*lanes
			w.dst, w.src = dst[at:], src[sg.At(-s.PadY, x-s.PadX):]
			if residual != nil {
				w.residual = residual[at:]
			}
			p.run(&w)
		}
	}
}

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
