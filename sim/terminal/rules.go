package terminal

import "fmt"

// Kind is a type of unit, numbered as in the original's unitInformation. The names come from the
// later rule books; the classic names are Filter, Encryptor, Destructor, Ping, EMP, Scrambler.
type Kind uint8

const (
	Wall        Kind = 0
	Support     Kind = 1
	Turret      Kind = 2
	Scout       Kind = 3
	Demolisher  Kind = 4
	Interceptor Kind = 5

	// Kinds of spawn events that are not units.
	Removal Kind = 6
	Upgrade Kind = 7
)

// Numbers of kinds: structures are 0 … 2, mobile units 3 … 5.
const (
	Structures  = 3
	MobileKinds = 3
	Kinds       = 6
)

// Structure reports whether the kind is a structure.
func (k Kind) Structure() bool { return k < Structures }

// Mobile reports whether the kind is a mobile unit.
func (k Kind) Mobile() bool { return k-Scout < MobileKinds }

var kindNames = [...]string{"wall", "support", "turret", "scout", "demolisher", "interceptor", "removal", "upgrade"}

// String returns the name of the kind in lower case.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// Unit holds the values of one kind of unit or of its upgraded form, from unitInformation in the
// game's config file. Rules.Table has the key, the meaning and the bounds of each value. A value
// that does not apply is 0.
type Unit struct {
	Cores, Bits, Health float32

	AttackRange, DamageMobile, DamageStruct, HitRadius float32

	Speed, BreachDamage, BreachCores float32

	BlastMobile, BlastStruct, BlastRange float32
	BlastSteps                           int32

	Shield, ShieldRange, ShieldPerY, ShieldDecay float32

	Refund                float32
	RemoveTurns           int32
	GivesBits, GivesCores float32
}

// Rules holds all numbers of the game, and choices where the original's rule is not known or
// has changed (the fields after MaxTurns; RULES.md, 6, gives the evidence for each). Table has
// the key, the meaning and the bounds of each field.
type Rules struct {
	Units      [Kinds]Unit      // by Kind
	Upgradable [Structures]bool // by Kind: the structure has an upgraded form
	Upgraded   [Structures]Unit // by Kind: all values of the upgraded form; zero without one

	StartHealth, StartCores, StartBits float32

	CoresPerTurn, BitsPerTurn, BitDecay, BitGrowth float32
	GrowthStart, GrowthInterval                    int32
	MaxBits, CapGrowth                             float32
	CapInterval                                    int32

	SoftTime, MaxTime, MaxTurns int32

	CapBits                                            bool
	DeadAt                                             float32
	DoomedShielded, DoomedExplode, RemovedGive, OldIDs bool

	// Rules of earlier engines; all are false for today's engine.
	DoomedTargets, BareWeakest, TiesByText, UpgradeAsKind, FreePenalties bool

	FirstWins bool // false for policies, true for the original: see RULES.md, 5.4
}

// RulesVersion identifies the rules: the original's seasonCompatibilityMode and, after the plus
// sign, a number of ours that every change of play raises.
const RulesVersion = "5+2"

// Structure returns the values of a structure.
func (r *Rules) Structure(k Kind, upgraded bool) *Unit {
	if upgraded {
		return &r.Upgraded[k]
	}
	return &r.Units[k]
}

// Paid returns the price of a structure in cores, including the price of its upgrade.
func (r *Rules) Paid(k Kind, upgraded bool) float32 {
	if upgraded {
		return r.Units[k].Cores + r.Upgraded[k].Cores
	}
	return r.Units[k].Cores
}

// TurnBits returns the bits that each player gets in the restore after the given number of turns,
// without those from structures (3.17).
func (r *Rules) TurnBits(turns uint32) float32 {
	bits := r.BitsPerTurn
	if t := int32(turns); t >= r.GrowthStart {
		bits += float32(r.BitGrowth * float32(1+(t-r.GrowthStart)/r.GrowthInterval))
	}
	return bits
}

// ShieldAt returns the shield that a support gives if it stands the given number of rows from
// its owner's end (3.8).
func (u *Unit) ShieldAt(rows int) float32 {
	return u.Shield + float32(u.ShieldPerY*float32(rows))
}
