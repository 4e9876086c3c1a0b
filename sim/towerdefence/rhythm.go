package towerdefence

import "math/bits"

// The boards are laid out for the rhythm of release 3.0.2: attack buildings
// shoot every fourth round, construction takes one round or three. The
// functions of this file play rules of any other rhythm, building by building
// from the round of placement, which is slower.

// regular reports whether the rules keep the rhythm of the boards.
func (r *Rules) regular() bool {
	b := &r.Buildings
	return b[Attack].ConstructionTime == 1 && b[Energy].ConstructionTime == 1 && b[Defense].ConstructionTime == 3 &&
		b[Attack].Cooldown == 3 && b[Attack].Speed == 2 &&
		r.hits(Defense) == 4 && r.hits(Attack) == 1 && r.hits(Energy) == 1 && r.hits(Tesla) == 1
}

// anyRhythm plays the rest of a round after the commands and the curtains, for rules of any
// rhythm.
func (g *Game) anyRhythm(a, b *Half, r int) {
	shotsA, shotsB := g.fireAnyRhythm(a, r), g.fireAnyRhythm(b, r)
	g.strike(a, b, r)
	leftB := g.flyStacked(a, b, shotsA, r)
	leftA := g.flyStacked(b, a, shotsB, r)
	g.settleAnyRhythm(a, leftA, r)
	g.settleAnyRhythm(b, leftB, r)
}

// fireAnyRhythm is fire for any construction time and cooldown.
func (g *Game) fireAnyRhythm(h *Half, r int) uint64 {
	b := &g.rules.Buildings[Attack]
	shots := uint64(0)
	for cells := h.Live &^ h.Type2; cells != 0; cells &= cells - 1 {
		age := int(r) - h.PlacedIn(bits.TrailingZeros64(cells)) - b.ConstructionTime
		if age%(b.Cooldown+1) == 0 {
			shots |= cells & -cells
		}
	}
	return shots
}

// lose removes the live buildings of h that are not left, and stores the health of
// the others.
func (h *Half) lose(left health) {
	dead := h.Live ^ left.live
	h.Live, h.Extra0, h.Extra1 = left.live, left.extra0, left.extra1
	h.remove(dead)
}

// settleAnyRhythm is settle, earn and finishTeslas for any construction times
// and healths.
func (g *Game) settleAnyRhythm(h *Half, left health, r int) {
	h.lose(left)
	g.earn(h, h.Live&h.Type2&h.Type0)
	for cells := h.Occupied &^ h.Live; cells != 0; cells &= cells - 1 {
		cell := bits.TrailingZeros64(cells)
		k, _ := h.Kind(cell)
		if h.PlacedIn(cell)+g.rules.Buildings[k].ConstructionTime-1 > int(r) {
			continue
		}
		bit := cells & -cells
		h.Live |= bit
		h.Extra0 |= bit & -uint64(g.extraHits[k]&1)
		h.Extra1 |= bit & -uint64(g.extraHits[k]>>1&1)
	}
	h.finishTeslas(r)
}
