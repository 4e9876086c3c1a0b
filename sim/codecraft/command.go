package codecraft

import "moonfarm/sim"

// command stores the orders of all seats (RULES.md, 4).
func (g *Game) command(s *State, t *sim.Turn) {
	for p := range sim.Player(g.rules.Players) {
		last, at := uint32(0), -1 // orders of one entity often follow each other
		for _, o := range t.Orders(p) {
			if o == Nothing {
				continue
			}
			if id := uint32(o >> orderIDShift & orderIDMask); id != last {
				last, at = id, s.Find(id)
			}
			if at >= 0 && s.Units[at].Owner == p {
				s.Acts[at].Take(o)
			}
		}
	}
}

// Take makes the action what it is after the order, whatever entity that names.
func (a *Action) Take(o sim.Order) {
	c := Decode(o)
	if c.Op == OpNothing || c.Op > OpRepair {
		return
	}
	if !c.And {
		*a = Action{}
	}
	a.Parts |= Given
	switch c.Op {
	case OpMove:
		a.takeMove(c)
	case OpBuild:
		a.Parts |= HasBuild
		a.BuildType, a.BuildX, a.BuildY = c.Type, uint8(min(c.X, 255)), uint8(min(c.Y, 255))
		if a.BuildX >= Side || a.BuildY >= Side {
			a.BuildX, a.BuildY = 255, 255
		}
	case OpAttack:
		a.Parts |= HasTarget
		a.Target = c.Target
	case OpAuto:
		a.Parts |= HasAuto
		a.Valid, a.Range = c.Valid, c.Range
		if a.Valid == 0 {
			a.Valid = EveryType &^ (1 << Resource)
		}
	case OpRepair:
		a.Parts |= HasRepair
		a.Repair = c.Target
	}
}

func (a *Action) takeMove(c Command) {
	a.Parts = a.Parts&^(FindClosest|BreakThrough|MoveOutside) | HasMove
	if c.Closest {
		a.Parts |= FindClosest
	}
	if c.Break {
		a.Parts |= BreakThrough
	}
	if c.Outside {
		a.Parts |= MoveOutside
	}
	a.MoveX, a.MoveY = uint8(min(c.X, Side-1)), uint8(min(c.Y, Side-1))
}
