package towerdefence

import (
	"math/bits"

	"moonfarm/sim"
)

// Score returns the original's score of seat p. Play does not keep the score;
// it follows from other values. Income scores once per energy, whether the
// energy is still there or spent. Damage is the difference between what was
// exposed to it and what still stands.
//
//	score = points of the energy that is there, and of the energy spent      income
//	      + points for what was bought                                       construction
//	      + enemy's exposed − what stands of its base and buildings          damage
//
// Half.Ledger keeps two sums. spent starts at minus the points of the start
// energy, and grows by the points of the price and the construction score of
// everything bought. exposed starts at the worth of the base, grows by the
// worth of everything built, and shrinks by the worth of what is deconstructed.
//
// The score has 32 bits and wraps around, as in the original. With the values
// of release 3.0.2 no score comes near the limit.
func (g *Game) Score(s *State, p sim.Player) int {
	own, enemy := &s.Half[p], &s.Half[p^1]
	return int(g.energyWorth*own.Energy + int32(own.Ledger>>32) + int32(uint32(enemy.Ledger)) - int32(g.worth(enemy)))
}

// ledger returns an entry of Half.Ledger. The upper half wraps around as the
// score does.
func ledger(spent, exposed int) int64 { return int64(spent)<<32 + int64(exposed) }

// spent returns the entry of Half.Ledger for energy spent, which was income,
// and for the points earned by spending it.
func (r *Rules) spent(energy, points int) int64 {
	return ledger(r.EnergyScoreMultiplier*energy+points, 0)
}

// worth returns the score for destroying everything of h: base and buildings.
func (g *Game) worth(h *Half) int {
	attack := h.Occupied &^ h.Type2
	strong := h.Type2
	energy, tesla := strong&h.Type0, strong&h.Type1
	w := g.rules.HealthScoreMultiplier*h.Health() +
		bits.OnesCount64(strong&^(energy|tesla))*g.exposed[0] + bits.OnesCount64(attack)*g.exposed[1] +
		bits.OnesCount64(energy)*g.exposed[2] + bits.OnesCount64(tesla)*g.exposed[3]
	if g.regular { // only defenses withstand more than one hit
		live := strong &^ (energy | tesla) & h.Live
		return w - g.taken(live, h, Defense)
	}
	for _, k := range Kinds {
		w -= g.taken(h.Standing(k)&h.Live, h, k)
	}
	return w
}

// taken returns the score of the damage to the live buildings of kind k.
func (g *Game) taken(live uint64, h *Half, k Kind) int {
	hits := bits.OnesCount64(live)*g.extraHits[k] - bits.OnesCount64(live&h.Extra0) - 2*bits.OnesCount64(live&h.Extra1)
	return hits * g.damage * g.rules.Buildings[k].DestroyMultiplier
}
