package towerdefence

import (
	"fmt"

	"moonfarm/sim/texts"
)

// Bounds of the rule values. They keep every sum of the game within its
// integer (RULES.md, 7).
const (
	MaxHealth = 1000      // of a base or a building
	MaxEnergy = 1_000_000 // at the start
	maxNumber = 1000      // any other number
	maxRound  = 510       // rounds are kept in nine bits
	maxHits   = 4         // missiles that a building withstands, in two bits
)

// Validate returns an error for the first rule value that this engine cannot
// play, naming the values that it can. It can play release 3.0.2 and changes of
// its prices, scores, energies, rounds, construction times and cooldowns;
// RULES.md, 6, lists the exceptions.
func (r *Rules) Validate() error {
	energyB, healthB := r.Start(1)
	ofB := handicap(&energyB, &healthB)
	if o, found := texts.Check(append(r.Table(), ofB[:]...)); found {
		return o
	}
	for _, k := range Kinds {
		key, health := configPrefix+kindKey(k)+"health", r.Buildings[k].Health
		if damage := r.Buildings[Attack].Damage; r.hits(k) > maxHits {
			return fmt.Errorf("%s is %d, expected at most %d: %d hits of attack.config.weapon-damage %d",
				key, health, maxHits*damage, maxHits, damage)
		}
		if damage := r.Buildings[Tesla].Damage; health > damage {
			return fmt.Errorf("%s is %d, expected at most tesla.config.weapon-damage %d: one strike destroys any building",
				key, health, damage)
		}
	}
	return nil
}
