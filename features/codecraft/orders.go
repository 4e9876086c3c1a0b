package codecraft

import (
	"moonfarm/features"
	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	cc "moonfarm/sim/codecraft"
)

// AppendOrders appends the orders of the legal choices, in the order of the slots. The builds of units
// that move are settled in this order: one is left out, as with choice 0, if its square overlaps with an
// earlier one, or if the earlier ones leave too little resource or population for it. Else each would
// keep its build, and build later. All else that two entities want is settled by the rules.
func (a *Actions) AppendOrders(dst []sim.Order, action []int32, s *cc.State, p sim.Player) []sim.Order {
	features.CheckLength("action", len(action), slots)
	action = action[:slots]
	p &= 3
	var v roster
	v.call(a, s, p)
	var t till
	t.open(&v)
	for slot, i := range v.units[:v.n] {
		c := action[slot]
		if c <= choiceLeave || c >= choices {
			continue
		}
		u := &s.Units[i&(cc.MaxUnits-1)]
		if act, ok := a.action(&v, u, int(c)); ok && (t.pay(&v, u, &act)) {
			dst = act.AppendOrders(dst, u.ID)
		}
	}
	return dst
}

// till has what the builds of the slots so far leave to the next ones.
type till struct {
	resource, used int32
	count          [cc.Types]int32
	taken          bitboard.Square
}

func (t *till) open(v *roster) {
	t.resource, t.used = v.purse, v.s.PopUse[v.p]
	for k, n := range v.s.Count[v.p] {
		t.count[k] = int32(n)
	}
}

// pay takes the price, the population and the square of a build, and reports whether the order is given:
// that of a unit that moves only if all of these are left.
func (t *till) pay(v *roster, u *cc.Unit, act *cc.Action) bool {
	if act.Parts&cc.HasBuild == 0 {
		return true
	}
	r, built := &v.a.rules, act.BuildType
	k := &r.Types[built]
	x, y, size := int(act.BuildX), int(act.BuildY), int(k.Size)
	cost := r.CostOf(built, t.count[built])
	left := t.resource >= cost && r.RoomFor(built, t.used, v.s.PopProvide[v.p]) && !t.taken.MeetsSquare(x, y, size)
	if !left && v.a.types[u.Type].moves {
		return false
	}
	t.resource -= cost
	t.used += k.PopUse
	t.count[built]++
	t.taken.AddSquare(x, y, size)
	return true
}

// action returns the action that a choice gives to an own entity, and whether it is legal.
func (a *Actions) action(v *roster, u *cc.Unit, c int) (act cc.Action, ok bool) {
	if c < 64 && a.always[v.p][u.Type]>>c&1 != 0 {
		return a.alwaysAction(v, u, c), true
	}
	if !u.Active {
		return act, false
	}
	t := &a.types[u.Type]
	switch {
	case c >= choicePlace:
		return a.placeAction(v, u, c-choicePlace)
	case c >= choiceStep && c < choiceStrike:
		if t.moves && t.size == 1 {
			to, free := v.step(u, c-choiceStep)
			act.AddMove(int(to.x), int(to.y), 0)
			ok = free
		}
	case c >= choiceStrike && c < choiceRepair:
		if a.striking.Has(u.Type) {
			id, there := v.strike(u, c-choiceStrike)
			act.AddTarget(id)
			ok = there
		}
	case c >= choiceRepair && c < choiceGather:
		if t.repairs != 0 {
			if w := v.repairTarget(u, t, c-choiceRepair); w != nil {
				act.AddRepair(w.ID)
				ok = true
			}
		}
	case c == choiceFocus && t.reach > 0:
		id, found := v.weakest(u, t)
		act.AddTarget(id)
		ok = found
	case c == choiceMend && t.moves && t.repairs != 0:
		id, x, y, found := v.mend(u, t)
		act.AddMove(x, y, cc.FindClosest)
		act.AddRepair(id)
		ok = found
	}
	return act, ok
}

// strike returns the visible resource or entity of another player beside a unit of size 1.
func (v *roster) strike(u *cc.Unit, d int) (id uint32, ok bool) {
	by := beside[1][v.p][d][0]
	x, y := int(u.X)+int(by.x), int(u.Y)+int(by.y)
	if uint(x) >= side || uint(y) >= side || !v.struck.Has(x, y) {
		return 0, false
	}
	if i := v.s.At[cc.CellOf(x, y)]; i != 0 {
		return v.s.Units[(i-1)%cc.MaxUnits].ID, true
	}
	return v.s.ResourceID(x, y), true
}

// placeAction returns the action of a place: a build on a square, or an attack.
func (a *Actions) placeAction(v *roster, u *cc.Unit, i int) (act cc.Action, ok bool) {
	l := &a.spots[v.p][u.Type]
	if i >= l.n {
		return act, false
	}
	x, y := int(u.X)+int(l.at[i].x), int(u.Y)+int(l.at[i].y)
	if uint(x) >= side || uint(y) >= side {
		return act, false
	}
	if l.table != nil {
		if j := v.s.At[cc.CellOf(x, y)]; j != 0 {
			w := &v.s.Units[(j-1)%cc.MaxUnits]
			act.AddTarget(w.ID)
			ok = w.Owner != v.p && v.sees(w) && a.placeOf(v, u, w) == i
		}
		return act, ok
	}
	for k, built := range a.rules.Types[u.Type].Builds.All() {
		if i >= l.first[k] && i < l.last[k] {
			act.AddBuild(built, x, y)
			ok = v.payable.Has(built) && v.fits[a.types[built].size-1].Has(x, y)
		}
	}
	return act, ok
}

// alwaysAction returns the action of a choice that does not depend on the state.
func (a *Actions) alwaysAction(v *roster, u *cc.Unit, c int) (act cc.Action) {
	const resources = cc.TypeSet(1 << cc.Resource)
	t := &a.types[u.Type]
	fights := t.reach > 0 && !a.rules.Types[u.Type].Collects
	act.Parts = cc.Given
	switch {
	case c == choiceGather:
		act.AddAuto(far, resources)
	case c == choiceCollect:
		act.AddAuto(watchReach, resources)
	case c == choiceForage:
		x, y := cc.TurnBack(v.p, side-1, side-1, 1)
		act.AddMove(x, y, cc.FindClosest)
		act.AddAuto(forageReach, resources)
	case c == choiceFight:
		act.AddAuto(far, cc.AllButResource)
	case c == choiceGuard:
		act.AddAuto(guardReach, cc.AllButResource)
	case c == choiceWatch:
		act.AddAuto(watchReach, cc.AllButResource)
	case c == choiceHold:
		act.AddAuto(t.reach, cc.AllButResource)
	case c == choiceHarvest:
		act.AddAuto(t.reach, resources)
	case c >= choiceMarch && c < choiceAssault:
		to := a.march[v.p][c-choiceMarch]
		act.AddMove(int(to.x), int(to.y), cc.FindClosest)
		if fights {
			act.AddAuto(t.reach, cc.AllButResource)
		}
	case c >= choiceAssault && c < choiceHome:
		x, y := cc.TurnBack(a.ahead[v.p][c-choiceAssault], startMiddle, startMiddle, 1)
		act.AddMove(x, y, cc.FindClosest)
		if fights {
			act.AddAuto(watchReach, cc.AllButResource)
		}
	case c == choiceHome:
		x, y := cc.TurnBack(v.p, startMiddle, startMiddle, 1)
		act.AddMove(x, y, cc.FindClosest)
	}
	return act
}
