package featuretest

import (
	"fmt"
	"testing"

	"moonfarm/features"
)

// testLengths calls every method with a slab that is one element too short.
func (c *suite[S]) testLengths(t *testing.T) {
	s, z := new(S), c.shape
	c.game.Reset(s, 1)
	e, a := c.kit.Encoder, c.kit.Actions
	for _, m := range []struct {
		slab string
		want int
		call func(n int)
	}{
		{"planes", z.PlaneBytes(), func(n int) { e.Planes(make([]uint8, n), s, 0) }},
		{"packed", z.Words, func(n int) { e.Packed(make([]uint64, n), s, 0) }},
		{"scalars", z.Scalars, func(n int) { e.Scalars(make([]float32, n), s, 0) }},
		{"mask", features.MaskWords(c.heads), func(n int) { a.Mask(make([]uint64, n), s, 0) }},
		{"action", len(c.heads), func(n int) { a.AppendOrders(nil, make([]int32, n), s, 0) }},
		{"action", len(c.heads), func(n int) { a.Action(make([]int32, n), nil, s, 0) }},
	} {
		if m.want == 0 {
			continue
		}
		m.call(m.want)
		want := fmt.Sprintf("features: slab %s has length %d, expected %d", m.slab, m.want-1, m.want)
		func() {
			defer func() {
				if fault := recover(); fault != want {
					t.Errorf("panic %v, want %s", fault, want)
				}
			}()
			m.call(m.want - 1)
		}()
	}
}
