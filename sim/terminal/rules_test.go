package terminal_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"moonfarm/sim/prng"
	"moonfarm/sim/terminal"
)

// randomRules returns rules that can be played: a built-in set, half the time with random values.
func randomRules(r *prng.Rand) terminal.Rules {
	names := terminal.RuleSets()
	rules, _ := terminal.RuleSet(names[r.IntN(len(names))])
	if r.IntN(2) == 0 {
		return changedRules(r, rules)
	}
	return rules
}

// changedRules changes values of the rules within their bounds.
func changedRules(r *prng.Rand, rules terminal.Rules) terminal.Rules {
	for {
		changed := rules
		for k := range terminal.Kind(terminal.Kinds) {
			if k.Mobile() {
				changeMobile(r, &changed.Units[k])
				continue
			}
			changeStructure(r, &changed.Units[k], k)
			changed.Upgraded[k] = terminal.Unit{}
			if changed.Upgradable[k] = r.IntN(5) > 0; changed.Upgradable[k] {
				changed.Upgraded[k] = changed.Units[k]
				changeStructure(r, &changed.Upgraded[k], k)
				if r.IntN(3) > 0 {
					changed.Upgraded[k].Health = max(changed.Upgraded[k].Health, changed.Units[k].Health)
				}
			}
		}
		decay := float32(0)
		draw(r, &decay, 0, 0, 0.15, 0.1, 1.3, 50)
		changed.Units[terminal.Support].ShieldDecay = decay
		if changed.Upgradable[terminal.Support] {
			changed.Upgraded[terminal.Support].ShieldDecay = decay
		}
		changeGame(r, &changed)
		if changed.Validate() == nil {
			return changed
		}
	}
}

// draw sets a value to one of the choices with probability one half.
func draw[T any](r *prng.Rand, v *T, choices ...T) {
	if r.IntN(2) == 0 {
		*v = choices[r.IntN(len(choices))]
	}
}

// ranges lists short and long ranges, some exactly at, just below or just above the distance of cells.
var ranges = []float32{0, 0.9, 1, 1.5, 2.5, 3, 3.5, 3.6055512, 4.5, 5, 7, 9, 12.3, 40}

func changeMobile(r *prng.Rand, u *terminal.Unit) {
	draw(r, &u.Bits, 0.5, 1, 1, 1.5, 2, 3, 5.3)
	draw(r, &u.Health, 1.1, 5, 15, 17, 40, 40, 62.7, 300)
	draw(r, &u.AttackRange, ranges...)
	draw(r, &u.DamageMobile, 0, 0, 1, 2.3, 8, 20, 100)
	draw(r, &u.DamageStruct, 0, 0, 1, 2.3, 8, 20, 100)
	draw(r, &u.HitRadius, 0, 0.01, 0.02, 0.51, 1, 2.2)
	draw(r, &u.Speed, 1, 0.5, 0.25, 0.15, 0.3, 0.35, 0.7, 0.9, 1.0/3)
	draw(r, &u.BreachDamage, 0, 1, 1, 2.5)
	draw(r, &u.BreachCores, 0, 1, 0.7)
	draw(r, &u.BlastMobile, 0, 5, 15, 40, 1.7)
	draw(r, &u.BlastStruct, 0, 5, 15, 40, 1.7)
	draw(r, &u.BlastRange, ranges...)
	draw(r, &u.BlastSteps, 0, 1, 5, 30)
}

