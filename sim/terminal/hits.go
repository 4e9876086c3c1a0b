package terminal

// explodeAll lets the units that decided to self-destruct in this frame explode one after the
// other (3.9). They are dead afterwards but still shoot. Under moonfarm.doomedTargets they die at
// the end of the frame.
func (a *actionPhase) explodeAll(s *State) {
	a.exploding = false
	for _, i := range a.live {
		a.stacks[i].aim = 0 // explosions may change which structure is the weakest
	}
	for _, i := range a.live {
		st := &a.stacks[i]
		if !st.doomed {
			continue
		}
		st.exploded = a.rules.DoomedTargets
		for _, id := range a.ids[st.base:][:st.shots] {
			alive := a.has(st, id)
			if !alive && !a.rules.DoomedExplode {
				continue
			}
			if st.moves >= a.rules.Units[st.unitKind()].BlastSteps {
				a.explode(s, st, id)
			}
			if alive && !a.rules.DoomedTargets {
				a.takeFirst(st)
			}
			a.recordUnit(st, id, !alive)
		}
	}
	a.emptied = true // under doomedTargets the units are removed at the end of the frame
}

// has reports whether the unit of a stack with the given id is alive.
func (a *actionPhase) has(st *stack, id uint32) bool {
	for _, r := range a.runsOf(st) {
		if id-r.first < uint32(r.n) {
			return true
		}
	}
	return false
}

// takeFirst removes the first unit of a stack.
func (a *actionPhase) takeFirst(st *stack) {
	a.runs[st.base].first++
	a.shrink(st, 0, 1)
}

// explode lets one unit explode. It hits all enemies in range, also those that died in this frame.
func (a *actionPhase) explode(s *State, st *stack, id uint32) {
	u := &a.rules.Units[st.unitKind()]
	first := int32(0)
	if a.record != nil {
		first = int32(len(a.record.Targets))
	}
	if u.BlastMobile != 0 {
		a.hitMobile(st, u.BlastMobile)
	}
	if u.BlastMobile != u.BlastStruct {
		first = a.recordExplosion(st, id, u.BlastMobile, first)
	}
	if u.BlastStruct != 0 {
		a.hitStructures(s, st, u.BlastStruct)
	}
	a.recordExplosion(st, id, u.BlastStruct, first)
}

// hitMobile hits the mobile units in range of an explosion. Units of a run have the same health
// afterwards, too.
func (a *actionPhase) hitMobile(st *stack, damage float32) {
	square := a.squares[a.blastRange[st.kind]]
	for _, i := range a.live {
		foe := &a.stacks[i]
		if foe.owner == st.owner || foe.shots == 0 || squaredDistance(st.cell, foe.cell) > square {
			continue
		}
		if a.record != nil {
			for _, id := range a.ids[foe.base:][:foe.shots] {
				a.recordHit(positions[foe.cell], foe.unitKind(), foe.player(), id, damage)
			}
		}
		for j := 0; j < int(foe.runs); {
			r := &a.runs[int(foe.base)+j]
			r.hurt(damage, a.sharesOf(foe)[:foe.shares])
			if r.total > a.rules.DeadAt {
				j++
				continue
			}
			for m := range uint32(r.n) {
				a.recordUnit(foe, r.first+m, foe.exploded)
			}
			a.shrink(foe, j, r.n)
		}
	}
}

// hitStructures hits the structures in range of an explosion, oldest first.
func (a *actionPhase) hitStructures(s *State, st *stack, damage float32) {
	p := st.player() ^ 1
	disc := a.within(a.blastRange[st.kind], int(st.cell))
	n := 0
	for w, own := range s.Own[p] {
		for b := own & disc[w]; b != 0; b &= b - 1 {
			cell := cellOf(w, b)
			n++
			insert(a.found[:n], newAged(s.Cells[cell].ID(), cell))
		}
	}
	for _, hit := range a.found[:n] {
		cell, id := hit.cell(), hit.id()
		c := &s.Cells[cell]
		if a.record != nil {
			a.recordHit(positions[cell], c.Kind(), p, id, damage)
		}
		if !a.targets[p].Board.Has(cell) {
			continue // it was destroyed before in this frame
		}
		if c.Health -= damage; c.Health <= a.rules.DeadAt {
			a.fell(cell, p)
			a.recordDeath(positions[cell], c.Kind(), p, id)
		}
	}
}

// wound lets a shot hit a stack. It hits the last of the units with the lowest health (3.12,
// 3.13).
func (a *actionPhase) wound(st *stack, damage float32) (victim uint32, killed bool) {
	if a.earlierTargets {
		return a.woundAny(st, damage)
	}
	i, _ := a.weakest(st)
	r := &a.runs[int(st.base)+i]
	hit := *r
	hit.n, hit.first = 1, r.first+uint32(r.n)-1
	hit.hurt(damage, a.sharesOf(st)[:st.shares])
	killed = hit.total <= a.rules.DeadAt
	switch {
	case killed:
		a.shrink(st, i, 1)
	case r.n == 1:
		*r = hit
	default:
		r.n--
		runs := a.runs[st.base:][:st.runs+1]
		copy(runs[i+2:], runs[i+1:])
		runs[i+1] = hit
		st.runs++
	}
	return hit.first, killed
}

// shrink removes n units from run i of a stack.
func (a *actionPhase) shrink(st *stack, i int, n int32) {
	runs := a.runsOf(st)
	if runs[i].n -= n; runs[i].n == 0 {
		copy(runs[i:], runs[i+1:])
		st.runs--
	}
	if st.n -= n; st.n == 0 {
		a.emptied = true
	}
}

// woundAny does the work of wound under the rules of earlier engines: weakestUnit chooses the unit,
// whose run is split into up to three.
func (a *actionPhase) woundAny(st *stack, damage float32) (victim uint32, killed bool) {
	i, victim, _ := a.weakestUnit(st)
	r := a.runs[int(st.base)+i]
	hit, before, after := r, r, r
	hit.n, hit.first = 1, victim
	hit.hurt(damage, a.sharesOf(st)[:st.shares])
	before.n = int32(victim - r.first)
	after.n, after.first = r.n-1-before.n, victim+1
	killed = hit.total <= a.rules.DeadAt
	if killed {
		hit.n = 0
		if st.n--; st.n == 0 {
			a.emptied = true
		}
	}
	parts, n := [3]run{}, 0
	for _, part := range [...]run{before, hit, after} {
		if part.n > 0 {
			parts[n] = part
			n++
		}
	}
	left := a.runs[st.base:][:max(st.runs, st.runs+int32(n)-1)]
	copy(left[i+n:], left[i+1:st.runs])
	copy(left[i:], parts[:n])
	st.runs += int32(n) - 1
	return victim, killed
}
