package network

import (
	"fmt"
	"slices"

	"moonfarm/rollout/network/internal/kernel"
)

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
