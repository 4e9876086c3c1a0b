package terminal

import (
	"math/bits"

	"moonfarm/sim"
)

// arrive lets the supports act on the stacks that are new to their cells (3.8),
// and tells whether there were any. Others have nothing to come: no support is
// built in an action phase.
func (g *Game) arrive(s *State) (any bool) {
	a := &g.phase
	for _, i := range a.live {
		st := &a.stacks[i]
		if !st.arrived || st.n == 0 {
			continue
		}
		any = true
		st.arrived = false
		st.cover = *g.coverOf(st.owner, st.kind, st.cell)
		if !st.doomed || g.rules.DoomedShielded {
			g.shield(st)
		}
		st.near = g.inSight(s, st)
	}
	if len(a.granted) > 0 {
		g.recordShields()
	}
	return any
}

// shield gives a stack the shields of the supports that it has reached.
func (g *Game) shield(st *stack) {
	a := &g.phase
	ward := &a.wards[st.owner]
	for w := range a.words {
		fresh := st.cover.wards[w] & ward.alive[w] &^ st.had[w]
		st.had[w] |= fresh
		for ; fresh != 0; fresh &= fresh - 1 {
			i := w<<6 | bits.TrailingZeros64(fresh)
			g.grant(st, ward.power[i])
			if g.rec != nil {
				g.noteShield(st, ward, i)
			}
		}
	}
}

// sharesOf is the memory for the shields of a stack.
func (a *phase) sharesOf(st *stack) []float32 {
	return a.shares[int(st.base)*HalfCells:][:HalfCells]
}

// grant adds a shield to all units of a stack.
func (g *Game) grant(st *stack, amount float32) {
	g.sharesOf(st)[st.shares] = amount
	runs := g.runs[st.base:][:st.runs]
	for i := range runs {
		r := &runs[i]
		if r.head == st.shares { // none was left: this is the oldest
			r.front = amount
		}
		r.sum += amount
		r.total = r.base + r.sum
	}
	st.shares++
}

// hurt takes damage off a unit (or all units of a run): if the shields do not
// withstand it they go, and the health pays the difference; else it uses up the
// oldest shields (3.10).
func (r *run) hurt(damage float32, shares []float32) {
	if damage >= r.sum {
		r.base -= float32(damage - r.sum)
		r.sum, r.head = 0, int32(len(shares))
	} else {
		for damage >= r.front {
			damage -= r.front
			r.head++
			r.front = shares[r.head]
		}
		r.front -= damage
		r.add(shares)
	}
	r.total = r.base + r.sum
}

// add adds the shields up again, from the oldest.
func (r *run) add(shares []float32) {
	r.sum = r.front
	for _, v := range shares[r.head+1:] {
		r.sum += v
	}
}

// fade lets all shields decay (3.7); only old rules know this.
func (g *Game) fade() {
	a := &g.phase
	for _, i := range a.live {
		st := &a.stacks[i]
		shares := a.sharesOf(st)[:st.shares]
		for j, v := range shares {
			shares[j] = max(v-g.decay, 0)
		}
		runs := a.runs[st.base:][:st.runs]
		for j := range runs {
			r := &runs[j]
			if r.head < st.shares {
				r.front = max(r.front-g.decay, 0)
				r.add(shares)
				r.total = r.base + r.sum
			}
		}
	}
}

// noteShield notes the events of one shield given.
func (g *Game) noteShield(st *stack, ward *battery, i int) {
	for _, r := range g.runs[st.base:][:st.runs] {
		for j := range uint32(r.n) {
			g.granted = append(g.granted, ShieldEvent{
				positions[ward.cell[i]], positions[st.cell], wardKind(ward, i), sim.Player(st.owner),
				ward.id[i], r.first + j, ward.power[i],
			})
		}
	}
}

// wardKind is the kind of structure i of a battery.
func wardKind(b *battery, i int) Kind {
	for f := range b.forms {
		if b.boards[f].Has(int(b.cell[i])) {
			return Kind(b.form[f] % Structures)
		}
	}
	return Support
}

// recordShields records the shields given in this frame in the order of the
// supports' ids. Those of one support are together, oldest unit first.
func (g *Game) recordShields() {
	list := g.granted
	for i := 1; i < len(list); i++ { // stable
		e, j := list[i], i
		for ; j > 0 && list[j-1].ID > e.ID; j-- {
			list[j] = list[j-1]
		}
		list[j] = e
	}
	g.rec.Shields = append(g.rec.Shields, list...)
	g.granted = list[:0]
}
