package codecraft

import (
	"fmt"

	"moonfarm/sim"
)

// Bounds of the rule values. RULES.md, Bounds, shows what they are good for.
const (
	maxScore   = 100_000 // points of one entity
	maxSize    = 5
	maxHealth  = 30_000 // of a unit: an int16
	maxVein    = 255    // health of a resource: a byte
	maxCost    = 100_000
	maxSight   = 40
	maxRange   = 20
	maxPeople  = 1000 // population of one entity
	maxTicks   = 2000 // ids stay below MaxID: MaxUnits a tick
	maxNodes   = Cells
	maxPowerOf = 30_000
)

// Validate tells what of the rules cannot be played.
func (r *Rules) Validate() error {
	for _, c := range []struct {
		what        string
		value       int32
		least, most int32
	}{
		{"players", r.Players, 1, sim.MaxPlayers},
		{"max_tick_count", r.MaxTurns, 1, maxTicks},
		{"max_pathfind_nodes", r.MaxNodes, 1, maxNodes},
		{"start", r.Start.N, 0, Types},
		{"choice.bonus_over", r.BonusOver, 0, maxScore},
		{"map.min_share", r.Generator.MinShare, 0, 1000},
		{"map.max_share", r.Generator.MaxShare, r.Generator.MinShare, 1000},
		{"map.octaves", r.Generator.Octaves, 1, 8},
		{"map.min_wave", r.Generator.MinWave, 20, 800},
		{"map.max_wave", r.Generator.MaxWave, r.Generator.MinWave, 800},
		{"map.persistence", r.Generator.Persistence, 0, 1000},
	} {
		if c.value < c.least || c.value > c.most {
			return fmt.Errorf("%s is %d, want %d to %d", c.what, c.value, c.least, c.most)
		}
	}
	if err := r.Start.validate(); err != nil {
		return fmt.Errorf("start: %w", err)
	}
	for _, t := range r.Start.All() {
		if startCorner[t].size == 0 {
			return fmt.Errorf("start: no player can start with a %s", t)
		}
	}
	for t := range r.Types {
		if err := r.Types[t].validate(Type(t)); err != nil {
			return fmt.Errorf("%s.%w", Type(t), err)
		}
	}
	return nil
}

// validate tells what is wrong with the properties of type t.
func (p *Properties) validate(t Type) error {
	size, health, collects := int32(maxSize), int32(maxHealth), int32(0)
	if t == Resource {
		size, health = 1, maxVein
	}
	if c := startCorner[t]; c.size != 0 {
		size = int32(c.size)
	}
	if p.CanMove {
		size = 1
	}
	if p.CanAttack {
		collects = 1
	}
	for _, c := range []struct {
		what        string
		value       int32
		least, most int32
	}{
		{"size", p.Size, 1, size},
		{"build_score", p.BuildScore, 0, maxScore},
		{"destroy_score", p.DestroyScore, 0, maxScore},
		{"population_provide", p.PopProvide, 0, maxPeople},
		{"population_use", p.PopUse, 0, maxPeople},
		{"max_health", p.MaxHealth, 1, health},
		{"initial_cost", p.Cost, 0, maxCost},
		{"sight_range", p.Sight, 0, maxSight},
		{"resource_per_health", p.Yield, 0, maxPeople},
		{"build.options", p.Builds.N, 0, when(p.CanBuild, Types)},
		{"build.init_health", p.InitHealth, 0, when(p.CanBuild, maxHealth)},
		{"attack.attack_range", p.Range, collects, when(p.CanAttack, maxRange)},
		{"attack.damage", p.Damage, collects, when(p.CanAttack, maxPowerOf)},
		{"repair.valid_targets", p.Repairs.N, 0, when(p.CanRepair, Types)},
		{"repair.power", p.Power, 0, when(p.CanRepair, maxPowerOf)},
	} {
		if c.value < c.least || c.value > c.most {
			return fmt.Errorf("%s is %d, want %d to %d", c.what, c.value, c.least, c.most)
		}
	}
	if err := p.Builds.validate(); err != nil {
		return fmt.Errorf("build.options: %w", err)
	}
	if err := p.Repairs.validate(); err != nil {
		return fmt.Errorf("repair.valid_targets: %w", err)
	}
	switch {
	case p.Collects && !p.CanAttack:
		return fmt.Errorf("attack.collect_resource is true, but there is no attack")
	case t == Resource && (p.CanMove || p.CanBuild || p.CanAttack || p.CanRepair):
		return fmt.Errorf("can_move, build, attack and repair must be false: a resource has no owner")
	case p.Builds.Set().Has(Resource) || p.Repairs.Set().Has(Resource):
		return fmt.Errorf("build.options and repair.valid_targets cannot have Resource: it has no owner")
	}
	return nil
}

// validate tells whether the list holds what is no type, or one twice. Its
// length must have been checked.
func (l *TypeList) validate() error {
	seen := TypeSet(0)
	for _, t := range l.All() {
		if t >= Types {
			return fmt.Errorf("%d is no type, want 0 to %d", t, Types-1)
		}
		if seen.Has(t) {
			return fmt.Errorf("%s is there twice", t)
		}
		seen |= 1 << t
	}
	return nil
}

// when is n if the condition holds, else 0.
func when(holds bool, n int32) int32 {
	if holds {
		return n
	}
	return 0
}
