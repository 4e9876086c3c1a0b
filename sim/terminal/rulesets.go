package terminal

// The built-in rule sets. A set with a year has the values of the config lines in recordings of
// that year. Most sets are written as the stock configuration of 2025 with a few changes.

// ruleSets lists the built-in rule sets in the order of their years.
var ruleSets = []struct {
	name  string
	rules func() Rules
}{
	{"classic", classicRules},
	{"later", laterRules},
	{"2019", rules2019},
	{"2020-02", rulesFebruary2020},
	{"2020", rules2020},
	{"2021", rules2021},
	{"2022", rules2022},
	{"2024", rules2024},
	{"2025a", rules2025a},
	{"2025b", stockRules},
	{"2025c", rules2025c},
	{"2026", rules2026},
}

// RuleSet returns the built-in rules with the given name: see RuleSets.
func RuleSet(name string) (Rules, bool) {
	for _, s := range ruleSets {
		if s.name == name {
			return s.rules(), true
		}
	}
	return Rules{}, false
}

// RuleSets returns the names of the built-in rule sets: classic and later (the two published
// rule books), and 2019, 2020-02, 2020, 2021, 2022, 2024, 2025a, 2025b, 2025c and 2026 (the
// configurations found in recordings; a, b and c are configurations of the same year). 2019
// belongs to the engine before 2020, with shields that decay.
func RuleSets() []string {
	names := make([]string, len(ruleSets))
	for i, s := range ruleSets {
		names[i] = s.name
	}
	return names
}

// DefaultRules returns the rules of 2026, the newest set.
func DefaultRules() Rules { return rules2026() }

// upgrade gives structures of kind k an upgraded form, which is the base form with changes.
func (r *Rules) upgrade(k Kind, change func(u *Unit)) {
	r.Upgradable[k] = true
	r.Upgraded[k] = r.Units[k]
	change(&r.Upgraded[k])
}

// stockRules returns the stock configuration, 2025b.
func stockRules() Rules {
	r := Rules{
		Units: [Kinds]Unit{
			Wall:    {Cores: 1, Health: 60},
			Support: {Cores: 4, Health: 30, Shield: 3, ShieldRange: 3.5},
			Turret:  {Cores: 2, Health: 75, AttackRange: 2.5, DamageMobile: 5},
			Scout: {Bits: 1, Health: 15, AttackRange: 3.5, DamageMobile: 2, DamageStruct: 2, Speed: 1,
				BlastMobile: 15, BlastStruct: 15},
			Demolisher: {Bits: 3, Health: 5, AttackRange: 4.5, DamageMobile: 8, DamageStruct: 8, Speed: 0.5,
				BlastMobile: 5, BlastStruct: 5},
			Interceptor: {Bits: 1, Health: 40, AttackRange: 4.5, DamageMobile: 20, Speed: 0.25,
				BlastMobile: 40, BlastStruct: 40},
		},
		StartHealth: 30, StartCores: 40, StartBits: 5,
		CoresPerTurn: 5, BitsPerTurn: 5, BitDecay: 0.25,
		BitGrowth: 1, GrowthStart: 10, GrowthInterval: 10,
		MaxBits: 150, CapGrowth: 5, CapInterval: 10,
		SoftTime: 5000, MaxTime: 35000, MaxTurns: 100,
		CapBits: true, DeadAt: 1e-4, DoomedShielded: true, DoomedExplode: true, RemovedGive: true,
	}
	for k := range Kinds {
		u := &r.Units[k]
		u.HitRadius = 0.01
		if Kind(k).Structure() {
			u.Refund, u.RemoveTurns = 0.75, 1
			continue
		}
		u.BreachDamage, u.BreachCores = 1, 1
		u.BlastRange, u.BlastSteps = 1.5, 5
	}
	r.upgrade(Wall, func(u *Unit) { u.Health = 120 })
	r.upgrade(Support, func(u *Unit) { u.Shield, u.ShieldRange, u.ShieldPerY = 4, 7, 0.3 })
	r.upgrade(Turret, func(u *Unit) { u.Cores, u.AttackRange, u.DamageMobile = 4, 3.5, 16 })
	return r
}

