package codecraft_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"moonfarm/sim/codecraft"
)

// TestPresets checks the differences between the presets, and their names.
func TestPresets(t *testing.T) {
	for name, want := range map[string]struct {
		players    int32
		fog, bonus bool
		start      int32
	}{
		"finals": {2, true, true, 2}, "round2": {4, true, false, 2}, "round1": {4, false, false, 7},
		"finals-1": {1, true, true, 2}, "finals-4": {4, true, true, 2}, "round2-3": {3, true, false, 2}, "round1-2": {2, false, false, 7},
	} {
		t.Run(name, func(t *testing.T) {
			r, ok := codecraft.Preset(name)
			assert.Truef(t, ok && r.Players == want.players && r.Fog == want.fog && r.Bonus == want.bonus && r.Start.N == want.start, "%s: %v, %+v", name, ok, r)
			assert.NoError(t, r.Validate(), name)
		})
	}
	r := codecraft.DefaultRules()
	assert.Truef(t, codecraft.Presets()[0] == "finals" && r.Players == 2 && r.Bonus, "the default is %+v", r)
	for _, name := range []string{"", "-", "-2", "final", "finals-", "finals-0", "finals-5", "finals-22", "finals--2", "Round1", "round1-x"} {
		r, ok := codecraft.Preset(name)
		assert.Truef(t, !ok && r == (codecraft.Rules{}), "there is a preset %q", name)
	}
}

// TestTypeNames writes and reads types by their names.
func TestTypeNames(t *testing.T) {
	for k := range codecraft.Type(codecraft.Types) {
		var read codecraft.Type
		text, err := k.MarshalText()
		got, ok := codecraft.TypeNamed(k.String())
		assert.Truef(t, ok && got == k && err == nil && read.UnmarshalText(text) == nil && read == k, "%v is the name of %v, %s that of %v, error %v", k, got, text, read, err)
	}
	assert.Error(t, new(codecraft.Type).UnmarshalText([]byte("Tower")), "Tower is read")
	_, ok := codecraft.TypeNamed("house")
	assert.Truef(t, !ok && codecraft.Type(12).String() == "type 12", "type 12 is %v", codecraft.Type(12))
	l := codecraft.ListOf(codecraft.Turret, codecraft.Wall)
	if s := l.Set(); !s.Has(codecraft.Turret) || !s.Has(codecraft.Wall) || s.Has(codecraft.House) || s != 1<<9|1 {
		t.Errorf("the set of %v is %b", l.All(), s)
	}
}

// bounds has the least and the greatest value of every number of the rules, by the key in errors of
// Validate.
var bounds = []struct {
	what        string
	least, most int32
}{
	{"players", 1, 4}, {"max_tick_count", 1, 2000}, {"max_pathfind_nodes", 1, 6400}, {"choice.bonus_over", 0, 100_000},
	{"map.min_share", 0, 500}, {"map.max_share", 220, 1000}, {"map.octaves", 1, 8}, {"map.min_wave", 20, 180}, {"map.max_wave", 140, 800},
	{"map.persistence", 0, 1000},
	{"Wall.size", 1, 5}, {"House.size", 1, 5}, {"BuilderBase.size", 1, 5}, {"BuilderUnit.size", 1, 1}, {"Resource.size", 1, 1}, {"Turret.size", 1, 2},
	{"House.build_score", 0, 100_000}, {"Resource.build_score", 0, 100_000}, {"House.destroy_score", 0, 100_000},
	{"House.population_provide", 0, 1000}, {"House.population_use", 0, 1000}, {"House.max_health", 1, 30_000}, {"Resource.max_health", 1, 255},
	{"House.initial_cost", 0, 100_000}, {"House.sight_range", 0, 40}, {"House.resource_per_health", 0, 1000},
	{"BuilderUnit.build.init_health", 0, 30_000}, {"House.build.init_health", 0, 0},
	{"RangedUnit.attack.attack_range", 1, 20}, {"House.attack.attack_range", 0, 0}, {"RangedUnit.attack.damage", 1, 30_000}, {"House.attack.damage", 0, 0},
	{"BuilderUnit.repair.power", 0, 30_000}, {"MeleeUnit.repair.power", 0, 0},
}

// TestBounds checks that each number may have the values of its bounds, and no values beyond them.
func TestBounds(t *testing.T) {
	with := func(what string, value int32) error {
		r := codecraft.DefaultRules()
		for _, rule := range r.Table() {
			if rule.Key == what {
				*rule.Value.(*int32) = value
				return r.Validate()
			}
		}
		return fmt.Errorf("no key %s", what)
	}
	for _, b := range bounds {
		for _, n := range []int32{b.least, b.most} {
			if err := with(b.what, n); err != nil {
				t.Errorf("%s = %d: %v", b.what, n, err)
			}
		}
		for _, n := range []int32{b.least - 1, b.most + 1, -1 << 31, 1<<31 - 1} {
			if err := with(b.what, n); err == nil || !strings.HasPrefix(err.Error(), b.what[:strings.LastIndexByte(b.what, '.')+1]) && !strings.Contains(err.Error(), "map.") {
				t.Errorf("%s = %d: %v", b.what, n, err)
			}
		}
	}
}

