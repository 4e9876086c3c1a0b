package terminal

import "fmt"

// Kind is a type of unit, numbered as in the original's unitInformation. The
// names are those of the later rule books; the classic ones are Filter,
// Encryptor, Destructor, Ping, EMP, Scrambler.
type Kind uint8

const (
	Wall        Kind = 0
	Support     Kind = 1
	Turret      Kind = 2
	Scout       Kind = 3
	Demolisher  Kind = 4
	Interceptor Kind = 5

	// The kinds of spawn events that are no units.
	Removal Kind = 6
	Upgrade Kind = 7
)

// Numbers of kinds: structures are 0 … 2, mobile units 3 … 5.
const (
	Structures = 3
	Kinds      = 6
)

// Structure reports whether units of the kind stand still.
func (k Kind) Structure() bool { return k < Structures }

// Mobile reports whether units of the kind move.
func (k Kind) Mobile() bool { return k-Scout < 3 }

var kindNames = [...]string{"wall", "support", "turret", "scout", "demolisher", "interceptor", "removal", "upgrade"}

// String returns the name of the kind in lower case.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// Unit holds the values of one kind of unit, or of its upgraded form: the keys
// of unitInformation in the game's config file, which name its comments.
// A value that does not apply is 0.
type Unit struct {
	Cores  float32 // cost1: its price, or that of the upgrade
	Bits   float32 // cost2
	Health float32 // startHealth

	AttackRange  float32 // attackRange
	DamageMobile float32 // attackDamageWalker: a shot's, against mobile units
	DamageStruct float32 // attackDamageTower: against structures
	HitRadius    float32 // getHitRadius: added to the ranges of those who aim at it

	Speed        float32 // speed: steps per frame
	BreachDamage float32 // playerBreachDamage: health the enemy loses when it breaches
	BreachCores  float32 // metalForBreach: cores its owner earns by that

	BlastMobile float32 // selfDestructDamageWalker
	BlastStruct float32 // selfDestructDamageTower
	BlastRange  float32 // selfDestructRange
	BlastSteps  int32   // selfDestructStepsRequired: moves without which it does no harm

	Shield      float32 // shieldPerUnit
	ShieldRange float32 // shieldRange
	ShieldPerY  float32 // shieldBonusPerY: added for each row from its owner's end
	ShieldDecay float32 // shieldDecay: a shield's loss each frame

	Refund      float32 // refundPercentage: the part of its price that a removal pays back
	RemoveTurns int32   // turnsRequiredToRemove
	GivesBits   float32 // generatesResource1: bits each turn
	GivesCores  float32 // generatesResource2: cores each turn
}

// Rules are all numbers of the game, and the choices where the original's rule
// is not known or has changed (the fields after MaxTurns).
type Rules struct {
	Units      [Kinds]Unit      // by Kind
	Upgradable [Structures]bool // by Kind: there is an upgraded form
	Upgraded   [Structures]Unit // by Kind: the upgraded form in full; zero where there is none

	StartHealth    float32 // startingHP
	StartCores     float32 // startingCores
	StartBits      float32 // startingBits
	CoresPerTurn   float32 // coresPerRound
	BitsPerTurn    float32 // bitsPerRound
	BitDecay       float32 // bitDecayPerRound: the part of the bits left that is lost each turn
	BitGrowth      float32 // bitGrowthRate: more bits each turn, again and again
	GrowthStart    int32   // roundStartBitRamp: the first turn with more
	GrowthInterval int32   // turnIntervalForBitSchedule
	MaxBits        float32 // maxBits: see CapBits
	CapGrowth      float32 // bitRampBitCapGrowthRate: added to MaxBits …
	CapInterval    int32   // turnIntervalForBitCapSchedule: … every so many turns

	SoftTime int32 // waitTimeBotSoft: milliseconds of thinking without a penalty
	MaxTime  int32 // waitTimeBotMax: milliseconds after which a player is out
	MaxTurns int32 // turns played: 100, not in the config file

	// CapBits bounds the bits a player holds after a turn's income by MaxBits
	// and its growth. No recording comes near it; on, as the key's name says.
	CapBits bool
	// DeadAt is the health at or below which a unit is dead: 0. The one
	// recording of 2019 has a unit with 1.2e-5 left taken for dead.
	DeadAt float32
	// DoomedShielded: a unit that decided to self-destruct in this frame's
	// movement still receives shields before it does. Not told by recordings.
	DoomedShielded bool
	// DoomedExplode: it explodes at its turn even if another explosion of the
	// same frame has killed it before. Not told by recordings.
	DoomedExplode bool
	// RemovedGive: a structure whose removal comes due still gives bits and
	// cores in that restore. Not told by recordings.
	RemovedGive bool
	// OldIDs: a placed structure takes two ids, of which its spawn event shows
	// the first and it bears the second; a removal takes an id of its own for
	// its event. So in 2018 and 2019.
	OldIDs bool
}

// RulesVersion names the rules played: the original's seasonCompatibilityMode
// and, after the plus sign, a number of ours that any change of play raises.
const RulesVersion = "5+1"

// unit returns the values of a structure.
func (r *Rules) structure(k Kind, upgraded bool) *Unit {
	if upgraded {
		return &r.Upgraded[k]
	}
	return &r.Units[k]
}
