package featuretest

import (
	"slices"
	"testing"
)

// guard is the number of elements on either side of a slab that must stay.
const guard = 8

// written calls fill on a slab of n elements that are all poison, inside a
// larger one, and returns the slab; ok is false if elements beside it changed.
func written[E comparable](n int, poison E, fill func(dst []E)) (slab []E, ok bool) {
	all := make([]E, n+2*guard)
	for i := range all {
		all[i] = poison
	}
	slab = all[guard : guard+n : guard+n]
	fill(slab)
	clean := func(e E) bool { return e == poison }
	return slab, every(all[:guard], clean) && every(all[guard+n:], clean)
}

func every[E any](s []E, f func(E) bool) bool {
	return !slices.ContainsFunc(s, func(e E) bool { return !f(e) })
}

// same fills two slabs with different contents and returns one of them; they
// must come out equal.
func same[S any, E comparable](t *testing.T, v view[S], what string, n int, a, b E, fill func(dst []E)) []E {
	t.Helper()
	first, ok1 := written(n, a, fill)
	second, ok2 := written(n, b, fill)
	if !ok1 || !ok2 {
		t.Fatalf("seed %d turn %d seat %d: %s writes beside its slab", v.seed, v.turn, v.p, what)
	}
	for i := range first {
		if first[i] != second[i] {
			t.Fatalf("seed %d turn %d seat %d: %s leaves element %d unwritten, or it depends on what was there: %v, %v",
				v.seed, v.turn, v.p, what, i, first[i], second[i])
		}
	}
	return first
}

func (c *suite[S]) testEncode(t *testing.T) {
	e := c.kit.Encoder
	if e.Shape() != c.shape {
		t.Fatal("Shape is not constant")
	}
	before := new(S)
	c.each(t, func(v view[S]) {
		*before = *v.s
		same(t, v, "Planes", c.shape.PlaneBytes(), uint8(0x5a), 0xa5, func(dst []uint8) { e.Planes(dst, v.s, v.p) })
		same(t, v, "Packed", c.shape.Words, uint64(0x5a5a5a5a5a5a5a5a), 0xa5a5a5a5a5a5a5a5,
			func(dst []uint64) { e.Packed(dst, v.s, v.p) })
		for i, x := range same(t, v, "Scalars", c.shape.Scalars, float32(-12345.5), 54321.5,
			func(dst []float32) { e.Scalars(dst, v.s, v.p) }) {
			if x-x != 0 { // NaN or infinite
				t.Errorf("seed %d turn %d seat %d: scalar %d is %v", v.seed, v.turn, v.p, i, x)
			}
		}
		checkUnchanged(t, v, before, "the encoder")
	})
}
