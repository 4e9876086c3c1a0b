package towerdefence

import (
	"strings"

	"moonfarm/features"
	"moonfarm/sim"
	td "moonfarm/sim/towerdefence"
)

// describe says what an order does. Its cell is one of the map, as in scene.
func describe(o sim.Order, seat sim.Player) features.Command {
	c := td.Decode(o)
	placed := features.Command{Placed: true, X: column(seat&1, c.Y*td.Width+c.X), Y: float32(c.Y)}
	switch {
	case o&td.Aborted != 0:
		return features.Command{Kind: "abort"}
	case c.Op == td.OpNothing && c.Failures > 0:
		return features.Command{Kind: "unreadable"}
	case c.Op == td.OpNothing:
		return features.Command{}
	case c.Op == td.OpCurtain:
		return features.Command{Kind: "curtain"}
	case c.Op == td.OpRefused:
		return features.Command{Kind: "refused"}
	case c.Op == td.OpDeconstruct:
		placed.Kind = "deconstruct"
	default:
		placed.Kind = strings.ToLower(td.Kind(c.Op - 1).String())
	}
	return placed
}
