package towerdefence

import "fmt"

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
