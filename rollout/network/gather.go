package network

import (
	"slices"

	"moonfarm/rollout/network/internal/kernel"
)

func readGather(k *call) []*value {
	v, index := k.arg(0), k.arg(1)
	a := k.axis(int64(k.integer("axis", 0)), len(v.shape.dims))
	own := index.ownRow(v.shape, a, -1)
	if !own {
		k.rows(v.shape, a)
		if index.perRow != nil {
			k.fail("expected indices of elements within a row, found numbers counted from the first row of the batch")
		}
	}
	s := k.gathered(v.shape, index.shape, a)
	if !index.constant || own {
		return one(k.emit(newLookup(v.shape, a, index.shape.size()), v.typ, s, v, index))
	}
	k.must(k.compiler.spend(64 * len(index.whole)))
	if len(index.whole) >= manyPicks && !v.constant {
		if op := newPick(v.shape, a, k.wholes(1, "indices")); op != nil {
			return one(k.emit(op, v.typ, s, v))
		}
	}
	m, in, inside := &move{}, len(index.shape.dims), steps(index.shape.dims)
	for i, w := range k.wholes(1, "indices") {
		at := k.axis(w.n, v.shape.dims[a])
		if w.batch {
			k.fail("indices: expected numbers that are the same for any batch, found %v", w)
		}
		p := part{}
		p.start[a] = at
		for d, size := range v.shape.dims {
			switch {
			case d < a:
				p.along(size, d, d, 1)
			case d > a:
				p.along(size, d-1+in, d, 1)
			}
		}
		for d := range in {
			p.to[a+d] = i / inside[d] % index.shape.dims[d]
		}
		m.parts = append(m.parts, p)
	}
	return one(k.move(m, v.typ, s, v))
}

// manyPicks is the number of constant indices from which on they are a list, not parts of a move: a network that reads
// some 2,400 numbers of its boards spent half of its time in as many copies of one number.
const manyPicks = 16

// pick selects along an axis of an array by constant indices.
type pick struct {
	lanes
	indices []int32
}

// newPick makes a pick, nil for indices that are out of range or count rows of the batch.
func newPick(s shape, axis int, indices []whole) *pick {
	p := &pick{lanes: s.along(axis)}
	for _, w := range indices {
		at := w.n
		if at < 0 {
			at += int64(p.n)
		}
		if w.batch || at < 0 || at >= int64(p.n) {
			return nil
		}
		p.indices = append(p.indices, int32(at))
	}
	return p
}

func (p *pick) row(dst []float32, in inputRows, _ []float32) {
	for o := range p.outer {
		d, s := dst[o*len(p.indices)*p.inner:][:len(p.indices)*p.inner], in[0][o*p.n*p.inner:][:p.n*p.inner]
		if p.inner == 1 {
			for i, at := range p.indices {
				d[i] = s[at]
			}
			continue
		}
		for i, at := range p.indices {
			copy(d[i*p.inner:(i+1)*p.inner], s[int(at)*p.inner:])
		}
	}
}

// gathered returns the shape of the elements that indices select along axis a of an array.
func (k *call) gathered(s, index shape, a int) shape {
	out := constantShape(slices.Concat(s.dims[:a], index.dims, s.dims[a+1:])...)
	switch {
	case s.axis == a && index.axis >= 0: // each row selects elements of its own
		out.axis, out.outer = index.axis+a, index.outer
		return out
	case s.axis >= 0:
		out.axis, out.outer = s.axis, s.outer
		if s.axis > a {
			out.axis += len(index.dims) - 1
		}
	case index.axis >= 0:
		out.axis, out.outer = index.axis+a, index.outer
	}
	k.must(out.check())
	k.refuse(s.axis >= 0 && index.axis >= 0, "expected the batch in one of the two arrays, found it in both")
	return out
}

// readGatherElements reads a GatherElements: as in torch.gather, each element of the result
// has its own index.
func readGatherElements(k *call) []*value {
	v, index := k.arg(0), k.arg(1)
	return one(k.emit(&elementLookup{axis: k.elementAxis(v, index)}, v.typ, index.shape, v, index))
}

// elementAxis returns the axis of a GatherElements or ScatterElements, after it has checked the indices.
func (k *call) elementAxis(v, index *value) int {
	d, e := v.shape.dims, index.shape.dims
	a := k.axis(int64(k.integer("axis", 0)), len(d))
	k.rows(v.shape, a)
	if index.perRow != nil {
		k.fail("expected indices of elements within a row, found numbers counted from the first row of the batch")
	}
	if len(e) != len(d) || index.shape.axis != v.shape.axis || index.shape.outer != v.shape.outer {
		k.fail("expected indices with the dimensions and the batch of the array %v, found %v", v.shape, index.shape)
	}
	for i := range d {
		if i != a && (e[i] > d[i] || i == v.shape.axis && e[i] < d[i]) {
			k.fail("expected indices for at most the array %v in all axes but %d, found %v", v.shape, a, index.shape)
		}
	}
	return a
}

