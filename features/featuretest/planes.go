package featuretest

import (
	"slices"
	"testing"

	"moonfarm/features"
	"moonfarm/sim"
)

// Planes returns the planes that seat p sees.
func Planes[S any](e features.Encoder[S], s *S, p sim.Player) []uint8 {
	planes := make([]uint8, e.Shape().PlaneBytes())
	e.Planes(planes, s, p)
	return planes
}

// newRows returns memory for one observation.
func newRows(z features.Shape) features.Rows {
	return features.Rows{Planes: make([]uint8, z.PlaneBytes()), Packed: make([]uint64, z.Words), Scalars: make([]float32, z.Scalars)}
}

// observe writes what seat p sees.
func observe[S any](e features.Encoder[S], dst features.Rows, s *S, p sim.Player) {
	e.Planes(dst.Planes, s, p)
	e.Packed(dst.Packed, s, p)
	e.Scalars(dst.Scalars, s, p)
}

// sameRows reports whether two observations are equal.
func sameRows(a, b features.Rows) bool {
	return slices.Equal(a.Planes, b.Planes) && slices.Equal(a.Packed, b.Packed) && slices.Equal(a.Scalars, b.Scalars)
}

// Unpacked returns the planes that the layout unpacks from seat p's packed
// words.
func Unpacked[S any](t testing.TB, e features.Encoder[S], s *S, p sim.Player) []uint8 {
	t.Helper()
	u, err := features.NewUnpacker(e.Shape(), e.Description().PackedLayout)
	if err != nil {
		t.Fatal(err)
	}
	packed, planes := make([]uint64, e.Shape().Words), slices.Repeat([]uint8{0x5a}, e.Shape().PlaneBytes())
	e.Packed(packed, s, p)
	u.Unpack(planes, packed)
	return planes
}

// SamePlanes compares planes with the wanted ones. what names the planes in
// messages.
func SamePlanes[S any](t testing.TB, e features.Encoder[S], what string, got, want []uint8) {
	t.Helper()
	z := e.Shape()
	for i, v := range want {
		if got[i] != v {
			cell := i % (z.Height * z.Width)
			t.Fatalf("%s: plane %s row %d column %d is %d, want %d",
				what, e.Description().Planes[i/(z.Height*z.Width)].Name, cell/z.Width, cell%z.Width, got[i], v)
		}
	}
}
