package config

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"slices"

	"moonfarm/sim/terminal"
	"moonfarm/sim/texts"
	"moonfarm/sim/texts/jsonscan"
)

// Parse reads a config of any year since 2018. Missing numbers are 0. Keys that are not
// part of the rules are ignored (Raw has them). The keys of an upgrade replace those of its
// base.
//
// Some rules have no key in the original's config. Their defaults are 100 turns, a DeadAt
// of 1e-4, and true for CapBits, DoomedShielded, DoomedExplode and RemovedGive. Other keys
// tell the engine and so set more of them:
//
//   - Keys of 2018 and 2019 set OldIDs, DoomedTargets and BareWeakest, and FreePenalties if
//     the config has timingAndReplay.waitTimeStartGame, which configs of 2018 lack.
//   - Later keys with seasonCompatibilityModeP1 and without an icon for any unit belong to
//     February 2020: they set BareWeakest, TiesByText and UpgradeAsKind.
//   - The key "moonfarm", which Append writes, overrides all of these.
//
// In configs of 2018 and 2019 a self-destruct does damage equal to the stability of the
// unit, all structures share one refund and one delay, and the range of a unit is the range
// of its shots or of its shields. One old key may stand beside later ones, as in the file of
// the contest's starter kit: resources.coresForPlayerDamage, which has no effect there.
//
// Parse skips comments from // to the end of the line, as the original does, and a comma
// after the last entry of an object or a list.
//
// It fails for other text that is not JSON, for repeated keys, for values of a wrong type
// or out of range, for unitInformation with less than six or more than eight units, for
// upgrades of mobile units, for blocked locations and old mechanics that cannot be played,
// and for more than MaxSize bytes. Errors have the form
// "column 7: unitInformation[1].cost1: expected …, found …". Rules.Validate checks whether
// the values can be played.
func Parse(text []byte) (Config, error) {
	if len(text) > MaxSize {
		return Config{}, fmt.Errorf("config: expected at most %d bytes, found %d", MaxSize, len(text))
	}
	text = texts.PlainJSON(texts.Unmarked(text))
	c := parser{Scanner: jsonscan.Scanner{Text: text}, old: defaultMechanics}
	c.config.Shorthands, c.config.Rules = standardShorthands, defaultChoices()
	c.all()
	c.End()
	c.finish()
	if c.Err != nil {
		return Config{}, fmt.Errorf("config: %w", c.Err)
	}
	c.config.Raw = bytes.Clone(bytes.TrimSpace(text))
	c.config.Generation = generation(&c.config.Rules)
	return c.config, nil
}

// parser collects the values of a config, whose keys may come in any order.
type parser struct {
	jsonscan.Scanner
	config Config

	units   [terminal.Kinds]unitValues
	old     oldRules
	choices terminal.Rules
	chosen  uint // bit i: choiceKeys[i] was given

	icon   bool // some unit has an icon, as in all known configs since September 2020
	season bool // the config has seasonCompatibilityModeP1, as all known configs since 2020 have
	grace  bool // the config has waitTimeStartGame, as all known configs of 2019 have

	oldAt, newAt int // column of the last key of 2018 and 2019, and of the last later key; 0: none
}

// unitValues holds the values of a unit in unitInformation.
type unitValues struct {
	base, upgrade terminal.Unit
	changed       uint // bit i: the upgrade has unitKeys[i]
	upgradable    bool
	old           oldUnit
}