// readGatherND reads a GatherND: the last dimension of the indices has coordinates in the array.
func readGatherND(k *call) []*value {
	v, index, b := k.arg(0), k.arg(1), k.integer("batch_dims", 0)
	s, m, count := k.coordinates(v, index, b)
	if m == 1 {
		op := newLookup(v.shape, b, count)
		op.each = op.indices
		return one(k.emit(op, v.typ, s, v, index))
	}
	return one(k.emit(&pointLookup{newPoints(v.shape.dims[b:], m, count), product(v.shape.dims[:b])}, v.typ, s, v, index))
}

// coordinates checks the indices of a GatherND or ScatterND, whose last dimension has m coordinates in the array behind its
// first b dimensions, and returns the shape of the elements, and the number of points for each place in the first dimensions.
func (k *call) coordinates(v, index *value, b int) (s shape, m, count int) {
	d, e := v.shape.dims, index.shape.dims
	q := len(e) - 1
	if q < 0 || b < 0 || b > q || b+e[max(q, 0)] > len(d) || index.shape.axis == q && q >= 0 {
		k.fail("expected an array and indices with coordinates in their last dimension, found %v and %v", v.shape, index.shape)
	}
	m = e[q]
	for i := range b {
		if d[i] != e[i] {
			k.fail("expected indices with the first %d dimensions of the array %v, found %v", b, v.shape, index.shape)
		}
	}
	s = shape{dims: slices.Concat(e[:q], d[b+m:]), axis: index.shape.axis, outer: index.shape.outer}
	switch axis := v.shape.axis; {
	case axis < 0 || axis < b && axis == index.shape.axis && v.shape.outer == index.shape.outer:
		k.sameRows(index, m, -1)
	case axis >= b && axis < b+m && index.ownRow(v.shape, axis, axis-b):
		k.sameRows(index, m, axis-b)
	case axis >= b+m && index.shape.axis < 0:
		s.axis, s.outer = q+axis-b-m, v.shape.outer
	default:
		k.fail("expected indices of elements within a row of the batch, found %v for the array %v", index.shape, v.shape)
	}
	return s, m, product(e[b:q])
}

// sameRows fails if one of m coordinates, other than that at index `but`, counts from the first row of the batch.
func (k *call) sameRows(index *value, m, but int) {
	for i := range m {
		if i != but && index.grows(i) != 0 {
			k.fail("expected indices of elements within a row, found numbers counted from the first row of the batch")
		}
	}
}

// lookup selects along an axis of an array by computed indices, as an embedding does.
// Indices out of range count as the nearest valid index.
type lookup struct {
	lanes
	indices int // number of indices
	each    int // step of the indices from one place before the axis to the next; 0: all have the same
}

func newLookup(s shape, axis, indices int) *lookup {
	return &lookup{lanes: s.along(axis), indices: indices}
}

func (l *lookup) row(dst []float32, in inputRows, _ []float32) {
	for o := range l.outer {
		d, s, at := dst[o*l.indices*l.inner:], in[0][o*l.n*l.inner:][:l.n*l.inner], in[1][o*l.each:][:l.indices]
		switch l.inner {
		case 1:
			lookupBlocks(d, s, at)
			continue
		case 4: // codes of cells: with a call of copy it takes 1.4 times as long
			lookupBlocks(kernel.Fours(d), kernel.Fours(s), at)
			continue
		}
		for i, x := range at {
			copy(d[i*l.inner:(i+1)*l.inner], s[nearest(x, l.n)*l.inner:])
		}
	}
}

// lookupBlocks selects blocks of a fixed size. It is a function of its own, as its variables then stay in registers.
func lookupBlocks[T any](dst, src []T, index []float32) {
	dst = dst[:len(index)]
	for i, x := range index {
		dst[i] = src[nearest(x, len(src))]
	}
}

// points are the elements, or blocks of adjacent elements, that lists of coordinates select from an array.
type points struct {
	dims, steps []int // of the array, in the dimensions of the coordinates
	inner       int   // elements of a block
	count       int   // number of points
	size        int   // elements of the array
}

// newPoints makes the points of m coordinates each in an array of these dimensions.
func newPoints(dims []int, m, count int) points {
	return points{dims[:m], steps(dims)[:m], product(dims[m:]), count, product(dims)}
}

