package network

import (
	"math"
	"slices"

	"moonfarm/rollout/exact"
	"moonfarm/rollout/network/internal/kernel"
)

func sqrt(x float64) float64 { return math.Sqrt(x) }

// reduction is the sum, mean, maximum or minimum over some dimensions, or a similar function: "prod" is the
// product, "l1" and "l2" are norms, and "logsumexp" is the logarithm of the sum of exponentials. Sums and products are float64, in the order of the dimensions.
type reduction struct {
	kind string
	axes []int
}

func (o *reduction) lower(p *planner, n *node) (task, error) {
	src := p.view(n.in[0])
	var kept, keptSteps, gone, goneSteps []int
	for i, d := range n.in[0].shape.dims {
		if slices.Contains(o.axes, i) {
			gone, goneSteps = append(gone, d), append(goneSteps, src.steps[i])
		} else {
			kept, keptSteps = append(kept, d), append(keptSteps, src.steps[i])
		}
	}
	l := &reductionLoop{kind: o.kind, outer: newLoop(kept, false, keptSteps), inner: newLoop(gone, false, goneSteps), count: product(gone)}
	l.outer.start[0] = src.start
	return rows(n, l), nil
}

type reductionLoop struct {
	kind         string
	outer, inner loop
	count        int
}

func (t *reductionLoop) row(dst []float32, in inputRows, _ []float32) {
	c, at := cursor{at: t.outer.start}, 0
	for range t.outer.runs() {
		n := t.outer.size[0]
		t.line(dst[at:at+n], in[0][c.at[0]:], t.outer.step[0][0])
		at += n
		c.next(&t.outer)
	}
}

// line computes a run of the outer loop, whose elements begin at src in these steps.
func (t *reductionLoop) line(dst, src []float32, step int) {
	extreme, done := t.kind == "max" || t.kind == "min", 0
	switch {
	case step == 1 && t.sums() && len(dst) >= neighbours:
		t.sum(dst, src)
		return
	case step == 1 && extreme && len(dst) >= neighbours:
		t.extreme(dst, src)
		return
	case t.sums() && t.inner.runs() == 1:
		for ; done+4 <= len(dst); done += 4 {
			t.sum4((*[4]float32)(dst[done:]), src[done*step:], step)
		}
	}
	for i := done; i < len(dst); i++ {
		if t.sums() || extreme {
			dst[i] = t.reduce(src[i*step:])
		} else {
			dst[i] = t.other(src[i*step:])
		}
	}
}

// neighbours is the least number of adjacent results, such as of the channels of boards, that are computed together.
const neighbours = 8

func (t *reductionLoop) sums() bool { return t.kind == "sum" || t.kind == "mean" }

// sum computes adjacent elements, each in the order of reduce.
func (t *reductionLoop) sum(dst, src []float32) {
	l := &t.inner
	for len(dst) > 0 {
		var all [64]float64
		sums := all[:min(len(dst), len(all))]
		c := cursor{}
		for range l.runs() {
			kernel.AddSums(sums, src[c.at[0]:], l.size[0], l.step[0][0])
			c.next(l)
		}
		for i, s := range sums {
			dst[i] = t.of(s)
		}
		if len(sums) == len(dst) {
			return
		}
		dst, src = dst[len(sums):], src[len(sums):]
	}
}

// extreme computes adjacent elements of a maximum or minimum.
func (t *reductionLoop) extreme(dst, src []float32) {
	l := &t.inner
	lines := kernel.Lines{Op: kernel.Max, N: len(dst), Count: l.size[0], Dst: kernel.Steps{Element: 1}, X: kernel.Steps{Element: 1}}
	lines.Y = kernel.Steps{Element: 1, Line: l.step[0][0]}
	if t.kind == "min" {
		lines.Op = kernel.Min
	}
	copy(dst, src)
	c := cursor{}
	for range l.runs() {
		lines.Run(dst, dst, src[c.at[0]:])
		c.next(l)
	}
}

// sum4 computes four elements, `apart` floats from each other, at once: a single sum waits for each addition.
func (t *reductionLoop) sum4(dst *[4]float32, src []float32, apart int) {
	n, step := t.inner.size[0], t.inner.step[0][0]
	var s0, s1, s2, s3 float64
	a, b, c := src[apart:], src[2*apart:], src[3*apart:]
	for i := range n {
		at := i * step
		s0, s1, s2, s3 = s0+float64(src[at]), s1+float64(a[at]), s2+float64(b[at]), s3+float64(c[at])
	}
	*dst = [4]float32{t.of(s0), t.of(s1), t.of(s2), t.of(s3)}
}

// of returns the result for a sum.
func (t *reductionLoop) of(sum float64) float32 {
	switch t.kind {
	case "mean":
		sum /= float64(t.count)
	case "l2":
		sum = math.Sqrt(sum)
	}
	return float32(sum)
}

// other computes one element of a function that is neither a sum of the elements nor one of them.
func (t *reductionLoop) other(src []float32) float32 {
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
			case "l2":
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
		return float32(float64(best) + exact.Log(sum))
	}
	return t.of(sum)
}

