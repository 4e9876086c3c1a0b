package network

import (
	"math"
	"slices"

	"moonfarm/rollout/network/internal/kernel"
)

func sqrt(x float64) float64 { return math.Sqrt(x) }

// reduction is the sum, mean, maximum or minimum over some dimensions, or a similar function: "prod" is the
// product, "l1" and "l2" are norms, "squares" is the sum of squares, "logsum" the logarithm of the sum, and
// "logsumexp" that of the sum of exponentials. Sums and products are float64, in the order of the dimensions.
type reduction struct {
	kind string
	axes []int
}

func (*reduction) work(*node) int64 { return 0 }

func (o *reduction) lower(p *planner, n *node) (task, error) {
	src, dst := p.view(n.in[0]), p.flat(n.out)
	var kept, keptSteps, gone, goneSteps []int
	for i, d := range n.in[0].shape.dims {
		if slices.Contains(o.axes, i) {
			gone, goneSteps = append(gone, d), append(goneSteps, src.steps[i])
		} else {
			kept, keptSteps = append(kept, d), append(keptSteps, src.steps[i])
		}
	}
	t := &reductionTask{kind: o.kind, dst: dst, src: src.place, count: product(gone)}
	t.outer, t.inner = newLoop(kept, false, keptSteps), newLoop(gone, false, goneSteps)
	t.outer.start[0] = src.start
	return t, nil
}

type reductionTask struct {
	kind         string
	dst, src     place
	outer, inner loop
	count        int
}

func (t *reductionTask) run(r *Runner, rows int) {
	for row := range rows {
		dst, src := r.row(&t.dst, row), r.row(&t.src, row)
		c, at := cursor{at: t.outer.start}, 0
		for range t.outer.runs() {
			n, step, from := t.outer.size[0], t.outer.step[0][0], src[c.at[0]:]
			i := 0
			if step == 1 && t.sums() {
				for ; i+neighbours <= n; i += neighbours {
					t.sum((*[neighbours]float32)(dst[at+i:]), from[i:])
				}
			}
			for ; i < n; i++ {
				if t.sums() || t.kind == "max" || t.kind == "min" {
					dst[at+i] = t.reduce(from[i*step:])
				} else {
					dst[at+i] = t.other(from[i*step:])
				}
			}
			at += n
			c.next(&t.outer)
		}
	}
}

// neighbours is the number of sums that are computed at once, such as of the channels of
// boards, which are adjacent in memory. A single sum waits for each addition, and takes
// twice the time (64 channels of 80×80 cells).
const neighbours = 8

func (t *reductionTask) sums() bool { return t.kind == "sum" || t.kind == "mean" || t.kind == "logsum" }

// sum computes adjacent elements, each in the order of reduce.
func (t *reductionTask) sum(dst *[neighbours]float32, src []float32) {
	c := cursor{}
	l := &t.inner
	step := l.step[0][0]
	var s0, s1, s2, s3, s4, s5, s6, s7 float64 // unlike an array, variables stay in registers
	for range l.runs() {
		at := c.at[0]
		for range l.size[0] {
			x := (*[neighbours]float32)(src[at:])
			s0, s1, s2, s3 = s0+float64(x[0]), s1+float64(x[1]), s2+float64(x[2]), s3+float64(x[3])
			s4, s5, s6, s7 = s4+float64(x[4]), s5+float64(x[5]), s6+float64(x[6]), s7+float64(x[7])
			at += step
		}
		c.next(l)
	}
	for i, s := range [neighbours]float64{s0, s1, s2, s3, s4, s5, s6, s7} {
		dst[i] = t.of(s)
	}
}

// of returns the result for a sum.
func (t *reductionTask) of(sum float64) float32 {
	switch t.kind {
	case "mean":
		sum /= float64(t.count)
	case "l2":
		sum = math.Sqrt(sum)
	case "logsum":
		sum = logarithm(sum)
	}
	return float32(sum)
}

