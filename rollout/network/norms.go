package network

import (
	"math"
	"slices"

	"moonfarm/rollout/exact"
	"moonfarm/rollout/network/internal/kernel"
	"moonfarm/rollout/network/onnx"
)

// readSoftmax translates Softmax and LogSoftmax. Before version 13 they normalized over all
// dimensions from axis on together.
func readSoftmax(k *call) []*value {
	v := k.arg(0)
	s := v.shape
	or := -1
	if k.opset() < 13 {
		or = 1
	}
	a := k.axis(int64(k.integer("axis", or)), len(s.dims))
	op := &softmax{s.along(a), k.Op == "LogSoftmax"}
	k.rows(s, a)
	if k.opset() < 13 {
		k.rows(s, between(a, len(s.dims))...)
		op.n, op.inner = op.n*op.inner, 1
	}
	return one(k.emit(op, onnx.Float32, s, v))
}

// softmax computes Softmax or LogSoftmax along one dimension.
type softmax struct {
	lanes
	log bool
}

func (s *softmax) lower(p *planner, n *node) task {
	p.scratch = max(p.scratch, s.n)
	return rows(n, s)
}

func (s *softmax) row(dst []float32, in inputRows, scratch []float32) {
	src := in[0]
	for before := range s.outer {
		for i := range s.inner {
			at := before*s.n*s.inner + i
			if s.inner == 1 && !s.log {
				adjacentShares(dst[at:][:s.n], src[at:][:s.n], scratch)
				continue
			}
			s.shares(dst[at:], src[at:], scratch[:s.n])
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

func (s *softmax) shares(dst, src, e []float32) {
	best := src[0]
	for i := range e {
		best = max(best, src[i*s.inner])
	}
	for i := range e {
		e[i] = src[i*s.inner] - best
	}
	kernel.Exp(e, e)
	sum := 0.0
	for _, x := range e {
		sum += float64(x)
	}
	if s.log {
		last := exact.Log(sum)
		for i := range e {
			dst[i*s.inner] = float32(float64(src[i*s.inner]) - float64(best) - last)
		}
		return
	}
	for i, x := range e {
		dst[i*s.inner] = float32(float64(x) / sum)
	}
}

func readLayerNorm(k *call) []*value {
	v := k.arg(0)
	a := k.axis(int64(k.integer("axis", -1)), len(v.shape.dims))
	epsilon := k.float("epsilon", 1e-5)
	k.ignore("stash_type")
	k.rows(v.shape, between(a, len(v.shape.dims))...)
	k.refuse(len(k.Outputs) > 1, "expected one output, found %d", len(k.Outputs))
	n := product(v.shape.dims[a:])
	op := &norm{groups: v.shape.size() / n, n: n, epsilon: float64(epsilon), scale: k.constant(1, n, "scale")}
	if k.has(2) {
		op.bias = k.constant(2, n, "bias")
	}
	return one(k.emit(op, onnx.Float32, v.shape, v))
}

func readInstanceNorm(k *call) []*value {
	v := k.arg(0)
	epsilon := k.float("epsilon", 1e-5)
	k.refuse(len(v.shape.dims) < 3 || v.shape.axis > 0, "expected [batch, channels, …], found %v", v.shape)
	c := v.shape.dims[1]
	op := &norm{groups: c, n: product(v.shape.dims[2:]), epsilon: float64(epsilon), perGroup: true}
	op.scale, op.bias = k.constant(1, c, "scale"), k.constant(2, c, "bias")
	return one(k.emit(op, onnx.Float32, v.shape, v))
}

// readGroupNorm reads a GroupNormalization. Before version 21 each group has a factor and a summand, since then each
// channel has.
func readGroupNorm(k *call) []*value {
	v, groups := k.arg(0), k.integer("num_groups", 0)
	epsilon := k.float("epsilon", 1e-5)
	k.ignore("stash_type")
	d := v.shape.dims
	if len(d) < 3 || v.shape.axis > 0 || groups < 1 || d[1]%groups != 0 || v.constant {
		k.fail("expected [batch, channels, …] that depend on the inputs, with channels of %d groups, found %v", groups, v.shape)
	}
	op := &norm{groups: groups, n: v.shape.size() / groups, epsilon: float64(epsilon), perGroup: true}
	if k.opset() < 21 {
		op.scale, op.bias = k.constant(1, groups, "scale"), k.constant(2, groups, "bias")
		return one(k.emit(op, onnx.Float32, v.shape, v))
	}
	op.scale = slices.Repeat([]float32{1}, groups)
	each, scale, bias := &affine{}, k.constant(1, d[1], "scale"), k.constant(2, d[1], "bias")
	for i, s := range scale {
		each.scale = append(each.scale, float64(s))
		each.shift = append(each.shift, float64(bias[i]))
	}
	return one(k.emit(each, onnx.Float32, v.shape, k.emit(op, onnx.Float32, v.shape, v)))
}

// readRMSNorm reads an RMSNormalization: the numbers divided by the root of the mean of their squares.
func readRMSNorm(k *call) []*value {
	v, scale := k.arg(0), k.arg(1)
	k.ignore("stash_type")
	axes := between(k.axis(int64(k.integer("axis", -1)), len(v.shape.dims)), len(v.shape.dims))
	k.rows(v.shape, axes...)
	mean := k.reduce("mean", k.with("Mul", []*value{v, v}), axes, true)
	root := k.with("Sqrt", []*value{k.with("Add", []*value{mean, k.floatsOut([]float32{k.float("epsilon", 1e-5)})})})
	return one(k.with("Mul", []*value{k.with("Div", []*value{v, root}), scale}))
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
	k.refuse(len(v.shape.dims) < 2 || v.shape.axis == 1, "expected [batch, channels, …], found %v", v.shape)
	c := v.shape.dims[1]
	scale, bias := k.constant(1, c, "scale"), k.constant(2, c, "bias")
	mean, variance := k.constant(3, c, "mean"), k.constant(4, c, "variance")
	op := &affine{scale: make([]float64, c), shift: make([]float64, c)}
	for i := range c {
		op.scale[i] = float64(scale[i]) / math.Sqrt(float64(variance[i])+float64(epsilon))
		op.shift[i] = float64(bias[i]) - float64(float64(mean[i])*op.scale[i])
	}
	k.refuse(v.constant, "expected an array that depends on the inputs, found a constant")
	return one(k.emit(op, onnx.Float32, v.shape, v))
}

// affine multiplies each channel, dimension 1, by a factor and adds a summand. It never runs:
// fuse folds it into the layer before it, or replaces it by two steps.
type affine struct{ scale, shift []float64 }

// norm normalizes groups of numbers to mean 0 and variance 1. Then it scales and shifts each
// number of a group by separate factors and summands, or all by the group's.
type norm struct {
	groups, n   int
	epsilon     float64
	scale, bias []float32
	perGroup    bool
}

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
