package towerdefence

import "math/bits"

// fire returns the cells whose attack buildings shoot in round r: the finished
// ones at the start of the round, also those that lightning is about to
// destroy.
func fire(h *Half, r int32) uint64 {
	odd, half := -uint64(r&1), -uint64(r>>1&1) // the two bits of r mod 4, all over the board
	return h.Live &^ (h.Type2 | (h.Type0 ^ odd) | (h.Type1 ^ half))
}

// volley puts the new shots of h on the board and moves all its missiles two
// cells on; then it ends round r for the enemy's half: removal, income,
// construction. placed is the bit of the cheap building placed there this round.
//
// It is one function because the boards it works on then stay in registers,
// which saves a fifth of a round's time.
func (g *Game) volley(h, enemy *Half, shots, placed uint64, r int32) {
	own, far := h.Own[0], h.Far[0]
	before := enemy.Live
	var live, extra0, extra1 uint64
	if h.Own[1]|h.Far[1]|own&shots == 0 {
		// Nothing on the own half stops a missile. Those on its front column
		// cross to the enemy's front column, the same bits, unless a curtain
		// takes them.
		own |= shots
		open := uint64(int64(int32(enemy.Curtain)-r) >> 63)
		first := own & column7
		own = (own ^ first) << 1
		second := own & column7
		h.Own[0] = (own ^ second) << 1

		out1 := far & column0
		far = (far^out1)>>1 | first&open
		hit := far & before
		far ^= hit
		live, extra0, extra1 = damage(hit, before, enemy.Extra0, enemy.Extra1)

		out2 := far & column0
		far = (far^out2)>>1 | second&open
		hit = far & live
		h.Far[0] = far ^ hit
		live, extra0, extra1 = damage(hit, live, extra0, extra1)

		// The sum of the bytes counts the missiles that reached the base.
		enemy.Base += int64((out1+out2)*column0>>56) * g.blow
	} else {
		g.flyStacked(h, enemy, shots, r)
		live, extra0, extra1 = enemy.Live, enemy.Extra0, enemy.Extra1
	}

	dead := before ^ live
	enemy.Occupied &^= dead
	type2, type0 := enemy.Type2, enemy.Type0
	if dead&type2&enemy.Type1 != 0 {
		enemy.dropTeslas()
	}

	enemy.Energy += g.income + g.perEnergy*int32(bits.OnesCount64(live&type2&type0))

	slow := placed & type2 &^ type0 // a defense
	done := enemy.Wait1
	enemy.Wait1, enemy.Wait0 = enemy.Wait0, slow
	enemy.Live = live | done | placed&^slow
	enemy.Extra0 = extra0&^dead | done // damage leaves a bit where it destroyed
	enemy.Extra1 = extra1 | done
	if int32(enemy.Due) <= r {
		enemy.finishTeslas(r)
	}
}

// damage takes one hit from the live buildings at hit: a borrow through the two
// bits of extra hits, which destroys where there were none. It leaves a bit in
// extra0 where it destroyed.
func damage(hit, live, extra0, extra1 uint64) (uint64, uint64, uint64) {
	borrow := hit &^ extra0
	return live &^ (borrow &^ extra1), extra0 ^ hit, extra1 &^ borrow
}

// flyStacked moves missiles in stacks of any height up to MaxStack, and of any
// speed.
func (g *Game) flyStacked(h, enemy *Half, shots uint64, r int32) {
	push(&h.Own, shots)
	open := uint64(int64(int32(enemy.Curtain)-r) >> 63)
	out := 0
	for range g.rules.Buildings[Attack].Speed {
		for i := range h.Far {
			cross := h.Own[i] & column7
			h.Own[i] = (h.Own[i] ^ cross) << 1
			gone := h.Far[i] & column0
			h.Far[i] = (h.Far[i]^gone)>>1 | cross&open
			out += bits.OnesCount64(gone)
		}
		for range MaxStack { // of a stack as many hit as there is health for
			hit := h.Far[0] & enemy.Live
			if hit == 0 {
				break
			}
			enemy.Live, enemy.Extra0, enemy.Extra1 = damage(hit, enemy.Live, enemy.Extra0, enemy.Extra1)
			pop(&h.Far, hit)
		}
	}
	enemy.Base += int64(out) * g.blow
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

// remove clears away the dead buildings.
func (h *Half) remove(dead uint64) {
	h.Occupied &^= dead
	h.Extra0 &^= dead
	if dead&h.Type2&h.Type1 != 0 {
		h.dropTeslas()
	}
}

// earn pays the income of the round.
func (g *Game) earn(h *Half) {
	h.Energy += g.income + g.perEnergy*int32(bits.OnesCount64(h.Live&h.Type2&h.Type0))
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
