package terminal

import (
	"math/bits"

	"moonfarm/sim"
)

// explode lets the units that decided to self-destruct in this frame explode
// one after the other (3.9). They are dead afterwards, but shoot.
func (g *Game) explode(s *State) {
	a := &g.phase
	for _, i := range a.live {
		a.stacks[i].aim = 0 // explosions may make other structures the weakest
	}
	for _, i := range a.live {
		st := &a.stacks[i]
		if !st.doomed {
			continue
		}
		u := &g.rules.Units[Scout+Kind(st.kind)]
		for j := range st.shots {
			id := a.ids[st.base+j]
			alive := st.runs > 0 && a.runs[st.base].first == id // the others before it are dead
			if !alive && !g.rules.DoomedExplode {
				continue
			}
			if st.moves >= u.BlastSteps {
				g.blast(s, st, id)
			}
			if alive {
				g.perish(st)
				g.recordDeath(positions[st.cell], Scout+Kind(st.kind), sim.Player(st.owner), id)
			}
		}
	}
}

// perish takes the first unit off a stack.
func (g *Game) perish(st *stack) {
	r := &g.runs[st.base]
	r.first++
	if st.n--; st.n == 0 {
		g.thinned = true
	}
	if r.n--; r.n == 0 {
		copy(g.runs[st.base:][:st.runs], g.runs[st.base+1:][:st.runs-1])
		st.runs--
	}
}

// blast is the explosion of one unit: it hits all enemies in range, those that
// are dead since this frame too.
func (g *Game) blast(s *State, st *stack, id uint32) {
	u := &g.rules.Units[Scout+Kind(st.kind)]
	first := int32(0)
	if g.rec != nil {
		first = int32(len(g.rec.Targets))
	}
	if u.BlastMobile != 0 {
		g.blastMobile(st, u.BlastMobile)
	}
	if u.BlastMobile != u.BlastStruct {
		first = g.recordBlast(st, id, u.BlastMobile, first)
	}
	if u.BlastStruct != 0 {
		g.blastStructures(s, st, u.BlastStruct)
	}
	g.recordBlast(st, id, u.BlastStruct, first)
}

// blastMobile hits the mobile units in range. Those of a run fare alike.
func (g *Game) blastMobile(st *stack, damage float32) {
	a := &g.phase
	square := g.squares[g.blastAt[st.kind]]
	for _, i := range a.live {
		foe := &a.stacks[i]
		if foe.owner == st.owner || foe.shots == 0 || distance(int(st.cell), int(foe.cell)) > square {
			continue
		}
		at, k, p := positions[foe.cell], Scout+Kind(foe.kind), sim.Player(foe.owner)
		if g.rec != nil {
			for j := range foe.shots {
				g.rec.Targets = append(g.rec.Targets, at)
				g.rec.Damages = append(g.rec.Damages, DamageEvent{at, k, p, a.ids[foe.base+j], damage})
			}
		}
		runs := a.runs[foe.base:][:foe.runs]
		left := int32(0)
		for j := range runs {
			r := runs[j]
			r.hurt(damage, a.sharesOf(foe)[:foe.shares])
			if r.total <= g.rules.DeadAt {
				foe.n -= r.n
				for m := range uint32(r.n) {
					g.recordDeath(at, k, p, r.first+m)
				}
				continue
			}
			runs[left] = r
			left++
		}
		foe.runs = left
		if foe.n == 0 {
			g.thinned = true
		}
	}
}

// blastStructures hits the structures in range, oldest first.
func (g *Game) blastStructures(s *State, st *stack, damage float32) {
	p := sim.Player(st.owner ^ 1)
	mask := &g.reach[int(g.blastAt[st.kind])<<9|int(st.cell)]
	n := 0
	for w, own := range s.Own[p] {
		for b := own & mask[w]; b != 0; b &= b - 1 {
			cell := w<<6 | bits.TrailingZeros64(b)
			n++
			insert(g.fresh[:n], gun(s.Cells[cell].ID())<<16|gun(cell))
		}
	}
	for _, hit := range g.fresh[:n] {
		cell, id := hit.cell(), hit.id()
		c := &s.Cells[cell]
		if g.rec != nil {
			g.rec.Targets = append(g.rec.Targets, positions[cell])
			g.rec.Damages = append(g.rec.Damages, DamageEvent{positions[cell], c.Kind(), p, id, damage})
		}
		if !g.targets[p].Has(cell) {
			continue // it has fallen before in this frame
		}
		if c.Health -= damage; c.Health <= g.rules.DeadAt {
			g.fell(cell, p)
			g.recordDeath(positions[cell], c.Kind(), p, id)
		}
	}
}

// recordBlast notes an explosion with the targets from first on, and returns
// where the next ones begin.
func (g *Game) recordBlast(st *stack, id uint32, damage float32, first int32) int32 {
	if g.rec == nil {
		return 0
	}
	end := int32(len(g.rec.Targets))
	g.rec.SelfDestructs = append(g.rec.SelfDestructs, SelfDestructEvent{
		positions[st.cell], Scout + Kind(st.kind), sim.Player(st.owner), id, damage, first, end - first,
	})
	return end
}

// recordDeath notes a death.
func (g *Game) recordDeath(at Pos, k Kind, p sim.Player, id uint32) {
	if g.rec != nil {
		g.rec.Deaths = append(g.rec.Deaths, DeathEvent{at, k, p, id, false})
	}
}

// noteShot notes a shot of player p.
func (g *Game) noteShot(p sim.Player, from uint16, k Kind, id uint32, to uint16, target Kind, victim uint32, damage float32, killed bool) {
	g.shots[p] = append(g.shots[p], shotEvent{
		AttackEvent{positions[from], positions[to], k, p, id, victim, damage}, target, killed,
	})
}

// recordShots records the shots of both players in the order of the attackers'
// ids, with the damage and the deaths they did.
func (g *Game) recordShots() {
	a, b := g.shots[0], g.shots[1]
	for len(a)+len(b) > 0 {
		var e shotEvent
		if len(b) == 0 || len(a) > 0 && a[0].ID < b[0].ID {
			e, a = a[0], a[1:]
		} else {
			e, b = b[0], b[1:]
		}
		g.rec.Attacks = append(g.rec.Attacks, e.AttackEvent)
		g.rec.Damages = append(g.rec.Damages, DamageEvent{e.To, e.target, e.Player ^ 1, e.Target, e.Damage})
		if e.killed {
			g.rec.Deaths = append(g.rec.Deaths, DeathEvent{e.To, e.target, e.Player ^ 1, e.Target, false})
		}
	}
	g.shots[0], g.shots[1] = g.shots[0][:0], g.shots[1][:0]
}
