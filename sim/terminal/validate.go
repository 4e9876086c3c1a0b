package terminal

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Bounds of the rule values. RULES.md, 7, shows what they are good for.
const (
	maxAmount  = 1_000_000 // of health, damage, cores, …: sums stay far below the end of float32
	maxRange   = 40        // the arena's corners are closer
	maxRadius  = 2
	minSpeed   = 0.01    // steps per frame: the sum of them must reach 1
	minPrice   = 0.1     // of a mobile unit: less could round to nothing
	maxPrice   = 1000    // of a mobile unit
	maxPurse   = 100_000 // bits a player can ever hold
	maxRemoval = 15      // turns: four bits of a Cell
	maxTurns   = 1000
	maxMobile  = 4096 // mobile units a player can buy in one turn
)

// Sets of kinds, as bits.
const (
	walls      = 1 << Wall
	supports   = 1 << Support
	turrets    = 1 << Turret
	structures = walls | supports | turrets
	mobile     = 1<<Scout | 1<<Demolisher | 1<<Interceptor
)

// unitBounds says for each key of a unit which kinds may have such a value and
// from where to where; those of the other kinds are 0. Structures that attack
// structures, walls and supports that attack, walls and turrets that shield,
// mobile units that shield or give: the original's rules for them are not known.
var unitBounds = map[string]struct {
	kinds       int
	least, most float64
}{
	"cost1":                     {structures, 0, maxAmount},
	"cost2":                     {mobile, minPrice, maxPrice},
	"startHealth":               {structures | mobile, 0, maxAmount}, // and above moonfarm.deadAt
	"attackRange":               {structures | mobile, 0, maxRange},
	"attackDamageWalker":        {turrets | mobile, 0, maxAmount},
	"attackDamageTower":         {mobile, 0, maxAmount},
	"getHitRadius":              {structures | mobile, 0, maxRadius},
	"speed":                     {mobile, minSpeed, 1},
	"playerBreachDamage":        {mobile, 0, maxAmount},
	"metalForBreach":            {mobile, 0, maxAmount},
	"selfDestructDamageWalker":  {mobile, 0, maxAmount},
	"selfDestructDamageTower":   {mobile, 0, maxAmount},
	"selfDestructRange":         {mobile, 0, maxRange},
	"selfDestructStepsRequired": {mobile, 0, maxAmount},
	"shieldPerUnit":             {supports, 0, maxAmount},
	"shieldRange":               {structures, 0, maxRange},
	"shieldBonusPerY":           {supports, 0, maxAmount},
	"shieldDecay":               {supports, 0, maxAmount},
	"refundPercentage":          {structures, 0, 1},
	"turnsRequiredToRemove":     {structures, 1, maxRemoval},
	"generatesResource1":        {structures, 0, maxPurse},
	"generatesResource2":        {structures, 0, maxAmount},
}

// gameBounds are the bounds of the other keys.
var gameBounds = map[string]struct{ least, most float64 }{
	"resources.startingHP":                    {minPrice, maxAmount},
	"resources.startingCores":                 {0, maxAmount},
	"resources.startingBits":                  {0, maxPurse},
	"resources.coresPerRound":                 {0, maxAmount},
	"resources.bitsPerRound":                  {0, maxPurse},
	"resources.bitDecayPerRound":              {0, 1},
	"resources.bitGrowthRate":                 {0, maxPurse},
	"resources.roundStartBitRamp":             {0, maxAmount},
	"resources.turnIntervalForBitSchedule":    {1, maxAmount},
	"resources.maxBits":                       {0, maxAmount},
	"resources.bitRampBitCapGrowthRate":       {0, maxAmount},
	"resources.turnIntervalForBitCapSchedule": {1, maxAmount},
	"timingAndReplay.waitTimeBotSoft":         {0, math.MaxInt32},
	"timingAndReplay.waitTimeBotMax":          {0, math.MaxInt32},
	"moonfarm.maxTurns":                       {1, maxTurns},
	"moonfarm.deadAt":                         {0, 1},
}

// Validate reports the first value that cannot be played: it names the key of
// the config file, the value and what is expected. All rule sets of the original
// can be played; what cannot, and why, is said in RULES.md, 6 and 7.
func (r *Rules) Validate() error {
	for k := range Kind(Kinds) {
		prefix := fmt.Sprintf("unitInformation.%d.", k)
		if err := r.validateUnit(&r.Units[k], k, prefix); err != nil {
			return err
		}
		if k.Structure() {
			if err := r.validateUpgrade(k, prefix+"upgrade"); err != nil {
				return err
			}
		}
	}
	for _, v := range r.configValues() {
		if b, ok := gameBounds[v.key]; ok {
			if err := v.within(b.least, b.most); err != nil {
				return err
			}
		}
	}
	if most := r.MaxMobile(); most > maxMobile {
		return fmt.Errorf("resources and prices (cost2) let a player buy %d mobile units in one turn, expected at most %d", most, maxMobile)
	}
	return nil
}

