package codecraft

import (
	"math/bits"

	"moonfarm/features"
	"moonfarm/sim"
	cc "moonfarm/sim/codecraft"
)

// AppendOrders appends the orders of the choices of all slots, by id: the actions of the other heads
// for choice 1, and legal shortcuts.
func (a *Actions) AppendOrders(dst []sim.Order, action []int32, s *cc.State, p sim.Player) []sim.Order {
	features.CheckLength("action", len(action), heads)
	action = action[:heads]
	p &= 3
	var v view
	v.begin(a, s, p)
	for _, c := range action[:slots] {
		if c > choiceParts && c < choices {
			v.survey()
			break
		}
	}
	for i := range s.Units[:s.N] {
		u := &s.Units[i]
		if u.Owner != p {
			continue
		}
		slot, ok := v.slotOf(u)
		if !ok {
			continue
		}
		switch c := action[slot]; {
		case c == choiceParts:
			act := v.decode(u, parts{action, slot})
			dst = act.AppendOrders(dst, u.ID)
		case c > choiceParts && c < choices && u.Active:
			if act, ok := v.action(u, int(c)); ok {
				dst = act.AppendOrders(dst, u.ID)
			}
		}
	}
	return dst
}

// action returns the action that a shortcut gives to an own active entity, and whether it is
// legal.
func (v *view) action(u *cc.Unit, c int) (act cc.Action, ok bool) {
	b := &v.a.types[u.Type]
	switch {
	case c < choiceGather:
		if !b.moves {
			return act, false
		}
		to, ok := v.step(u, c-choiceStep)
		act.AddMove(int(to.x), int(to.y), 0)
		return act, ok
	case c >= choiceRepair && c < choiceMarch || c >= choiceFocus:
		return v.work(u, b, c)
	case c >= choiceMarch && c < choiceHold:
		return v.travel(u, b, c)
	}
	// Gather, fight, hold, harvest.
	reach, valid := far, cc.AllButResource
	if c >= choiceHold {
		reach = b.reach
	}
	if c == choiceGather || c == choiceHarvest {
		valid = 1 << cc.Resource
	}
	act.AddAuto(reach, valid)
	return act, b.always>>c&1 != 0
}

// work returns the action of a choice to repair, to build or to attack one enemy.
func (v *view) work(u *cc.Unit, b *abilities, c int) (act cc.Action, ok bool) {
	switch {
	case c == choiceFocus:
		if b.reach > 0 {
			id, found := v.weakest(u, b)
			act.AddTarget(id)
			ok = found
		}
	case c == choiceMend:
		if b.moves && b.repairs != 0 {
			id, x, y, found := v.mend(u, b)
			act.AddMove(x, y, cc.FindClosest)
			act.AddRepair(id)
			ok = found
		}
	case c < choiceBuild:
		if w := v.repairTarget(u, b, c-choiceRepair); w != nil {
			act.AddRepair(w.ID)
			ok = true
		}
	case b.builds:
		k, d := (c-choiceBuild)/4, (c-choiceBuild)%4
		list := &v.a.rules.Types[u.Type].Builds
		if k >= int(list.N) {
			return act, false
		}
		built := list.T[k]
		size := v.a.types[built].size
		at, found := v.site(u, size, d)
		act.AddBuild(built, int(at.x), int(at.y))
		ok = found && v.afford[u.Type][size]>>(choiceBuild+4*k)&1 != 0
	}
	return act, ok
}

// travel returns the action of a choice to march or to advance. Fighters attack enemies that come
// into range on the way, but do not chase them.
func (v *view) travel(u *cc.Unit, b *abilities, c int) (act cc.Action, ok bool) {
	ok = b.moves
	x, y := 0, 0
	if c < choiceAdvance {
		to := v.a.march[v.p][c-choiceMarch]
		x, y = int(to.x), int(to.y)
	} else {
		free := false
		x, y, free = v.advance(u, c-choiceAdvance)
		ok = ok && free
	}
	act.AddMove(x, y, cc.FindClosest)
	if b.reach > 0 && !v.a.rules.Types[u.Type].Collects {
		act.AddAuto(b.reach, cc.AllButResource)
	}
	return act, ok
}

// Action finds the choices, part by part, that give every entity the same action as the orders, and
// reports whether there are such choices for all entities. A part has no choice if its target does
// not exist or is not in sight, or if its number is not in the heads. Orders that do not change the
// action of an entity need no choices then. Entities without a slot have no choices.
func (a *Actions) Action(dst []int32, orders []sim.Order, s *cc.State, p sim.Player) bool {
	features.CheckLength("action", len(dst), heads)
	dst = dst[:heads]
	clear(dst)
	p &= 3
	if len(orders) == 0 {
		return true
	}
	var after stored
	after.take(s, p, orders)
	var v view
	v.begin(a, s, p)
	complete := true
	for w, named := range after.named {
		for ; named != 0; named &= named - 1 {
			i := w<<6 | bits.TrailingZeros64(named)
			u, same := &s.Units[i], after.acts[i] == s.Acts[i]
			slot, ok := v.slotOf(u)
			if !ok {
				complete = complete && same
				continue
			}
			l := parts{dst, slot}
			if v.encode(l, u, &after.acts[i]) {
				continue
			}
			if same {
				l.clear()
			}
			complete = complete && same
		}
	}
	return complete
}

// stored has the stored actions after orders, and the set of the units that the orders name.
type stored struct {
	acts  [cc.MaxUnits]cc.Action
	named [cc.MaxUnits / 64]uint64
}

// take applies the orders of player p.
func (n *stored) take(s *cc.State, p sim.Player, orders []sim.Order) {
	s.EachOrder(orders, p, func(i int, o sim.Order) {
		if bit := uint64(1) << (i & 63); n.named[i>>6]&bit == 0 {
			n.named[i>>6] |= bit
			n.acts[i] = s.Acts[i]
		}
		n.acts[i].Take(o)
	})
}