// other computes one element of a function that is neither a sum of the elements nor one of them.
func (t *reductionTask) other(src []float32) float32 {
	c := cursor{}
	l := &t.inner
	best, sum := src[0], 0.0
	if t.kind == "logsumexp" {
		best = t.largest(src)
		if best-best != 0 { // ±∞ or NaN
			return best
		}
	}
	if t.kind == "prod" {
		sum = 1
	}
	for range l.runs() {
		at := c.at[0]
		for range l.size[0] {
			x := float64(src[at])
			switch t.kind {
			case "l1":
				sum += math.Abs(x)
			case "l2", "squares":
				sum += float64(x * x)
			case "logsumexp":
				sum += kernel.Exponential(x - float64(best))
			default:
				sum *= x
			}
			at += l.step[0][0]
		}
		c.next(l)
	}
	if t.kind == "logsumexp" {
		return float32(float64(best) + logarithm(sum))
	}
	return t.of(sum)
}

// largest returns the largest of the elements of one result.
func (t *reductionTask) largest(src []float32) float32 {
	c := cursor{}
	l, best := &t.inner, src[0]
	for range l.runs() {
		for i := range l.size[0] {
			best = max(best, src[c.at[0]+i*l.step[0][0]])
		}
		c.next(l)
	}
	return best
}

// extremes returns the smallest and the largest number, as min and max do; false if one may be NaN. Whole numbers that
// have the order of the elements need no jumps, and −0 comes before 0 among them.
func extremes(src []float32) (low, high float32, ok bool) {
	least, most := int32(math.MaxInt32), int32(math.MinInt32)
	for _, x := range src {
		b := int32(math.Float32bits(x))
		b ^= b >> 31 & math.MaxInt32
		least, most = min(least, b), max(most, b)
	}
	number := func(b int32) float32 { return math.Float32frombits(uint32(b ^ b>>31&math.MaxInt32)) }
	const infinite = 0x7f800000 // the bits of +∞
	return number(least), number(most), least >= ^infinite && most <= infinite
}

// reduce computes one element.
func (t *reductionTask) reduce(src []float32) float32 {
	c := cursor{}
	l := &t.inner
	step := l.step[0][0]
	if (t.kind == "min" || t.kind == "max") && step == 1 && l.runs() == 1 {
		switch low, high, ok := extremes(src[:l.size[0]]); {
		case ok && t.kind == "min":
			return low
		case ok:
			return high
		}
	}
	sum, best := 0.0, src[0]
	for range l.runs() {
		at := c.at[0]
		switch t.kind {
		case "max":
			for range l.size[0] {
				best = max(best, src[at])
				at += step
			}
		case "min":
			for range l.size[0] {
				best = min(best, src[at])
				at += step
			}
		default:
			for range l.size[0] {
				sum += float64(src[at])
				at += step
			}
		}
		c.next(l)
	}
	if t.sums() {
		return t.of(sum)
	}
	return best
}

// pool computes the mean or the maximum of windows.
type pool struct {
	windows
	channels int
	max, all bool // all: means include the cells of the padding
}

func (*pool) work(*node) int64 { return 0 }

func (o *pool) lower(p *planner, n *node) (task, error) {
	return &poolTask{pool: o, dst: p.view(n.out), src: p.view(n.in[0]), h: n.in[0].shape.dims[2], w: n.in[0].shape.dims[3]}, nil
}

type poolTask struct {
	*pool
	dst, src view
	h, w     int // of the source
}

func (t *poolTask) run(r *Runner, rows int) {
	for row := range rows {
		dst, src := r.row(&t.dst.place, row), r.row(&t.src.place, row)
		for y := range t.windows.h {
			for x := range t.windows.w {
				d, s := t.dst.start+y*t.dst.steps[2]+x*t.dst.steps[3], t.src.start
				for range t.channels {
					dst[d] = t.window(src, s, y*t.strideY-t.top, x*t.strideX-t.left)
					d, s = d+t.dst.steps[1], s+t.src.steps[1]
				}
			}
		}
	}
}

// window computes one window, whose first cell is at y, x.
func (t *poolTask) window(src []float32, at, y, x int) float32 {
	sum, count, best := 0.0, 0, float32(math.Inf(-1))
	for i := range t.kh {
		for j := range t.kw {
			a, b := y+i*t.dilationY, x+j*t.dilationX
			if a < 0 || a >= t.h || b < 0 || b >= t.w {
				if t.all && a < t.h+t.bottom && b < t.w+t.right {
					count++
				}
				continue
			}
			v := src[at+a*t.src.steps[2]+b*t.src.steps[3]]
			best, sum, count = max(best, v), sum+float64(v), count+1
		}
	}
	if t.max {
		return best
	}
	return float32(sum / float64(max(count, 1)))
}

