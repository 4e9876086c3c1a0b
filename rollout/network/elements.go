package network

import (
	"math"

	"moonfarm/rollout/network/internal/kernel"
)

// unary applies a function to each element.
type unary struct{ function }

func (u *unary) lower(p *planner, n *node) (task, error) {
	dst, src := p.view(n.out), p.view(n.in[0])
	l := newLoop(n.out.shape.dims, true, dst.steps, src.steps)
	l.start[0], l.start[1] = dst.start, src.start
	return rows(n, &unaryLoop{l, u.function}), nil
}

type unaryLoop struct {
	loop loop
	f    function
}

func (u *unaryLoop) row(dst []float32, in inputRows, _ []float32) {
	l, src := &u.loop, in[0]
	n, to, from := l.size[0], l.step[0][0], l.step[1][0]
	c := cursor{at: l.start}
	for range l.runs() {
		if to == 1 && from == 1 {
			u.f.run(dst[c.at[0]:c.at[0]+n], src[c.at[1]:c.at[1]+n], u.f.a, u.f.b)
		} else {
			for i := range n {
				d := dst[c.at[0]+i*to:][:1]
				d[0] = src[c.at[1]+i*from]
				u.f.run(d, d, u.f.a, u.f.b)
			}
		}
		c.next(l)
	}
}

// binary applies a function to the elements of two arrays, which are broadcast.
type binary struct{ binaryOp }

func (b *binary) lower(p *planner, n *node) (task, error) {
	dst := p.view(n.out)
	x, y := p.broadcast(n.in[0], n.out.shape), p.broadcast(n.in[1], n.out.shape)
	l := newLoop(n.out.shape.dims, true, dst.steps, x.steps, y.steps)
	l.start[0], l.start[1], l.start[2] = dst.start, x.start, y.start
	op, t := b.binaryOp, rows(n, nil)
	if c := n.in[1]; b.name == "div" && c.constant && len(c.floats) == 1 {
		if inverse, ok := exactInverse(c.floats[0]); ok { // a product takes less time, and has the same bits
			op, t.in[1] = binaryOf["Mul"], place{kind: placeConstant, data: []float32{inverse}}
		}
	}
	lines, rest := splitLoop(op.op, &l)
	t.op = &binaryLoop{lines, rest, op}
	return t, nil
}

// splitLoop returns the two innermost dimensions of a loop over a result and two operands as lines, and the loop over the other
// dimensions: its innermost one stands for the lines.
func splitLoop(op kernel.Op, l *loop) (kernel.Lines, loop) {
	out := kernel.Lines{Op: op, N: l.size[0], Count: 1}
	rest := loop{n: max(l.n-1, 1), start: l.start}
	for o, s := range []*kernel.Steps{&out.Dst, &out.X, &out.Y} {
		s.Element = l.step[o][0]
		if l.n > 1 {
			s.Line = l.step[o][1]
		}
	}
	if l.n > 1 {
		out.Count = l.size[1]
	}
	copy(rest.size[:], l.size[1:])
	for o := range rest.step {
		copy(rest.step[o][:], l.step[o][1:])
	}
	return out, rest
}

// exactInverse returns 1/x for powers of two, false for other numbers.
func exactInverse(x float32) (float32, bool) {
	fraction, exponent := math.Frexp(math.Abs(float64(x)))
	return 1 / x, fraction == 0.5 && exponent > -100 && exponent < 100
}

type binaryLoop struct {
	lines kernel.Lines
	loop  loop // over the lines
	op    binaryOp
}

func (b *binaryLoop) row(dst []float32, in inputRows, _ []float32) {
	x, y := in[0], in[1]
	c := cursor{at: b.loop.start}
	for range b.loop.runs() {
		if b.op.op != 0 {
			b.lines.Run(dst[c.at[0]:], x[c.at[1]:], y[c.at[2]:])
		} else {
			b.each(dst[c.at[0]:], x[c.at[1]:], y[c.at[2]:])
		}
		c.next(&b.loop)
	}
}

// each computes lines by a function that package kernel does not have.
func (b *binaryLoop) each(dst, x, y []float32) {
	l := &b.lines
	for line := range l.Count {
		for i := range l.N {
			dst[line*l.Dst.Line+i*l.Dst.Element] = b.op.run(x[line*l.X.Line+i*l.X.Element], y[line*l.Y.Line+i*l.Y.Element])
		}
	}
}

// choose selects elements of the second array where the first is not 0, and of the third
// elsewhere.
type choose struct{}

func (*choose) lower(p *planner, n *node) (task, error) {
	dst, s := p.view(n.out), n.out.shape
	is, x, y := p.broadcast(n.in[0], s), p.broadcast(n.in[1], s), p.broadcast(n.in[2], s)
	l := newLoop(s.dims, true, dst.steps, is.steps, x.steps, y.steps)
	l.start = [operands]int{dst.start, is.start, x.start, y.start}
	return rows(n, &chooseLoop{l}), nil
}

type chooseLoop struct{ loop loop }

func (o *chooseLoop) row(dst []float32, in inputRows, _ []float32) {
	l := &o.loop
	c := cursor{at: l.start}
	for range l.runs() {
		o.line(dst[c.at[0]:], in[0][c.at[1]:], in[1][c.at[2]:], in[2][c.at[3]:])
		c.next(l)
	}
}

// line selects the elements of one run of the loop. The usual masks of attention have quick loops: a number where
// a mask is set, or not set, and adjacent elements elsewhere; or one bit of the mask for the whole run.
func (o *chooseLoop) line(dst, is, x, y []float32) {
	n, to, si, sx, sy := o.loop.size[0], o.loop.step[0][0], o.loop.step[1][0], o.loop.step[2][0], o.loop.step[3][0]
	switch {
	case to == 1 && si == 0 && is[0] != 0 && sx == 1:
		copy(dst[:n], x)
	case to == 1 && si == 0 && is[0] == 0 && sy == 1:
		copy(dst[:n], y)
	case to == 1 && si == 1 && sx == 0 && sy == 1:
		dst, is, y = dst[:n], is[:n], y[:n]
		for i, v := range y {
			if is[i] != 0 {
				v = x[0]
			}
			dst[i] = v
		}
	case to == 1 && si == 1 && sx == 1 && sy == 0:
		dst, is, x = dst[:n], is[:n], x[:n]
		for i, v := range x {
			if is[i] == 0 {
				v = y[0]
			}
			dst[i] = v
		}
	default:
		for i := range n {
			from := y[i*sy]
			if is[i*si] != 0 {
				from = x[i*sx]
			}
			dst[i*to] = from
		}
	}
}
