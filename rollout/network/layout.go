package network

import "moonfarm/rollout/network/internal/kernel"

// layout is the order of an array's elements in memory: that of its dimensions, or, for
// boards, that of an image of package kernel.
type layout struct{ image kernel.Image }

func (l layout) flat() bool { return l.image.H == 0 }

// place is the location of a value in memory.
type place struct {
	kind  placeKind
	index int       // of the slot or of the input
	size  int       // floats of a row
	whole bool      // the slot has room for all rows, not just for a block
	data  []float32 // of a constant
}

type placeKind uint8

const (
	placeSlot placeKind = iota
	placeInput
	placeConstant
)

// view is a place with the steps of the array's dimensions.
type view struct {
	place place
	start int
	steps []int
}

// planner assigns layouts and places to values.
type planner struct {
	c       *compiler
	nodes   []*node
	border  map[[2]int]int    // border of the boards of each size
	flats   map[*value]*value // the same array in the order of its dimensions
	images  map[*value]*value // the same array as an image
	scratch int               // most floats of scratch memory that a task needs
	slots   []slot
}

// view returns the view of a value.
func (p *planner) view(v *value) view {
	if v.layout.flat() {
		return view{place: v.place, steps: steps(v.shape.dims)}
	}
	g := v.layout.image
	return view{v.place, g.At(0, 0), []int{0, 1, g.Row(), g.Stride()}}
}

// broadcast returns the view of a value that is broadcast to a shape.
func (p *planner) broadcast(v *value, to shape) view {
	w := p.view(v)
	w.steps = spread(w.steps, v.shape.dims, to.dims)
	return w
}

// arrange chooses the layout of every value, and adds the steps that convert them.
func (p *planner) arrange() {
	p.border, p.flats, p.images = map[[2]int]int{}, map[*value]*value{}, map[*value]*value{}
	wanted := map[*value]bool{} // values that are needed as images
	users := map[*value][]*node{}
	for _, n := range p.c.nodes {
		for _, v := range n.in {
			users[v] = append(users[v], n)
		}
		if o, ok := n.op.(*convolution); ok && boards(n.out.shape) && boards(n.in[0].shape) && o.fast() {
			wanted[n.in[0]] = true
			d := n.in[0].shape.dims
			at := [2]int{d[2], d[3]}
			p.border[at] = max(p.border[at], o.top, o.left)
		}
	}
	for _, n := range p.c.nodes {
		p.arrangeNode(n, wanted[n.out], users)
	}
}

// boards reports whether arrays of a shape can be images: boards of several cells.
func boards(s shape) bool {
	return len(s.dims) == 4 && s.dims[0] == 1 && s.axis <= 0 && s.dims[2]*s.dims[3] > 1
}

// setImage gives a value the layout of an image.
func (p *planner) setImage(v *value) {
	d := v.shape.dims
	v.layout.image = kernel.Image{H: d[2], W: d[3], C: d[1], Border: p.border[[2]int{d[2], d[3]}]}
}

// arrangeNode chooses the layout of a node's result, and converts its inputs.
func (p *planner) arrangeNode(n *node, wanted bool, users map[*value][]*node) {
	can := boards(n.out.shape)
	switch op := n.op.(type) {
	case *convolution:
		if op.fast() && can && boards(n.in[0].shape) {
			p.setImage(n.out)
			for i := range n.in {
				n.in[i] = p.image(n.in[i])
			}
		} else if can && (wanted || !n.in[0].layout.flat()) {
			p.setImage(n.out)
		}
	case *unary:
		if !n.in[0].layout.flat() {
			p.setImage(n.out)
		}
	case *binary, *choose:
		image := wanted
		for _, v := range n.in {
			image = image || !v.layout.flat() && v.shape.equal(n.out.shape)
		}
		if image && can {
			p.setImage(n.out)
		}
	case *pool:
		if can && (wanted || !n.in[0].layout.flat()) {
			p.setImage(n.out)
		}
	case *move, *load:
		if wanted && can {
			p.setImage(n.out)
		}
	case *reduction:
	case *alias:
		p.arrangeAlias(n, users)
	default:
		for i := range n.in {
			n.in[i] = p.flattened(n.in[i])
		}
	}
	p.nodes = append(p.nodes, n)
}

// arrangeAlias converts an image to the order of its dimensions before they are changed. If
// only dense layers use the result, it keeps the image's order, and their weights are reordered
// instead.
func (p *planner) arrangeAlias(n *node, users map[*value][]*node) {
	v := n.in[0]
	if v.layout.flat() {
		return
	}
	size := v.shape.size()
	for _, u := range users[n.out] {
		if d, ok := u.op.(*dense); !ok || d.in != size || u.in[0] != n.out || len(u.in) > 1 {
			n.in[0] = p.flattened(v)
			return
		}
	}
	d := v.shape.dims
	for _, u := range users[n.out] {
		layer := *u.op.(*dense)
		layer.order = d[1:]
		u.op = &layer
	}
	m := &move{parts: []part{{}}}
	m.parts[0].along(d[2], 0, 2, 1)
	m.parts[0].along(d[3], 1, 3, 1)
	m.parts[0].along(d[1], 2, 1, 1)
	out := &value{name: v.name, typ: v.typ, shape: shape{[]int{d[2], d[3], d[1]}, -1, 1}}
	n.in[0] = out
	p.convert(m, v, out)
}

// convert adds a step that copies a value.
func (p *planner) convert(m *move, from, to *value) {
	to.by = &node{at: from.name, op: m, in: []*value{from}, out: to}
	p.nodes = append(p.nodes, to.by)
}

// flattened returns the value in the order of its dimensions.
func (p *planner) flattened(v *value) *value {
	if v.layout.flat() {
		return v
	}
	if p.flats[v] == nil {
		out := &value{name: v.name, typ: v.typ, shape: v.shape}
		p.convert(identity(v.shape), v, out)
		p.flats[v] = out
	}
	return p.flats[v]
}

// image returns the value as an image.
func (p *planner) image(v *value) *value {
	if !v.layout.flat() {
		return v
	}
	if p.images[v] == nil {
		out := &value{name: v.name, typ: v.typ, shape: v.shape}
		p.setImage(out)
		p.convert(identity(v.shape), v, out)
		p.images[v] = out
	}
	return p.images[v]
}
