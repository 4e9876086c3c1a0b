package codecraft

import (
	"fmt"

	"moonfarm/sim"
)

// RulesVersion is the version of the rules: the original's release, then ours.
const RulesVersion = "1.3.0+1"

// Type is the type of an entity; the numbers are the protocol's.
type Type uint8

const (
	Wall Type = iota
	House
	BuilderBase
	BuilderUnit
	MeleeBase
	MeleeUnit
	RangedBase
	RangedUnit
	Resource
	Turret

	// Types is how many there are.
	Types = 10
)

var typeNames = [Types]string{
	"Wall", "House", "BuilderBase", "BuilderUnit", "MeleeBase", "MeleeUnit", "RangedBase", "RangedUnit", "Resource", "Turret",
}

// String is the name of the original.
func (t Type) String() string {
	if int(t) < len(typeNames) {
		return typeNames[t]
	}
	return fmt.Sprintf("type %d", uint8(t))
}

// TypeSet is a set of types: bit t is set for type t.
type TypeSet uint16

// EveryType holds all types.
const EveryType TypeSet = 1<<Types - 1

// Has tells whether t is in the set.
func (s TypeSet) Has(t Type) bool { return s>>t&1 != 0 }

// TypeList is an ordered list of types, without duplicates.
type TypeList struct {
	N int32
	T [Types]Type
}

// ListOf makes a list.
func ListOf(types ...Type) TypeList {
	l := TypeList{N: int32(len(types))}
	copy(l.T[:], types)
	return l
}

// All returns the types in order.
func (l *TypeList) All() []Type { return l.T[:l.N] }

// Set returns the types as a set.
func (l *TypeList) Set() (s TypeSet) {
	for _, t := range l.All() {
		s |= 1 << t
	}
	return s
}

// Properties are the numbers of a type (spec of the original: EntityProperties).
type Properties struct {
	Size         int32 // cells of a side
	BuildScore   int32 // points to the owner when one becomes active
	DestroyScore int32 // points to the enemy whose blow kills one
	CanMove      bool
	PopProvide   int32 // population that an active one provides
	PopUse       int32 // population that one uses
	MaxHealth    int32
	Cost         int32 // resource; movable types cost one more for each the owner has
	Sight        int32 // distance
	Yield        int32 // resource for each health point that a collector takes

	CanBuild   bool
	Builds     TypeList
	InitHealth int32 // health of what it builds; 0: full

	CanAttack bool
	Range     int32 // distance
	Damage    int32
	Collects  bool // gets resource for the health it takes

	CanRepair bool
	Repairs   TypeList
	Power     int32 // health a tick
}

// Rules are all the numbers and choices of a game. What the original leaves
// open is a field here, with the recommended choice as its default.
type Rules struct {
	Players   int32 // 1 … 4
	Fog       bool  // players see only what is in sight of their entities
	Bonus     bool  // the last player left gets points until he wins
	MaxTurns  int32 // ticks
	MaxNodes  int32 // cells that a search of a path closes: RULES.md, 3.9
	Start     TypeList
	Types     [Types]Properties
	Generator Generator

	// Choices that no recording decides. False is the default of each.

	DeadRest       bool  // units killed in the attack phase neither attack, build nor repair any more
	NearestVictim  bool  // auto attack draws among the nearest valid targets, not among all in range
	RangeGates     bool  // auto attack with a pathfind range below the distance of a target does not hit it
	ChaseUnseen    bool  // under fog, auto attack chases what the player does not see
	OutsideIgnored bool  // a move to a target outside of the map is no move, instead of one to the nearest cell
	BreakFloor     bool  // breaking through costs health/damage rounded down (at least 1), not up
	UnableTakeID   bool  // a build action of an entity that cannot build takes an id too
	DeadAreFree    bool  // entities killed in this tick do not count for costs and population
	PopulationAll  bool  // types that use no population are tested against the limit too
	RepairFull     bool  // repairing an entity at full health succeeds, and nothing else is done
	RepairOthers   bool  // entities of other players can be repaired
	DeadMove       bool  // units killed in this tick still move
	WallsDoNotLive bool  // a player that has only walls and houses is not left any more
	SoloEnds       bool  // a game with one player from the start ends at once, as one that has one left
	BonusOver      int32 // points that the bonus puts the last player above the best of the others; default 1
}

