package network

import (
	"errors"
	"slices"
)

var errBatchTwice = errors.New("expected the batch in one of the two arrays, found it in both")

func readGather(k *call) []*value {
	v, index := k.arg(0), k.arg(1)
	a := k.axis(int64(k.integer("axis", 0)), len(v.shape.dims))
	if k.err != nil {
		return one(v)
	}
	k.rows(v.shape, a)
	s, err := gathered(v.shape, index.shape, a)
	if err != nil {
		k.fail("%w", err)
		return one(v)
	}
	if !index.constant {
		return one(k.emit(&lookup{axis: a}, v.typ, s, v, index))
	}
	if err := k.compiler.spend(64 * len(index.whole)); err != nil {
		k.fail("%w", err)
		return one(v)
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

// gathered returns the shape of the elements that indices select along axis a of an array.
func gathered(s, index shape, a int) (shape, error) {
	out := shape{axis: -1, outer: 1}
	out.dims = slices.Concat(s.dims[:a], index.dims, s.dims[a+1:])
	switch {
	case s.axis >= 0:
		out.axis, out.outer = s.axis, s.outer
		if s.axis > a {
			out.axis += len(index.dims) - 1
		}
	case index.axis >= 0:
		out.axis, out.outer = index.axis+a, index.outer
	}
	if err := out.check(); err != nil {
		return out, err
	}
	if s.axis >= 0 && index.axis >= 0 {
		return out, errBatchTwice
	}
	return out, nil
}

// readGatherElements reads a GatherElements: as in torch.gather, each element of the result
// has its own index.
func readGatherElements(k *call) []*value {
	v, index := k.arg(0), k.arg(1)
	d, e := v.shape.dims, index.shape.dims
	a := k.axis(int64(k.integer("axis", 0)), len(d))
	k.rows(v.shape, a)
	if len(e) != len(d) || index.shape.axis != v.shape.axis || index.shape.outer != v.shape.outer {
		k.fail("expected indices with the dimensions and the batch of the array %v, found %v", v.shape, index.shape)
	}
	for i := range d {
		if k.err == nil && i != a && (e[i] > d[i] || i == v.shape.axis && e[i] < d[i]) {
			k.fail("expected indices for at most the array %v in all axes but %d, found %v", v.shape, a, index.shape)
		}
	}
	if k.err != nil {
		return one(v)
	}
	return one(k.emit(&elementLookup{axis: a}, v.typ, index.shape, v, index))
}

// lookup selects along an axis of an array by computed indices, as an embedding does.
// Indices out of range count as the nearest valid index.
type lookup struct{ axis int }

func (*lookup) work(*node) int64 { return 0 }

func (g *lookup) lower(p *planner, n *node) (task, error) {
	dims := n.in[0].shape.dims
	return &lookupTask{
		dst: p.flat(n.out), src: p.flat(n.in[0]), index: p.flat(n.in[1]),
		outer: product(dims[:g.axis]), count: dims[g.axis], inner: product(dims[g.axis+1:]), indices: n.in[1].shape.size(),
	}, nil
}

type lookupTask struct {
	dst, src, index              place
	outer, count, inner, indices int
}

func (t *lookupTask) run(r *Runner, rows int) {
	for row := range rows {
		dst, src, index := r.row(&t.dst, row), r.row(&t.src, row), r.row(&t.index, row)
		for o := range t.outer {
			for i, x := range index[:t.indices] {
				copy(dst[(o*t.indices+i)*t.inner:][:t.inner], src[(o*t.count+nearest(x, t.count))*t.inner:])
			}
		}
	}
}

// nearest returns the index from 0 to count−1 that is nearest to a computed one; negative
// indices count from the end.
func nearest(x float32, count int) int {
	if x < 0 {
		x += float32(count)
	}
	if x > 0 { // false for NaN, which gives 0
		return int(min(x, float32(count-1)))
	}
	return 0
}

// elementLookup selects one element of an array for each element of the indices: its
// coordinates are those of the index, except along one axis, where the index counts. Indices
// out of range count as the nearest valid index.
type elementLookup struct{ axis int }

func (*elementLookup) work(*node) int64 { return 0 }

func (g *elementLookup) lower(p *planner, n *node) (task, error) {
	d, e := n.in[0].shape.dims, n.in[1].shape.dims
	from := steps(d)
	t := &elementLookupTask{dst: p.flat(n.out), src: p.flat(n.in[0]), index: p.flat(n.in[1]), count: d[g.axis], step: from[g.axis]}
	from[g.axis] = 0
	t.loop = newLoop(e, false, steps(e), from)
	return t, nil
}

type elementLookupTask struct {
	dst, src, index place
	count, step     int  // of the axis
	loop            loop // over the result, with the element of src for index 0
}

func (t *elementLookupTask) run(r *Runner, rows int) {
	l := &t.loop
	for row := range rows {
		dst, src, index := r.row(&t.dst, row), r.row(&t.src, row), r.row(&t.index, row)
		c := cursor{at: l.start}
		for range l.runs() {
			for i, x := range index[c.at[0]:][:l.size[0]] {
				dst[c.at[0]+i] = src[c.at[1]+i*l.step[1][0]+nearest(x, t.count)*t.step]
			}
			c.next(l)
		}
	}
}
