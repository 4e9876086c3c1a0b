package terminal

import (
	"fmt"
	"math"

	"moonfarm/sim/texts"
)

// Validate returns an error for the first value that cannot be played, with the key of the config
// file, the value and the expected values. All rule sets of the original can be played. RULES.md, 6
// and 7, gives the limits and their reasons.
func (r *Rules) Validate() error {
	for k := range Kind(Kinds) {
		if err := r.validateUnit(&r.Units[k], k, unitKey(k)); err != nil {
			return err
		}
		if k.Structure() {
			if err := r.validateUpgrade(k, unitKey(k)+"upgrade"); err != nil {
				return err
			}
		}
	}
	if o, found := texts.Check(r.gameTable()); found {
		return o
	}
	if most := r.MaxMobile(); most > maxMobile {
		return fmt.Errorf("resources and prices (cost2) let a player buy %d mobile units in one turn, expected at most %d", most, maxMobile)
	}
	return nil
}

// validateUnit checks the values of a kind or of its upgraded form.
func (r *Rules) validateUnit(u *Unit, k Kind, prefix string) error {
	if o, found := texts.Check(u.table(prefix, k)); found {
		return fmt.Errorf("%w (%v)", o, k)
	}
	if u.Health <= r.DeadAt {
		return fmt.Errorf("%sstartHealth is %v, expected more than moonfarm.deadAt, %v", prefix, u.Health, r.DeadAt)
	}
	return nil
}

// validateUpgrade checks the upgraded form of a structure.
func (r *Rules) validateUpgrade(k Kind, key string) error {
	up, base := &r.Upgraded[k], &r.Units[k]
	if !r.Upgradable[k] {
		if *up != (Unit{}) {
			return fmt.Errorf("%s is false, expected none of the values below it", key)
		}
		return nil
	}
	if err := r.validateUnit(up, k, key+"."); err != nil {
		return err
	}
	if up.ShieldDecay != base.ShieldDecay {
		return fmt.Errorf("%s.shieldDecay is %v, expected %v: all shields decay alike", key, up.ShieldDecay, base.ShieldDecay)
	}
	return nil
}

// MaxMobile returns the greatest number of mobile units that a player can buy in one turn: the
// greatest number of bits that a player can hold, divided by the lowest price.
//
// Bits: a player with more bits after one restore has at least as many after the next, because
// every operation of the restore (product, rounding to tenths, sums) is monotonic. So a player has
// the most bits if it saves from the start and the structure that gives most stands on all 210
// cells. The sum below is in float64. Each float32 operation of the restore (at most 210 sums for
// structures, and five more) may have rounded up by one part in 2^24, and tenths by 0.05.
//
// Purchases: each subtracts the price p and rounds to a tenth, so it takes at least e = ⌈10p − ¾⌉
// tenths (½ for rounding up, and ¼ exceeds all errors of float32 below maxPurse; e is at least 1
// for p ≥ minPrice). The amount before the first purchase need not be a multiple of 0.1. n
// purchases with B bits need 10B − 10p + ¾ − (n−2)e ≥ 10p − ¼, and e ≤ 10p + ¼, so
// n ≤ (10B + 1½)/e.
func (r *Rules) MaxMobile() int {
	gives, price := float32(0), float32(math.Inf(1))
	for k := range Structures {
		gives = max(gives, r.Units[k].GivesBits, r.Upgraded[k].GivesBits)
	}
	for k := Scout; k < Kinds; k++ {
		price = min(price, r.Units[k].Bits)
	}
	const slack = 1 + (HalfCells+5)*(1.0/(1<<24))
	bits := float64(r.StartBits)
	most := bits
	for t := int32(1); t < min(r.MaxTurns, maxTurns); t++ {
		income := float64(r.BitsPerTurn) + float64(HalfCells*float64(gives))
		if t >= r.GrowthStart {
			income += float64(float64(r.BitGrowth) * float64(1+(t-r.GrowthStart)/max(r.GrowthInterval, 1)))
		}
		bits = (float64(bits*float64(1-r.BitDecay)) + 0.05 + income) * slack
		if r.CapBits {
			grown := float64(float64(r.CapGrowth) * float64(t/max(r.CapInterval, 1)))
			bits = min(bits, (float64(r.MaxBits)+grown)*slack)
		}
		most = max(most, bits)
	}
	if most > maxPurse {
		return math.MaxInt32
	}
	return int((float64(10*most) + 1.5) / max(math.Ceil(float64(10*float64(price))-0.75), 1))
}

// MaxOrders returns how many orders of a seat Deploy reads in one turn: the referee's two, four on
// every cell of the half (one placement, one upgrade, and two marks for removal, because an upgrade
// takes the mark away), and MaxMobile spawns. A longer list has orders that are not accepted.
func (r *Rules) MaxOrders() int { return 2 + 4*HalfCells + r.MaxMobile() }

// TimePenalty returns the health that the given thinking time costs: one for each full second
// beyond SoftTime. A time of MaxTime or more costs at least StartHealth, unless MaxTime is 0.
func (r *Rules) TimePenalty(milliseconds uint32) float32 {
	penalty := float32(max(int64(milliseconds)-int64(r.SoftTime), 0) / 1000)
	if r.MaxTime > 0 && int64(milliseconds) >= int64(r.MaxTime) {
		return max(penalty, r.StartHealth)
	}
	return penalty
}

// CrashPenalty returns the health that a crash costs: all health at the start and one more.
func (r *Rules) CrashPenalty() float32 { return r.StartHealth + 1 }