// Generator are the numbers of the map generator. The original's is unknown.
type Generator struct {
	MinShare, MaxShare int32 // thousandths of the cells outside the cleared starts that hold resources
	Octaves            int32
	MinWave, MaxWave   int32 // tenths of cells: wavelength of the first octave
	Persistence        int32 // thousandths: amplitude of an octave by that before
}

// Presets are the names of the rule sets, the newest (the default) first:
// "finals", "round2", "round1". With a dash and a number ("round1-2") they have
// that many players instead of their own 2, 4 and 4.
func Presets() []string { return []string{"finals", "round2", "round1"} }

// DefaultRules are those of the finals.
func DefaultRules() Rules {
	r, _ := Preset("finals")
	return r
}

// Preset returns the rule set of that name and whether there is one.
func Preset(name string) (Rules, bool) {
	players := int32(0)
	if n := len(name); n > 2 && name[n-2] == '-' {
		if players = int32(name[n-1] - '0'); players < 1 || players > sim.MaxPlayers {
			return Rules{}, false
		}
		name = name[:n-2]
	}
	r := Rules{
		Fog: true, MaxTurns: 1000, MaxNodes: 1000, Start: ListOf(BuilderBase, BuilderUnit), Types: standard(), BonusOver: 1,
		Generator: Generator{MinShare: 220, MaxShare: 500, Octaves: 3, MinWave: 140, MaxWave: 180, Persistence: 900},
	}
	switch name {
	case "finals":
		r.Players, r.Bonus = 2, true
	case "round2":
		r.Players = 4
	case "round1":
		r.Players, r.Fog = 4, false
		r.Start = ListOf(BuilderBase, BuilderUnit, MeleeBase, MeleeUnit, RangedBase, RangedUnit, Turret)
	default:
		return Rules{}, false
	}
	if players != 0 {
		r.Players = players
	}
	return r, true
}

// standard are the properties of all presets.
func standard() (t [Types]Properties) {
	base := Properties{Size: 5, BuildScore: 500, DestroyScore: 5000, PopProvide: 5, MaxHealth: 300, Cost: 500, Sight: 5, CanBuild: true}
	unit := Properties{Size: 1, CanMove: true, PopUse: 1, MaxHealth: 10, Sight: 10, CanAttack: true}

	t[Wall] = Properties{Size: 1, BuildScore: 10, DestroyScore: 10, MaxHealth: 50, Cost: 10, Sight: 2}
	t[House] = Properties{Size: 3, BuildScore: 50, DestroyScore: 500, PopProvide: 5, MaxHealth: 50, Cost: 50, Sight: 5}
	t[Resource] = Properties{Size: 1, MaxHealth: 30, Yield: 1}
	t[Turret] = Properties{
		Size: 2, BuildScore: 50, DestroyScore: 500, MaxHealth: 100, Cost: 50, Sight: 10, CanAttack: true, Range: 5, Damage: 5,
	}
	for k, built := range map[Type]Type{BuilderBase: BuilderUnit, MeleeBase: MeleeUnit, RangedBase: RangedUnit} {
		t[k] = base
		t[k].Builds = ListOf(built)
	}
	b := unit
	b.BuildScore, b.DestroyScore, b.Cost, b.Range, b.Damage, b.Collects = 10, 100, 10, 1, 1, true
	b.CanBuild, b.Builds, b.InitHealth = true, ListOf(House, Wall, BuilderBase, MeleeBase, RangedBase, Turret), 5
	b.CanRepair, b.Power = true, 1
	b.Repairs = ListOf(House, Wall, BuilderUnit, MeleeUnit, RangedUnit, BuilderBase, MeleeBase, RangedBase, Turret)
	t[BuilderUnit] = b
	m := unit
	m.BuildScore, m.DestroyScore, m.MaxHealth, m.Cost, m.Range, m.Damage = 20, 200, 50, 20, 1, 5
	t[MeleeUnit] = m
	f := unit
	f.BuildScore, f.DestroyScore, f.Cost, f.Range, f.Damage = 30, 300, 30, 5, 5
	t[RangedUnit] = f
	return t
}
