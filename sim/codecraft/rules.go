package codecraft

import (
	"fmt"

	"moonfarm/sim"
)

// RulesVersion is the version of the rules: the release of the original, then our version.
const RulesVersion = "1.3.0+1"

// Type is the type of an entity, with the numbers of the protocol.
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

	// Types is the number of types.
	Types = 10
)

var typeNames = [Types]string{
	"Wall", "House", "BuilderBase", "BuilderUnit", "MeleeBase", "MeleeUnit", "RangedBase", "RangedUnit", "Resource", "Turret",
}

// String returns the original's name.
func (t Type) String() string {
	if int(t) < len(typeNames) {
		return typeNames[t]
	}
	return fmt.Sprintf("type %d", uint8(t))
}

// MarshalText returns the name.
func (t Type) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads the name.
func (t *Type) UnmarshalText(name []byte) error {
	named, ok := TypeNamed(string(name))
	if !ok {
		return fmt.Errorf("found type %.40q, expected one like %q", name, House)
	}
	*t = named
	return nil
}

// TypeSet is a set of types: bit t is set for type t.
type TypeSet uint16

// EveryType has all types, and AllButResource the default targets of an auto attack.
const (
	EveryType      TypeSet = 1<<Types - 1
	AllButResource         = EveryType &^ (1 << Resource)
)

// Has reports whether t is in the set.
func (s TypeSet) Has(t Type) bool { return s>>t&1 != 0 }

// TypeList is an ordered list of types, without duplicates.
type TypeList struct {
	N int32
	T [Types]Type
}

// ListOf returns a list of the types.
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

// Properties has the numbers of a type (the original's EntityProperties).
// Rules.Table has the key, the meaning and the bounds of each.
type Properties struct {
	Size                     int32
	BuildScore, DestroyScore int32
	CanMove                  bool
	PopProvide, PopUse       int32
	MaxHealth, Cost          int32
	Sight, Yield             int32

	CanBuild   bool
	Builds     TypeList
	InitHealth int32

	CanAttack     bool
	Range, Damage int32
	Collects      bool

	CanRepair bool
	Repairs   TypeList
	Power     int32
}

// Rules has all numbers and choices of a game. A question that the original leaves open is a
// field, with the recommended choice as its default. Table has the key, the meaning and the
// bounds of each field.
type Rules struct {
	Players    int32
	Fog, Bonus bool
	MaxTurns   int32
	MaxNodes   int32
	Start      TypeList
	Types      [Types]Properties
	Generator  Generator

	// Choices that no recording decides (RULES.md, 6). The default is false, and 1 for
	// BonusOver.

	DeadRest, NearestVictim, RangeGates, ChaseUnseen bool
	OutsideIgnored, BreakFloor                       bool
	UnableTakeID, DeadAreFree, PopulationAll         bool
	RepairFull, RepairOthers, DeadMove               bool
	WallsDoNotLive, SoloEnds                         bool
	BonusOver                                        int32
}

// Generator has the numbers of the map generator. The original's generator is unknown.
type Generator struct {
	MinShare, MaxShare, Octaves   int32
	MinWave, MaxWave, Persistence int32
}

// Presets returns the names of the rule sets, the newest (the default) first: "finals", "round2",
// "round1". They have 2, 4 and 4 players; a dash and a number after the name ("round1-2") give
// another number of players.
func Presets() []string { return []string{"finals", "round2", "round1"} }

// DefaultRules returns the rules of the finals.
func DefaultRules() Rules {
	r, _ := Preset("finals")
	return r
}

// Preset returns the rule set of that name, and false if there is none.
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

// standard returns the properties of the types, which are the same in all presets.
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
