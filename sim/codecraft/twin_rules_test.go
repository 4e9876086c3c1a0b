package codecraft_test

import (
	"strings"

	"moonfarm/sim/codecraft"
	"moonfarm/sim/prng"
)

// pick returns one of the values at random.
func pick[T any](r *prng.Rand, choices ...T) T { return choices[r.IntN(len(choices))] }

// chance returns true with probability 1/n.
func chance(r *prng.Rand, n int) bool { return r.IntN(n) == 0 }

// presetRules returns a preset with a random number of players.
func presetRules(r *prng.Rand) codecraft.Rules {
	rules, _ := codecraft.Preset(pick(r, codecraft.Presets()...) + pick(r, "-1", "-2", "-2", "-3", "-4", "-4"))
	return rules
}

// choices returns the rules that the original leaves open, except BonusOver.
func choices(rules *codecraft.Rules) (list []*bool) {
	for _, rule := range rules.Table() {
		if choice, ok := rule.Value.(*bool); ok && strings.HasPrefix(rule.Key, "choice.") {
			list = append(list, choice)
		}
	}
	return list
}

// changeChoices draws the rules that the original leaves open.
func changeChoices(r *prng.Rand, rules *codecraft.Rules) {
	for _, c := range append(choices(rules), &rules.Bonus, &rules.Fog) {
		if chance(r, 3) {
			*c = !*c
		}
	}
	if chance(r, 4) {
		rules.BonusOver = pick[int32](r, 0, 1, 5, 1000)
	}
}

// changeNodes draws the limit of searches.
func changeNodes(r *prng.Rand, rules *codecraft.Rules) {
	rules.MaxNodes = pick[int32](r, 1000, 1000, 1000, 999, 300, 100, 50, 20, 5, 2, 1, 2500, codecraft.Cells)
}

// changeProperties draws numbers of types within their bounds.
func changeProperties(r *prng.Rand, rules *codecraft.Rules) {
	for {
		types := rules.Types
		for t := range types {
			if t := &types[t]; chance(r, 2) {
				changeType(r, t)
			}
		}
		changed := *rules
		changed.Types = types
		if changed.Validate() == nil {
			*rules = changed
			return
		}
	}
}

func changeType(r *prng.Rand, p *codecraft.Properties) {
	set := func(v *int32, choices ...int32) {
		if chance(r, 3) {
			*v = pick(r, choices...)
		}
	}
	set(&p.Size, 1, 1, 2, 3, 4, 5)
	set(&p.BuildScore, 0, 7, 90)
	set(&p.DestroyScore, 0, 11, 300)
	set(&p.PopProvide, 0, 1, 5, 20)
	set(&p.PopUse, 0, 1, 2, 3)
	set(&p.MaxHealth, 1, 2, 7, 10, 31, 50, 99, 255, 30_000)
	set(&p.Cost, 0, 1, 10, 33)
	set(&p.Sight, 0, 1, 3, 6, 10, 17, 40)
	set(&p.Yield, 0, 1, 2, 5)
	if p.CanAttack {
		set(&p.Range, 1, 2, 3, 5, 6, 9, 14, 20)
		set(&p.Damage, 1, 2, 3, 5, 7, 60)
		if chance(r, 8) {
			p.Collects = !p.Collects
		}
	}
	if p.CanBuild {
		set(&p.InitHealth, 0, 1, 5, 40, 400)
	}
	if p.CanRepair {
		set(&p.Power, 0, 1, 2, 9)
	}
	changeAbilities(r, p)
}

// changeAbilities now and then changes whether a type moves or attacks, or lets it build or repair.
func changeAbilities(r *prng.Rand, p *codecraft.Properties) {
	if chance(r, 10) {
		p.CanMove = !p.CanMove
		if p.CanMove {
			p.Size = 1
		}
	}
	if chance(r, 12) {
		p.CanAttack, p.Range, p.Damage = !p.CanAttack, int32(1+r.IntN(6)), int32(1+r.IntN(5))
		if !p.CanAttack {
			p.Range, p.Damage, p.Collects = 0, 0, false
		}
	}
	if chance(r, 12) {
		p.CanBuild, p.Builds = true, codecraft.ListOf(codecraft.House, codecraft.RangedUnit, codecraft.Turret, codecraft.Wall)
	}
	if chance(r, 12) {
		p.CanRepair, p.Repairs, p.Power = true, codecraft.ListOf(codecraft.MeleeUnit, codecraft.RangedUnit, codecraft.House), 2
	}
}

// twinRules draws the rules of a match.
func twinRules(r *prng.Rand) codecraft.Rules {
	rules := presetRules(r)
	if chance(r, 2) {
		changeNodes(r, &rules)
	}
	if chance(r, 2) {
		changeChoices(r, &rules)
	}
	if chance(r, 3) {
		changeProperties(r, &rules)
	}
	if chance(r, 10) {
		rules.MaxTurns = int32(1 + r.IntN(30))
	}
	return rules
}
