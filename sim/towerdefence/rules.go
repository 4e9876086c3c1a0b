package towerdefence

import (
	"fmt"

	"moonfarm/sim"
)

// Board geometry. The engine's map keys may repeat these sizes but not change
// them: a half is one uint64.
const (
	Width  = 8 // columns of a half; own x runs from 0 (back, at the own base) to 7 (front)
	Height = 8 // rows; y = 0 is the top
	Cells  = Width * Height
)

// Kind is a type of building, numbered as the original's command ids, which
// skip 3 (deconstruct).
type Kind uint8

const (
	Defense Kind = 0
	Attack  Kind = 1
	Energy  Kind = 2
	Tesla   Kind = 4
)

// Kinds holds the kinds of buildings in the order of their ids.
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
// fields of the original's game-config.properties. Rules.Table documents each
// value and its bounds.
type Building struct {
	Health, ConstructionTime, Price      int
	Damage, Speed, Cooldown              int
	DestroyMultiplier, ConstructionScore int
	EnergyPerTurn, Range                 int
	Icon                                 byte
}

// Rules holds the numbers of the game: all keys of game-config.properties.
// Table documents each value and its bounds. The limit of two tesla towers is
// fixed, as in the original.
type Rules struct {
	MaxRounds                                    int
	StartEnergy, RoundIncome, StartHealth        int
	HealthScoreMultiplier, EnergyScoreMultiplier int
	DeconstructionRefund, MaxDoNothings          int

	Buildings [5]Building // by Kind; entry 3 is unused

	TeslaEnergyPerShot                                    int
	CurtainPrice, CurtainActiveRounds, CurtainResetPeriod int
	CurtainConstructionScore                              int

	// Handicap is the difference between B's start and A's. The original's
	// config has no key for it, but its recordings have such matches.
	Handicap Handicap
}

// Handicap is how much more energy and base health B has at the start than A;
// negative numbers mean less.
type Handicap struct{ Energy, Health int }

// Start returns the energy and the base health of seat p at the start.
func (r *Rules) Start(p sim.Player) (energy, health int) {
	if p == 0 {
		return r.StartEnergy, r.StartHealth
	}
	return r.StartEnergy + r.Handicap.Energy, r.StartHealth + r.Handicap.Health
}

// SetStart sets the energies and base healths of A and B at the start.
func (r *Rules) SetStart(energy, health [2]int) {
	r.StartEnergy, r.StartHealth = energy[0], health[0]
	r.Handicap = Handicap{energy[1] - energy[0], health[1] - health[0]}
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

// RulesVersion is the version of the rules: the original's release and, after
// the plus sign, a number that any change of play raises.
const RulesVersion = "3.0.2+1"

// Version returns the version of the rules for Info.Rules: RulesVersion, or a
// later one if energy-score-multiplier is not 1, because that key had no effect
// up to +1.
func (r *Rules) Version() string {
	if r.EnergyScoreMultiplier != 1 {
		return "3.0.2+2"
	}
	return RulesVersion
}

// Hits returns the number of missiles that destroy a building of that health.
func (r *Rules) Hits(health int) int {
	d := r.Buildings[Attack].Damage
	return (health + d - 1) / d
}

// hits returns the number of missiles that destroy a building of kind k.
func (r *Rules) hits(k Kind) int { return r.Hits(r.Buildings[k].Health) }
