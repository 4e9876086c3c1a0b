package towerdefence

import "math/bits"

// fire returns the cells whose attack buildings shoot in round r: those
// finished at the start of the round, including those that lightning is about
// to destroy.
func fire(h *Half, r int) uint64 {
	odd, half := -uint64(r&1), -uint64(r>>1&1) // each bit of r mod 4, repeated over the board
	return h.Live &^ (h.Type2 | (h.Type0 ^ odd) | (h.Type1 ^ half))
}

// Idle returns, as a two-bit number per cell, the rounds that attack buildings
// idle from round r on before their next shot: their phase minus the round,
// modulo 4. It is valid only in the rhythm of release 3.0.2.
func (h *Half) Idle(r int32) (low, high uint64) {
	odd, half := -uint64(r&1), -uint64(r>>1&1)
	attack := h.Occupied &^ h.Type2
	return attack & (h.Type0 ^ odd), attack & (h.Type1 ^ half ^ odd&^h.Type0)
}

// stacked returns 0 if no two missiles of h are on one cell once the shots are
// added.
func stacked(h *Half, shots uint64) uint64 { return h.Own[1] | h.Far[1] | h.Own[0]&shots }

// health holds the buildings of a half while missiles hit it: the boards of the
// same names in Half, kept in registers.
type health struct{ live, extra0, extra1 uint64 }

// fly puts the new shots of h on the board and moves all its missiles two cells
// on. No missiles may be stacked. It returns the enemy's buildings after the
// hits.
func (g *Game) fly(h, enemy *Half, shots uint64, r int) health {
	own, far := h.Own[0], h.Far[0]
	// Nothing on the own half stops a missile. Missiles on its front column
	// cross to the enemy's front column, which has the same bits, unless a
	// curtain stops them.
	own |= shots
	open := uint64(int64(int(enemy.Curtain)-r) >> 63)
	first := own & column7
	own = (own ^ first) << 1
	second := own & column7
	h.Own[0] = (own ^ second) << 1

	left := health{enemy.Live, enemy.Extra0, enemy.Extra1}
	out1 := far & column0
	far = (far^out1)>>1 | first&open
	hit := far & left.live
	far ^= hit
	left = left.minus(hit)

	out2 := far & column0
	far = (far^out2)>>1 | second&open
	hit = far & left.live
	h.Far[0] = far ^ hit
	left = left.minus(hit)

	// The sum of the bytes counts the missiles that reached the base.
	enemy.Base += int64((out1+out2)*column0>>56) * g.blow
	return left
}

// settle ends the round for the buildings of h: left are those still standing,
// placed is the bit of this round's cheap building, and construction advances.
// It returns the buildings that pay and the cells to vacate.
func (h *Half) settle(left health, placed uint64) (pay, dead uint64) {
	dead = h.Live ^ left.live
	slow := placed & h.Type2 &^ h.Type0 // a defense
	done := h.Wait1
	h.Wait1, h.Wait0 = h.Wait0, slow
	h.Live = left.live | done | placed ^ slow
	h.Extra0 = left.extra0 | done // minus leaves a bit where it destroyed, which vacate clears
	h.Extra1 = left.extra1 | done
	return left.live & h.Type2 & h.Type0, dead
}

// minus takes one hit from the live buildings at hit: it subtracts 1 from the
// two bits of extra hits, and destroys buildings without extra hits. It leaves
// a bit in extra0 where it destroyed.
func (h health) minus(hit uint64) health {
	borrow := hit &^ h.extra0
	held := borrow & h.extra1
	return health{h.live ^ borrow ^ held, h.extra0 ^ hit, h.extra1 ^ held}
}

