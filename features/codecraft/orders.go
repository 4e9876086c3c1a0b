package codecraft

import (
	"math/bits"

	"moonfarm/sim"
	cc "moonfarm/sim/codecraft"
)

// AppendOrders appends the actions that the choices stand for, by id, as far as
// they are legal.
func (a *Actions) AppendOrders(dst []sim.Order, action []int32, s *cc.State, p sim.Player) []sim.Order {
	action = action[:heads]
	p &= 3
	f := &frames[p]
	var v view
	v.look(a, s, p)
	for i := range s.Units[:s.N] {
		u := &s.Units[i]
		if u.Owner != p || !u.Active {
			continue
		}
		c := action[f.cornerAt(int(u.X), int(u.Y), a.types[u.Type].size)]
		if c <= choiceLeave || c >= choices {
			continue
		}
		if told, ok := v.action(u, int(c)); ok {
			dst = told.AppendOrders(dst, u.ID)
		}
	}
	return dst
}

// action is the action that a choice, not 0, gives to an own active entity, and
// whether it is legal.
func (v *view) action(u *cc.Unit, c int) (told cc.Action, ok bool) {
	b := &v.a.types[u.Type]
	told.Parts = cc.Given
	switch {
	case c < choiceStep:
		return told, c == choiceStop
	case c < choiceGather:
		if !b.roams {
			return told, false
		}
		to, ok := v.step(u, c-choiceStep)
		told.Parts |= cc.HasMove
		told.MoveX, told.MoveY = uint8(to.x), uint8(to.y)
		return told, ok
	case c >= choiceRepair && c < choiceMarch || c >= choiceFocus:
		return v.deed(u, b, c)
	case c >= choiceMarch && c < choiceHold:
		return v.travel(u, b, c)
	}
	// Gather, fight, hold, harvest.
	told.Parts |= cc.HasAuto
	told.Range, told.Valid = far, cc.EveryType&^(1<<cc.Resource)
	if c >= choiceHold {
		told.Range = uint16(b.reach)
	}
	if c == choiceGather || c == choiceHarvest {
		told.Valid = 1 << cc.Resource
	}
	return told, b.always>>c&1 != 0
}

