package codecraft

import (
	"fmt"
	"strconv"
	"strings"
)

// The text of rule values has lines of key and value. The keys are our names of
// the original's, joined by dots; lists of types are names with commas between.

// configValue is one key of the text and where its value goes: an *int32, a
// *bool or a *TypeList.
type configValue struct {
	key   string
	value any
}

// configValues lists the keys in canonical order.
func (r *Rules) configValues() []configValue {
	list := []configValue{
		{"players", &r.Players},
		{"fog_of_war", &r.Fog},
		{"bonus", &r.Bonus},
		{"max_tick_count", &r.MaxTurns},
		{"max_pathfind_nodes", &r.MaxNodes},
		{"start", &r.Start},
	}
	for t := range r.Types {
		list = r.Types[t].appendValues(list, Type(t).String()+".")
	}
	g := &r.Generator
	return append(list,
		configValue{"map.min_share", &g.MinShare},
		configValue{"map.max_share", &g.MaxShare},
		configValue{"map.octaves", &g.Octaves},
		configValue{"map.min_wave", &g.MinWave},
		configValue{"map.max_wave", &g.MaxWave},
		configValue{"map.persistence", &g.Persistence},
		configValue{"choice.dead_rest", &r.DeadRest},
		configValue{"choice.nearest_victim", &r.NearestVictim},
		configValue{"choice.range_gates", &r.RangeGates},
		configValue{"choice.chase_unseen", &r.ChaseUnseen},
		configValue{"choice.outside_ignored", &r.OutsideIgnored},
		configValue{"choice.break_floor", &r.BreakFloor},
		configValue{"choice.unable_take_id", &r.UnableTakeID},
		configValue{"choice.dead_are_free", &r.DeadAreFree},
		configValue{"choice.population_all", &r.PopulationAll},
		configValue{"choice.repair_full", &r.RepairFull},
		configValue{"choice.repair_others", &r.RepairOthers},
		configValue{"choice.dead_move", &r.DeadMove},
		configValue{"choice.walls_do_not_live", &r.WallsDoNotLive},
		configValue{"choice.solo_ends", &r.SoloEnds},
		configValue{"choice.bonus_over", &r.BonusOver})
}

// appendValues appends the keys of a type.
func (p *Properties) appendValues(list []configValue, prefix string) []configValue {
	return append(list,
		configValue{prefix + "size", &p.Size},
		configValue{prefix + "build_score", &p.BuildScore},
		configValue{prefix + "destroy_score", &p.DestroyScore},
		configValue{prefix + "can_move", &p.CanMove},
		configValue{prefix + "population_provide", &p.PopProvide},
		configValue{prefix + "population_use", &p.PopUse},
		configValue{prefix + "max_health", &p.MaxHealth},
		configValue{prefix + "initial_cost", &p.Cost},
		configValue{prefix + "sight_range", &p.Sight},
		configValue{prefix + "resource_per_health", &p.Yield},
		configValue{prefix + "build", &p.CanBuild},
		configValue{prefix + "build.options", &p.Builds},
		configValue{prefix + "build.init_health", &p.InitHealth},
		configValue{prefix + "attack", &p.CanAttack},
		configValue{prefix + "attack.attack_range", &p.Range},
		configValue{prefix + "attack.damage", &p.Damage},
		configValue{prefix + "attack.collect_resource", &p.Collects},
		configValue{prefix + "repair", &p.CanRepair},
		configValue{prefix + "repair.valid_targets", &p.Repairs},
		configValue{prefix + "repair.power", &p.Power})
}

// AppendText appends the rule values as text: every value once, in a fixed
// order, one "key=value" a line. It is the canonical text: equal rules have
// equal texts, and ParseRules reads it back.
func (r Rules) AppendText(dst []byte) []byte {
	for _, v := range r.configValues() {
		dst = append(append(dst, v.key...), '=')
		switch p := v.value.(type) {
		case *int32:
			dst = strconv.AppendInt(dst, int64(*p), 10)
		case *bool:
			dst = strconv.AppendBool(dst, *p)
		case *TypeList:
			for i, t := range p.All() {
				if i > 0 {
					dst = append(dst, ',')
				}
				dst = append(dst, t.String()...)
			}
		}
		dst = append(dst, '\n')
	}
	return dst
}

// ParseRules reads the text of AppendText. Its first line may be the bare name
// of a preset ("round1", "round2-2": see Preset), and may be all of it: keys
// that the text does not name keep the value of that preset, or of DefaultRules.
// Blank lines and lines that begin with # are skipped.
//
// An unknown name or key, a key given twice, and a value that is not a whole
// number of 32 bits (true or false, a list of types, as the key demands) are
// errors that name the line. Whether the values can be played, Rules.Validate
// tells.
func ParseRules(text []byte) (Rules, error) {
	rules := DefaultRules()
	values := map[string]any{}
	for _, v := range rules.configValues() {
		values[v.key] = v.value
	}
	given := map[string]int{} // the line of each key
	begun := false
	line := 0
	for l := range strings.Lines(string(text)) {
		line++
		l = strings.TrimSpace(l)
		if l == "" || l[0] == '#' {
			continue
		}
		key, value, pair := strings.Cut(l, "=")
		key = strings.TrimSpace(key)
		switch {
		case !pair && begun:
			return Rules{}, fmt.Errorf("line %d: want a key, = and a value, found %q", line, l)
		case !pair:
			set, ok := Preset(l)
			if !ok {
				return Rules{}, fmt.Errorf("line %d: want the name of a preset (%s, with -1 to -4 for so many players) or a key, = and a value, found %q",
					line, strings.Join(Presets(), ", "), l)
			}
			rules = set
		case values[key] == nil:
			return Rules{}, fmt.Errorf("line %d: key %q: not a key of this game: want one like %q", line, key, "max_tick_count")
		case given[key] != 0:
			return Rules{}, fmt.Errorf("line %d: key %q was given already in line %d", line, key, given[key])
		default:
			if err := parseValue(values[key], strings.TrimSpace(value)); err != nil {
				return Rules{}, fmt.Errorf("line %d: key %q: %w", line, key, err)
			}
			given[key] = line
		}
		begun = true
	}
	return rules, nil
}

// parseValue reads a value of configValues.
func parseValue(to any, text string) error {
	switch p := to.(type) {
	case *int32:
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return fmt.Errorf("want a whole number of 32 bits, found %q", text)
		}
		*p = int32(n)
	case *bool:
		if text != "true" && text != "false" {
			return fmt.Errorf("want true or false, found %q", text)
		}
		*p = text == "true"
	case *TypeList:
		return p.parse(text)
	}
	return nil
}

// parse reads names with commas between.
func (l *TypeList) parse(text string) error {
	*l = TypeList{}
	if text == "" {
		return nil
	}
	for name := range strings.SplitSeq(text, ",") {
		t, ok := TypeNamed(strings.TrimSpace(name))
		if !ok {
			return fmt.Errorf("want types of entities, found %q", name)
		}
		if l.Set().Has(t) {
			return fmt.Errorf("type %s twice", t)
		}
		l.T[l.N] = t
		l.N++
	}
	return nil
}

// TypeNamed returns the type with the original's name.
func TypeNamed(name string) (Type, bool) {
	for t, n := range typeNames {
		if n == name {
			return Type(t), true
		}
	}
	return 0, false
}
