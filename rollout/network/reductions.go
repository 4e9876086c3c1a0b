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
			for i := range v.shape.dims {
				axes = append(axes, i)
			}
		}
		k.ignore("noop_with_empty_axes")
		k.rows(v.shape, axes...)
		if v.constant && v.whole != nil && v.shape.axis < 0 && k.err == nil {
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
