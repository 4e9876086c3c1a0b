package featuretest

import (
	"fmt"
	"slices"
	"testing"

	"moonfarm/features"
	"moonfarm/sim"
)

// guard is the number of elements on either side of a slab that must not
// change.
const guard = 8

// written calls fill with a slab of n poison elements inside a larger one, and
// returns the slab. ok is false if elements outside of the slab changed.
func written[E comparable](n int, poison E, fill func(dst []E)) (slab []E, ok bool) {
	all := make([]E, n+2*guard)
	for i := range all {
		all[i] = poison
	}
	slab = all[guard : guard+n : guard+n]
	fill(slab)
	changed := func(e E) bool { return e != poison }
	return slab, !slices.ContainsFunc(all[:guard], changed) && !slices.ContainsFunc(all[guard+n:], changed)
}

// same fills two slabs with different previous contents, which must come out
// equal, and returns one of them.
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

// testUnpack unpacks the words by the layout that programs in other languages
// read, and compares the planes.
func (c *suite[S]) testUnpack(t *testing.T) {
	z, e := c.shape, c.kit.Encoder
	if z.Words == 0 {
		t.Skip("there is no packed form")
	}
	layout := e.Description().PackedLayout
	if layout == nil {
		t.Fatalf("%d packed words, but Description.PackedLayout does not say where the planes are", z.Words)
	}
	u, err := features.NewUnpacker(z, layout)
	if err != nil {
		t.Fatal(err)
	}
	c.each(t, func(v view[S]) {
		what := fmt.Sprintf("seed %d turn %d seat %d, unpacked", v.seed, v.turn, v.p)
		SamePlanes(t, e, what, Unpacked(t, e, v.s, v.p), Planes(e, v.s, v.p))
	})
	planes, packed := make([]uint8, z.PlaneBytes()), make([]uint64, z.Words)
	if n := testing.AllocsPerRun(1, func() { u.Unpack(planes, packed) }); n != 0 {
		t.Errorf("Unpack allocates %g times", n)
	}
}

// testAll compares All of a BatchEncoder with its calls for each seat, for
// every choice of slabs.
func (c *suite[S]) testAll(t *testing.T) {
	e, ok := c.kit.Encoder.(features.BatchEncoder[S])
	if !ok {
		t.Skip("the encoder shares no work between seats")
	}
	z, n := c.shape, c.info.Players
	c.each(t, func(v view[S]) {
		if v.p != 0 {
			return
		}
		var want features.Rows
		for p := range n {
			one := newRows(z)
			observe[S](e, one, v.s, sim.Player(p))
			want.Planes = append(want.Planes, one.Planes...)
			want.Packed = append(want.Packed, one.Packed...)
			want.Scalars = append(want.Scalars, one.Scalars...)
		}
		for slabs := range 8 {
			var got features.Rows
			if slabs&1 != 0 {
				got.Planes = slices.Repeat([]uint8{0x5a}, n*z.PlaneBytes())
			}
			if slabs&2 != 0 {
				got.Packed = slices.Repeat([]uint64{0x5a5a}, n*z.Words)
			}
			if slabs&4 != 0 {
				got.Scalars = slices.Repeat([]float32{-12345.5}, n*z.Scalars)
			}
			e.All(&got, v.s)
			if got.Planes != nil && !slices.Equal(got.Planes, want.Planes) ||
				got.Packed != nil && !slices.Equal(got.Packed, want.Packed) ||
				got.Scalars != nil && !slices.Equal(got.Scalars, want.Scalars) {
				t.Fatalf("seed %d turn %d slabs %03b: All differs from the calls for each seat", v.seed, v.turn, slabs)
			}
		}
		if n := testing.AllocsPerRun(1, func() { e.All(&want, v.s) }); n != 0 {
			t.Errorf("All allocates %g times", n)
		}
	})
}
