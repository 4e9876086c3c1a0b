package network

import (
	"fmt"
	"slices"

	"moonfarm/rollout/network/internal/kernel"
)

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

// slot is a part of a runner's memory, which several values use in turn. A slot of
// images holds only images of one geometry, so that their borders stay 0.
type slot struct {
	size  int // floats of a row
	whole bool
	image kernel.Image
	free  bool
	stage int // the last stage in which a value of all rows used it
}

// step is one task of a plan. Steps of one stage run block by block; a heavy step runs
// over all rows at once.
type step struct {
	node  *node
	stage int
	task  task
}

// maxRow bounds the memory of a row, in floats.
const maxRow = 1 << 26

// root returns the value whose memory a value uses: for an alias its source, else itself.
func root(v *value) *value {
	for v.by != nil {
		if _, ok := v.by.op.(*alias); !ok {
			break
		}
		v = v.by.in[0]
	}
	return v
}

// stages orders the nodes by stages: heavy dense layers, which read their weights
// once for all rows, have stages of their own, with odd numbers.
func (p *planner) stages() []step {
	stage := map[*value]int{}
	var all []step
	for _, n := range p.nodes {
		s := 0
		for _, v := range n.in {
			s = max(s, stage[v])
		}
		if d, ok := n.op.(*dense); ok && d.heavy(n) {
			s |= 1
			for _, v := range n.in { // an input from the same stage must be complete first
				if stage[v] == s {
					s += 2
				}
			}
		} else if s&1 == 1 {
			s++
		}
		stage[n.out] = s
		if _, ok := n.op.(*alias); !ok {
			all = append(all, step{node: n, stage: s})
		}
	}
	slices.SortStableFunc(all, func(a, b step) int { return a.stage - b.stage })
	return all
}

// life is the lifetime of a value: its last use, and whether it needs all rows in memory.
type life struct {
	last  int
	whole bool // it is used in several stages, in a heavy one, or as an output
	fixed bool // an output, whose memory no other value uses
}

// lives returns the lifetimes of all values that steps compute.
func (p *planner) lives(all []step) map[*value]*life {
	lives, born := map[*value]*life{}, map[*value]int{}
	for i, s := range all {
		lives[s.node.out] = &life{last: i, whole: s.stage&1 == 1}
		born[s.node.out] = s.stage
		for _, v := range s.node.in {
			v = root(v)
			if l := lives[v]; l != nil {
				l.last = i
				l.whole = l.whole || s.stage != born[v]
			}
		}
	}
	for _, o := range p.c.outputs {
		if l := lives[root(o)]; l != nil {
			l.whole, l.fixed = true, true
		}
	}
	return lives
}

// assign gives all values their places.
func (p *planner) assign(all []step) error {
	lives := p.lives(all)
	for i, in := range p.c.inputs {
		in.place = place{kind: placeInput, index: i, size: in.shape.size(), whole: true}
	}
	total := 0
	for i, s := range all {
		for _, v := range s.node.in {
			if v.constant {
				v.place = place{kind: placeConstant, data: v.floats}
			}
		}
		out := s.node.out
		if overwrites(s.node) {
			p.release(lives, s.node.in, i, s.stage)
		}
		if floats(out) > maxRow {
			return fmt.Errorf("%s: expected at most %d numbers of a row in memory, found boards that need more", s.node.at, maxRow)
		}
		out.place = p.take(out, lives[out], s.stage)
		if !overwrites(s.node) {
			p.release(lives, s.node.in, i, s.stage)
		}
		if lives[out].last == i && !lives[out].fixed {
			p.slots[out.place.index].free = true
			p.slots[out.place.index].stage = s.stage
		}
	}
	for _, s := range p.slots {
		if total += s.size; total > maxRow {
			return fmt.Errorf("expected at most %d numbers of a row in memory, found a network that needs more", maxRow)
		}
	}
	for _, n := range p.nodes {
		if _, ok := n.op.(*alias); ok {
			v := root(n.out)
			n.out.place = v.place
		}
	}
	return nil
}

// overwrites reports whether a node may write its result over an input of the same
// layout: it does not read an element again after it has written there.
func overwrites(n *node) bool {
	switch n.op.(type) {
	case *unary:
		return true
	case *binary, *choose:
		for _, v := range n.in {
			if !v.constant && (!v.shape.equal(n.out.shape) || v.layout != n.out.layout) {
				return false
			}
		}
		return true
	}
	return false
}

// release frees the slots of values whose last use is step i. A slot of all rows is free
// only from the next stage on, since later blocks still need their rows.
func (p *planner) release(lives map[*value]*life, in []*value, i, stage int) {
	for _, v := range in {
		v = root(v)
		if l := lives[v]; l != nil && l.last == i && !l.fixed {
			s := &p.slots[v.place.index]
			s.free, s.stage = true, stage
		}
	}
}

// floats returns the number of floats of a row of a value in memory.
func floats(v *value) int64 {
	if v.layout.flat() {
		return int64(v.shape.size())
	}
	g := v.layout.image
	return int64(g.H+2*g.Border) * int64(g.W+2*g.Border) * int64(g.Stride())
}

// take returns a free slot for a value: the smallest one that is large enough, else
// the largest one if it may grow, as slots of images may not. If none is free, it adds a slot.
func (p *planner) take(v *value, l *life, stage int) place {
	size := int(floats(v))
	best := -1
	for i, s := range p.slots {
		if l.fixed || !s.free || s.whole != l.whole || s.whole && s.stage >= stage || s.image != v.layout.image || s.size < size && !v.layout.flat() {
			continue
		}
		if best < 0 || better(s.size, p.slots[best].size, size) {
			best = i
		}
	}
	if best < 0 {
		best = len(p.slots)
		p.slots = append(p.slots, slot{whole: l.whole, image: v.layout.image})
	}
	s := &p.slots[best]
	s.size, s.free = max(s.size, size), false
	return place{kind: placeSlot, index: best, size: size, whole: l.whole}
}

// better reports whether a slot with a floats suits a value of size floats better than a slot with
// b floats.
func better(a, b, size int) bool {
	if a >= size && b >= size {
		return a < b
	}
	return a > b
}