// nearest returns the start of the block for the coordinates; those out of range count as the
// nearest valid ones.
func (p *points) nearest(coordinates []float32) int {
	at := 0
	for i, x := range coordinates[:len(p.dims)] {
		at += nearest(x, p.dims[i]) * p.steps[i]
	}
	return at
}

// exact returns the start of the block for the coordinates, false if one is out of range.
func (p *points) exact(coordinates []float32) (at int, ok bool) {
	for i, x := range coordinates[:len(p.dims)] {
		n, ok := position(x, p.dims[i])
		if !ok {
			return 0, false
		}
		at += n * p.steps[i]
	}
	return at, true
}

// pointLookup selects elements or blocks by computed coordinates, separately in each of the arrays
// of a stack.
type pointLookup struct {
	points
	stack int
}

func (p *pointLookup) row(dst []float32, in inputRows, _ []float32) {
	m := len(p.dims)
	for s := range p.stack {
		from := in[0][s*p.size:][:p.size]
		for i := s * p.count; i < (s+1)*p.count; i++ {
			copy(dst[i*p.inner:(i+1)*p.inner], from[p.nearest(in[1][i*m:]):])
		}
	}
}

// nearest returns the index from 0 to count−1 that is nearest to a computed one; negative
// indices count from the end.
func nearest(x float32, count int) int {
	if x >= 0 && x < float32(count) {
		return int(x)
	}
	if x < 0 {
		x += float32(count)
	}
	if x > 0 { // false for NaN, which gives 0
		return int(min(x, float32(count-1)))
	}
	return 0
}

// position returns the index from 0 to count−1 for a computed one, false if it is out of range; negative
// indices count from the end.
func position(x float32, count int) (int, bool) {
	if x < 0 {
		x += float32(count)
	}
	if x >= 0 && x < float32(count) {
		return int(x), true
	}
	return 0, false
}

// elementLookup selects one element of an array for each element of the indices: its
// coordinates are those of the index, except along one axis, where the index counts. Indices
// out of range count as the nearest valid index.
type elementLookup struct{ axis int }

func (g *elementLookup) lower(_ *planner, n *node) task {
	return rows(n, &elementLookupLoop{newElementLoop(n, g.axis)})
}

// elementLoop is a loop over an array of indices that count along an axis of another array.
type elementLoop struct {
	count, step int // of the axis
	loop            // over the indices, with the element of the other array for index 0
}

// newElementLoop makes the loop over the indices, input 1 of a node, for input 0.
func newElementLoop(n *node, axis int) elementLoop {
	d, e := n.in[0].shape.dims, n.in[1].shape.dims
	from := steps(d)
	l := elementLoop{count: d[axis], step: from[axis]}
	from[axis] = 0
	l.loop = newLoop(e, false, steps(e), from)
	return l
}

// simplify makes a lookup of whole blocks of the node if its indices are repeated along the blocks, as in
// x.gather(1, i[:, :, None].expand(-1, -1, channels)), and drops the repetition.
func (g *elementLookup) simplify(n *node) {
	by := n.in[1].by
	if by == nil {
		return
	}
	m, ok := by.op.(*move)
	if !ok || !m.expands {
		return
	}
	d, e := n.in[0].shape.dims, n.in[1].shape.dims
	own, shared := true, true // each place before the axis has its own indices, or all have the same
	for i, a := range m.parts[0].axes {
		repeated := a.step == 0
		switch {
		case i != g.axis && e[i] != d[i], i == g.axis && repeated && e[i] > 1, i > g.axis && !repeated && e[i] > 1:
			return
		case i < g.axis && e[i] > 1:
			own, shared = own && !repeated, shared && repeated
		}
	}
	op := newLookup(n.in[0].shape, g.axis, e[g.axis])
	switch {
	case own:
		op.each = op.indices
	case !shared:
		return
	}
	n.op, n.in = op, []*value{n.in[0], by.in[0]}
}

type elementLookupLoop struct{ elementLoop }

func (e *elementLookupLoop) row(dst []float32, in inputRows, _ []float32) {
	l := &e.loop
	c := cursor{at: l.start}
	for range l.runs() {
		d, n := dst[c.at[0]:][:l.size[0]], in[1][c.at[0]:][:l.size[0]]
		if from := in[0][c.at[1]:]; l.step[1][0] == 0 && e.step == 1 {
			lookupBlocks(d, from[:e.count], n)
		} else {
			for i, x := range n {
				d[i] = from[i*l.step[1][0]+nearest(x, e.count)*e.step]
			}
		}
		c.next(l)
	}
}
