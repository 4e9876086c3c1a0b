package config

import (
	"bytes"
	"fmt"
	"math"
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
func (c *parser) all() {
	given := map[string]bool{}
	c.Object(func(key string) {
		given[key] = true
		switch key {
		case "unitInformation":
			c.unitInformation()
		case "resources":
			c.resources()
		case "timingAndReplay":
			c.Object(func(key string) {
				c.grace = c.grace || key == "waitTimeStartGame"
				if lookup(c, timeKeys[:], key, &c.config.Rules) < 0 {
					c.Skip()
				}
			})
		case "mechanics":
			c.mechanics()
		case "misc":
			c.misc()
		case choicesKey:
			c.Object(func(key string) {
				i := lookup(c, choiceKeys[:], key, &c.choices)
				if i < 0 {
					c.Fail("a choice of the rules")
				}
				c.chosen |= 1 << max(i, 0)
			})
		default:
			c.season = c.season || key == "seasonCompatibilityModeP1"
			c.Skip()
		}
	})
	for _, key := range []string{"unitInformation", "resources"} {
		if !given[key] {
			c.Fail("the key " + key)
		}
	}
}

// value reads a value into to: a *float32, an *int32 (the text may have a fraction of 0) or
// a *bool.
func (c *parser) value(to any) {
	c.Space()
	start := c.At
	switch to := to.(type) {
	case *float32:
		*to = c.Float32("a number")
		if !bytes.ContainsAny(c.Text[start:c.At], ".eE") {
			c.config.Style = Web
		}
	case *int32:
		v := c.Float64("a whole number")
		if v != math.Trunc(v) || v < math.MinInt32 || v > math.MaxInt32 {
			c.FailAt(start, "a whole number of 32 bits")
			return
		}
		*to = int32(v)
	case *bool:
		*to = c.Bool()
	}
}

// assign copies the value that from points to into to, a pointer of the same type.
func assign(to, from any) {
	switch to := to.(type) {
	case *float32:
		*to = *from.(*float32)
	case *int32:
		*to = *from.(*int32)
	case *bool:
		*to = *from.(*bool)
	}
}

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

func (c *parser) unitInformation() {
	n := 0
	c.List(func(i int) {
		n++
		if i >= len(c.config.Shorthands) {
			c.Fail("the end of the list of units")
			return
		}
		names := &c.config.Shorthands
		c.Object(func(key string) {
			c.icon = c.icon || key == "icon"
			switch {
			case key == "shorthand":
				start := c.At
				names[i] = string(c.Quoted("a string"))
				if len(names[i]) > maxShorthand {
					c.FailAt(start, fmt.Sprintf("a string of at most %d bytes", maxShorthand))
				}
			case i < terminal.Kinds:
				c.unitKey(terminal.Kind(i), key)
			default:
				c.Skip()
			}
		})
	})
	if n < terminal.Kinds {
		c.FailAt(c.At-1, fmt.Sprintf("at least %d units", terminal.Kinds))
	}
	names := c.config.Shorthands[:] // units that the list does not name have the standard ones
	for i, name := range names {
		if name == "" || slices.Contains(names[:i], name) {
			c.ErrorAt(c.At-1, fmt.Sprintf("expected another shorthand for each unit, found %q for %v", names, terminal.Kind(i)))
		}
	}
}

// unitKey reads the value of a key of a unit.
func (c *parser) unitKey(k terminal.Kind, key string) {
	u := &c.units[k]
	start := c.At
	switch {
	case key == "upgrade":
		if !k.Structure() {
			c.Fail("no upgrade of a mobile unit")
			return
		}
		u.upgradable = true
		c.newAt = start + 1
		c.Object(func(key string) {
			if i := lookup(c, unitKeys[:], key, &u.upgrade); i >= 0 {
				u.changed |= 1 << i
			} else {
				c.Skip()
			}
		})
	case key == "unitCategory":
		var category int32
		c.value(&category)
		if k.Structure() != (category == 0) || k.Mobile() != (category == 1) {
			c.FailAt(start, "the category of a "+k.String())
		}
	case lookup(c, oldUnitKeys[:], key, &u.old) >= 0:
		c.oldAt = start + 1
	case lookup(c, unitKeys[:], key, &u.base) >= 0:
		if key != "getHitRadius" && key != "speed" {
			c.newAt = start + 1
		}
	default:
		c.Skip()
	}
}

func (c *parser) resources() {
	c.Object(func(key string) {
		if key == "coresForPlayerDamage" {
			c.value(&c.old.breachCores)
		} else if lookup(c, resourceKeys[:], key, &c.config.Rules) < 0 {
			c.Skip()
		}
	})
}

func (c *parser) mechanics() {
	c.oldAt = c.At + 1
	c.Object(func(key string) {
		c.Space()
		start := c.At
		i := lookup(c, mechanicsKeys[:], key, &c.old)
		if i < 0 {
			c.Skip()
		}
		if c.old.fixedMechanics != defaultMechanics.fixedMechanics {
			c.FailAt(start, "the only value that can be played")
		}
	})
}

func (c *parser) misc() {
	c.Object(func(key string) {
		c.Space()
		start := c.At
		switch key {
		case "blockedLocations":
			c.List(func(int) { c.FailAt(start, "no blocked locations, which cannot be played") })
		case "numBlockedLocations":
			var n int32
			c.value(&n)
			if n != 0 {
				c.FailAt(start, "no blocked locations, which cannot be played")
			}
		default:
			c.Skip()
		}
	})
}

// finish builds the rules from the values that were read.
func (c *parser) finish() {
	if c.oldAt > 0 && c.newAt > 0 {
		c.Leave(0)
		c.ErrorAt(max(c.oldAt, c.newAt)-1, "expected keys of 2018 and 2019 or later ones, found both")
	}
	r := &c.config.Rules
	for k := range c.units {
		r.Units[k] = c.units[k].base
	}
	if c.oldAt > 0 {
		c.config.Legacy, c.config.Of2018 = true, !c.grace
		r.OldIDs, r.DoomedTargets, r.BareWeakest, r.FreePenalties = true, true, true, c.grace
		for k := range c.units {
			c.old.translate(&r.Units[k], &c.units[k].old, terminal.Kind(k))
		}
	}
	if c.newAt > 0 && c.season && !c.icon {
		r.BareWeakest, r.TiesByText, r.UpgradeAsKind = true, true, true
	}
	for k := range terminal.Structures {
		u := &c.units[k]
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
		if c.chosen>>i&1 != 0 {
			assign(key.of(r), key.of(&c.choices))
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
