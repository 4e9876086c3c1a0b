package network

import (
	"math"
	"slices"

	"moonfarm/rollout/exact"
	"moonfarm/rollout/network/internal/kernel"
)

func readReduce(kind string) func(*call) []*value {
	return func(k *call) []*value {
		v, keep := k.arg(0), k.integer("keepdims", 1) != 0
		axes := k.axes(k.listed("axes", 1), len(v.shape.dims))
		if len(axes) == 0 {
			if k.integer("noop_with_empty_axes", 0) != 0 {
				return one(v)
			}
			axes = between(0, len(v.shape.dims))
		}
		k.ignore("noop_with_empty_axes")
		k.rows(v.shape, axes...)
		if v.constant && v.whole != nil && v.shape.axis < 0 {
			if out := k.wholeReduce(kind, v, axes, keep); out != nil {
				return one(out)
			}
		}
		return one(k.reduce(kind, v, axes, keep))
	}
}

func (k *call) reduce(kind string, v *value, axes []int, keep bool) *value {
	slices.Sort(axes)
	return k.emit(&reduction{kind: kind, axes: axes}, v.typ, v.shape.without(axes, keep), v)
}

// reduction is the sum, mean, maximum or minimum over some dimensions, or a similar function: "prod" is the
// product, "l1" and "l2" are norms, and "logsumexp" is the logarithm of the sum of exponentials. Sums and products are float64, in the order of the dimensions.
type reduction struct {
	kind string
	axes []int
}

func (r *reduction) lower(p *planner, n *node) task {
	src := p.view(n.in[0])
	var kept, keptSteps, gone, goneSteps []int
	for i, d := range n.in[0].shape.dims {
		if slices.Contains(r.axes, i) {
			gone, goneSteps = append(gone, d), append(goneSteps, src.steps[i])
		} else {
			kept, keptSteps = append(kept, d), append(keptSteps, src.steps[i])
		}
	}
	l := &reductionLoop{kind: r.kind, outer: newLoop(kept, false, keptSteps), inner: newLoop(gone, false, goneSteps), count: product(gone)}
	l.outer.start[0] = src.start
	return rows(n, l)
}

type reductionLoop struct {
	kind         string
	outer, inner loop
	count        int
}

func (r *reductionLoop) row(dst []float32, in inputRows, _ []float32) {
	c, at := cursor{at: r.outer.start}, 0
	for range r.outer.runs() {
		n := r.outer.size[0]
		r.line(dst[at:at+n], in[0][c.at[0]:], r.outer.step[0][0])
		at += n
		c.next(&r.outer)
	}
}

// line computes a run of the outer loop, whose elements begin at src in these steps.
func (r *reductionLoop) line(dst, src []float32, step int) {
	extreme, done := r.kind == "max" || r.kind == "min", 0
	switch {
	case step == 1 && r.sums() && len(dst) >= neighbours:
		r.sum(dst, src)
		return
	case step == 1 && extreme && len(dst) >= neighbours:
		r.extreme(dst, src)
		return
	case r.sums() && r.inner.runs() == 1:
		for ; done+4 <= len(dst); done += 4 {
			r.sum4((*[4]float32)(dst[done:]), src[done*step:], step)
		}
	}
	for i := done; i < len(dst); i++ {
		if r.sums() || extreme {
			dst[i] = r.reduce(src[i*step:])
		} else {
			dst[i] = r.other(src[i*step:])
		}
	}
}

// neighbours is the least number of adjacent results, such as of the channels of boards, that are computed together.
const neighbours = 8

func (r *reductionLoop) sums() bool { return r.kind == "sum" || r.kind == "mean" }

// sum computes adjacent elements, each in the order of reduce.
func (r *reductionLoop) sum(dst, src []float32) {
	l := &r.inner
	for len(dst) > 0 {
		var all [64]float64
		sums := all[:min(len(dst), len(all))]
		c := cursor{}
		for range l.runs() {
			kernel.AddSums(sums, src[c.at[0]:], l.size[0], l.step[0][0])
			c.next(l)
		}
		for i, s := range sums {
			dst[i] = r.of(s)
		}
		if len(sums) == len(dst) {
			return
		}
		dst, src = dst[len(sums):], src[len(sums):]
	}
}

// extreme computes adjacent elements of a maximum or minimum.
func (r *reductionLoop) extreme(dst, src []float32) {
	l := &r.inner
	lines := kernel.Lines{Op: kernel.Max, N: len(dst), Count: l.size[0], Dst: kernel.Steps{Element: 1}, X: kernel.Steps{Element: 1}}
	lines.Y = kernel.Steps{Element: 1, Line: l.step[0][0]}
	if r.kind == "min" {
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
func (r *reductionLoop) sum4(dst *[4]float32, src []float32, apart int) {
	n, step := r.inner.size[0], r.inner.step[0][0]
	var s0, s1, s2, s3 float64
	a, b, c := src[apart:], src[2*apart:], src[3*apart:]
	for i := range n {
		at := i * step
		s0, s1, s2, s3 = s0+float64(src[at]), s1+float64(a[at]), s2+float64(b[at]), s3+float64(c[at])
	}
	*dst = [4]float32{r.of(s0), r.of(s1), r.of(s2), r.of(s3)}
}

// of returns the result for a sum.
func (r *reductionLoop) of(sum float64) float32 {
	switch r.kind {
	case "mean":
		sum /= float64(r.count)
	case "l2":
		sum = math.Sqrt(sum)
	}
	return float32(sum)
}

// other computes one element of a function that is neither a sum of the elements nor one of them.
func (r *reductionLoop) other(src []float32) float32 {
	c := cursor{}
	l := &r.inner
	best, sum := src[0], 0.0
	if r.kind == "logsumexp" {
		largest := reductionLoop{kind: "max", inner: r.inner}
		best = largest.reduce(src)
		if best-best != 0 { // ±∞ or NaN
			return best
		}
	}
	if r.kind == "prod" {
		sum = 1
	}
	for range l.runs() {
		at := c.at[0]
		for range l.size[0] {
			x := float64(src[at])
			switch r.kind {
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
	if r.kind == "logsumexp" {
		return float32(float64(best) + exact.Log(sum))
	}
	return r.of(sum)
}

// reduce computes one element.
func (r *reductionLoop) reduce(src []float32) float32 {
	c := cursor{}
	l := &r.inner
	step := l.step[0][0]
	if (r.kind == "min" || r.kind == "max") && step == 1 && l.runs() == 1 {
		switch low, high, ok := kernel.Extremes(src[:l.size[0]]); {
		case ok && r.kind == "min":
			return low
		case ok:
			return high
		}
	}
	sum, best := 0.0, src[0]
	for range l.runs() {
		at := c.at[0]
		switch r.kind {
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
	if r.sums() {
		return r.of(sum)
	}
	return best
}
