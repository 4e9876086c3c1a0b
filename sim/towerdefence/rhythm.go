package towerdefence

import "math/bits"

// The boards are laid out for the rhythm of release 3.0.2: attack buildings
// that shoot every fourth round, construction that takes one or three. Rules
// with another rhythm are played by the functions of this file, building by
// building from the round of placement: slower, for any numbers.

// regular reports whether the rules keep the rhythm of the boards.
func (r *Rules) regular() bool {
	b := &r.Buildings
	return b[Attack].ConstructionTime == 1 && b[Energy].ConstructionTime == 1 && b[Defense].ConstructionTime == 3 &&
		b[Attack].Cooldown == 3 && b[Attack].Speed == 2 &&
		r.hits(Defense) == 4 && r.hits(Attack) == 1 && r.hits(Energy) == 1 && r.hits(Tesla) == 1
}

// anyRhythm plays what follows the commands in a round of any rhythm.
func (g *Game) anyRhythm(a, b *Half, r int32) {
	shotsA, shotsB := g.fireAnyRhythm(a, r), g.fireAnyRhythm(b, r)
	g.strike(a, b, r)
	liveA, liveB := a.Live, b.Live
	g.flyStacked(a, b, shotsA, r)
	g.flyStacked(b, a, shotsB, r)
	a.remove(liveA &^ a.Live)
	b.remove(liveB &^ b.Live)
	g.earn(a)
	g.earn(b)
	g.finishAnyTime(a, r)
	g.finishAnyTime(b, r)
}

// fireAnyRhythm is fire for any construction time and cooldown.
func (g *Game) fireAnyRhythm(h *Half, r int32) uint64 {
	b := &g.rules.Buildings[Attack]
	shots := uint64(0)
	for left := h.Live &^ h.Type2; left != 0; left &= left - 1 {
		cell := bits.TrailingZeros64(left)
		age := int(r) - h.PlacedIn(cell) - b.ConstructionTime
		if age%(b.Cooldown+1) == 0 {
			shots |= left & -left
		}
	}
	return shots
}

// finishAnyTime is finish for any construction times and healths.
func (g *Game) finishAnyTime(h *Half, r int32) {
	for left := h.Occupied &^ h.Live; left != 0; left &= left - 1 {
		cell := bits.TrailingZeros64(left)
		k, _ := h.Kind(cell)
		if h.PlacedIn(cell)+g.rules.Buildings[k].ConstructionTime-1 > int(r) {
			continue
		}
		bit := left & -left
		h.Live |= bit
		h.Extra0 |= bit & -uint64(g.extraHits[k]&1)
		h.Extra1 |= bit & -uint64(g.extraHits[k]>>1&1)
	}
	if int32(h.Due) <= r {
		h.finishTeslas(r)
	}
}
