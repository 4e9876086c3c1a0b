package terminal

import (
	"math/bits"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
)

// arrive looks around for a stack that is new to its cell: who can shoot at it,
// what it can shoot at, and which supports shield it (3.8). Others have no
// shields to come: no support is built in an action phase.
func (g *Game) arrive(s *State, st *stack) {
	st.arrived = false
	st.aim, st.guns = 0, 0
	cell, group := int(st.cell), g.group[st.kind]
	st.near = g.zones[st.owner][cell&511]>>st.kind&1 != 0 && g.inSight(s, st)
	if g.gunZone[st.owner^1][group].Has(cell) {
		g.underFire(s, st)
	}
	if st.shares < g.wardsOut[st.owner][group] && g.wardZone[st.owner][group].Has(cell) && (!st.doomed || g.rules.DoomedShielded) {
		g.shield(s, st)
	}
}

// gunsOf is the memory for the guns that reach a stack.
func (a *phase) gunsOf(st *stack) []gun {
	return a.aimed[int(st.base)*HalfCells:][:HalfCells]
}

// underFire finds the guns that reach a stack, oldest first.
func (g *Game) underFire(s *State, st *stack) {
	list := g.tables.guns[st.kind]
	boards := g.gunBoards[st.owner^1][g.group[st.kind]]
	for i := range list {
		mask := &g.reach[int(list[i].class)<<9|int(st.cell)]
		for w := range mask {
			for b := boards[i][w] & mask[w]; b != 0; b &= b - 1 {
				cell := w<<6 | bits.TrailingZeros64(b)
				st.guns++
				insert(g.gunsOf(st)[:st.guns], gun(s.Cells[cell&511].ID())<<16|gun(cell))
			}
		}
	}
}

// shield gives a stack the shields of the wards that it has reached, oldest
// first.
func (g *Game) shield(s *State, st *stack) {
	list := g.tables.wards[st.kind]
	boards := g.wardBoards[st.owner][g.group[st.kind]]
	n := 0
	for i := range list {
		a, b, c := &boards[i], &g.reach[int(list[i].class)<<9|int(st.cell)], &st.had
		for w := range a {
			b := a[w] & b[w] &^ c[w]
			for c[w] |= b; b != 0; b &= b - 1 {
				cell := w<<6 | bits.TrailingZeros64(b)
				n++
				insert(g.fresh[:n], gun(s.Cells[cell&511].ID())<<16|gun(cell))
			}
		}
	}
	for _, ward := range g.fresh[:n] {
		c := s.Cells[ward.cell()]
		amount := g.amount[st.owner][form(c.Mark)][positions[ward.cell()].Y]
		g.grant(st, amount)
		if g.rec != nil {
			g.noteShield(st, ward, c.Kind(), amount)
		}
	}
}

// meets reports whether two boards have a cell in common.
func meets(a, b *bitboard.Diamond) bool {
	return a[0]&b[0]|a[1]&b[1]|a[2]&b[2]|a[3]&b[3]|a[4]&b[4]|a[5]&b[5]|a[6]&b[6]|a[7]&b[7] != 0
}

// insert puts a gun in its place in a list that is sorted but for the last
// entry, which is free.
func insert(list []gun, x gun) {
	i := len(list) - 1
	for ; i > 0 && list[i-1] > x; i-- {
		list[i] = list[i-1]
	}
	list[i] = x
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
		r.total = r.base
		return
	}
	for damage >= r.front {
		damage -= r.front
		r.head++
		if int(r.head) == len(shares) { // one by one they are less than their rounded sum
			r.sum, r.total = 0, r.base
			return
		}
		r.front = shares[r.head]
	}
	r.front -= damage
	r.add(shares)
	r.total = r.base + r.sum
}

// add adds the shields up again, from the oldest.
func (r *run) add(shares []float32) {
	r.sum = r.front
	for _, v := range shares[r.head+1:] {
		r.sum += v
	}
}

// fade lets the shields of a stack decay (3.7); only old rules know this.
func (g *Game) fade(st *stack) {
	a := &g.phase
	shares := a.sharesOf(st)[:st.shares]
	for i, v := range shares {
		shares[i] = max(v-g.decay, 0)
	}
	runs := a.runs[st.base:][:st.runs]
	for i := range runs {
		r := &runs[i]
		if r.head < st.shares {
			r.front = max(r.front-g.decay, 0)
			r.add(shares)
			r.total = r.base + r.sum
		}
	}
}

// noteShield notes the events of one shield given.
func (g *Game) noteShield(st *stack, ward gun, k Kind, amount float32) {
	for _, r := range g.runs[st.base:][:st.runs] {
		for j := range uint32(r.n) {
			g.granted = append(g.granted, ShieldEvent{
				positions[ward.cell()], positions[st.cell], k, sim.Player(st.owner), ward.id(), r.first + j, amount,
			})
		}
	}
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