// all reads the config.
func (p *parser) all() {
	given := map[string]bool{}
	p.Object(func(key string) {
		given[key] = true
		switch key {
		case "unitInformation":
			p.unitInformation()
		case "resources":
			p.resources()
		case "timingAndReplay":
			p.Object(func(key string) {
				p.grace = p.grace || key == "waitTimeStartGame"
				if lookup(p, timeKeys[:], key, &p.config.Rules) < 0 {
					p.Skip()
				}
			})
		case "mechanics":
			p.mechanics()
		case "misc":
			p.misc()
		case choicesKey:
			p.Object(func(key string) {
				i := lookup(p, choiceKeys[:], key, &p.choices)
				if i < 0 {
					p.Fail("a choice of the rules")
				}
				p.chosen |= 1 << max(i, 0)
			})
		default:
			p.season = p.season || key == "seasonCompatibilityModeP1"
			p.Skip()
		}
	})
	for _, key := range []string{"unitInformation", "resources"} {
		if !given[key] {
			p.Fail("the key " + key)
		}
	}
}

// value reads a value into to: a *float32, an *int32 (the text may have a fraction of 0) or
// a *bool.
func (p *parser) value(to any) {
	p.Space()
	start := p.At
	switch to := to.(type) {
	case *float32:
		*to = p.Float32("a number")
		if !bytes.ContainsAny(p.Text[start:p.At], ".eE") {
			p.config.Style = Web
		}
	case *int32:
		v := p.Float64("a whole number")
		if v != math.Trunc(v) || v < math.MinInt32 || v > math.MaxInt32 {
			p.FailAt(start, "a whole number of 32 bits")
			return
		}
		*to = int32(v)
	case *bool:
		*to = p.Bool()
	}
}

// assign copies the value that from points to into to, a pointer of the same type.
func assign(to, from any) { reflect.ValueOf(to).Elem().Set(reflect.ValueOf(from).Elem()) }

// lookup reads the value of a key that is one of keys and returns its index. It returns −1
// for any other key, without reading the value.
func lookup[T any](c *parser, keys []valueKey[T], key string, to *T) int {
	for i := range keys {
		if keys[i].name == key {
			c.value(keys[i].of(to))
			return i
		}
	}
	return -1
}

func (p *parser) unitInformation() {
	n := 0
	p.List(func(i int) {
		n++
		if i >= len(p.config.Shorthands) {
			p.Fail("the end of the list of units")
			return
		}
		names := &p.config.Shorthands
		p.Object(func(key string) {
			p.icon = p.icon || key == "icon"
			switch {
			case key == "shorthand":
				start := p.At
				names[i] = string(p.Quoted("a string"))
				if len(names[i]) > maxShorthand {
					p.FailAt(start, fmt.Sprintf("a string of at most %d bytes", maxShorthand))
				}
			case i < terminal.Kinds:
				p.unitKey(terminal.Kind(i), key)
			default:
				p.Skip()
			}
		})
	})
	if n < terminal.Kinds {
		p.FailAt(p.At-1, fmt.Sprintf("at least %d units", terminal.Kinds))
	}
	names := p.config.Shorthands[:] // units that the list does not name have the standard ones
	for i, name := range names {
		if name == "" || slices.Contains(names[:i], name) {
			p.ErrorAt(p.At-1, fmt.Sprintf("expected another shorthand for each unit, found %q for %v", names, terminal.Kind(i)))
		}
	}
}

// unitKey reads the value of a key of a unit.
func (p *parser) unitKey(k terminal.Kind, key string) {
	u := &p.units[k]
	start := p.At
	switch {
	case key == "upgrade":
		if !k.Structure() {
			p.Fail("no upgrade of a mobile unit")
			return
		}
		u.upgradable = true
		p.newAt = start + 1
		p.Object(func(key string) {
			if i := lookup(p, unitKeys[:], key, &u.upgrade); i >= 0 {
				u.changed |= 1 << i
			} else {
				p.Skip()
			}
		})
	case key == "unitCategory":
		var category int32
		p.value(&category)
		if k.Structure() != (category == 0) || k.Mobile() != (category == 1) {
			p.FailAt(start, "the category of a "+k.String())
		}
	case lookup(p, oldUnitKeys[:], key, &u.old) >= 0:
		p.oldAt = start + 1
	case lookup(p, unitKeys[:], key, &u.base) >= 0:
		if key != "getHitRadius" && key != "speed" {
			p.newAt = start + 1
		}
	default:
		p.Skip()
	}
}