// deed is the action of a choice to repair, to build, to attack one enemy.
func (v *view) deed(u *cc.Unit, b *abilities, c int) (told cc.Action, ok bool) {
	told.Parts = cc.Given
	switch {
	case c == choiceFocus:
		told.Parts |= cc.HasTarget
		if b.reach > 0 {
			told.Target, ok = v.weakest(u, b)
		}
	case c == choiceMend:
		told.Parts |= cc.HasRepair
		if b.roams && b.mends != 0 {
			id, x, y, found := v.mend(u, b)
			told.Parts |= cc.HasMove | cc.FindClosest
			told.MoveX, told.MoveY, told.Repair, ok = uint8(x), uint8(y), id, found
		}
	case c < choiceBuild:
		told.Parts |= cc.HasRepair
		if w := v.patient(u, b, c-choiceRepair); w != nil {
			told.Repair, ok = w.ID, true
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
		told.Parts |= cc.HasBuild
		told.BuildType, told.BuildX, told.BuildY = built, uint8(at.x), uint8(at.y)
		ok = found && v.afford[u.Type][size]>>(choiceBuild+4*k)&1 != 0
	}
	return told, ok
}

// travel is the action of a choice to march or to advance. Who fights attacks on
// the way what comes into range, but does not chase it.
func (v *view) travel(u *cc.Unit, b *abilities, c int) (told cc.Action, ok bool) {
	ok = b.roams
	told.Parts = cc.Given | cc.HasMove | cc.FindClosest
	x, y := 0, 0
	if c < choiceAdvance {
		to := v.a.march[v.p][c-choiceMarch]
		x, y = int(to.x), int(to.y)
	} else {
		free := false
		x, y, free = v.advance(u, c-choiceAdvance)
		ok = ok && free
	}
	told.MoveX, told.MoveY = uint8(x), uint8(y)
	if b.reach > 0 && !v.a.rules.Types[u.Type].Collects {
		told.Parts |= cc.HasAuto
		told.Range, told.Valid = uint16(b.reach), cc.EveryType&^(1<<cc.Resource)
	}
	return told, ok
}

// Action finds the choices after which every entity has the action that it has
// after the orders. Orders without an effect are passed over. There are none if
// an entity gets another action than its legal choices give it, or one that is
// not active yet is told something.
func (a *Actions) Action(dst []int32, orders []sim.Order, s *cc.State, p sim.Player) bool {
	dst = dst[:heads]
	clear(dst)
	p &= 3
	if len(orders) == 0 {
		return true
	}
	var told notes
	told.take(s, p, orders)
	var v view
	v.look(a, s, p)
	for w, named := range told.named {
		for ; named != 0; named &= named - 1 {
			i := w<<6 | bits.TrailingZeros64(named)
			u := &s.Units[i]
			c, ok := v.choice(u, &told.acts[i], &s.Acts[i])
			if !ok {
				for h := range dst {
					dst[h] = -1
				}
				return false
			}
			dst[frames[p].cornerAt(int(u.X), int(u.Y), a.types[u.Type].size)] = c
		}
	}
	return true
}

// notes are the stored actions as orders change them, and the units that these
// name.
type notes struct {
	acts  [cc.MaxUnits]cc.Action
	named [cc.MaxUnits / 64]uint64
}

// take carries the orders of player p out.
func (n *notes) take(s *cc.State, p sim.Player, orders []sim.Order) {
	last, i := uint32(0), -1 // orders of one entity mostly follow each other
	for _, o := range orders {
		c := cc.Decode(o)
		if c.Op == cc.OpNothing || c.Op > cc.OpRepair {
			continue
		}
		if c.ID != last {
			last, i = c.ID, s.Find(c.ID)
		}
		if i < 0 || s.Units[i].Owner != p {
			continue
		}
		if bit := uint64(1) << (i & 63); n.named[i>>6]&bit == 0 {
			n.named[i>>6] |= bit
			n.acts[i] = s.Acts[i]
		}
		n.acts[i].Take(o)
	}
}

// choice finds the choice that gives an own entity the action told instead of
// the one it has.
func (v *view) choice(u *cc.Unit, told, has *cc.Action) (c int32, ok bool) {
	first, n := 0, 0
	if u.Active {
		first, n = v.candidates(u, told)
	}
	for c := first; c < first+n; c++ {
		if a, ok := v.action(u, c); ok && a == *told {
			return int32(c), true
		}
	}
	return choiceLeave, *told == *has
}

// candidates are the choices, from first on, that have the parts of an action.
func (v *view) candidates(u *cc.Unit, told *cc.Action) (first, n int) {
	switch parts := told.Parts &^ (cc.Given | cc.FindClosest | cc.BreakThrough); parts {
	case 0:
		return choiceStop, 1
	case cc.HasMove, cc.HasMove | cc.HasAuto:
		x, y := cc.Turn(v.p, int(told.MoveX), int(told.MoveY), 1)
		switch {
		case told.Parts&cc.FindClosest == 0:
			return choiceStep, 4
		case x%regionSide == regionSide/2 && y%regionSide == regionSide/2: // an advance may lead there too
			return choiceMarch + y/regionSide*regionsAcross + x/regionSide, 1
		}
		return choiceAdvance, 8
	case cc.HasAuto:
		gathers := told.Valid == 1<<cc.Resource
		switch {
		case gathers && told.Range == far:
			return choiceGather, 1
		case gathers:
			return choiceHarvest, 1
		case told.Range == far:
			return choiceFight, 1
		}
		return choiceHold, 1
	case cc.HasTarget:
		return choiceFocus, 1
	case cc.HasRepair:
		return choiceRepair, 4
	case cc.HasRepair | cc.HasMove:
		return choiceMend, 1
	case cc.HasBuild:
		for k, built := range v.a.rules.Types[u.Type].Builds.All() {
			if k < most && built == told.BuildType {
				return choiceBuild + 4*k, 4
			}
		}
	}
	return 0, 0
}
