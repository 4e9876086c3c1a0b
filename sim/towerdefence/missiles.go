package towerdefence

import "math/bits"

// fire returns the cells whose attack buildings shoot in round r: the finished
// ones at the start of the round, also those that lightning is about to
// destroy.
func (g *Game) fire(h *Half, r int32) uint64 {
	if !g.regular {
		return g.fireAnyRhythm(h, r)
	}
	odd, half := -uint64(r&1), -uint64(r>>1&1) // the two bits of r mod 4, all over the board
	return h.Live &^ h.Type2 &^ (h.Type0 ^ odd) &^ (h.Type1 ^ half)
}

// fly puts the new shots of h on the board and moves all its missiles two
// cells on, against the enemy's half.
func (g *Game) fly(h, enemy *Half, shots uint64, r int32) {
	own, far := h.Own[0], h.Far[0]
	if h.Own[1]|h.Far[1]|own&shots != 0 || !g.regular {
		g.flyStacked(h, enemy, shots, r)
		return
	}
	own |= shots
	// The own half holds nothing that stops a missile, so both steps are one:
	// columns 7 and 6 cross to the enemy's front in the first and the second.
	// There a curtain that is up takes them.
	open := uint64(int64(int32(enemy.Curtain)-r) >> 63)
	first, second := own&column7&open, own&column6<<1&open
	h.Own[0] = own << 2 &^ columns01

	out := far & column0
	far = far&^column0>>1 | first
	far ^= enemy.hit(far)

	out |= (far & column0) << 1 // the bits of column 1 are free: one count serves both steps
	far = far&^column0>>1 | second
	far ^= enemy.hit(far)
	h.Far[0] = far
	if out != 0 {
		g.hitBase(enemy, bits.OnesCount64(out), g.damage)
	}
}

// hit takes one hit from every live building under a missile and returns where
// that was.
func (h *Half) hit(missiles uint64) uint64 {
	hit := missiles & h.Live
	borrow := hit &^ h.Extra0
	h.Live ^= borrow &^ h.Extra1
	h.Extra1 &^= borrow
	h.Extra0 ^= hit // leaves 1 where it died; remove clears it
	return hit
}

// flyStacked is fly for stacks of missiles of any height up to MaxStack, and
// for missiles of any speed.
func (g *Game) flyStacked(h, enemy *Half, shots uint64, r int32) {
	push(&h.Own, shots)
	open := uint64(int64(int32(enemy.Curtain)-r) >> 63)
	out := 0
	for range g.rules.Buildings[Attack].Speed {
		for i := range h.Far {
			cross := h.Own[i] & column7 & open
			h.Own[i] = h.Own[i] &^ column7 << 1
			out += bits.OnesCount64(h.Far[i] & column0)
			h.Far[i] = h.Far[i]&^column0>>1 | cross
		}
		for range MaxStack { // of a stack as many hit as there is health for
			hit := enemy.hit(h.Far[0])
			if hit == 0 {
				break
			}
			pop(&h.Far, hit)
		}
	}
	g.hitBase(enemy, out, g.damage)
}

// push adds one missile to the stack of every cell of at. Beyond MaxStack,
// which the rules cannot reach, a missile is lost.
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

// remove clears away the buildings that lost their last health this round.
func (g *Game) remove(h *Half, liveBefore uint64) {
	dead := liveBefore &^ h.Live
	h.Occupied &^= dead
	h.Extra0 &^= dead
	if dead&h.Type2&h.Type1 != 0 {
		h.dropTeslas()
	}
}

// finish ends the construction that is due at the end of round r: placed is
// the bit of this round's cheap building.
func (g *Game) finish(h *Half, placed uint64, r int32) {
	if !g.regular {
		g.finishAnyTime(h, r)
		return
	}
	slow := placed & h.Type2 &^ h.Type0 // a defense
	done := h.Wait1
	h.Live |= done | placed&^slow
	h.Extra0 |= done
	h.Extra1 |= done
	h.Wait1, h.Wait0 = h.Wait0, slow
	if int32(h.Due) <= r {
		h.finishTeslas(r)
	}
}

// finishTeslas makes the tesla towers live whose construction ends in round r.
func (h *Half) finishTeslas(r int32) {
	for i := range h.Tesla[:h.Teslas] {
		t := &h.Tesla[i]
		if int32(t.Due) <= r {
			h.Live |= 1 << t.Cell
			t.Due = never
		}
	}
	h.agenda()
}
