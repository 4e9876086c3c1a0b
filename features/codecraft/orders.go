package codecraft

import (
	"math/bits"

	"moonfarm/features"
	"moonfarm/sim"
	cc "moonfarm/sim/codecraft"
)

// AppendOrders appends the actions that the slots say, by id: those told part by
// part, and shortcuts as far as they are legal.
func (a *Actions) AppendOrders(dst []sim.Order, action []int32, s *cc.State, p sim.Player) []sim.Order {
	features.CheckLength("action", len(action), heads)
	action = action[:heads]
	p &= 3
	var v view
	v.begin(a, s, p)
	for _, c := range action[:slots] {
		if c > choiceTold && c < choices {
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
		case c == choiceTold:
			told := v.decode(u, parts{action, slot})
			dst = told.AppendOrders(dst, u.ID)
		case c > choiceTold && c < choices && u.Active:
			if told, ok := v.action(u, int(c)); ok {
				dst = told.AppendOrders(dst, u.ID)
			}
		}
	}
	return dst
}

// action is the action that a shortcut gives to an own active entity, and whether
// it is legal.
func (v *view) action(u *cc.Unit, c int) (told cc.Action, ok bool) {
	b := &v.a.types[u.Type]
	switch {
	case c < choiceGather:
		if !b.moves {
			return told, false
		}
		to, ok := v.step(u, c-choiceStep)
		told.AddMove(int(to.x), int(to.y), 0)
		return told, ok
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
	told.AddAuto(reach, valid)
	return told, b.always>>c&1 != 0
}

// work is the action of a choice to repair, to build, to attack one enemy.
func (v *view) work(u *cc.Unit, b *abilities, c int) (told cc.Action, ok bool) {
	switch {
	case c == choiceFocus:
		if b.reach > 0 {
			id, found := v.weakest(u, b)
			told.AddTarget(id)
			ok = found
		}
	case c == choiceMend:
		if b.moves && b.repairs != 0 {
			id, x, y, found := v.mend(u, b)
			told.AddMove(x, y, cc.FindClosest)
			told.AddRepair(id)
			ok = found
		}
	case c < choiceBuild:
		if w := v.repairTarget(u, b, c-choiceRepair); w != nil {
			told.AddRepair(w.ID)
			ok = true
		}
	case b.builds:
		k, d := (c-choiceBuild)/4, (c-choiceBuild)%4
		list := &v.a.rules.Types[u.Type].Builds
		if k >= int(list.N) {
			return told, false
		}
		built := list.T[k]
		size := v.a.types[built].size
		at, found := v.site(u, size, d)
		told.AddBuild(built, int(at.x), int(at.y))
		ok = found && v.afford[u.Type][size]>>(choiceBuild+4*k)&1 != 0
	}
	return told, ok
}

// travel is the action of a choice to march or to advance. Who fights attacks on
// the way what comes into range, but does not chase it.
func (v *view) travel(u *cc.Unit, b *abilities, c int) (told cc.Action, ok bool) {
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
	told.AddMove(x, y, cc.FindClosest)
	if b.reach > 0 && !v.a.rules.Types[u.Type].Collects {
		told.AddAuto(b.reach, cc.AllButResource)
	}
	return told, ok
}

// Action finds the choices after which every entity has the action that it has
// after the orders, part by part. A part has no choice if its target is not there
// or not in sight, or if it is none of the numbers that the heads say. Orders that
// leave an entity with the action that it has need none then; one without a slot
// is told nothing.
func (a *Actions) Action(dst []int32, orders []sim.Order, s *cc.State, p sim.Player) bool {
	features.CheckLength("action", len(dst), heads)
	dst = dst[:heads]
	clear(dst)
	p &= 3
	if len(orders) == 0 {
		return true
	}
	var told stored
	told.take(s, p, orders)
	var v view
	v.begin(a, s, p)
	said := true
	for w, named := range told.named {
		for ; named != 0; named &= named - 1 {
			i := w<<6 | bits.TrailingZeros64(named)
			u, same := &s.Units[i], told.acts[i] == s.Acts[i]
			slot, ok := v.slotOf(u)
			if !ok {
				said = said && same
				continue
			}
			l := parts{dst, slot}
			if v.encode(l, u, &told.acts[i]) {
				continue
			}
			if same {
				l.clear()
			}
			said = said && same
		}
	}
	return said
}

// stored are the stored actions as orders change them, and the units that these
// name.
type stored struct {
	acts  [cc.MaxUnits]cc.Action
	named [cc.MaxUnits / 64]uint64
}

// take carries the orders of player p out.
func (n *stored) take(s *cc.State, p sim.Player, orders []sim.Order) {
	s.EachOrder(orders, p, func(i int, o sim.Order) {
		if bit := uint64(1) << (i & 63); n.named[i>>6]&bit == 0 {
			n.named[i>>6] |= bit
			n.acts[i] = s.Acts[i]
		}
		n.acts[i].Take(o)
	})
}
