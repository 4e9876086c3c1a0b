package codecraft

import (
	"fmt"
	"strings"

	"moonfarm/sim"
	"moonfarm/sim/texts"
)

// The text of rule values has lines of key and value. A key has our names for the fields of the
// original, joined by dots; a list of types has commas between the names.

// MaxSize is the limit of an entity's side, in cells, and MaxRange the limit of an attack range,
// under all rules.
const (
	MaxSize  = 5
	MaxRange = 20
)

// Bounds of the other rule values. RULES.md, 7, gives their reasons.
const (
	maxScore   = 100_000 // points of one entity
	maxHealth  = 30_000  // health of a unit: an int16
	maxVein    = 255     // health of a resource: a byte
	maxCost    = 100_000
	maxSight   = 40
	maxPeople  = 1000 // population of one entity
	maxTicks   = 2000 // so that ids stay below MaxID: a tick takes at most MaxUnits
	maxNodes   = Cells
	maxPowerOf = 30_000
)

// Table returns the rules in the order of their canonical text. Its entries read and set the
// values of r.
func (r *Rules) Table() []texts.Rule {
	list := []texts.Rule{
		texts.NewRule("players", &r.Players, 1, sim.MaxPlayers, "number of players"),
		texts.NewRule("fog_of_war", &r.Fog, 0, 0, "players see only what is in sight of their entities"),
		texts.NewRule("bonus", &r.Bonus, 0, 0, "the last player left gets points until it wins"),
		texts.NewRule("max_tick_count", &r.MaxTurns, 1, maxTicks, "ticks"),
		texts.NewRule("max_pathfind_nodes", &r.MaxNodes, 1, maxNodes, "cells that a search of a path closes (3.9)"),
		texts.NewRule("start", &r.Start, 0, Types, "the entities that a player starts with"),
	}
	for t := range r.Types {
		list = append(list, r.Types[t].table(Type(t))...)
	}
	g := &r.Generator
	return append(list,
		texts.NewRule("map.min_share", &g.MinShare, 0, 1000, "least share of cells outside the cleared starts that hold resources, in thousandths"),
		texts.NewRule("map.max_share", &g.MaxShare, float64(g.MinShare), 1000, "greatest such share, in thousandths, not below the least"),
		texts.NewRule("map.octaves", &g.Octaves, 1, 8, "octaves of noise"),
		texts.NewRule("map.min_wave", &g.MinWave, 20, 800, "least wavelength of the first octave, in tenths of cells"),
		texts.NewRule("map.max_wave", &g.MaxWave, max(20, float64(g.MinWave)), 800, "greatest such wavelength, in tenths of cells, not below the least"),
		texts.NewRule("map.persistence", &g.Persistence, 0, 1000, "amplitude of an octave relative to the octave before, in thousandths"),
		texts.NewRule("choice.dead_rest", &r.DeadRest, 0, 0, "units killed in the attack phase neither attack, build nor repair any more (3.17)"),
		texts.NewRule("choice.nearest_victim", &r.NearestVictim, 0, 0, "auto attack draws among the nearest valid targets (3.14)"),
		texts.NewRule("choice.range_gates", &r.RangeGates, 0, 0, "auto attack does not hit beyond the pathfind range (3.14)"),
		texts.NewRule("choice.chase_unseen", &r.ChaseUnseen, 0, 0, "auto attack has targets that the player does not see (3.4, 3.14)"),
		texts.NewRule("choice.outside_ignored", &r.OutsideIgnored, 0, 0, "a move to a target outside of the map is ignored (4.6)"),
		texts.NewRule("choice.break_floor", &r.BreakFloor, 0, 0, "breaking through costs health / damage rounded down, but at least 1 (3.7)"),
		texts.NewRule("choice.unable_take_id", &r.UnableTakeID, 0, 0, "a build action of an entity that cannot build takes an id (3.18)"),
		texts.NewRule("choice.dead_are_free", &r.DeadAreFree, 0, 0, "the dead do not count for price and population (3.20)"),
		texts.NewRule("choice.population_all", &r.PopulationAll, 0, 0,
			"types that use no population also need room: a player above its limit cannot build them (3.20)"),
		texts.NewRule("choice.repair_full", &r.RepairFull, 0, 0, "repairing what has full health succeeds, and the repairer has acted (3.22)"),
		texts.NewRule("choice.repair_others", &r.RepairOthers, 0, 0, "entities of other players can be repaired (3.22)"),
		texts.NewRule("choice.dead_move", &r.DeadMove, 0, 0, "dead units move (3.25)"),
		texts.NewRule("choice.walls_do_not_live", &r.WallsDoNotLive, 0, 0, "walls and houses alone keep no player in the game (5.2)"),
		texts.NewRule("choice.solo_ends", &r.SoloEnds, 0, 0, "a game that one player began is over after its first tick (5.3)"),
		texts.NewRule("choice.bonus_over", &r.BonusOver, 0, maxScore, "how many points above the best of the others the last player gets (5.4)"))
}