// damages sets the damage of a mobile kind's shots to mobile units and to structures.
func (r *Rules) damages(k Kind, damage float32) {
	r.Units[k].DamageMobile, r.Units[k].DamageStruct = damage, damage
}

// giving sets the structures of 2020 and 2024. Supports do not shield; they give a bit each
// turn, and cores when upgraded.
func (r *Rules) giving(cores float32) {
	r.damages(Demolisher, 6)
	r.Units[Wall].Health = 75
	r.Units[Turret].Health = 90
	support := &r.Units[Support]
	support.Shield, support.ShieldRange, support.GivesBits = 0, 0, 1
	r.upgrade(Wall, func(u *Unit) { u.Health = 150 })
	r.upgrade(Support, func(u *Unit) { u.GivesCores = cores })
	r.upgrade(Turret, func(u *Unit) { u.Cores, u.AttackRange, u.DamageMobile = 4, 3.5, 15 })
}

func rules2020() Rules {
	r := stockRules()
	r.StartHealth, r.StartCores = 40, 20
	r.giving(1)
	return r
}

func rules2024() Rules {
	r := stockRules()
	r.StartHealth = 40
	r.Units[Support].Cores = 7
	r.Units[Interceptor].AttackRange = 3.5
	r.giving(2)
	return r
}

// fragile sets the structures of 2021 and 2026. Supports and turrets are weak until they are
// upgraded, and the removal of an upgraded structure takes three turns.
func (r *Rules) fragile(refund float32, removeTurns int32, upgradedRefund float32) {
	for k := range Structures {
		r.Units[k].Refund, r.Units[k].RemoveTurns = refund, removeTurns
	}
	r.Units[Support].Health = 1
	r.Units[Turret].Health, r.Units[Turret].DamageMobile = 60, 6
	r.upgrade(Wall, func(u *Unit) { u.Cores, u.Health = 2, 200 })
	r.upgrade(Support, func(u *Unit) { u.Health, u.Shield, u.ShieldRange, u.ShieldPerY = 40, 1, 7, 0.7 })
	r.upgrade(Turret, func(u *Unit) { u.Cores, u.Health, u.AttackRange, u.DamageMobile = 4, 100, 3.5, 20 })
	for k := range Structures {
		r.Upgraded[k].Refund, r.Upgraded[k].RemoveTurns = upgradedRefund, 3
	}
}

func rules2021() Rules {
	r := stockRules()
	r.StartCores, r.StartBits, r.BitsPerTurn = 30, 4, 4
	r.SoftTime = 3000
	r.fragile(0.97, 1, 0.9)
	return r
}

func rules2026() Rules {
	r := stockRules()
	r.StartHealth, r.StartCores, r.StartBits = 40, 8, 1
	r.CoresPerTurn, r.BitsPerTurn = 4, 1
	r.GrowthStart, r.GrowthInterval, r.CapInterval = 5, 5, 5
	r.SoftTime = 15000
	r.fragile(0.9, 2, 0.8)
	return r
}

func rules2022() Rules {
	r := stockRules()
	r.Units[Wall].Cores, r.Units[Wall].Health = 0.5, 12
	turret := &r.Units[Turret]
	turret.Cores, turret.AttackRange, turret.DamageMobile = 6, 3.5, 16
	r.damages(Demolisher, 16)
	r.Units[Demolisher].Speed = 1
	scrambler := &r.Units[Interceptor]
	scrambler.BlastStruct, scrambler.BlastRange, scrambler.BlastSteps = 0, 9, 0
	r.upgrade(Wall, func(u *Unit) { u.Cores, u.Health = 1.5, 120 })
	r.upgrade(Support, func(u *Unit) { u.Cores, u.Shield, u.ShieldRange, u.ShieldPerY = 2, 2, 7, 0.34 })
	r.upgrade(Turret, func(u *Unit) { u.DamageMobile = 32 })
	return r
}

