package codecraft

import "moonfarm/sim"

// command stores the orders of all seats (RULES.md, 4).
func (g *Game) command(s *State, t *sim.Turn) {
	for p := range sim.Player(g.rules.Players) {
		s.EachOrder(t.Orders(p), p, func(i int, o sim.Order) { s.Acts[i].Take(o) })
	}
}

// EachOrder calls visit with every order to a unit of seat p and with the index of that unit.
// All other orders do nothing (RULES.md, 4).
func (s *State) EachOrder(orders []sim.Order, p sim.Player, visit func(unit int, o sim.Order)) {
	last, at := uint32(0), -1 // consecutive orders often name the same entity
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

// Take changes the action by an order. It does not look at the id in the order.
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

// AddMove adds a move to (x, y) to the action; how may have the flags FindClosest and
// BreakThrough. For a place outside of the map it stores the nearest cell and the flag
// MoveOutside.
func (a *Action) AddMove(x, y int, how Parts) {
	nearX, nearY := min(max(x, 0), Side-1), min(max(y, 0), Side-1)
	if nearX != x || nearY != y {
		how |= MoveOutside
	}
	a.Parts = a.Parts&^(FindClosest|BreakThrough|MoveOutside) | Given | HasMove | how
	a.MoveX, a.MoveY = uint8(nearX), uint8(nearY)
}

// AddBuild adds a build of type t with its lowest corner on (x, y) to the action. All corners
// outside of the map are stored alike.
func (a *Action) AddBuild(t Type, x, y int) {
	if uint(x) >= Side || uint(y) >= Side {
		x, y = outside, outside
	}
	a.Parts |= Given | HasBuild
	a.BuildType, a.BuildX, a.BuildY = t, uint8(x), uint8(y)
}

// outside stands for both coordinates of a build whose corner lies outside of the map.
const outside = 255

// AddTarget adds an attack on one entity to the action.
func (a *Action) AddTarget(id uint32) {
	a.Parts |= Given | HasTarget
	a.Target = id
}

// AddAuto adds an auto attack on the valid types to the action. An empty set means all types
// but resources.
func (a *Action) AddAuto(pathfindRange int, valid TypeSet) {
	if valid == 0 {
		valid = AllButResource
	}
	a.Parts |= Given | HasAuto
	a.Range, a.Valid = uint16(min(max(pathfindRange, 0), maxPathfindRange)), valid
}

// AddRepair adds a repair of one entity to the action.
func (a *Action) AddRepair(id uint32) {
	a.Parts |= Given | HasRepair
	a.Repair = id
}
