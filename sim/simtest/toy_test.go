package simtest_test

import (
	"fmt"
	"testing"

	"moonfarm/sim"
	"moonfarm/sim/simtest"
)

func TestToyConforms(t *testing.T) {
	for _, g := range []simtest.Toy{{Seats: 2, Orders: 1}, {Seats: 3, Orders: 2}, {Seats: 4, Orders: 8}} {
		t.Run(fmt.Sprintf("%d seats %d orders", g.Seats, g.Orders), func(t *testing.T) {
			simtest.Run(t, func() sim.Game[simtest.ToyState] { return g },
				simtest.Options[simtest.ToyState]{Mirror: g.Mirror})
		})
	}
}
