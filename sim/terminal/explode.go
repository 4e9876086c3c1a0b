package terminal

// explodeAll lets the units that decided to self-destruct in this frame explode
// one after the other (3.9). They are dead afterwards, but shoot.
func (a *actionPhase) explodeAll(s *State) {
	a.exploding = false
	for _, i := range a.live {
		a.stacks[i].aim = 0 // explosions may make other structures the weakest
	}
	for _, i := range a.live {
		st := &a.stacks[i]
		if !st.doomed {
			continue
		}
		for _, id := range a.ids[st.base:][:st.shots] {
			alive := st.runs > 0 && a.runs[st.base].first == id // the others before it are dead
			if !alive && !a.rules.DoomedExplode {
				continue
			}
			if st.moves >= a.rules.Units[st.unitKind()].BlastSteps {
				a.explode(s, st, id)
			}
			if alive {
				a.takeFirst(st)
				a.recordDeath(positions[st.cell], st.unitKind(), st.player(), id)
			}
		}
	}
}

// takeFirst takes the first unit off a stack.
func (a *actionPhase) takeFirst(st *stack) {
	a.runs[st.base].first++
	a.shrink(st, 0, 1)
}

// explode is the explosion of one unit: it hits all enemies in range, those that
// are dead since this frame too.
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

// hitMobile hits the mobile units in range of an explosion. Those of a run fare
// alike.
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
				a.recordDeath(positions[foe.cell], foe.unitKind(), foe.player(), r.first+m)
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
		if !a.targets[p].Has(cell) {
			continue // it has fallen before in this frame
		}
		if c.Health -= damage; c.Health <= a.rules.DeadAt {
			a.fell(cell, p)
			a.recordDeath(positions[cell], c.Kind(), p, id)
		}
	}
}
