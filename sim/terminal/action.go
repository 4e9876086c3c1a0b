package terminal

import (
	"math"

	"moonfarm/sim/bitboard"
)

// Action plays the action frames that are left, and leaves out those in which
// nothing can happen (with a Record it plays them all).
func (g *Game) Action(s *State) {
	a := &g.action
	idle := a.record == nil && a.decay == 0 // frames can be left out
	for g.Frame(s) {
		if idle && !a.contact {
			a.frame = max(a.frame, a.nextStep)
		}
	}
}

// Frame plays one action frame and reports whether another follows (3.15). It is
// what Action does frame by frame, for those who want to look in between: at s,
// whose structures and resources are those at the end of the frame, and at
// AppendMobile. After Deploy there is always at least one frame.
func (g *Game) Frame(s *State) (more bool) {
	a := &g.action
	a.moveAll(s) // 3.1 to 3.8
	if a.contact || a.exploding {
		a.callRoll()
		if a.exploding {
			a.explodeAll(s) // 3.9
		}
		a.shoot(s, 0) // 3.11 to 3.13
		a.shoot(s, 1)
		if a.record != nil {
			a.recordShots()
		}
	}
	if a.emptied || len(a.fallen) > 0 {
		a.removeDead(s) // 3.14
	}
	if a.record != nil {
		a.record.end()
	}
	a.frame++
	if invariants {
		g.check(s)
	}
	return len(a.live) > 0 && s.Health[0] > 0 && s.Health[1] > 0
}

// moveAll lets the stacks step, breach and get shields (3.1 to 3.8). What a stack
// does in these makes no difference to others, so each does it all at once.
func (a *actionPhase) moveAll(s *State) {
	changed := false
	a.nextStep = math.MaxInt32
	for _, i := range a.live {
		st := &a.stacks[i]
		if st.nextStep == a.frame {
			if !a.move(s, st) {
				changed = true
				continue
			}
			a.wait(st)
		}
		a.nextStep = min(a.nextStep, st.nextStep)
		if a.decay > 0 {
			a.decayShields(st)
		}
		if st.arrived {
			a.arrive(s, st)
			changed = true
		}
	}
	if len(a.granted) > 0 {
		a.recordShields()
	}
	if changed {
		a.findContact()
	}
}

// wait finds the frame of the next step (3.1).
func (a *actionPhase) wait(st *stack) {
	if period := a.period[st.kind]; period != 0 {
		st.nextStep += period
		return
	}
	speed := a.rules.Units[st.unitKind()].Speed
	sum, next := st.speedSum+speed, st.nextStep+1
	for sum < 1 {
		sum += speed
		next++
	}
	st.speedSum, st.nextStep = sum-1, next
}

// move takes the step of a stack that is due (3.2 to 3.6, 3.9), and reports
// whether it is still on the board.
func (a *actionPhase) move(s *State, st *stack) bool {
	if st.field == noField {
		a.findField(st)
	}
	switch {
	case st.distance != 0 || !a.paths.ends(st.field, st.cell):
		a.step(st)
	case st.field < edges:
		a.breach(s, st)
		return false
	default:
		st.doomed, a.exploding = true, true
	}
	return true
}

// findField finds the field that a stack follows (3.2).
func (a *actionPhase) findField(st *stack) {
	edge := st.heading.edge()
	if !a.paths.charted[edge] {
		var wanted bitboard.Diamond
		for _, i := range a.live {
			if other := &a.stacks[i]; other.heading.edge() == edge {
				wanted.Add(int(other.cell))
			}
		}
		a.paths.chart(edge, &wanted)
	}
	st.field, st.distance = a.paths.find(int(st.cell), edge)
}

// step moves a stack one cell on (3.3 to 3.5).
func (a *actionPhase) step(st *stack) {
	st.distance = (st.distance - 1) & 3
	next, h := a.paths.step(st.field, st.distance, st.cell, st.heading)
	if a.record != nil {
		a.recordMove(st, next)
	}
	st.cell, st.heading = next, h
	st.moves++
	st.arrived = true
}

// breach lets a stack score (3.6): each unit by itself, as every sum is
// rounded.
func (a *actionPhase) breach(s *State, st *stack) {
	u, p := &a.rules.Units[st.unitKind()], st.player()
	a.scored[p] += st.n
	for range st.n {
		s.Health[p^1] -= u.BreachDamage
		s.Cores[p] += u.BreachCores
	}
	if a.record != nil {
		a.recordBreach(st, u.BreachDamage)
	}
	st.n, st.runs = 0, 0
	a.emptied = true
}

// callRoll notes who stands before explosions and shots: all of them shoot in
// this frame, even those that will be dead by then (3.11). Their ids are needed
// only for events and explosions.
func (a *actionPhase) callRoll() {
	ids := a.record != nil || a.exploding
	a.aims = [2]int32{}
	for _, i := range a.live {
		st := &a.stacks[i]
		st.shots, st.fired, st.spent = st.n, 0, 0
		a.aims[st.owner] += st.turrets
		if !ids {
			continue
		}
		list := a.ids[st.base:][:0]
		for _, r := range a.runsOf(st) {
			for j := range uint32(r.n) {
				list = append(list, r.first+j)
			}
		}
	}
}

// removeDead takes the dead away (3.14).
func (a *actionPhase) removeDead(s *State) {
	if len(a.fallen) > 0 {
		a.removeFallen(s)
	}
	if a.emptied {
		a.removeStacks()
	}
	a.findContact()
}

// removeFallen takes the structures that fell off the board.
func (a *actionPhase) removeFallen(s *State) {
	for _, at := range a.fallen {
		cell := int(at)
		c := s.Cells[cell]
		switch p := c.Player(); c.Kind() {
		case Turret:
			a.turrets[p].drop(cell)
			a.disarm(newAged(c.ID(), cell))
		case Support:
			a.supports[p].drop(cell)
		}
		s.drop(cell)
		a.paths.open(cell)
	}
	a.fallen = a.fallen[:0]
	for _, i := range a.live {
		st := &a.stacks[i]
		st.field = noField
		if st.near && st.n > 0 {
			st.near = a.seesStructures(s, st)
		}
	}
}

// disarm takes a turret off the lists of those it reached.
func (a *actionPhase) disarm(turret aged) {
	for _, i := range a.live {
		st := &a.stacks[i]
		list := a.turretsOf(st)[:st.turrets]
		for j, x := range list {
			if x == turret {
				copy(list[j:], list[j+1:])
				st.turrets--
				break
			}
		}
	}
}

// removeStacks takes the stacks without units off the list, and those that have
// self-destructed.
func (a *actionPhase) removeStacks() {
	left := a.live[:0]
	for _, i := range a.live {
		if st := &a.stacks[i]; st.n > 0 && !st.doomed {
			left = append(left, i)
		} else {
			a.crowd[st.owner]--
		}
	}
	a.live, a.emptied = left, false
}

// findContact finds out whether anybody can shoot: if so, every frame counts
// until somebody moves or falls.
func (a *actionPhase) findContact() {
	a.contact = false
	for n, i := range a.live {
		st := &a.stacks[i]
		if st.near || st.turrets > 0 {
			a.contact = true
			return
		}
		if a.crowd[st.owner^1] == 0 {
			continue
		}
		for _, j := range a.live[:n] {
			foe := &a.stacks[j]
			if foe.owner != st.owner && squaredDistance(st.cell, foe.cell) <= a.mutual[st.kind][foe.kind] {
				a.contact = true
				return
			}
		}
	}
}