// softmax computes Softmax or LogSoftmax along one dimension.
type softmax struct {
	log             bool
	outer, n, inner int
}

func (*softmax) work(*node) int64 { return 0 }

func (o *softmax) lower(p *planner, n *node) (task, error) {
	p.scratch = max(p.scratch, o.n)
	return &softmaxTask{o, p.flat(n.out), p.flat(n.in[0])}, nil
}

type softmaxTask struct {
	*softmax
	dst, src place
}

func (t *softmaxTask) run(r *Runner, rows int) {
	for row := range rows {
		dst, src := r.row(&t.dst, row), r.row(&t.src, row)
		for o := range t.outer {
			for i := range t.inner {
				at := o*t.n*t.inner + i
				if t.inner == 1 && !t.log {
					t.adjacent(dst[at:][:t.n], src[at:][:t.n], r.scratch)
					continue
				}
				t.shares(dst[at:], src[at:], r.scratch[:t.n])
			}
		}
	}
}

// adjacent computes the shares of adjacent numbers, with the bits of shares. Numbers at the end that are far
// below the largest, as masks of attention make them, have exponentials of 0 and are skipped.
func (t *softmaxTask) adjacent(dst, src, e []float32) {
	best := src[0]
	for _, x := range src {
		if x > best { // NaN is skipped, and makes all shares NaN by its exponential
			best = x
		}
	}
	n := len(src)
	for n > 1 && src[n-1]-best < lowest {
		n--
	}
	e = e[:n]
	for i, x := range src[:n] {
		e[i] = x - best
	}
	kernel.Exp(e, e)
	sum := 0.0
	for _, x := range e {
		sum += float64(x)
	}
	for i, x := range e {
		dst[i] = float32(float64(x) / sum)
	}
	rest, none := dst[n:], float32(0/sum) // NaN if the sum is
	for i := range rest {
		rest[i] = none
	}
}

// lowest is a number below which exponentials are 0.
const lowest = -106

func (t *softmaxTask) shares(dst, src, e []float32) {
	best := src[0]
	for i := range e {
		best = max(best, src[i*t.inner])
	}
	for i := range e {
		e[i] = src[i*t.inner] - best
	}
	kernel.Exp(e, e)
	sum := 0.0
	for _, x := range e {
		sum += float64(x)
	}
	if t.log {
		last := logarithm(sum)
		for i := range e {
			dst[i*t.inner] = float32(float64(src[i*t.inner]) - float64(best) - last)
		}
		return
	}
	for i, x := range e {
		dst[i*t.inner] = float32(float64(x) / sum)
	}
}

// norm normalizes groups of numbers to mean 0 and variance 1. Then it scales and shifts each
// number of a group by separate factors and summands, or all by the group's.
type norm struct {
	groups, n   int
	epsilon     float64
	scale, bias []float32
	perGroup    bool
}

func (*norm) work(*node) int64 { return 0 }

func (o *norm) lower(p *planner, n *node) (task, error) {
	return &normTask{o, p.flat(n.out), p.flat(n.in[0])}, nil
}

type normTask struct {
	*norm
	dst, src place
}

func (t *normTask) run(r *Runner, rows int) {
	for row := range rows {
		dst, src := r.row(&t.dst, row), r.row(&t.src, row)
		for g := range t.groups {
			t.group(g, dst[g*t.n:][:t.n], src[g*t.n:][:t.n])
		}
	}
}

func (t *normTask) group(g int, dst, src []float32) {
	sum := 0.0
	for _, x := range src {
		sum += float64(x)
	}
	mean := sum / float64(t.n)
	sum = 0
	for _, x := range src {
		d := float64(x) - mean
		sum += float64(d * d)
	}
	factor := 1 / math.Sqrt(sum/float64(t.n)+t.epsilon)
	for i, x := range src {
		j := i
		if t.perGroup {
			j = g
		}
		y := float64(float64((float64(x)-mean)*factor) * float64(t.scale[j]))
		if t.bias != nil {
			y += float64(t.bias[j])
		}
		dst[i] = float32(y)
	}
}