// flyPairs is fly for stacks of at most two missiles, which occur in every
// tenth round; higher stacks occur in every thousandth.
func (g *Game) flyPairs(h, enemy *Half, shots uint64, r int) health {
	own1, own2 := h.Own[0], h.Own[1]
	if h.Own[2]|h.Far[2]|own2&shots != 0 {
		return g.flyStacked(h, enemy, shots, r)
	}
	own2 |= own1 & shots
	own1 |= shots
	open := uint64(int64(int(enemy.Curtain)-r) >> 63)
	first1, first2 := own1&column7, own2&column7
	own1, own2 = (own1^first1)<<1, (own2^first2)<<1
	second1, second2 := own1&column7, own2&column7
	h.Own[0], h.Own[1] = (own1^second1)<<1, (own2^second2)<<1

	left := health{enemy.Live, enemy.Extra0, enemy.Extra1}
	far1, far2 := h.Far[0], h.Far[1]
	gone := far1&column0 + far2&column0 // up to 2 in every byte, up to 4 after both steps
	far1, far2, left = left.meet(far1&^column0>>1|first1&open, far2&^column0>>1|first2&open)
	gone += far1&column0 + far2&column0
	far1, far2, left = left.meet(far1&^column0>>1|second1&open, far2&^column0>>1|second2&open)
	h.Far[0], h.Far[1] = far1, far2
	enemy.Base += int64(gone*column0>>56) * g.blow
	return left
}

// meet lets missiles in stacks of up to two hit the buildings under them. It
// returns the missiles that fly on and the remaining buildings.
func (h health) meet(far1, far2 uint64) (uint64, uint64, health) {
	hit1 := far1 & h.live
	h = h.minus(hit1)
	hit2 := far2 & hit1 & h.live
	return far1 &^ (hit1&^far2 | hit2), far2 &^ hit1, h.minus(hit2)
}

// flyStacked is fly for stacks of up to MaxStack missiles and missiles of any
// speed.
func (g *Game) flyStacked(h, enemy *Half, shots uint64, r int) health {
	push(&h.Own, shots)
	left := health{enemy.Live, enemy.Extra0, enemy.Extra1}
	for range g.rules.Buildings[Attack].Speed {
		left = g.stepStacked(h, enemy, left, r)
	}
	return left
}

// stepStacked moves all missiles of h one cell on, in stacks of any height. left are
// the enemy's buildings; it returns those after the hits.
func (g *Game) stepStacked(h, enemy *Half, left health, r int) health {
	open := uint64(int64(int(enemy.Curtain)-r) >> 63)
	out := 0
	for i := range h.Far {
		cross := h.Own[i] & column7
		h.Own[i] = (h.Own[i] ^ cross) << 1
		gone := h.Far[i] & column0
		h.Far[i] = (h.Far[i]^gone)>>1 | cross&open
		out += bits.OnesCount64(gone)
	}
	for range MaxStack { // as many missiles of a stack hit as the building withstands
		hit := h.Far[0] & left.live
		left = left.minus(hit)
		pop(&h.Far, hit)
	}
	enemy.Base += int64(out) * g.blow
	return left
}

// push adds one missile to the stack of every cell of at. A missile beyond
// MaxStack, which the rules cannot reach, is lost.
func push(m *[MaxStack]uint64, at uint64) {
	for i := range m {
		at, m[i] = at&m[i], m[i]|at
	}
}

// pop takes one missile from the stack of every cell of at.
func pop(m *[MaxStack]uint64, at uint64) {
	for i := range MaxStack - 1 {
		m[i] = m[i]&^at | m[i+1]&at
	}
	m[MaxStack-1] &^= at
}

// remove clears the dead buildings.
func (h *Half) remove(dead uint64) {
	teslas := dead & h.Type2 & h.Type1
	h.vacate(dead)
	if teslas != 0 {
		h.dropTeslas()
	}
}

// vacate frees the cells.
func (h *Half) vacate(cells uint64) {
	h.Occupied &^= cells
	h.Extra0 &^= cells
	h.Type2 &^= cells
	h.Type1 &^= cells
	h.Type0 &^= cells
}
