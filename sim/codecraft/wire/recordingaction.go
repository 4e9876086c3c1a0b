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
		c.Parts |= codecraft.HasMove
		if m.FindClosestPosition {
			c.Parts |= codecraft.FindClosest
		}
		if m.BreakThrough {
			c.Parts |= codecraft.BreakThrough
		}
		x, y := nearest(m.X), nearest(m.Y)
		if x != m.X || y != m.Y {
			c.Parts |= codecraft.MoveOutside
		}
		wx, wy := codecraft.TurnBack(p, int(x), int(y), 1)
		c.MoveX, c.MoveY = uint8(wx), uint8(wy)
	}
	if b := &a.Build.Value; a.Build.Given {
		c.Parts |= codecraft.HasBuild
		c.BuildType, c.BuildX, c.BuildY = b.Type, 255, 255
		x, y := codecraft.TurnBack(p, int(b.X), int(b.Y), int(r.Types[b.Type%codecraft.Types].Size))
		if uint(x) < codecraft.Side && uint(y) < codecraft.Side {
			c.BuildX, c.BuildY = uint8(x), uint8(y)
		}
	}
	if t := a.Attack.Value.Target; a.Attack.Given && t.Given {
		c.Parts |= codecraft.HasTarget
		c.Target = uint32(t.Value)
	}
	if auto := &a.Attack.Value.Auto; a.Attack.Given && auto.Given {
		c.Parts |= codecraft.HasAuto
		c.Range = uint16(min(auto.Value.PathfindRange, 1<<16-1))
		for _, t := range auto.Value.ValidTargets {
			c.Valid |= 1 << t
		}
		if len(auto.Value.ValidTargets) == 0 {
			c.Valid = notResources
		}
	}
	if a.Repair.Given {
		c.Parts |= codecraft.HasRepair
		c.Repair = uint32(a.Repair.Value.Target)
	}
	return c
}

// notResources are the targets of an auto attack that names none.
const notResources = codecraft.EveryType &^ (1 << codecraft.Resource)

// nearest is the coordinate on the map nearest to v.
func nearest(v int32) int32 { return min(max(v, 0), codecraft.Side-1) }

// onMap tells whether a square with that lowest coordinate lies on the map.
func onMap(v, size int32) bool { return v >= 0 && v+size <= codecraft.Side }

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
			if codecraft.TypeSet(set).Has(t) && codecraft.TypeSet(set) != notResources {
				table[set] = append(table[set], t)
			}
		}
	}
	return table
}()

// equalActions tells whether two actions are the same to the letter.
func equalActions(a, b *EntityAction) bool {
	if a.Move != b.Move || a.Build != b.Build || a.Repair != b.Repair || a.Attack.Given != b.Attack.Given {
		return false
	}
	x, y := &a.Attack.Value, &b.Attack.Value
	if x.Target != y.Target || x.Auto.Given != y.Auto.Given || x.Auto.Value.PathfindRange != y.Auto.Value.PathfindRange {
		return false
	}
	v, w := x.Auto.Value.ValidTargets, y.Auto.Value.ValidTargets
	if len(v) != len(w) {
		return false
	}
	for i := range v {
		if v[i] != w[i] {
			return false
		}
	}
	return true
}