func (p *parser) resources() {
	p.Object(func(key string) {
		if key == "coresForPlayerDamage" {
			p.value(&p.old.breachCores)
		} else if lookup(p, resourceKeys[:], key, &p.config.Rules) < 0 {
			p.Skip()
		}
	})
}

func (p *parser) mechanics() {
	p.oldAt = p.At + 1
	p.Object(func(key string) {
		p.Space()
		start := p.At
		i := lookup(p, mechanicsKeys[:], key, &p.old)
		if i < 0 {
			p.Skip()
		}
		if p.old.fixedMechanics != defaultMechanics.fixedMechanics {
			p.FailAt(start, "the only value that can be played")
		}
	})
}

func (p *parser) misc() {
	p.Object(func(key string) {
		p.Space()
		start := p.At
		switch key {
		case "blockedLocations":
			p.List(func(int) { p.FailAt(start, "no blocked locations, which cannot be played") })
		case "numBlockedLocations":
			var n int32
			p.value(&n)
			if n != 0 {
				p.FailAt(start, "no blocked locations, which cannot be played")
			}
		default:
			p.Skip()
		}
	})
}

// finish builds the rules from the values that were read.
func (p *parser) finish() {
	if p.oldAt > 0 && p.newAt > 0 {
		p.Leave(0)
		p.ErrorAt(max(p.oldAt, p.newAt)-1, "expected keys of 2018 and 2019 or later ones, found both")
	}
	r := &p.config.Rules
	for k := range p.units {
		r.Units[k] = p.units[k].base
	}
	if p.oldAt > 0 {
		p.config.Legacy, p.config.Of2018 = true, !p.grace
		r.OldIDs, r.DoomedTargets, r.BareWeakest, r.FreePenalties = true, true, true, p.grace
		for k := range p.units {
			p.old.translate(&r.Units[k], &p.units[k].old, terminal.Kind(k))
		}
	}
	if p.newAt > 0 && p.season && !p.icon {
		r.BareWeakest, r.TiesByText, r.UpgradeAsKind = true, true, true
	}
	for k := range terminal.Structures {
		u := &p.units[k]
		if !u.upgradable {
			continue
		}
		r.Upgradable[k], r.Upgraded[k] = true, u.base
		for i, key := range unitKeys {
			if u.changed>>i&1 != 0 {
				assign(key.of(&r.Upgraded[k]), key.of(&u.upgrade))
			}
		}
	}
	for i, key := range choiceKeys {
		if p.chosen>>i&1 != 0 {
			assign(key.of(r), key.of(&p.choices))
		}
	}
}

// translate fills in the values that the keys of 2018 and 2019 give to a unit.
func (m *oldRules) translate(u *terminal.Unit, o *oldUnit, k terminal.Kind) {
	u.Health = o.stability
	u.DamageMobile, u.DamageStruct = o.damage, 0
	if k.Mobile() {
		u.DamageMobile, u.DamageStruct = o.damageI, o.damageF
	}
	if u.DamageMobile != 0 || u.DamageStruct != 0 {
		u.AttackRange = o.reach
	}
	if k.Mobile() {
		u.Bits = o.cost
		u.BreachDamage, u.BreachCores = o.damageToPlayer, m.breachCores
		u.BlastMobile, u.BlastStruct = o.stability, o.stability
		u.BlastRange, u.BlastSteps = m.blastRange, m.blastSteps
		return
	}
	u.Cores = o.cost
	u.Refund, u.RemoveTurns = m.refund, m.removeTurns
	if k == terminal.Support && o.shieldAmount != 0 {
		u.Shield, u.ShieldRange, u.ShieldDecay = o.shieldAmount, o.reach, m.shieldDecay
	}
}