func changeStructure(r *prng.Rand, u *terminal.Unit, k terminal.Kind) {
	draw(r, &u.Cores, 0, 0.5, 1, 1.5, 4, 0.3)
	draw(r, &u.Health, 1, 5, 12, 30, 60, 75.5, 120, 200)
	draw(r, &u.HitRadius, 0, 0.01, 0.02, 0.51, 1, 2.2)
	draw(r, &u.Refund, 0, 0.5, 0.75, 0.9, 0.97, 1)
	draw(r, &u.RemoveTurns, 1, 1, 2, 3, 15)
	draw(r, &u.GivesBits, 0, 0, 0, 0.1)
	draw(r, &u.GivesCores, 0, 0, 1, 0.3)
	switch k {
	case terminal.Turret:
		draw(r, &u.AttackRange, ranges...)
		draw(r, &u.DamageMobile, 0, 1, 4, 5.7, 16, 32)
	case terminal.Support:
		draw(r, &u.Shield, 0, 1, 3, 10, 0.7)
		draw(r, &u.ShieldRange, ranges...)
		draw(r, &u.ShieldPerY, 0, 0, 0.3, 0.34, 0.7)
	}
}

func changeGame(r *prng.Rand, rules *terminal.Rules) {
	draw(r, &rules.StartHealth, 1, 5.5, 30, 100)
	draw(r, &rules.StartCores, 0, 8, 40)
	draw(r, &rules.CoresPerTurn, 0, 4, 5.3)
	draw(r, &rules.BitsPerTurn, 0, 1, 5, 2.7)
	draw(r, &rules.BitDecay, 0.1, 0.25, 0.33333, 0.5, 1)
	draw(r, &rules.BitGrowth, 0, 1, 0.3)
	draw(r, &rules.GrowthStart, 0, 1, 5, 10)
	draw(r, &rules.GrowthInterval, 1, 2, 5, 10)
	draw(r, &rules.MaxBits, 3.3, 20, 150)
	draw(r, &rules.CapGrowth, 0, 1.1, 5)
	draw(r, &rules.CapInterval, 1, 3, 10)
	draw(r, &rules.MaxTurns, 1, 3, 100)
	draw(r, &rules.DeadAt, 0, 1e-4, 0.5)
	for _, choice := range []*bool{&rules.CapBits, &rules.DoomedShielded, &rules.DoomedExplode, &rules.RemovedGive} {
		*choice = r.IntN(2) == 0
	}
	for _, choice := range []*bool{&rules.OldIDs, &rules.DoomedTargets, &rules.BareWeakest, &rules.TiesByText, &rules.UpgradeAsKind, &rules.FreePenalties} {
		*choice = r.IntN(4) == 0
	}
	rules.FirstWins = rules.CapBits // without a draw of its own
}

// TestRandomRules checks that most rules of changedRules are playable, and that they have each choice.
func TestRandomRules(t *testing.T) {
	r := prng.New(1)
	seen := map[string]int{}
	for range 300 {
		rules := changedRules(&r, terminal.DefaultRules())
		for name, ok := range map[string]bool{
			"decay": rules.Units[terminal.Support].ShieldDecay > 0, "dead at": rules.DeadAt > 0, "old ids": rules.OldIDs,
			"doomed shielded": rules.DoomedShielded, "doomed explode": rules.DoomedExplode, "removed give": rules.RemovedGive,
			"doomed targets": rules.DoomedTargets, "bare weakest": rules.BareWeakest, "ties by text": rules.TiesByText,
			"upgrade as kind": rules.UpgradeAsKind, "free penalties": rules.OldIDs && rules.FreePenalties, "first wins": rules.FirstWins,
			"weaker upgrade": rules.Upgradable[terminal.Wall] && rules.Upgraded[terminal.Wall].Health < rules.Units[terminal.Wall].Health,
			"no cap":         !rules.CapBits, "no upgrade": !rules.Upgradable[terminal.Wall],
			"odd speed": rules.Units[terminal.Scout].Speed == 0.15,
			"radii":     rules.Units[terminal.Scout].HitRadius != rules.Units[terminal.Demolisher].HitRadius,
		} {
			seen[name] += 0
			if ok {
				seen[name]++
			}
		}
	}
	for name, n := range seen {
		assert.NotEqualf(t, 0, n, "%s: not in 300 rule sets", name)
	}
	t.Log(seen)
}
