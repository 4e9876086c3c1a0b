package network

import (
	"slices"

	"moonfarm/rollout/network/internal/kernel"
)

// fuse drops the nodes that no output needs, and merges the nodes after convolutions and
// dense layers into them: a normalization, a bias, the sum with a residual and ReLU.
func (c *compiler) fuse() {
	c.drop()
	f := &fuser{}
	for _, n := range c.nodes {
		f.add(n)
	}
	c.nodes = slices.DeleteFunc(f.nodes, func(n *node) bool { return n == nil })
	c.drop()
}

// drop drops the nodes that no output needs, and counts the uses of all values.
func (c *compiler) drop() {
	needed := map[*value]bool{}
	for _, o := range c.outputs {
		needed[o] = true
	}
	for _, n := range slices.Backward(c.nodes) {
		if needed[n.out] {
			for _, v := range n.in {
				needed[v] = true
			}
		}
	}
	c.nodes = slices.DeleteFunc(c.nodes, func(n *node) bool { return !needed[n.out] })
	for _, n := range c.nodes {
		n.out.uses = 0
		for _, v := range n.in {
			v.uses = 0
		}
	}
	for _, o := range c.outputs {
		o.uses = 1
	}
	for _, n := range c.nodes {
		for _, v := range n.in {
			v.uses++
		}
	}
}

// fuser collects nodes; a node that was merged into another one is nil.
type fuser struct{ nodes []*node }

// add adds a node, or merges it into the one before it.
func (f *fuser) add(n *node) {
	switch op := n.op.(type) {
	case *affine:
		f.affine(n, op)
		return
	case *elementLookup:
		op.simplify(n)
	case *unary:
		if op.name == "relu" && f.relu(n) {
			return
		}
	case *binary:
		if op.op == kernel.Add && (f.bias(n, 0, 1) || f.bias(n, 1, 0) || f.residual(n)) {
			return
		}
	}
	f.put(n)
}

// put adds a node.
func (f *fuser) put(n *node) {
	n.out.by = n
	f.nodes = append(f.nodes, n)
}

// absorb lets p, whose result only n uses, compute the result of n. p takes the position of n,
// since it may need other inputs of n.
func (f *fuser) absorb(p, n *node) {
	for i := len(f.nodes) - 1; i >= 0; i-- {
		if f.nodes[i] == p {
			f.nodes[i] = nil
			break
		}
	}
	p.out = n.out
	f.put(p)
}

// layerOf returns the layer that computes a value with a single use, and its node; nil for other values, and for a layer
// that applies ReLU.
func layerOf(v *value) (*node, *layer) {
	if v.uses == 1 && v.by != nil {
		if op, ok := v.by.op.(interface{ common() *layer }); ok && !op.common().relu {
			return v.by, op.common()
		}
	}
	return nil, nil
}

// affine folds a normalization into the weights before it, or replaces it by a product and a
// sum.
func (f *fuser) affine(n *node, a *affine) {
	if p, l := layerOf(n.in[0]); l != nil && len(p.in) == 1 {
		if _, conv := p.op.(*convolution); conv || len(n.out.shape.dims) == 2 {
			weights := make([]float32, len(l.weights))
			for i, w := range l.weights {
				j := i % l.out
				if l.turned {
					j = i / (len(weights) / l.out)
				}
				weights[i] = float32(float64(w) * a.scale[j])
			}
			l.weights, l.bias, l.biased = weights, a.shifted(l.bias), true
			f.absorb(p, n)
			return
		}
	}
	scale, shift := a.constants(n.out)
	product := &value{name: n.out.name, typ: n.out.typ, shape: n.out.shape, uses: 1}
	f.put(&node{at: n.at, op: &binary{binaryOf["Mul"]}, in: []*value{n.in[0], scale}, out: product})
	f.put(&node{at: n.at, op: &binary{binaryOf["Add"]}, in: []*value{product, shift}, out: n.out})
}

// shifted returns the bias of a layer into which the normalization is folded.
func (a *affine) shifted(bias []float32) []float32 {
	out := make([]float32, len(bias))
	for i, b := range bias {
		out[i] = float32(float64(float64(b)*a.scale[i]) + a.shift[i])
	}
	return out
}

// constants returns the factors and summands as arrays that can be broadcast to v.
func (a *affine) constants(v *value) (scale, shift *value) {
	dims := make([]int, len(v.shape.dims)-1)
	for i := range dims {
		dims[i] = 1
	}
	dims[0] = len(a.scale)
	make32 := func(from []float64) *value {
		floats := make([]float32, len(from))
		for i, x := range from {
			floats[i] = float32(x)
		}
		return &value{name: v.name, typ: v.typ, shape: constantShape(dims...), constant: true, floats: floats}
	}
	return make32(a.scale), make32(a.shift)
}

// relu lets a layer apply ReLU.
func (f *fuser) relu(n *node) bool {
	p, l := layerOf(n.in[0])
	if l == nil {
		return false
	}
	l.relu = true
	f.absorb(p, n)
	return true
}

// bias makes the constant input j the bias of the dense layer that computes input i.
func (f *fuser) bias(n *node, i, j int) bool {
	p, l := layerOf(n.in[i])
	c := n.in[j]
	if l == nil || l.biased || len(p.in) > 1 || !c.constant || len(c.floats) != l.out || len(c.shape.dims) == 0 || c.shape.axis >= 0 {
		return false
	}
	if c.shape.dims[len(c.shape.dims)-1] != l.out || len(c.shape.dims) > len(n.out.shape.dims) || !n.out.shape.equal(p.out.shape) {
		return false
	}
	l.bias, l.biased = c.floats, true
	f.absorb(p, n)
	return true
}

// residual merges a sum into the layer that computes one operand; the layer adds the other.
func (f *fuser) residual(n *node) bool {
	for _, i := range []int{1, 0} {
		p, l := layerOf(n.in[i])
		other := n.in[1-i]
		if l == nil || other.constant || len(p.in) > 1 || !other.shape.equal(n.out.shape) || !n.in[i].shape.equal(n.out.shape) {
			continue
		}
		if op, ok := p.op.(*convolution); ok && (!op.fast() || !boards(p.in[0].shape) || !boards(n.out.shape)) {
			continue
		}
		p.in = append(p.in, other)
		f.absorb(p, n)
		return true
	}
	return false
}
