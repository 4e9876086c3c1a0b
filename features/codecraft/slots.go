package codecraft

import (
	"math/bits"

	cc "moonfarm/sim/codecraft"
)

// The first own entities have a slot each: the number of the entity in the order of the cells of
// lowest corners, as the seat sees them. The plane own_corner shows these cells, so a learner finds
// the slots in it.

// slots is the limit of own entities that can get orders. Strong players had up to 214 entities in
// recorded games.
const slots = 256

// cornerWords is the number of words with one bit per cell.
const cornerWords = planeBytes / 64

// ranks numbers the own entities of a seat.
type ranks struct {
	corner [cornerWords]uint64 // lowest corners, as seen
	before [cornerWords]uint16 // the number of corners in the words before
}

// count numbers the corners, and returns how many there are.
func (r *ranks) count() int {
	n := 0
	for w, set := range r.corner {
		r.before[w] = uint16(n)
		n += bits.OnesCount64(set)
	}
	return n
}

// add adds a corner.
func (r *ranks) add(at int) { r.corner[at>>6] |= 1 << (at & 63) }

// has reports whether a cell is a corner.
func (r *ranks) has(at int) bool { return r.corner[at>>6]>>(at&63)&1 != 0 }

// slot returns the slot of the own entity whose lowest corner is on a cell; ok is false if all slots
// are taken.
func (r *ranks) slot(at int) (slot int, ok bool) {
	slot = int(r.before[at>>6]) + bits.OnesCount64(r.corner[at>>6]&(1<<(at&63)-1))
	return slot, slot < slots
}

// slotOf returns the slot of an own entity.
func (v *roster) slotOf(u *cc.Unit) (slot int, ok bool) {
	return v.ranks.slot(frames[v.p&3].cornerAt(int(u.X), int(u.Y), v.a.types[u.Type].size))
}