// validateUnit looks at the values of a kind, or of its upgraded form.
func (r *Rules) validateUnit(u *Unit, k Kind, prefix string) error {
	for _, v := range u.appendValues(nil, prefix) {
		b := unitBounds[strings.TrimPrefix(v.key, prefix)]
		if b.kinds>>k&1 == 0 {
			b.least, b.most = 0, 0
		}
		if err := v.within(b.least, b.most); err != nil {
			return fmt.Errorf("%w (%v)", err, k)
		}
	}
	if u.Health <= r.DeadAt {
		return fmt.Errorf("%sstartHealth is %v, expected more than moonfarm.deadAt, %v", prefix, u.Health, r.DeadAt)
	}
	return nil
}

// validateUpgrade looks at the upgraded form of a structure.
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
	switch {
	case up.Health < base.Health:
		return fmt.Errorf("%s.startHealth is %v, expected at least the %v that it has before", key, up.Health, base.Health)
	case up.ShieldDecay != base.ShieldDecay:
		return fmt.Errorf("%s.shieldDecay is %v, expected %v: all shields decay alike", key, up.ShieldDecay, base.ShieldDecay)
	}
	return nil
}

// within checks a number against its bounds. A negative zero is outside: its
// sign would be in the texts of states.
func (v configValue) within(least, most float64) error {
	var n float64
	switch p := v.value.(type) {
	case *float32:
		n = float64(*p)
	case *int32:
		n = float64(*p)
	}
	least, most = float64(float32(least)), float64(float32(most))
	if n >= least && n <= most && (n != 0 || !math.Signbit(n)) {
		return nil
	}
	text := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 32) }
	if least == most {
		return fmt.Errorf("%s is %s, expected %s", v.key, text(n), text(least))
	}
	return fmt.Errorf("%s is %s, expected %s to %s", v.key, text(n), text(least), text(most))
}

// MaxMobile is the most mobile units a player can ever buy in one turn: the
// bits that one can ever hold, over the cheapest price.
//
// The bits: the more a player has after one restore the more it has after the
// next, since every operation of the restore (a product, tenths, sums) keeps or
// raises a larger amount. So the most comes of saving from the start, with the
// structure that gives most on all 210 cells, whatever that costs. The sum is
// done in float64 here, where each of the restore's float32 operations (at most
// 210 sums of what structures give, and five more) may have rounded up by one
// part in 2^24, and tenths by 0.05.
//
// The purchases: each takes the price p and rounds to a tenth, so it takes at
// least e = ⌈10p − ¾⌉ tenths off (rounding up is ½, and ¼ is more than all errors
// of float32 below maxPurse; e is at least 1 for p ≥ minPrice). The first may
// start between two tenths. n purchases with B bits need
// 10B − 10p + ¾ − (n−2)e ≥ 10p − ¼, and e ≤ 10p + ¼, so n ≤ (10B + 1½)/e.
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
		income := float64(r.BitsPerTurn) + HalfCells*float64(gives)
		if t >= r.GrowthStart {
			income += float64(r.BitGrowth) * float64(1+(t-r.GrowthStart)/max(r.GrowthInterval, 1))
		}
		bits = (bits*float64(1-r.BitDecay) + 0.05 + income) * slack
		if r.CapBits {
			grown := float64(r.CapGrowth) * float64(t/max(r.CapInterval, 1))
			bits = min(bits, (float64(r.MaxBits)+grown)*slack)
		}
		most = max(most, bits)
	}
	if most > maxPurse {
		return math.MaxInt32
	}
	return int((10*most + 1.5) / max(math.Ceil(10*float64(price)-0.75), 1))
}

// MaxOrders is the most orders of a seat that are looked at in one turn, in the
// order given: the referee's two, four on every cell of the half (placed and
// upgraded once, marked for removal at most twice, since an upgrade takes the
// mark away) and MaxMobile spawns. No list of orders that are all accepted is
// longer.
func (r *Rules) MaxOrders() int { return 2 + 4*HalfCells + r.MaxMobile() }

// TimePenalty is the health that thinking for so many milliseconds costs: one
// for each full second beyond SoftTime. From MaxTime on (where it is not 0) the
// player is out: that costs CrashPenalty.
func (r *Rules) TimePenalty(milliseconds uint32) float32 {
	over := int64(milliseconds) - int64(r.SoftTime)
	switch {
	case r.MaxTime > 0 && int64(milliseconds) >= int64(r.MaxTime):
		return r.CrashPenalty()
	case over > 0:
		return float32(over / 1000)
	}
	return 0
}

// CrashPenalty is the health that a crash or a timeout costs: all, and one more.
func (r *Rules) CrashPenalty() float32 { return r.StartHealth + 1 }
