package protocol

import (
	"moonfarm/sim"
	"moonfarm/sim/codecraft"
)

// ActionOf converts an action in the frame of player p to the form of states. Player 0's frame
// is the frame of the world. Places outside of the map become the forms that a state has for
// them.
func ActionOf(a *EntityAction, p sim.Player, r *codecraft.Rules) codecraft.Action {
	c := codecraft.Action{Parts: codecraft.Given}
	if m := &a.Move.Value; a.Move.Given {
		how := codecraft.Parts(0)
		if m.FindClosestPosition {
			how |= codecraft.FindClosest
		}
		if m.BreakThrough {
			how |= codecraft.BreakThrough
		}
		x, y := codecraft.TurnBack(p, int(m.X), int(m.Y), 1)
		c.AddMove(x, y, how)
	}
	if b := &a.Build.Value; a.Build.Given {
		x, y := codecraft.TurnBack(p, int(b.X), int(b.Y), int(r.Types[b.Type%codecraft.Types].Size))
		c.AddBuild(b.Type, x, y)
	}
	if t := a.Attack.Value.Target; a.Attack.Given && t.Given {
		c.AddTarget(uint32(t.Value))
	}
	if auto := &a.Attack.Value.Auto; a.Attack.Given && auto.Given {
		valid := codecraft.TypeSet(0)
		for _, t := range auto.Value.ValidTargets {
			valid |= 1 << t
		}
		c.AddAuto(int(auto.Value.PathfindRange), valid)
	}
	if a.Repair.Given {
		c.AddRepair(uint32(a.Repair.Value.Target))
	}
	return c
}

// StoredActionOf converts an action of a state to the form of replay files, in the frame of the
// world. ActionOf converts it back. Only unknown types to build change: they become resources,
// which nobody can build either.
func StoredActionOf(c *codecraft.Action) (a EntityAction) {
	if c.Parts&codecraft.HasMove != 0 {
		x, y := int32(c.MoveX), int32(c.MoveY)
		if c.Parts&codecraft.MoveOutside != 0 {
			x, y = outward(x), outward(y)
		}
		a.Move = Some(MoveAction{x, y, c.Parts&codecraft.FindClosest != 0, c.Parts&codecraft.BreakThrough != 0})
	}
	if c.Parts&codecraft.HasBuild != 0 {
		a.Build = Some(BuildAction{c.BuildType, int32(c.BuildX), int32(c.BuildY)})
		if c.BuildType >= codecraft.Types {
			a.Build.Value.Type = codecraft.Resource
		}
	}
	if c.Parts&codecraft.HasTarget != 0 {
		a.Attack.Given = true
		a.Attack.Value.Target = Some(int32(min(c.Target, 1<<31-1)))
	}
	if c.Parts&codecraft.HasAuto != 0 {
		a.Attack.Given = true
		a.Attack.Value.Auto = Some(AutoAttack{int32(c.Range), validTargets[c.Valid&codecraft.EveryType]})
	}
	if c.Parts&codecraft.HasRepair != 0 {
		a.Repair = Some(RepairAction{int32(min(c.Repair, 1<<31-1))})
	}
	return a
}

// outward returns the coordinate beyond the edge if v lies on an edge of the map, else v.
func outward(v int32) int32 {
	switch v {
	case 0:
		return -1
	case codecraft.Side - 1:
		return codecraft.Side
	}
	return v
}

// validTargets has the types of every set in order; the list of the default set is empty.
var validTargets = func() (table [codecraft.EveryType + 1][]codecraft.Type) {
	for set := range table {
		for t := range codecraft.Type(codecraft.Types) {
			if codecraft.TypeSet(set).Has(t) && codecraft.TypeSet(set) != codecraft.AllButResource {
				table[set] = append(table[set], t)
			}
		}
	}
	return table
}()

// AppendAnswer appends the message with which the client of player p gives orders in a state:
// the action of every entity that the orders name, in the player's own frame. It leaves out
// orders that do nothing and builds outside of the map. A move to a place outside goes to the
// nearest cell.
func AppendAnswer(dst []byte, g *codecraft.Game, s *codecraft.State, p sim.Player, orders []sim.Order) []byte {
	r := g.Rules()
	acts := map[int]*codecraft.Action{}
	var units []int
	s.EachOrder(orders, p, func(i int, o sim.Order) {
		if acts[i] == nil {
			a := s.Acts[i]
			acts[i], units = &a, append(units, i)
		}
		acts[i].Take(o)
	})
	m := ClientMessage{Kind: ActionMessage}
	for _, i := range units {
		m.Action.EntityActions = append(m.Action.EntityActions, EntityOrder{int32(s.Units[i].ID), ownAction(acts[i], &r, p)})
	}
	return m.Append(dst)
}

// ownAction converts an action of a state to the frame of player p, without the parts that a
// client's message cannot have.
func ownAction(c *codecraft.Action, r *codecraft.Rules, p sim.Player) EntityAction {
	within := func(x, y int) (int32, int32) {
		return int32(min(max(x, 0), codecraft.Side-1)), int32(min(max(y, 0), codecraft.Side-1))
	}
	a := StoredActionOf(c)
	if m := &a.Move.Value; a.Move.Given {
		m.X, m.Y = within(codecraft.Turn(p, int(m.X), int(m.Y), 1))
	}
	if b := &a.Build.Value; a.Build.Given {
		size := int(r.Types[b.Type].Size)
		if c.BuildType >= codecraft.Types || !codecraft.OnMap(int(b.X), int(b.Y), size) {
			a.Build = Optional[BuildAction]{}
		} else {
			b.X, b.Y = within(codecraft.Turn(p, int(b.X), int(b.Y), size))
		}
	}
	return a
}
