package codecraft

import "moonfarm/sim"

// command stores the orders of all seats (RULES.md, 4).
func (g *Game) command(s *State, t *sim.Turn) {
	for p := range sim.Player(g.rules.Players) {
		s.EachOrder(t.Orders(p), p, func(i int, o sim.Order) { s.Acts[i].Take(o) })
	}
}

// EachOrder calls visit with every order that tells a unit of seat p something,
// and with the index of that unit. The others do nothing (RULES.md, 4).
func (s *State) EachOrder(orders []sim.Order, p sim.Player, visit func(unit int, o sim.Order)) {
	last, at := uint32(0), -1 // orders of one entity often follow each other
	for _, o := range orders {
		if op := opOf(o); op == OpNothing || op > OpRepair {
			continue
		}
		if id := idOf(o); id != last {
			last, at = id, s.Find(id)
		}
		if at >= 0 && s.Units[at].Owner == p {
			visit(at, o)
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
		how := Parts(0)
		if c.Closest {
			how |= FindClosest
		}
		if c.Break {
			how |= BreakThrough
		}
		if c.Outside {
			how |= MoveOutside
		}
		a.AddMove(int(c.X), int(c.Y), how)
	case OpBuild:
		a.AddBuild(c.Type, int(c.X), int(c.Y))
	case OpAttack:
		a.AddTarget(c.Target)
	case OpAuto:
		a.AddAuto(int(c.Range), c.Valid)
	case OpRepair:
		a.AddRepair(c.Target)
	}
}

// AddMove adds a move to (x, y) to the action; how says any of FindClosest and
// BreakThrough. Of a place outside of the map the nearest cell is kept, and that
// it lies outside.
func (a *Action) AddMove(x, y int, how Parts) {
	nearX, nearY := min(max(x, 0), Side-1), min(max(y, 0), Side-1)
	if nearX != x || nearY != y {
		how |= MoveOutside
	}
	a.Parts = a.Parts&^(FindClosest|BreakThrough|MoveOutside) | Given | HasMove | how
	a.MoveX, a.MoveY = uint8(nearX), uint8(nearY)
}

// AddBuild adds to the action that one of type t is built with its lowest corner
// on (x, y). Of a corner outside of the map only that is kept.
func (a *Action) AddBuild(t Type, x, y int) {
	if uint(x) >= Side || uint(y) >= Side {
		x, y = outside, outside
	}
	a.Parts |= Given | HasBuild
	a.BuildType, a.BuildX, a.BuildY = t, uint8(x), uint8(y)
}

// outside is both coordinates of a build whose corner lies outside of the map.
const outside = 255

// AddTarget adds to the action the attack of one entity.
func (a *Action) AddTarget(id uint32) {
	a.Parts |= Given | HasTarget
	a.Target = id
}

// AddAuto adds to the action the auto attack of the valid types, of all but
// resources if there are none.
func (a *Action) AddAuto(pathfindRange int, valid TypeSet) {
	if valid == 0 {
		valid = AllButResource
	}
	a.Parts |= Given | HasAuto
	a.Range, a.Valid = uint16(min(max(pathfindRange, 0), maxPathfindRange)), valid
}

// AddRepair adds to the action the repair of one entity.
func (a *Action) AddRepair(id uint32) {
	a.Parts |= Given | HasRepair
	a.Repair = id
}