// largest returns the largest of the elements of one result.
func (t *reductionLoop) largest(src []float32) float32 {
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

// reduce computes one element.
func (t *reductionLoop) reduce(src []float32) float32 {
	c := cursor{}
	l := &t.inner
	step := l.step[0][0]
	if (t.kind == "min" || t.kind == "max") && step == 1 && l.runs() == 1 {
		switch low, high, ok := kernel.Extremes(src[:l.size[0]]); {
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

func (o *pool) lower(p *planner, n *node) (task, error) {
	return rows(n, &poolLoop{pool: o, dst: p.view(n.out), src: p.view(n.in[0]), h: n.in[0].shape.dims[2], w: n.in[0].shape.dims[3]}), nil
}

type poolLoop struct {
	*pool
	dst, src view
	h, w     int // of the source
}

func (t *poolLoop) row(dst []float32, in inputRows, _ []float32) {
	src := in[0]
	for y := range t.windows.h {
		for x := range t.windows.w {
			d, s := t.dst.start+y*t.dst.steps[2]+x*t.dst.steps[3], t.src.start
			if t.max && t.dst.steps[1] == 1 && t.src.steps[1] == 1 {
				t.largest(dst[d:d+t.channels], src, y*t.strideY-t.top, x*t.strideX-t.left)
				continue
			}
			for range t.channels {
				dst[d] = t.window(src, s, y*t.strideY-t.top, x*t.strideX-t.left)
				d, s = d+t.dst.steps[1], s+t.src.steps[1]
			}
		}
	}
}

// largest computes a window of all channels, which are adjacent; its first cell is at y, x.
func (t *poolLoop) largest(dst, src []float32, y, x int) {
	for i := range dst {
		dst[i] = float32(math.Inf(-1))
	}
	first, end := x, x+t.kw*t.dilationX // columns on the board
	for first < 0 {
		first += t.dilationX
	}
	l := kernel.Lines{Op: kernel.Max, N: len(dst), Count: (min(end, t.w) - first + t.dilationX - 1) / t.dilationX}
	l.Dst.Element, l.X.Element, l.Y = 1, 1, kernel.Steps{Element: 1, Line: t.dilationX * t.src.steps[3]}
	for i := range t.kh {
		if a := y + i*t.dilationY; a >= 0 && a < t.h && l.Count > 0 {
			l.Run(dst, dst, src[t.src.start+a*t.src.steps[2]+first*t.src.steps[3]:])
		}
	}
}

// window computes one window, whose first cell is at y, x.
func (t *poolLoop) window(src []float32, at, y, x int) float32 {
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

func (o *softmax) lower(p *planner, n *node) (task, error) {
	p.scratch = max(p.scratch, o.n)
	return rows(n, o), nil
}

func (o *softmax) row(dst []float32, in inputRows, scratch []float32) {
	src := in[0]
	for before := range o.outer {
		for i := range o.inner {
			at := before*o.n*o.inner + i
			if o.inner == 1 && !o.log {
				adjacentShares(dst[at:][:o.n], src[at:][:o.n], scratch)
				continue
			}
			o.shares(dst[at:], src[at:], scratch[:o.n])
		}
	}
}

// adjacentShares computes the shares of adjacent numbers, with the bits of shares. Numbers at the end that are far
// below the largest, as masks of attention make them, have exponentials of 0 and are skipped.
func adjacentShares(dst, src, e []float32) {
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

func (o *softmax) shares(dst, src, e []float32) {
	best := src[0]
	for i := range e {
		best = max(best, src[i*o.inner])
	}
	for i := range e {
		e[i] = src[i*o.inner] - best
	}
	kernel.Exp(e, e)
	sum := 0.0
	for _, x := range e {
		sum += float64(x)
	}
	if o.log {
		last := exact.Log(sum)
		for i := range e {
			dst[i*o.inner] = float32(float64(src[i*o.inner]) - float64(best) - last)
		}
		return
	}
	for i, x := range e {
		dst[i*o.inner] = float32(float64(x) / sum)
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

func (o *norm) lower(_ *planner, n *node) (task, error) { return rows(n, o), nil }

func (o *norm) row(dst []float32, in inputRows, _ []float32) {
	for g := range o.groups {
		o.group(g, dst[g*o.n:][:o.n], in[0][g*o.n:][:o.n])
	}
}

func (o *norm) group(g int, dst, src []float32) {
	sum := 0.0
	for _, x := range src {
		sum += float64(x)
	}
	mean := sum / float64(o.n)
	sum = 0
	for _, x := range src {
		d := float64(x) - mean
		sum += float64(d * d)
	}
	factor := 1 / math.Sqrt(sum/float64(o.n)+o.epsilon)
	for i, x := range src {
		j := i
		if o.perGroup {
			j = g
		}
		y := float64(float64((float64(x)-mean)*factor) * float64(o.scale[j]))
		if o.bias != nil {
			y += float64(o.bias[j])
		}
		dst[i] = float32(y)
	}
}