// rulesFebruary2020 returns the values of 2022 with the rules of the engine of February 2020.
func rulesFebruary2020() Rules {
	r := rules2022()
	r.BareWeakest, r.TiesByText, r.UpgradeAsKind = true, true, true
	return r
}

func rules2025a() Rules {
	r := stockRules()
	r.Units[Wall].HitRadius = 0.02
	r.Units[Support].Health, r.Units[Support].ShieldRange = 35, 6
	r.Units[Turret].DamageMobile = 4
	r.Units[Scout].Health, r.Units[Scout].AttackRange = 17, 3
	r.Units[Interceptor].Health = 50
	r.upgrade(Wall, func(u *Unit) { u.Health = 120 })
	r.upgrade(Support, func(u *Unit) { u.Shield, u.ShieldRange, u.ShieldPerY = 4, 10, 0.4 })
	r.upgrade(Turret, func(u *Unit) { u.Cores, u.DamageMobile = 5, 8 })
	return r
}

func rules2025c() Rules {
	r := rules2025a()
	r.StartHealth = 100
	return r
}

// classicRules returns the rules of the rule book with Pings, EMPs and Scramblers. The book lacks
// some values: hit radii, the turns that a removal takes, the cap of bits, and the time after
// which a player is out. For these classicRules takes the values that the configurations from
// 2020 to 2025 share.
func classicRules() Rules {
	r := stockRules()
	turret := &r.Units[Turret]
	turret.Cores, turret.AttackRange, turret.DamageMobile = 6, 3.5, 16
	r.upgrade(Support, func(u *Unit) { u.Shield, u.ShieldRange = 4, 7 })
	r.upgrade(Turret, func(u *Unit) { u.DamageMobile = 32 })
	return r
}

// laterRules returns the rules of the rule book with Scouts, Demolishers and Interceptors. Values
// that the book lacks are as in classicRules; health and cores at the start are among them, with
// the values of the most similar sets, 2022 and 2025b. The book's Factory does not shield before
// it is upgraded.
func laterRules() Rules {
	r := stockRules()
	r.damages(Demolisher, 6)
	r.Units[Wall].Health = 30
	r.Units[Support].Shield, r.Units[Support].ShieldRange = 0, 0
	r.Units[Turret].Health = 90
	r.upgrade(Support, func(u *Unit) { u.Cores, u.Shield, u.ShieldRange, u.ShieldPerY = 3, 4, 7, 0.3 })
	r.upgrade(Turret, func(u *Unit) { u.Cores, u.AttackRange, u.DamageMobile = 4, 3.5, 16 })
	return r
}

// rules2019 returns the rules of the engine before 2020: no upgrades, wide hit radii, shields
// that decay. The package wire/config translates its keys.
func rules2019() Rules {
	r := stockRules()
	r.Upgradable, r.Upgraded = [Structures]bool{}, [Structures]Unit{}
	r.StartCores, r.CoresPerTurn, r.BitDecay, r.MaxBits = 25, 4, 0.33333, 999999
	r.OldIDs, r.DoomedTargets, r.BareWeakest, r.FreePenalties = true, true, true, true
	support, turret := &r.Units[Support], &r.Units[Turret]
	support.Shield, support.ShieldRange, support.ShieldDecay = 10, 3, 0.15
	turret.Cores, turret.AttackRange, turret.DamageMobile = 3, 3, 4
	for k, speed := range map[Kind]float32{Scout: 0.5, Demolisher: 0.25, Interceptor: 0.25} {
		r.Units[k].AttackRange, r.Units[k].Speed = 3, speed
	}
	r.Units[Demolisher].AttackRange = 5
	r.damages(Scout, 1)
	r.damages(Demolisher, 3)
	r.Units[Interceptor].DamageMobile = 10
	for k := range Kinds {
		if r.Units[k].HitRadius = 0.51; k < Structures {
			r.Units[k].Refund = 0.5
		}
	}
	return r
}
