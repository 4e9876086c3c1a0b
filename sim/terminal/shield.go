package terminal

import (
	"math/bits"

	"moonfarm/sim/bitboard"
)

// arrive updates a stack that has entered its cell: which turrets can shoot at it, whether it can
// shoot at structures, and which supports shield it (3.8). A stack that stays on its cell gets no
// new shields, because no support is built in an action phase.
func (a *actionPhase) arrive(s *State, st *stack) {
	st.arrived = false
	st.aim, st.turrets = 0, 0
	cell := int(st.cell & cellMask)
	st.near = a.frontier[st.owner][cell]>>st.kind&1 != 0 && a.seesStructures(s, st)
	if a.turrets[st.owner^1].zone.Has(cell) {
		a.findTurrets(s, st)
	}
	supports := &a.supports[st.owner]
	if st.shares < supports.n[0]+supports.n[1] && supports.zone.Has(cell) && (!st.doomed || a.rules.DoomedShielded) {
		a.shield(s, st)
	}
}

// findTurrets lists the turrets that reach a stack, oldest first.
func (a *actionPhase) findTurrets(s *State, st *stack) {
	r := &a.turrets[st.owner^1]
	list := a.turretsOf(st)
	for form, n := range r.n {
		if n == 0 {
			continue
		}
		board, class, from := &r.boards[form], a.turretRange.class[st.kind][form], st.cell&cellMask
		if order := &a.orders[class]; len(order.lists) == 1 {
			// One loop instead of one for each word: loops mispredict their ends.
			for found := order.lists[0].Of(board, int(from)); found != 0; found &= found - 1 {
				cell := order.cell(from, bits.TrailingZeros64(found))
				st.turrets++
				insert(list[:st.turrets], newAged(s.Cells[cell&cellMask].ID(), cell))
			}
			continue
		}
		disc := a.within(class, int(from))
		for w := range disc {
			for b := board.Board[w] & disc[w]; b != 0; b &= b - 1 {
				cell := cellOf(w, b)
				st.turrets++
				insert(list[:st.turrets], newAged(s.Cells[cell&cellMask].ID(), cell))
			}
		}
	}
}

// shield gives a stack the shields of supports that have come into range, oldest first (3.8).
func (a *actionPhase) shield(s *State, st *stack) {
	r := &a.supports[st.owner]
	found := 0
	for form, n := range r.n {
		if n == 0 {
			continue
		}
		board, disc := &r.boards[form], a.within(a.supportRange.class[st.kind][form], int(st.cell))
		for w := range disc {
			b := board.Board[w] & disc[w] &^ st.had[w]
			for st.had[w] |= b; b != 0; b &= b - 1 {
				cell := cellOf(w, b)
				found++
				insert(a.found[:found], newAged(s.Cells[cell&cellMask].ID(), cell))
			}
		}
	}
	for _, support := range a.found[:found] {
		amount := a.amount[st.owner][s.Cells[support.cell()].form()][positions[support.cell()].Y]
		a.grant(st, amount)
		if a.record != nil {
			a.grantEvents(st, support, amount)
		}
	}
}

// meets reports whether two boards have a cell in common.
func meets(a, b *bitboard.Diamond) bool {
	return a[0]&b[0]|a[1]&b[1]|a[2]&b[2]|a[3]&b[3]|a[4]&b[4]|a[5]&b[5]|a[6]&b[6]|a[7]&b[7] != 0
}

// grant adds a shield to all units of a stack.
func (a *actionPhase) grant(st *stack, amount float32) {
	a.sharesOf(st)[st.shares] = amount
	runs := a.runsOf(st)
	for i := range runs {
		r := &runs[i]
		if r.head == st.shares { // no shield was left, so this one is the oldest
			r.front = amount
		}
		r.sum += amount
		r.total = r.base + r.sum
	}
	st.shares++
}

// hurt damages a unit, or all units of a run. Damage that is at least the sum of the shields takes
// all shields, and the rest of it is taken from the health; less damage uses up the oldest shields
// (3.10).
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
		if int(r.head) == len(shares) { // one by one the shields can be less than their rounded sum
			r.sum, r.total = 0, r.base
			return
		}
		r.front = shares[r.head]
	}
	r.front -= damage
	r.add(shares)
}

// add computes the sum of the shields again, from the oldest.
func (r *run) add(shares []float32) {
	r.sum = r.front
	for _, v := range shares[r.head+1:] {
		r.sum += v
	}
	r.total = r.base + r.sum
}

// decayShields lets the shields of a stack decay (3.7), which only old rules have.
func (a *actionPhase) decayShields(st *stack) {
	shares := a.sharesOf(st)[:st.shares]
	for i, v := range shares {
		shares[i] = max(v-a.decay, 0)
	}
	runs := a.runsOf(st)
	for i := range runs {
		if r := &runs[i]; r.head < st.shares {
			r.front = max(r.front-a.decay, 0)
			r.add(shares)
		}
	}
}
