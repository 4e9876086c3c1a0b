package codecraft

import (
	"strings"

	"moonfarm/features"
	"moonfarm/sim"
	cc "moonfarm/sim/codecraft"
)

// describe says what an order does.
func describe(o sim.Order, _ sim.Player) features.Command {
	c := cc.Decode(o)
	d := features.Command{Entity: c.ID}
	switch c.Op {
	case cc.OpStop:
		d.Kind = "stop"
	case cc.OpMove:
		d.Kind, d.Placed, d.X, d.Y = "move", true, float32(c.X), float32(c.Y)
	case cc.OpBuild:
		d.Kind, d.Placed, d.X, d.Y = "build "+strings.ToLower(c.Type.String()), true, float32(c.X), float32(c.Y)
		if c.Type < cc.Types {
			d.Kind = "build " + kindName(c.Type)
		}
	case cc.OpAttack:
		d.Kind, d.Target = "attack", c.Target
	case cc.OpRepair:
		d.Kind, d.Target = "repair", c.Target
	case cc.OpAuto:
		d.Kind, d.Number = "auto attack", int(c.Range)
		if d.Note = "anything"; c.Valid == 1<<cc.Resource {
			d.Note = "resource"
		}
	default:
		return features.Command{}
	}
	return d
}
