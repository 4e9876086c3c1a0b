package featuretest_test

import (
	"fmt"
	"testing"

	"moonfarm/features/featuretest"
	"moonfarm/sim"
	"moonfarm/sim/simtest"
)

func TestToyKitConforms(t *testing.T) {
	for _, g := range []simtest.Toy{{Seats: 2, Orders: 1}, {Seats: 3, Orders: 2}, {Seats: 4, Orders: 8}} {
		t.Run(fmt.Sprintf("%d seats %d orders", g.Seats, g.Orders), func(t *testing.T) {
			fresh := func() sim.Game[simtest.ToyState] { return g }
			featuretest.Run(t, fresh, featuretest.ToyKit(g))
			featuretest.RunForms(t, fresh, featuretest.ToyKit(g))
		})
	}
}
