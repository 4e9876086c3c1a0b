package codecraft

import (
	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/wire/protocol"
)

// translator makes orders from actions. Each of the player's entities gets the orders of
// one action, the last if there are several, so the orders are never more than a seat
// may give.
type translator struct {
	last [codecraft.MaxUnits]int32 // by unit: the index of its action, from 1
}

// appendOrders appends the orders of player p, by entity. Actions of entities that do not
// exist or belong to others are left out.
func (t *translator) appendOrders(dst []sim.Order, r *codecraft.Rules, s *codecraft.State, p sim.Player, a *protocol.Action) []sim.Order {
	clear(t.last[:s.N])
	for k := range a.EntityActions {
		id := a.EntityActions[k].ID
		if id > codecraft.MaxID {
			continue // an order has no room for it
		}
		if i := s.Find(uint32(id)); i >= 0 && s.Units[i].Owner == p {
			t.last[i] = int32(k + 1)
		}
	}
	for i, k := range t.last[:s.N] {
		if k > 0 {
			dst = appendAction(dst, r, s.Units[i].ID, p, &a.EntityActions[k-1].EntityAction)
		}
	}
	return dst
}

// appendAction appends the orders for one entity.
func appendAction(dst []sim.Order, r *codecraft.Rules, id uint32, p sim.Player, a *protocol.EntityAction) []sim.Order {
	first := len(dst)
	if m := &a.Move.Value; a.Move.Given {
		x, y := codecraft.TurnBack(p, int(m.X), int(m.Y), 1)
		dst = append(dst, codecraft.Move(id, x, y, m.FindClosestPosition, m.BreakThrough))
	}
	if b := &a.Build.Value; a.Build.Given {
		x, y := codecraft.TurnBack(p, int(b.X), int(b.Y), int(r.Types[b.Type].Size))
		dst = append(dst, codecraft.Build(id, b.Type, x, y))
	}
	if t := &a.Attack.Value.Target; a.Attack.Given && t.Given {
		dst = append(dst, codecraft.Attack(id, uint32(t.Value)))
	}
	if u := &a.Attack.Value.Auto; a.Attack.Given && u.Given {
		var valid codecraft.TypeSet
		for _, t := range u.Value.ValidTargets {
			valid |= 1 << t
		}
		dst = append(dst, codecraft.Auto(id, int(u.Value.PathfindRange), valid))
	}
	if a.Repair.Given {
		dst = append(dst, codecraft.Repair(id, uint32(a.Repair.Value.Target)))
	}
	if len(dst) == first {
		return append(dst, codecraft.Stop(id))
	}
	for k := first + 1; k < len(dst); k++ {
		dst[k] = codecraft.And(dst[k])
	}
	return dst
}
