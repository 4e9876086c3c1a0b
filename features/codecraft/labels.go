package codecraft

import (
	"math/bits"
	"sync"

	"moonfarm/features"
	"moonfarm/sim"
	cc "moonfarm/sim/codecraft"
)

// agreement is how far a choice does the same as orders.
type agreement int

const (
	differs  agreement = iota // no choice does
	thisTick                  // the entity does the same in this tick
	fromNow                   // the entity does the same from now on
	exactly                   // the stored action is the same
)

// Action finds for every entity the choice that does the same as its orders: the one that gives it the
// same action; else one that lets it do the same from now on; else one that lets it do the same in this
// tick. A head is −1 if no choice does, or if a build would be left out by the order of the slots.
func (a *Actions) Action(dst []int32, orders []sim.Order, s *cc.State, p sim.Player) bool {
	return a.label(dst, nil, orders, s, p)
}

// label is Action. It also writes how far the choice of each slot with orders agrees, if how is not nil.
func (a *Actions) label(dst []int32, how []agreement, orders []sim.Order, s *cc.State, p sim.Player) bool {
	features.CheckLength("action", len(dst), slots)
	dst = dst[:slots]
	clear(dst)
	p &= 3
	if len(orders) == 0 {
		return true
	}
	var after stored
	after.take(s, p, orders)
	var v roster
	v.call(a, s, p)
	complete := true
	var plan *planner
	for w, named := range after.named {
		for ; named != 0; named &= named - 1 {
			i := w<<6 | bits.TrailingZeros64(named)
			u, act, same := &s.Units[i], &after.acts[i], after.acts[i] == s.Acts[i]
			slot, ok := v.slotOf(u)
			if !ok {
				complete = complete && same
				continue
			}
			c, agrees := a.say(&v, u, act)
			if agrees == differs && same {
				c, agrees = choiceLeave, exactly
			}
			if agrees == differs {
				if plan == nil {
					plan = a.plans.take(s, &after)
				}
				c, agrees = a.sayNow(&v, plan, i, act)
			}
			if how != nil {
				how[slot] = agrees
			}
			dst[slot] = int32(c)
		}
	}
	a.plans.give(plan)
	return a.settle(dst, &v) && complete
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

// settle sets the heads of builds that AppendOrders would leave out to −1, and reports whether no head
// is −1.
func (a *Actions) settle(dst []int32, v *roster) bool {
	var t till
	t.open(v)
	complete := true
	for slot, c := range dst {
		if c >= choicePlace {
			u := &v.s.Units[v.units[slot]&(cc.MaxUnits-1)]
			if act, _ := a.action(v, u, int(c)); !t.pay(v, u, &act) {
				dst[slot] = -1
			}
		}
		complete = complete && dst[slot] >= 0
	}
	return complete
}

// candidates are choices that may give an action.
type candidates struct {
	n  int
	at [32]int8
}

func (l *candidates) add(choices ...int) {
	for _, c := range choices {
		l.at[l.n] = int8(c)
		l.n++
	}
}

// say returns a choice that gives a unit the same action, or one that lets it do the same from now on.
func (a *Actions) say(v *roster, u *cc.Unit, act *cc.Action) (int, agreement) {
	var l candidates
	a.candidates(&l, v, u, act)
	for _, c := range l.at[:l.n] {
		if by, ok := a.action(v, u, int(c)); ok && by == *act {
			return int(c), exactly
		}
	}
	lasting := a.lasting(u, act)
	if lasting != *act {
		l.n = 0
		a.candidates(&l, v, u, &lasting)
	}
	for _, c := range l.at[:l.n] {
		if by, ok := a.action(v, u, int(c)); ok && a.lasting(u, &by) == lasting {
			return int(c), fromNow
		}
	}
	return -1, differs
}

// moveFlags are the flags of a move.
const moveFlags = cc.FindClosest | cc.BreakThrough | cc.MoveOutside

// lasting returns an action without the parts that never have an effect on the unit. Two actions of
// which it returns the same let the unit do the same as long as it has them.
func (a *Actions) lasting(u *cc.Unit, act *cc.Action) cc.Action {
	r := &a.rules
	t, n := &r.Types[u.Type], *act
	if !t.CanMove {
		n.Parts &^= cc.HasMove | moveFlags
	}
	if !t.CanAttack {
		n.Parts &^= cc.HasTarget | cc.HasAuto
	}
	if !t.CanBuild && !r.UnableTakeID {
		n.Parts &^= cc.HasBuild
	}
	if !t.CanRepair {
		n.Parts &^= cc.HasRepair
	}
	stays := n.Parts&cc.HasAuto == 0 || int32(n.Range) <= t.Range || !t.CanMove // does not chase
	if n.Parts&cc.HasAuto != 0 && stays && !r.RangeGates {
		n.Range = uint16(t.Range)
	}
	if n.Parts&cc.HasMove != 0 && stays && n.Parts&cc.MoveOutside == 0 {
		switch cc.Gap(int(u.X), int(u.Y), 1, int(n.MoveX), int(n.MoveY), 1) {
		case 0: // it is there
			n.Parts &^= cc.HasMove | moveFlags
		case 1: // the next cell, whatever covers it
			n.Parts &^= moveFlags
		}
	}
	if n.Parts&cc.HasMove == 0 {
		n.MoveX, n.MoveY = 0, 0
	}
	if n.Parts&cc.HasTarget == 0 {
		n.Target = 0
	}
	if n.Parts&cc.HasAuto == 0 {
		n.Range, n.Valid = 0, 0
	}
	if n.Parts&cc.HasBuild == 0 {
		n.BuildType, n.BuildX, n.BuildY = 0, 0, 0
	}
	if n.Parts&cc.HasRepair == 0 {
		n.Repair = 0
	}
	return n
}

// candidates lists the choices that may give a unit the parts of an action.
func (a *Actions) candidates(l *candidates, v *roster, u *cc.Unit, act *cc.Action) {
	const none, move, auto = 0, cc.HasMove, cc.HasAuto
	t := &a.types[u.Type]
	switch act.Parts & (move | cc.HasBuild | cc.HasTarget | auto | cc.HasRepair) {
	case none:
		l.add(choiceStop)
	case auto:
		l.add(choiceHold, choiceHarvest, choiceGather, choiceCollect, choiceFight, choiceGuard, choiceWatch)
	case move, move | auto:
		if d := a.directionTo(v, u, int(act.MoveX), int(act.MoveY)); d >= 0 {
			l.add(choiceStep + d)
		}
		l.add(choiceForage, choiceHome)
		for c := choiceMarch; c < choiceHome; c++ {
			l.add(c)
		}
	case cc.HasRepair:
		if t.repairs != 0 {
			l.add(choiceRepair, choiceRepair+1, choiceRepair+2, choiceRepair+3)
		}
	case move | cc.HasRepair:
		l.add(choiceMend)
	case cc.HasTarget:
		l.add(choiceFocus)
		a.targetCandidates(l, v, u, act.Target)
	case cc.HasBuild:
		if i := a.squareOf(v, u, act); i >= 0 {
			l.add(choicePlace + i)
		}
	}
}

// targetCandidates adds the choices for the attack of an entity.
func (a *Actions) targetCandidates(l *candidates, v *roster, u *cc.Unit, id uint32) {
	switch {
	case a.striking.Has(u.Type):
		l.add(choiceStrike, choiceStrike+1, choiceStrike+2, choiceStrike+3)
	case a.shoots(u.Type):
		if j := v.s.Find(id); j >= 0 {
			if i := a.placeOf(v, u, &v.s.Units[j]); i >= 0 {
				l.add(choicePlace + i)
			}
		}
	}
}

// directionTo returns the direction of a cell beside a unit, −1 for all other cells.
func (a *Actions) directionTo(v *roster, u *cc.Unit, x, y int) int {
	for d := range beside[1][v.p] {
		if by := beside[1][v.p][d][0]; x == int(u.X)+int(by.x) && y == int(u.Y)+int(by.y) {
			return d
		}
	}
	return -1
}

// squareOf returns the place of the square of a build, −1 if it has none.
func (a *Actions) squareOf(v *roster, u *cc.Unit, act *cc.Action) int {
	l := &a.spots[v.p][u.Type]
	for k, built := range a.rules.Types[u.Type].Builds.All() {
		if built != act.BuildType {
			continue
		}
		for i := l.first[k]; i < l.last[k]; i++ {
			if int(act.BuildX) == int(u.X)+int(l.at[i].x) && int(act.BuildY) == int(u.Y)+int(l.at[i].y) {
				return i
			}
		}
	}
	return -1
}

// planner plans a tick of a state in which only some units have actions.
type planner struct {
	game  *cc.Game
	state cc.State
}

// planners lends planners to goroutines.
type planners struct {
	rules cc.Rules
	mutex sync.Mutex
	free  []*planner
}

// take plans a tick of s with the orders.
func (l *planners) take(s *cc.State, after *stored) (p *planner) {
	l.mutex.Lock()
	if n := len(l.free); n > 0 {
		p, l.free = l.free[n-1], l.free[:n-1]
	}
	l.mutex.Unlock()
	if p == nil {
		g, err := cc.New(l.rules)
		if err != nil {
			panic("codecraft: " + err.Error()) // the rules come from a game
		}
		p = &planner{game: g}
	}
	p.state.Clone(s)
	clear(p.state.Acts[:s.N])
	for w, named := range after.named {
		for ; named != 0; named &= named - 1 {
			i := w<<6 | bits.TrailingZeros64(named)
			p.state.Acts[i] = after.acts[i]
		}
	}
	p.game.Plan(&p.state)
	return p
}

// give takes a planner back.
func (l *planners) give(p *planner) {
	if p != nil {
		l.mutex.Lock()
		l.free = append(l.free, p)
		l.mutex.Unlock()
	}
}

// sayNow returns a choice that lets unit i do the same in this tick as an action that the planner has
// planned: the same attack, build, repair or step, or none of these.
func (a *Actions) sayNow(v *roster, plan *planner, i int, act *cc.Action) (int, agreement) {
	u := &v.s.Units[i]
	if !u.Active {
		return choiceLeave, thisTick
	}
	var same cc.Action
	same.Parts = cc.Given
	victim, x, y, moves := plan.game.Draw(&plan.state, i)
	switch {
	case victim != 0:
		if act.Parts&cc.HasTarget == 0 && (act.Valid == cc.AllButResource || act.Valid == 1<<cc.Resource) {
			same.AddAuto(a.types[u.Type].reach, act.Valid) // draws the same victim
		} else {
			same.AddTarget(victim)
		}
	case act.Parts&cc.HasBuild != 0 && a.mayBuild(v, u, act):
		same.AddBuild(act.BuildType, int(act.BuildX), int(act.BuildY))
		if moves || a.mayRepair(v, plan, u, act) {
			return -1, differs // what it does depends on whether it can build
		}
	case act.Parts&cc.HasRepair != 0 && a.mayRepair(v, plan, u, act):
		same.AddRepair(act.Repair)
		if moves && !a.survives(v, plan, act.Repair) {
			return -1, differs
		}
	case moves:
		if d := a.directionTo(v, u, x, y); d >= 0 {
			if _, free := v.step(u, d); free { // else an own building is in the way
				return choiceStep + d, thisTick
			}
		}
	}
	if c, agrees := a.say(v, u, &same); agrees != differs {
		return c, thisTick
	}
	return -1, differs
}

// mayBuild reports whether the build of an action can succeed in this tick.
func (a *Actions) mayBuild(v *roster, u *cc.Unit, act *cc.Action) bool {
	r, s := &a.rules, v.s
	k := &r.Types[u.Type]
	if !k.CanBuild || !k.Builds.Set().Has(act.BuildType) || s.N == cc.MaxUnits {
		return false
	}
	x, y, size := int(act.BuildX), int(act.BuildY), a.types[act.BuildType].size
	if !cc.OnMap(x, y, size) || a.gapTo(u, x, y, size) != 1 || s.Occupied.MeetsSquare(x, y, size) {
		return false
	}
	return r.DeadAreFree || v.purse >= r.CostOf(act.BuildType, int32(s.Count[v.p][act.BuildType])) &&
		r.RoomFor(act.BuildType, s.PopUse[v.p], s.PopProvide[v.p])
}

// mayRepair reports whether the repair of an action can have an effect in this tick.
func (a *Actions) mayRepair(v *roster, plan *planner, u *cc.Unit, act *cc.Action) bool {
	r := &a.rules
	if act.Parts&cc.HasRepair == 0 || !r.Types[u.Type].CanRepair {
		return false
	}
	i := v.s.Find(act.Repair)
	if i < 0 {
		return false
	}
	w := &v.s.Units[i]
	if v.gap(u, w) != 1 || !r.Types[u.Type].Repairs.Set().Has(w.Type) {
		return false
	}
	if r.RepairOthers || r.RepairFull {
		return true
	}
	return w.Owner == v.p && (int32(w.Health) < r.Types[w.Type].MaxHealth || a.blows(v, plan, w) > 0)
}

// survives reports whether an entity needs a repair and outlives the attacks of this tick.
func (a *Actions) survives(v *roster, plan *planner, id uint32) bool {
	i := v.s.Find(id)
	if i < 0 {
		return false
	}
	w := &v.s.Units[i]
	return a.rules.NeedsRepair(w, v.p, cc.EveryType) && a.blows(v, plan, w) < int32(w.Health)
}

// blows returns the damage that all other entities which have w in their range can do to it.
func (a *Actions) blows(v *roster, plan *planner, w *cc.Unit) (sum int32) {
	r := &a.rules
	for i := range v.s.Units[:v.s.N] {
		u := &v.s.Units[i]
		aims := func(act *cc.Action) bool { return act.Parts&cc.HasTarget != 0 && act.Target == w.ID }
		friend := u.Owner == w.Owner && !aims(&v.s.Acts[i]) && !aims(&plan.state.Acts[i])
		if t := &r.Types[u.Type]; u.Active && t.CanAttack && u != w && !friend && int32(v.gap(u, w)) <= t.Range {
			sum += t.Damage
		}
	}
	return sum
}
