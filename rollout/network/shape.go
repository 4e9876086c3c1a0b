package network

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Limits of the arrays of a model.
const (
	maxRank  = 8
	maxArray = 1 << 24 // elements of a row of an array
)

// shape is the shape of an array for a batch of one row. Memory holds the rows one
// after the other, whichever dimension of the network's array is the batch. That
// dimension may be larger than the batch: an array [cells, batch·heads, n] has
// dims [cells, heads, n], axis 1 and outer 1; an array [cells·batch, n] has dims
// [cells, n], axis 0 and outer = cells.
type shape struct {
	dims  []int
	axis  int // the dimension that holds the batch, −1: no dimension does
	outer int // the factor of dims[axis] that varies more slowly than the batch
}

// constantShape returns the shape of an array without a batch.
func constantShape(dims ...int) shape { return shape{dims: dims, axis: -1, outer: 1} }

// size returns the number of elements of a row.
func (s shape) size() int { return product(s.dims) }

func product(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}

// check refuses shapes that are empty or exceed the limits.
func (s shape) check() error {
	if len(s.dims) > maxRank {
		return fmt.Errorf("expected at most %d dimensions, found %d", maxRank, len(s.dims))
	}
	n := 1
	for _, d := range s.dims {
		if d < 1 || d > maxArray/n {
			return fmt.Errorf("expected an array of 1 to %d elements, found %v", maxArray, s)
		}
		n *= d
	}
	return nil
}

// String returns the shape of the network's array: [batch, 16, 9, 8].
func (s shape) String() string {
	texts := make([]string, len(s.dims))
	for i, d := range s.dims {
		texts[i] = strconv.Itoa(d)
		if i == s.axis {
			texts[i] = whole{int64(d), true}.String()
		}
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

// before returns the product of the dimensions of a row that vary more slowly than the
// batch.
func (s shape) before() int { return product(s.dims[:s.axis]) * s.outer }

// equal reports whether two shapes are the same.
func (s shape) equal(t shape) bool { return s.axis == t.axis && slices.Equal(s.dims, t.dims) }

// reshaped returns the shape with other dimensions for the same elements. Dimension axis
// holds the batch; with −1 neither shape has a batch.
func (s shape) reshaped(dims []int, axis int) (shape, error) {
	t := shape{dims: dims, axis: axis, outer: 1}
	if err := t.check(); err != nil {
		return t, err
	}
	if t.size() != s.size() || (s.axis < 0) != (axis < 0) {
		return t, fmt.Errorf("expected a shape of as many elements as %v, found %v", s, t)
	}
	if axis >= 0 {
		outside := product(dims[:axis])
		t.outer = s.before() / outside
		if s.before()%outside != 0 || t.outer == 0 || dims[axis]%t.outer != 0 {
			return t, fmt.Errorf("expected a shape that keeps the rows of the batch apart, found %v made %v", s, t)
		}
	}
	return t, nil
}

// steps returns the distance between neighbours in each dimension of a contiguous array.
func steps(dims []int) []int {
	all := make([]int, len(dims))
	n := 1
	for i := len(dims) - 1; i >= 0; i-- {
		all[i] = n
		n *= dims[i]
	}
	return all
}

// broadcast returns the common shape of two arrays, by the rules of NumPy.
func broadcast(a, b shape) (shape, error) {
	wrong := fmt.Errorf("expected compatible shapes, found %v and %v", a, b)
	n := max(len(a.dims), len(b.dims))
	out := shape{dims: make([]int, n), axis: -1, outer: 1}
	for i := range n {
		da, batchA := a.fromEnd(n - 1 - i)
		db, batchB := b.fromEnd(n - 1 - i)
		switch {
		case da == db && batchA == batchB:
		case da == 1 && !batchA:
		case db == 1 && !batchB:
		default:
			return out, wrong
		}
		out.dims[i] = max(da, db)
		if !batchA && !batchB {
			continue
		}
		if out.axis >= 0 {
			return out, wrong
		}
		out.axis, out.outer = i, a.outer
		if !batchA {
			out.outer = b.outer
		} else if batchB && a.outer != b.outer {
			return out, wrong
		}
	}
	return out, out.check()
}

// fromEnd returns the size of the i-th dimension before the last one, 1 if there is no such
// dimension, and whether it holds the batch.
func (s shape) fromEnd(i int) (size int, batch bool) {
	at := len(s.dims) - 1 - i
	if at < 0 {
		return 1, false
	}
	return s.dims[at], at == s.axis
}

// without returns the shape without some dimensions, which may not hold the batch; with keep
// they get size 1 instead.
func (s shape) without(axes []int, keep bool) shape {
	out := shape{axis: -1, outer: s.outer}
	for i, d := range s.dims {
		gone := slices.Contains(axes, i)
		if gone && !keep {
			continue
		}
		if i == s.axis {
			out.axis = len(out.dims)
		}
		if gone {
			d = 1
		}
		out.dims = append(out.dims, d)
	}
	return out
}

// sized returns the shape with another size of dimension i.
func (s shape) sized(i, size int) shape {
	s.dims = slices.Clone(s.dims)
	s.dims[i] = size
	return s
}

// spread returns the steps of an array of dims that is broadcast to larger dimensions.
func spread(steps, dims, to []int) []int {
	out := make([]int, len(to))
	for i := range dims {
		at := len(to) - len(dims) + i
		if dims[i] == to[at] {
			out[at] = steps[i]
		}
	}
	return out
}
