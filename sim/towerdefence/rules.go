package towerdefence

import (
	"fmt"
	"strings"
)

// Board geometry. The engine's map keys may repeat these sizes but not change
// them: a half is one uint64.
const (
	Width  = 8 // columns of a half; own x runs from 0 (back, at the own base) to 7 (front)
	Height = 8 // rows; y = 0 is the top
	Cells  = Width * Height
)

// Kind is a type of building, numbered as the original's command ids, which
// leave out 3 (deconstruct).
type Kind uint8

const (
	Defense Kind = 0
	Attack  Kind = 1
	Energy  Kind = 2
	Tesla   Kind = 4
)

// Kinds lists the kinds of buildings in the order of their ids.
var Kinds = [4]Kind{Defense, Attack, Energy, Tesla}

// String returns the original's name of the kind: "DEFENSE", "ATTACK",
// "ENERGY" or "TESLA".
func (k Kind) String() string {
	switch k {
	case Defense:
		return "DEFENSE"
	case Attack:
		return "ATTACK"
	case Energy:
		return "ENERGY"
	case Tesla:
		return "TESLA"
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// Building holds the rule values of one kind of building, named after the
// fields of the original's game-config.properties.
type Building struct {
	Health            int // health when placed
	ConstructionTime  int // acts and can be hit from this many rounds after its placement
	Price             int // energy
	Damage            int // per missile, or per lightning strike
	Speed             int // cells a missile moves each round
	Cooldown          int // idle rounds between two shots
	DestroyMultiplier int // points for each point of health removed from it
	ConstructionScore int // points for placing it
	EnergyPerTurn     int // income while it stands
	Range             int // columns of lightning in front of it
	Icon              byte
}

// Rules are the numbers of the game: all keys of game-config.properties. The
// limit of two tesla towers is fixed in the original and so it is here.
type Rules struct {
	MaxRounds             int // the last round played has this number: MaxRounds+1 rounds
	StartEnergy           int
	RoundIncome           int // energy each round, before energy buildings
	StartHealth           int
	HealthScoreMultiplier int // points for each point of health taken from the base
	EnergyScoreMultiplier int // read and kept, without effect in 3.0.2
	DeconstructionRefund  int // energy back for a deconstructed building
	MaxDoNothings         int // failed commands in a row that end the match

	Buildings [5]Building // by Kind; entry 3 is unused

	TeslaEnergyPerShot int

	CurtainPrice             int
	CurtainActiveRounds      int
	CurtainResetPeriod       int
	CurtainConstructionScore int
}

// MaxTeslas is the number of tesla towers a player may have on the map,
// finished or not; fixed in the original.
const MaxTeslas = 2

// DefaultRules returns the values of release 3.0.2, the last of the contest.
func DefaultRules() Rules {
	return Rules{
		MaxRounds:             400,
		StartEnergy:           20,
		RoundIncome:           5,
		StartHealth:           100,
		HealthScoreMultiplier: 15,
		EnergyScoreMultiplier: 1,
		DeconstructionRefund:  5,
		MaxDoNothings:         50,
		Buildings: [5]Building{
			Defense: {Health: 20, ConstructionTime: 3, Price: 30, DestroyMultiplier: 1, ConstructionScore: 10, Icon: 'D'},
			Attack: {Health: 5, ConstructionTime: 1, Price: 30, Damage: 5, Speed: 2, Cooldown: 3,
				DestroyMultiplier: 1, ConstructionScore: 4, Icon: 'A'},
			Energy: {Health: 5, ConstructionTime: 1, Price: 20, DestroyMultiplier: 1, ConstructionScore: 3,
				EnergyPerTurn: 3, Icon: 'E'},
			Tesla: {Health: 5, ConstructionTime: 10, Price: 100, Damage: 20, Cooldown: 10, DestroyMultiplier: 10,
				ConstructionScore: 20, Range: 9, Icon: 'T'},
		},
		TeslaEnergyPerShot:       100,
		CurtainPrice:             100,
		CurtainActiveRounds:      6,
		CurtainResetPeriod:       30,
		CurtainConstructionScore: 20,
	}
}

// RulesVersion names the rules played: the original's release and, after the
// plus sign, a number of ours that any change of play raises.
const RulesVersion = "3.0.2+1"

// Bounds of the rule values. They keep every sum of the game within its
// integer (RULES.md, Bounds).
const (
	MaxHealth = 1000      // of a base or a building
	MaxEnergy = 1_000_000 // at the start
	maxNumber = 1000      // any other number
	maxRound  = 510       // rounds are kept in nine bits
	maxHits   = 4         // missiles a building can stand: two bits
)

// hits is the number of missiles that destroy a building of kind k.
func (r *Rules) hits(k Kind) int {
	d := r.Buildings[Attack].Damage
	return (r.Buildings[k].Health + d - 1) / d
}

// bound is the range of a rule value.
type bound struct {
	key        string
	value      int
	least, top int
}

// Validate reports the first rule value that this engine cannot play, with the
// values it can. Release 3.0.2 and changes of its prices, scores, energies,
// rounds, construction times and cooldowns can be played; what cannot is said
// in RULES.md, Differences.
func (r *Rules) Validate() error {
	for _, c := range r.bounds() {
		if c.value < c.least || c.value > c.top {
			return fmt.Errorf("game.config.%s is %d, expected %d to %d", c.key, c.value, c.least, c.top)
		}
	}
	for _, k := range Kinds {
		name := strings.ToLower(k.String())
		if r.hits(k) > maxHits {
			return fmt.Errorf("game.config.%s.config.health is %d, expected at most %d: %d hits of attack.config.weapon-damage %d",
				name, r.Buildings[k].Health, maxHits*r.Buildings[Attack].Damage, maxHits, r.Buildings[Attack].Damage)
		}
		if r.Buildings[k].Health > r.Buildings[Tesla].Damage {
			return fmt.Errorf("game.config.%s.config.health is %d, expected at most tesla.config.weapon-damage %d: one strike destroys any building",
				name, r.Buildings[k].Health, r.Buildings[Tesla].Damage)
		}
	}
	return nil
}

// bounds lists the rule values with the range of each.
func (r *Rules) bounds() []bound {
	check := []bound{
		{"max-rounds", r.MaxRounds, 1, maxRound},
		{"start-energy", r.StartEnergy, 0, MaxEnergy},
		{"round-income-energy", r.RoundIncome, 0, maxNumber},
		{"starting-health", r.StartHealth, 1, MaxHealth},
		{"health-score-multiplier", r.HealthScoreMultiplier, 0, maxNumber},
		{"energy-score-multiplier", r.EnergyScoreMultiplier, 0, maxNumber},
		{"deconstruction-refund-amount", r.DeconstructionRefund, 0, maxNumber},
		{"max-do-nothings", r.MaxDoNothings, 1, 250},
		{"tesla.energy.per.shot", r.TeslaEnergyPerShot, 0, maxNumber},
		{"ironcurtain.config.price", r.CurtainPrice, 0, maxNumber},
		{"ironcurtain.config.active-rounds", r.CurtainActiveRounds, 1, maxNumber},
		{"ironcurtain.config.reset-period", r.CurtainResetPeriod, 1, maxNumber},
		{"ironcurtain.config.construction-score", r.CurtainConstructionScore, 0, maxNumber},
		{"attack.config.weapon-damage", r.Buildings[Attack].Damage, 1, MaxHealth},
		{"attack.config.weapon-speed", r.Buildings[Attack].Speed, 2, 2 * Width},
	}
	for _, k := range Kinds {
		b, name := &r.Buildings[k], strings.ToLower(k.String())+".config."
		check = append(check,
			bound{name + "health", b.Health, 1, MaxHealth},
			bound{name + "construction-time-left", b.ConstructionTime, 1, maxNumber},
			bound{name + "price", b.Price, 0, maxNumber},
			bound{name + "weapon-cooldown-period", b.Cooldown, 0, maxNumber},
			bound{name + "destroy-multiplier", b.DestroyMultiplier, 0, maxNumber},
			bound{name + "construction-score", b.ConstructionScore, 0, maxNumber},
		)
		if k != Attack {
			check = append(check, bound{name + "weapon-speed", b.Speed, 0, 0})
		}
		if k != Attack && k != Tesla {
			check = append(check, bound{name + "weapon-damage", b.Damage, 0, 0}, bound{name + "weapon-cooldown-period", b.Cooldown, 0, 0})
		}
		if k != Energy {
			check = append(check, bound{name + "energy-produced-per-turn", b.EnergyPerTurn, 0, 0})
		}
		if k != Tesla {
			check = append(check, bound{name + "max-range", b.Range, 0, 0})
		}
	}
	return append(check,
		bound{"energy.config.energy-produced-per-turn", r.Buildings[Energy].EnergyPerTurn, 0, maxNumber},
		bound{"tesla.config.max-range", r.Buildings[Tesla].Range, 0, 2 * Width},
		bound{"tesla.config.weapon-damage", r.Buildings[Tesla].Damage, 1, MaxHealth},
	)
}
