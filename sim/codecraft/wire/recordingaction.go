package wire

import (
	"moonfarm/sim"
	"moonfarm/sim/codecraft"
)

// ActionOf is the action that an entity of player p is given, which is in that
// player's frame (player 0's is the world's), as a state stores it. Places
// outside of the map become what a state knows of them.
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

// entityActionOf is a stored action as replay files have it, in the frame of
// the world. ActionOf makes the same of it, but for types to build that there
// are not: they become resources, which nobody can build either.
func entityActionOf(c *codecraft.Action) (a EntityAction) {
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

// outward is the coordinate beyond the edge that v lies on, else v.
func outward(v int32) int32 {
	switch v {
	case 0:
		return -1
	case codecraft.Side - 1:
		return codecraft.Side
	}
	return v
}

// validTargets lists the types of a set, in order; none for the default.
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

// Orders makes t the orders that give the entities of w the actions which are
// new in this tick, from their players. With the seed of the game they play it
// again, but for one thing: what an entity was told in the tick of its death is
// in no recording.
func (d *Delta) Orders(t *sim.Turn, w *World, r *codecraft.Rules) {
	t.Clear()
	var orders [codecraft.PartsOfAction]sim.Order
	for _, list := range [2][]EntityOrder{d.Actions.New, d.Actions.Changed} {
		for i := range list {
			at, ok := findByID(w.Entities, list[i].ID, entityID)
			if !ok || !w.Entities[at].PlayerID.Given {
				continue
			}
			p := w.Entities[at].PlayerID.Value - 1
			if p < 0 || p >= r.Players {
				continue
			}
			a := ActionOf(&list[i].EntityAction, 0, r)
			for _, o := range a.AppendOrders(orders[:0], uint32(list[i].ID)) {
				t.Add(sim.Player(p), o)
			}
		}
	}
}
