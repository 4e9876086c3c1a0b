package plain

import (
	"moonfarm/sim"
	"moonfarm/sim/codecraft"
)

// Command stores the orders of player p.
func (g *Game) Command(p int, orders []sim.Order) {
	for _, o := range orders {
		c := codecraft.Decode(o)
		e := g.Find(c.ID)
		if c.Op == codecraft.OpNothing || c.Op > codecraft.OpRepair || e == nil || e.Owner != p {
			continue
		}
		if e.Action == nil || !c.And {
			e.Action = &Action{}
		}
		switch c.Op {
		case codecraft.OpMove:
			e.Action.Move = moveOf(c)
		case codecraft.OpBuild:
			at := Pos{int(c.X), int(c.Y)}
			if !at.inside() {
				at = Pos{255, 255} // states store all places outside of the map alike
			}
			e.Action.Build = &Build{Type: c.Type, At: at}
		case codecraft.OpAttack:
			e.Action.Target = &c.Target
		case codecraft.OpAuto:
			valid := c.Valid
			if valid == 0 {
				valid = codecraft.EveryType &^ (1 << codecraft.Resource)
			}
			e.Action.Auto = &Auto{Range: int(c.Range), Valid: valid}
		case codecraft.OpRepair:
			e.Action.Repair = &c.Target
		}
	}
}

// moveOf returns the move of a command. A target outside of the map becomes the nearest cell.
func moveOf(c codecraft.Command) *Move {
	to := Pos{int(c.X), int(c.Y)}
	return &Move{
		To: Pos{min(to.X, side-1), min(to.Y, side-1)}, Outside: c.Outside, Closest: c.Closest, Break: c.Break,
	}
}
