package tron

import (
	"moonfarm/features"
	"moonfarm/sim"
	"moonfarm/sim/tron"
)

// describe says what an order does. Its place depends on the cycle.
func describe(o sim.Order, _ sim.Player) features.Command {
	switch o {
	case tron.TurnLeft:
		return features.Command{Kind: "left"}
	case tron.TurnRight:
		return features.Command{Kind: "right"}
	}
	return features.Command{Kind: "straight"}
}
