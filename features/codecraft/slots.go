package codecraft

import (
	"math/bits"

	"moonfarm/sim"
	cc "moonfarm/sim/codecraft"
)

// Each own entity has a slot, as far as they go: its number in the order of the
// cells on which the lowest corners lie, as the seat sees them. That is what the
// plane own_corner shows, so whoever learns finds the slots in it.

// slots is the most own entities that can be told something. Strong players had
// up to 214 in recorded games.
const slots = 256

// cornerWords hold one bit a cell.
const cornerWords = planeBytes / 64

// ranks number the own entities of a seat.
type ranks struct {
	corner [cornerWords]uint64 // lowest corners, as seen
	before [cornerWords]uint16 // how many of them are in the words before
}

// rank fills in the ranks.
func (a *Actions) rank(r *ranks, s *cc.State, p sim.Player) {
	*r = ranks{}
	f := &frames[p&3]
	for i := range s.Units[:s.N] {
		if u := &s.Units[i]; u.Owner == p {
			at := f.cornerAt(int(u.X), int(u.Y), a.types[u.Type].size)
			r.corner[at>>6] |= 1 << (at & 63)
		}
	}
	n := uint16(0)
	for w, set := range r.corner {
		r.before[w] = n
		n += uint16(bits.OnesCount64(set))
	}
}

// slot is that of the own entity whose lowest corner is on a cell; there may be
// none left for it.
func (r *ranks) slot(at int) (slot int, ok bool) {
	slot = int(r.before[at>>6]) + bits.OnesCount64(r.corner[at>>6]&(1<<(at&63)-1))
	return slot, slot < slots
}

// slotOf is that of an own entity.
func (v *view) slotOf(u *cc.Unit) (slot int, ok bool) {
	return v.ranks.slot(frames[v.p&3].cornerAt(int(u.X), int(u.Y), v.a.types[u.Type].size))
}