// table returns the properties of type t. It omits the values of abilities that the type lacks.
func (p *Properties) table(t Type) []texts.Rule {
	size, health := float64(MaxSize), float64(maxHealth)
	if t == Resource {
		size, health = 1, maxVein
	}
	if c := startCorner[t]; c.size != 0 {
		size = float64(c.size)
	}
	if p.CanMove {
		size = 1
	}
	list := []texts.Rule{
		texts.NewRule("size", &p.Size, 1, size, "cells of a side"),
		texts.NewRule("build_score", &p.BuildScore, 0, maxScore, "points to the owner when one becomes active"),
		texts.NewRule("destroy_score", &p.DestroyScore, 0, maxScore, "points to the enemy whose blow kills one"),
		texts.NewRule("can_move", &p.CanMove, 0, 0, "whether it moves"),
		texts.NewRule("population_provide", &p.PopProvide, 0, maxPeople, "population that an active one provides"),
		texts.NewRule("population_use", &p.PopUse, 0, maxPeople, "population that one uses"),
		texts.NewRule("max_health", &p.MaxHealth, 1, health, "full health"),
		texts.NewRule("initial_cost", &p.Cost, 0, maxCost, "resource; movable types cost one more for each that the owner has"),
		texts.NewRule("sight_range", &p.Sight, 0, maxSight, "distance"),
		texts.NewRule("resource_per_health", &p.Yield, 0, maxPeople, "resource for each point of health that a collector takes"),
		texts.NewRule("build", &p.CanBuild, 0, 0, "whether it builds"),
		texts.NewRule("build.options", &p.Builds, 0, Types, "the types that it builds").Only(p.CanBuild),
		texts.NewRule("build.init_health", &p.InitHealth, 0, maxHealth, "health of what it builds; 0: full").Only(p.CanBuild),
		texts.NewRule("attack", &p.CanAttack, 0, 0, "whether it attacks"),
		texts.NewRule("attack.attack_range", &p.Range, 1, MaxRange, "distance").Only(p.CanAttack),
		texts.NewRule("attack.damage", &p.Damage, 1, maxPowerOf, "health that a blow takes").Only(p.CanAttack),
		texts.NewRule("attack.collect_resource", &p.Collects, 0, 0, "whether it gets resource for the health that it takes"),
		texts.NewRule("repair", &p.CanRepair, 0, 0, "whether it repairs"),
		texts.NewRule("repair.valid_targets", &p.Repairs, 0, Types, "the types that it repairs").Only(p.CanRepair),
		texts.NewRule("repair.power", &p.Power, 0, maxPowerOf, "health that it gives in a tick").Only(p.CanRepair),
	}
	for i := range list {
		list[i].Key = t.String() + "." + list[i].Key
	}
	return list
}

// AppendText appends the canonical text of the rules: every value once, in a fixed order, one
// "key=value" per line. Equal rules have equal texts, and ParseRules reads the text.
func (r Rules) AppendText(dst []byte) []byte { return texts.AppendRules(dst, r.Table()) }

// ParseRules reads the text of AppendText. The first line may be the name of a preset
// ("round1", "round2-2": see Preset). Missing keys keep the value of this preset, or of
// DefaultRules. Blank lines and lines that begin with # are skipped.
//
// An unknown name or key, a repeated key, and a value of the wrong kind (a whole number of
// 32 bits, true or false, or a list of types, by the key) are errors that name the line.
// ParseRules does not check whether a game can have the values; Rules.Validate does.
func ParseRules(text []byte) (Rules, error) {
	rules := DefaultRules()
	names := "preset (" + strings.Join(Presets(), ", ") + ", with -1 to -4 for 1 to 4 players)"
	err := texts.NewParser(rules.Table(), "max_tick_count").Parse(string(text), names, func(name string) (ok bool) {
		rules, ok = Preset(name)
		return ok
	})
	if err != nil {
		return Rules{}, err
	}
	return rules, nil
}

// AppendText appends the names of the types with commas between them.
func (l *TypeList) AppendText(dst []byte) []byte {
	for i, t := range l.All() {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, t.String()...)
	}
	return dst
}

// ParseText reads names of types with commas between them. An unknown name and a repeated type
// are errors.
func (l *TypeList) ParseText(text string) error {
	*l = TypeList{}
	if text == "" {
		return nil
	}
	for name := range strings.SplitSeq(text, ",") {
		t, ok := TypeNamed(strings.TrimSpace(name))
		if !ok {
			return fmt.Errorf("expected types of entities, found %q", name)
		}
		if l.Set().Has(t) {
			return fmt.Errorf("type %s twice", t)
		}
		l.T[l.N] = t
		l.N++
	}
	return nil
}

// Number returns the length of the list.
func (l *TypeList) Number() float64 { return float64(l.N) }

// TypeNamed returns the type with the original's name.
func TypeNamed(name string) (Type, bool) {
	for t, n := range typeNames {
		if n == name {
			return Type(t), true
		}
	}
	return 0, false
}
