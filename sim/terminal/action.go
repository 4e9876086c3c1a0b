package terminal

import (
	"math"

	"moonfarm/sim/bitboard"
)

// Action plays the remaining action frames. It skips frames in which nothing can happen, unless
// the game has a Record.
func (g *Game) Action(s *State) {
	a := &g.action
	idle := a.record == nil && a.decay == 0 // frames can be skipped
	for more := true; more; {
		if len(a.live) == 1 && !g.single(s, &a.stacks[a.live[0]]) {
			return
		}
		if more = g.Frame(s); idle && !a.contact {
			a.frame = max(a.frame, a.nextStep)
		}
	}
}

// single plays frames while the board has one stack, up to the frame in which this stack is at the
// end of its path, which Frame plays. It does what Frame does, without what several stacks need:
// more than half of all frames have one stack. It reports whether the stack is alive.
func (g *Game) single(s *State, st *stack) (alive bool) {
	a := &g.action
	if a.decay > 0 || a.period[st.kind] == 0 || s.Health[0] <= 0 || s.Health[1] <= 0 {
		return true
	}
	for st.n > 0 {
		if st.nextStep == a.frame {
			if !a.glide(st) {
				return true
			}
			a.wait(st)
		}
		if st.arrived {
			a.arrive(s, st)
			if len(a.granted) > 0 {
				a.recordShields()
			}
		}
		if st.near || st.turrets > 0 {
			a.exchange(s, st)
		}
		if len(a.fallen) > 0 {
			a.removeFallen(s)
		}
		if st.n == 0 {
			a.removeStacks()
		}
		if a.record != nil {
			a.record.end()
		}
		a.frame++
		if a.contact = st.near || st.turrets > 0; !a.contact && a.record == nil {
			a.frame = max(a.frame, st.nextStep)
		}
		if invariants {
			g.check(s)
		}
	}
	return false
}

// glide lets the only stack step (3.2 to 3.5), and reports false if it is at the end of its path.
// It makes all steps up to a cell where shots or shields are possible, and sets the frame to that
// of the last step. It makes a single step if frames are recorded or structures fall in this one.
func (a *actionPhase) glide(st *stack) bool {
	if st.field == noField {
		a.findField(st)
	}
	field := &a.paths.fields[st.field]
	turrets, supports := &a.turrets[st.owner^1].zone, &a.supports[st.owner].zone
	enemies, class := &a.targets[st.owner^1].Board, a.siegeRange[st.kind]
	cell, h, distance, steps := st.cell, st.heading, st.distance, int32(0)
	arrived := false
	for !arrived && (distance != 0 || !a.paths.ends(st.field, cell)) {
		distance = (distance - 1) & 3
		from := cell
		cell, h = follow(field, distance, cell, h)
		steps++
		at := int(cell & cellMask)
		near := a.frontier[st.owner][at]>>st.kind&1 != 0 && (class < 0 || meets(enemies, a.within(class, at)))
		arrived = near || turrets.Has(at) || supports.Has(at)
		if a.record != nil {
			st.cell = from
			a.recordMove(st, cell)
			arrived = true
		}
		arrived = arrived || len(a.fallen) > 0
	}
	if steps == 0 {
		return false
	}
	st.cell, st.heading, st.distance, st.arrived = cell, h, distance, arrived
	st.moves += steps
	if arrived {
		steps-- // the frame of the last step is being played
	}
	a.frame += steps * a.period[st.kind]
	st.nextStep = a.frame
	return arrived
}

// exchange lets the only stack shoot at structures, and turrets at the stack (3.11 to 3.13).
// Their order has no effect: see shoot.
func (a *actionPhase) exchange(s *State, st *stack) {
	st.shots, st.fired = st.n, 0
	if a.record != nil {
		a.listShooters()
	}
	for _, turret := range a.turretsOf(st)[:st.turrets] {
		if st.n == 0 {
			break
		}
		a.shootTurret(s, st.player()^1, turret, st)
	}
	if st.near {
		a.shootStructures(s, st)
	}
	if a.record != nil {
		a.recordShots()
	}
}

// Frame plays one action frame and reports whether another follows (3.15). Callers use it instead
// of Action to look at the position between frames: s has the structures and resources at the end
// of the frame, AppendMobile the mobile units. At least one frame follows Deploy.
func (g *Game) Frame(s *State) (more bool) {
	a := &g.action
	a.moveAll(s) // 3.1 to 3.8
	if a.contact || a.exploding {
		a.listShooters()
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

// moveAll lets the stacks step, breach and get shields (3.1 to 3.8). Stacks do not affect each
// other in these phases, so each stack goes through all of them at once.
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

// wait computes the frame of the next step (3.1).
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

// move carries out the step of a stack (3.2 to 3.6, 3.9), and reports whether the stack is still
// on the board.
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

// findField looks up the field that a stack follows (3.2).
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

// step moves a stack by one cell (3.3 to 3.5).
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

// breach lets a stack breach (3.6). Units are added one by one, because every sum is rounded.
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

// listShooters counts the units before explosions and shots. All of them shoot in this frame, even
// if they die before (3.11). It lists their ids only if events or explosions need them.
func (a *actionPhase) listShooters() {
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

// removeDead removes dead units from the board (3.14).
func (a *actionPhase) removeDead(s *State) {
	if len(a.fallen) > 0 {
		a.removeFallen(s)
	}
	if a.emptied {
		a.removeStacks()
	}
	a.findContact()
}

// removeFallen removes destroyed structures from the board.
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

// disarm removes a turret from the lists of the stacks that it reached.
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

// removeStacks removes stacks without units, and stacks that have self-destructed, from the list.
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

// findContact updates contact, which says whether any unit can shoot. While it is true, no frame
// may be skipped.
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
