package config

import (
	"reflect"
	"slices"

	"moonfarm/sim/terminal"
)

// look holds the keys of a kind of unit that say how the original draws it. They have no
// part in the rules.
type look struct {
	display, icon  string
	xScale, yScale float32
}

// looks holds the values of 2026, by terminal.Kind.
var looks = [...]look{
	{"Filter", "S3_filter", 0.4, 0.5},
	{"Encryptor", "S3_encryptor", 0.5, 0.5},
	{"Destructor", "S3_destructor", 0.5, 0.5},
	{"Ping", "S3_ping", 0.7, 0.5},
	{"EMP", "S3_emp", 0.47, 0.5},
	{"Scrambler", "S3_scrambler", 0.5, 0.5},
	{"Remove", "S3_removal", 0.4, 0.5},
	{"Upgrade", "S3_upgrade", 0.4, 0.5},
}

// writtenKeys lists, by kind, the keys that a unit has in the files of 2026 even if the
// value is 0. All mobile units have the same keys.
var writtenKeys = [...][]string{
	{"turnsRequiredToRemove", "refundPercentage", "cost1", "getHitRadius", "startHealth"},
	{
		"turnsRequiredToRemove", "refundPercentage", "cost1", "getHitRadius", "startHealth",
		"shieldBonusPerY", "shieldRange", "shieldPerUnit", "shieldDecay",
	},
	{
		"turnsRequiredToRemove", "refundPercentage", "cost1", "getHitRadius", "startHealth",
		"attackDamageWalker", "attackRange", "attackDamageTower",
	},
	{
		"attackDamageWalker", "attackRange", "attackDamageTower", "cost2", "getHitRadius", "metalForBreach",
		"playerBreachDamage", "selfDestructDamageTower", "selfDestructDamageWalker", "selfDestructRange",
		"selfDestructStepsRequired", "speed", "startHealth",
	},
}

// unitFields returns the fields of an entry of unitInformation.
func unitFields(c *Config, k terminal.Kind) []field {
	l := &looks[k]
	drawn := []field{{"iconxScale", l.xScale}, {"icon", l.icon}, {"iconyScale", l.yScale}}
	named := append(slices.Clone(drawn), field{"display", l.display}, field{"shorthand", c.Shorthands[k]})
	if k >= terminal.Kinds {
		return named
	}
	u := &c.Rules.Units[k]
	written := writtenKeys[min(k, terminal.Scout)]
	fields := append(named, valuesOf(unitKeys[:], u, func(i int) bool {
		return !reflect.ValueOf(unitKeys[i].of(u)).Elem().IsZero() || slices.Contains(written, unitKeys[i].name)
	})...)
	category := int32(0)
	if k.Mobile() {
		category = 1
	}
	fields = append(fields, field{"unitCategory", category})
	if k.Structure() && c.Rules.Upgradable[k] {
		better := &c.Rules.Upgraded[k]
		fields = append(fields, field{"upgrade", append(drawn, valuesOf(unitKeys[:], better, func(i int) bool {
			return valueOf(unitKeys[i].of(better)) != valueOf(unitKeys[i].of(u))
		})...)})
	}
	return fields
}