// TestBoundsOfEveryRule checks that every number of the rules has bounds.
func TestBoundsOfEveryRule(t *testing.T) {
	r, _ := codecraft.Preset("round1")
	for _, rule := range r.Table() {
		number, ok := rule.Value.(*int32)
		if !ok {
			continue
		}
		was := *number
		for _, n := range []int32{-1 << 31, -1, 1<<31 - 1} {
			if *number = n; r.Validate() == nil {
				t.Errorf("%s = %d is accepted", rule.Key, n)
			}
		}
		*number = was
	}
}

// TestRefusedRules has invalid rules whose numbers are within their bounds.
func TestRefusedRules(t *testing.T) {
	for _, c := range []struct {
		why    string
		change func(r *codecraft.Rules)
	}{
		{"start: no player can start with a House", func(r *codecraft.Rules) { r.Start = codecraft.ListOf(codecraft.BuilderUnit, codecraft.House) }},
		{"start: no player can start with a Resource", func(r *codecraft.Rules) { r.Start = codecraft.ListOf(codecraft.Resource) }},
		{"map.max_share is 219, expected 220 to 1000", func(r *codecraft.Rules) { r.Generator.MaxShare = 219 }},
		{"map.max_wave is 139, expected 140 to 800", func(r *codecraft.Rules) { r.Generator.MaxWave = 139 }},
		{"Wall.attack.collect_resource is true, but there is no attack", func(r *codecraft.Rules) { r.Types[codecraft.Wall].Collects = true }},
		{"Resource.can_move, build, attack and repair must be false", func(r *codecraft.Rules) { r.Types[codecraft.Resource].CanMove = true }},
		{"Resource.can_move, build, attack and repair must be false", func(r *codecraft.Rules) { r.Types[codecraft.Resource].CanBuild = true }},
		{"Resource.can_move, build, attack and repair must be false", func(r *codecraft.Rules) { r.Types[codecraft.Resource].CanRepair = true }},
		{"Resource.can_move, build, attack and repair must be false", func(r *codecraft.Rules) {
			p := &r.Types[codecraft.Resource]
			p.CanAttack, p.Range, p.Damage = true, 1, 1
		}},
		{"BuilderUnit.build.options and repair.valid_targets cannot have Resource", func(r *codecraft.Rules) { r.Types[codecraft.BuilderUnit].Builds = codecraft.ListOf(codecraft.Resource) }},
		{"BuilderUnit.build.options and repair.valid_targets cannot have Resource", func(r *codecraft.Rules) {
			r.Types[codecraft.BuilderUnit].Repairs = codecraft.ListOf(codecraft.Resource)
		}},
		{"House.build.options is 1, expected 0 to 0", func(r *codecraft.Rules) { r.Types[codecraft.House].Builds = codecraft.ListOf(codecraft.Wall) }},
		{"House.repair.valid_targets is 1, expected 0 to 0", func(r *codecraft.Rules) { r.Types[codecraft.House].Repairs = codecraft.ListOf(codecraft.Wall) }},
		{"House.size is 3, expected 1 to 1", func(r *codecraft.Rules) { r.Types[codecraft.House].CanMove = true }},
	} {
		t.Run(c.why, func(t *testing.T) {
			r := codecraft.DefaultRules()
			c.change(&r)
			refused(t, r, c.why)
		})
	}
}

// TestTypeLists checks that Validate refuses lists with unknown or repeated types. ParseRules makes
// no such lists, but code can.
func TestTypeLists(t *testing.T) {
	lists := []struct {
		name string
		of   func(r *codecraft.Rules) *codecraft.TypeList
	}{
		{"start", func(r *codecraft.Rules) *codecraft.TypeList { return &r.Start }},
		{"BuilderUnit.build.options", func(r *codecraft.Rules) *codecraft.TypeList { return &r.Types[codecraft.BuilderUnit].Builds }},
		{"BuilderUnit.repair.valid_targets", func(r *codecraft.Rules) *codecraft.TypeList { return &r.Types[codecraft.BuilderUnit].Repairs }},
	}
	base, unit := codecraft.BuilderBase, codecraft.BuilderUnit
	for _, l := range lists {
		for _, c := range []struct {
			list codecraft.TypeList
			want string // "": the list is fine
		}{
			{codecraft.ListOf(), ""},
			{codecraft.ListOf(unit, base), ""},
			{codecraft.ListOf(10), "10 is no type, expected 0 to 9"},
			{codecraft.ListOf(base, unit, 255), "255 is no type, expected 0 to 9"},
			{codecraft.ListOf(base, 16), "16 is no type, expected 0 to 9"},
			{codecraft.ListOf(unit, base, unit), "BuilderUnit appears twice"},
			{codecraft.TypeList{N: 2, T: [codecraft.Types]codecraft.Type{unit, unit}}, "BuilderUnit appears twice"},
			// Types beyond the length do not matter.
			{codecraft.TypeList{N: 1, T: [codecraft.Types]codecraft.Type{unit, unit, 77}}, ""},
		} {
			t.Run(fmt.Sprintf("%s of %v", l.name, c.list), func(t *testing.T) {
				r := codecraft.DefaultRules()
				*l.of(&r) = c.list
				want := ""
				if c.want != "" {
					want = l.name + ": " + c.want
				}
				got := ""
				if err := r.Validate(); err != nil {
					got = err.Error()
				}
				assert.Truef(t, strings.HasSuffix(got, want) && (got == "") == (want == ""), "%s of %v: %q, want %q", l.name, c.list, got, want)
			})
		}
	}
}
