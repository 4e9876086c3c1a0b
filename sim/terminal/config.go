package terminal

import (
	"fmt"
	"strconv"
	"strings"
)

// The text of rule values has lines of key and value. The keys are those of the
// original's config file, joined by dots; its choices that no key there names
// begin with "moonfarm.".

// configValue is one key of the text and where its value goes: a *float32, an
// *int32 or a *bool.
type configValue struct {
	key   string
	value any
}

// configValues lists the keys in canonical order.
func (r *Rules) configValues() []configValue {
	var list []configValue
	for k := range Kinds {
		prefix := "unitInformation." + strconv.Itoa(k) + "."
		list = r.Units[k].appendValues(list, prefix)
		if Kind(k).Structure() {
			list = append(list, configValue{prefix + "upgrade", &r.Upgradable[k]})
			list = r.Upgraded[k].appendValues(list, prefix+"upgrade.")
		}
	}
	return append(list,
		configValue{"resources.startingHP", &r.StartHealth},
		configValue{"resources.startingCores", &r.StartCores},
		configValue{"resources.startingBits", &r.StartBits},
		configValue{"resources.coresPerRound", &r.CoresPerTurn},
		configValue{"resources.bitsPerRound", &r.BitsPerTurn},
		configValue{"resources.bitDecayPerRound", &r.BitDecay},
		configValue{"resources.bitGrowthRate", &r.BitGrowth},
		configValue{"resources.roundStartBitRamp", &r.GrowthStart},
		configValue{"resources.turnIntervalForBitSchedule", &r.GrowthInterval},
		configValue{"resources.maxBits", &r.MaxBits},
		configValue{"resources.bitRampBitCapGrowthRate", &r.CapGrowth},
		configValue{"resources.turnIntervalForBitCapSchedule", &r.CapInterval},
		configValue{"timingAndReplay.waitTimeBotSoft", &r.SoftTime},
		configValue{"timingAndReplay.waitTimeBotMax", &r.MaxTime},
		configValue{"moonfarm.maxTurns", &r.MaxTurns},
		configValue{"moonfarm.capBits", &r.CapBits},
		configValue{"moonfarm.deadAt", &r.DeadAt},
		configValue{"moonfarm.doomedShielded", &r.DoomedShielded},
		configValue{"moonfarm.doomedExplode", &r.DoomedExplode},
		configValue{"moonfarm.removedGive", &r.RemovedGive},
		configValue{"moonfarm.oldIDs", &r.OldIDs})
}

// appendValues appends the keys of a unit.
func (u *Unit) appendValues(list []configValue, prefix string) []configValue {
	return append(list,
		configValue{prefix + "cost1", &u.Cores},
		configValue{prefix + "cost2", &u.Bits},
		configValue{prefix + "startHealth", &u.Health},
		configValue{prefix + "attackRange", &u.AttackRange},
		configValue{prefix + "attackDamageWalker", &u.DamageMobile},
		configValue{prefix + "attackDamageTower", &u.DamageStruct},
		configValue{prefix + "getHitRadius", &u.HitRadius},
		configValue{prefix + "speed", &u.Speed},
		configValue{prefix + "playerBreachDamage", &u.BreachDamage},
		configValue{prefix + "metalForBreach", &u.BreachCores},
		configValue{prefix + "selfDestructDamageWalker", &u.BlastMobile},
		configValue{prefix + "selfDestructDamageTower", &u.BlastStruct},
		configValue{prefix + "selfDestructRange", &u.BlastRange},
		configValue{prefix + "selfDestructStepsRequired", &u.BlastSteps},
		configValue{prefix + "shieldPerUnit", &u.Shield},
		configValue{prefix + "shieldRange", &u.ShieldRange},
		configValue{prefix + "shieldBonusPerY", &u.ShieldPerY},
		configValue{prefix + "shieldDecay", &u.ShieldDecay},
		configValue{prefix + "refundPercentage", &u.Refund},
		configValue{prefix + "turnsRequiredToRemove", &u.RemoveTurns},
		configValue{prefix + "generatesResource1", &u.GivesBits},
		configValue{prefix + "generatesResource2", &u.GivesCores})
}

// AppendText appends the rule values as text: every value once, in a fixed
// order, one "key=value" a line, floats as the shortest decimals that name the
// float32. An upgraded form is written out in full below "upgrade", which says
// whether there is one. It is the canonical text: equal rules have equal texts,
// and ParseRules reads it back.
func (r Rules) AppendText(dst []byte) []byte {
	for _, v := range r.configValues() {
		dst = append(append(dst, v.key...), '=')
		switch p := v.value.(type) {
		case *float32:
			dst = appendFloat(dst, *p)
		case *int32:
			dst = strconv.AppendInt(dst, int64(*p), 10)
		case *bool:
			dst = strconv.AppendBool(dst, *p)
		}
		dst = append(dst, '\n')
	}
	return dst
}

// ParseRules reads the text of AppendText. Its first line may be the bare name
// of a rule set ("2022", see RuleSets), and may be all of it: keys that the text
// does not name keep the value of that set, or of DefaultRules. Blank lines and
// lines that begin with # are skipped.
//
// An unknown name or key, a key given twice, and a value that is not a finite
// number (a whole one of 32 bits, true or false, as the key demands) are errors
// that name the line. Whether the values can be played, Rules.Validate tells.
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
			set, ok := RuleSet(l)
			if !ok {
				return Rules{}, fmt.Errorf("line %d: want the name of a rule set (%s) or a key, = and a value, found %q",
					line, strings.Join(RuleSets(), ", "), l)
			}
			rules = set
		case values[key] == nil:
			return Rules{}, fmt.Errorf("line %d: key %q: not a key of this game: want one like %q", line, key, "resources.startingHP")
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
	case *float32:
		f, err := strconv.ParseFloat(text, 32)
		if err != nil || strings.Trim(text, "+-.0123456789eE") != "" {
			return fmt.Errorf("want a finite number, found %q", text)
		}
		*p = float32(f) + 0 // a zero has no sign
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
	}
	return nil
}

// appendFloat appends the shortest decimal that names the float32. A zero has
// no sign.
func appendFloat(dst []byte, f float32) []byte {
	return strconv.AppendFloat(dst, float64(f+0), 'f', -1, 32)
}
