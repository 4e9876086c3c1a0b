package terminal

import (
	"moonfarm/features"
	"moonfarm/sim"
	tm "moonfarm/sim/terminal"
)

// describe says what an order does.
func describe(o sim.Order, _ sim.Player) features.Command {
	c := tm.Decode(o)
	d := features.Command{Placed: true, X: float32(c.X), Y: float32(c.Y)}
	switch c.Op {
	case tm.OpPlace:
		d.Kind = c.Kind.String()
	case tm.OpSpawn:
		d.Kind, d.Number = c.Kind.String(), int(c.Count)
	case tm.OpUpgrade:
		d.Kind = "upgrade"
	case tm.OpRemove:
		d.Kind = "remove"
	default: // the clock and penalties are the referee's
		return features.Command{}
	}
	return d
}
