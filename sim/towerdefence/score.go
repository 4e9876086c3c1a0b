package towerdefence

import (
	"math/bits"

	"moonfarm/sim"
)

// Score is the original's score of seat p. It is not kept during play but
// follows from what is: every energy of the income is worth its points when it is
// earned, be it still there or spent, and damage done is what was exposed to it and
// no longer stands.
//
//	score = points of the energy that is there, and of the energy spent      income
//	      + points for what was bought                                       construction
//	      + enemy's exposed − what stands of its base and buildings          damage
//
// Half.Ledger keeps both sums: spent, from minus the points of the start energy, grows by
// the points of the price and the construction score of all that is bought; exposed, from
// the worth of the base, grows by the worth of what is built and falls by what is
// deconstructed.
//
// The original's score has 32 bits, and goes on at the other end beyond them, as this
// does: with the values of release 3.0.2 none comes near.
func (g *Game) Score(s *State, p sim.Player) int {
	own, enemy := &s.Half[p], &s.Half[p^1]
	return int(g.energyWorth*own.Energy + int32(own.Ledger>>32) + int32(uint32(enemy.Ledger)) - int32(g.worth(enemy)))
}

// ledger is an entry of Half.Ledger. The upper half wraps around as the score does.
func ledger(spent, exposed int) int64 { return int64(spent)<<32 + int64(exposed) }

// spent is the entry of Half.Ledger for energy spent, which was income, and for
// points earned by it.
func (r *Rules) spent(energy, points int) int64 {
	return ledger(r.EnergyScoreMultiplier*energy+points, 0)
}

// worth is what taking the rest of h would score: base and buildings.
func (g *Game) worth(h *Half) int {
	attack := h.Occupied &^ h.Type2
	strong := h.Type2
	energy, tesla := strong&h.Type0, strong&h.Type1
	w := g.rules.HealthScoreMultiplier*h.Health() +
		bits.OnesCount64(strong&^(energy|tesla))*g.exposed[0] + bits.OnesCount64(attack)*g.exposed[1] +
		bits.OnesCount64(energy)*g.exposed[2] + bits.OnesCount64(tesla)*g.exposed[3]
	if g.regular { // only defenses stand more than one hit
		live := strong &^ (energy | tesla) & h.Live
		return w - g.taken(live, h, Defense)
	}
	for _, k := range Kinds {
		w -= g.taken(h.Standing(k)&h.Live, h, k)
	}
	return w
}

// taken is what damage to the live buildings of kind k has scored.
func (g *Game) taken(live uint64, h *Half, k Kind) int {
	hits := bits.OnesCount64(live)*g.extraHits[k] - bits.OnesCount64(live&h.Extra0) - 2*bits.OnesCount64(live&h.Extra1)
	return hits * g.damage * g.rules.Buildings[k].DestroyMultiplier
}
