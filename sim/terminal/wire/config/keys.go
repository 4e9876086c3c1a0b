package config

import "moonfarm/sim/terminal"

// valueKey is a key of an object of the config. of returns a pointer to the value of the
// key in a T: a *float32, an *int32 or a *bool.
type valueKey[T any] struct {
	name string
	of   func(*T) any
}

// unitKeys lists the keys of a unit. Keys that share a bucket of a HashMap (see hashOrder)
// are in the order that they have in files.
var unitKeys = [...]valueKey[terminal.Unit]{
	{"attackDamageWalker", func(u *terminal.Unit) any { return &u.DamageMobile }},
	{"attackRange", func(u *terminal.Unit) any { return &u.AttackRange }},
	{"selfDestructDamageTower", func(u *terminal.Unit) any { return &u.BlastStruct }},
	{"turnsRequiredToRemove", func(u *terminal.Unit) any { return &u.RemoveTurns }},
	{"shieldBonusPerY", func(u *terminal.Unit) any { return &u.ShieldPerY }},
	{"refundPercentage", func(u *terminal.Unit) any { return &u.Refund }},
	{"cost2", func(u *terminal.Unit) any { return &u.Bits }},
	{"cost1", func(u *terminal.Unit) any { return &u.Cores }},
	{"getHitRadius", func(u *terminal.Unit) any { return &u.HitRadius }},
	{"metalForBreach", func(u *terminal.Unit) any { return &u.BreachCores }},
	{"shieldRange", func(u *terminal.Unit) any { return &u.ShieldRange }},
	{"shieldPerUnit", func(u *terminal.Unit) any { return &u.Shield }},
	{"selfDestructStepsRequired", func(u *terminal.Unit) any { return &u.BlastSteps }},
	{"playerBreachDamage", func(u *terminal.Unit) any { return &u.BreachDamage }},
	{"speed", func(u *terminal.Unit) any { return &u.Speed }},
	{"generatesResource1", func(u *terminal.Unit) any { return &u.GivesBits }},
	{"generatesResource2", func(u *terminal.Unit) any { return &u.GivesCores }},
	{"selfDestructDamageWalker", func(u *terminal.Unit) any { return &u.BlastMobile }},
	{"startHealth", func(u *terminal.Unit) any { return &u.Health }},
	{"selfDestructRange", func(u *terminal.Unit) any { return &u.BlastRange }},
	{"attackDamageTower", func(u *terminal.Unit) any { return &u.DamageStruct }},
	{"shieldDecay", func(u *terminal.Unit) any { return &u.ShieldDecay }},
}

// resourceKeys lists the keys of the object resources, ordered as unitKeys are.
var resourceKeys = [...]valueKey[terminal.Rules]{
	{"bitsPerRound", func(r *terminal.Rules) any { return &r.BitsPerTurn }},
	{"coresPerRound", func(r *terminal.Rules) any { return &r.CoresPerTurn }},
	{"startingBits", func(r *terminal.Rules) any { return &r.StartBits }},
	{"turnIntervalForBitCapSchedule", func(r *terminal.Rules) any { return &r.CapInterval }},
	{"turnIntervalForBitSchedule", func(r *terminal.Rules) any { return &r.GrowthInterval }},
	{"bitRampBitCapGrowthRate", func(r *terminal.Rules) any { return &r.CapGrowth }},
	{"bitDecayPerRound", func(r *terminal.Rules) any { return &r.BitDecay }},
	{"roundStartBitRamp", func(r *terminal.Rules) any { return &r.GrowthStart }},
	{"bitGrowthRate", func(r *terminal.Rules) any { return &r.BitGrowth }},
	{"startingHP", func(r *terminal.Rules) any { return &r.StartHealth }},
	{"startingCores", func(r *terminal.Rules) any { return &r.StartCores }},
	{"maxBits", func(r *terminal.Rules) any { return &r.MaxBits }},
}

// timeKeys lists the keys of timingAndReplay that are part of the rules.
var timeKeys = [...]valueKey[terminal.Rules]{
	{"waitTimeBotSoft", func(r *terminal.Rules) any { return &r.SoftTime }},
	{"waitTimeBotMax", func(r *terminal.Rules) any { return &r.MaxTime }},
}

// choiceKeys lists the keys below choicesKey, which are our own: rules that the original's
// config has no key for. Their names are those of terminal.ParseRules.
var choiceKeys = [...]valueKey[terminal.Rules]{
	{"maxTurns", func(r *terminal.Rules) any { return &r.MaxTurns }},
	{"capBits", func(r *terminal.Rules) any { return &r.CapBits }},
	{"deadAt", func(r *terminal.Rules) any { return &r.DeadAt }},
	{"doomedShielded", func(r *terminal.Rules) any { return &r.DoomedShielded }},
	{"doomedExplode", func(r *terminal.Rules) any { return &r.DoomedExplode }},
	{"removedGive", func(r *terminal.Rules) any { return &r.RemovedGive }},
	{"oldIDs", func(r *terminal.Rules) any { return &r.OldIDs }},
	{"doomedTargets", func(r *terminal.Rules) any { return &r.DoomedTargets }},
	{"bareWeakest", func(r *terminal.Rules) any { return &r.BareWeakest }},
	{"tiesByText", func(r *terminal.Rules) any { return &r.TiesByText }},
	{"upgradeAsKind", func(r *terminal.Rules) any { return &r.UpgradeAsKind }},
	{"freePenalties", func(r *terminal.Rules) any { return &r.FreePenalties }},
	{"firstWins", func(r *terminal.Rules) any { return &r.FirstWins }},
}

const choicesKey = "moonfarm"

// defaultChoices returns the choices of a config without choicesKey; all other rules are 0.
func defaultChoices() terminal.Rules {
	return terminal.Rules{
		MaxTurns: 100, CapBits: true, DeadAt: defaultDeadAt, DoomedShielded: true, DoomedExplode: true, RemovedGive: true,
	}
}

// oldUnit holds the values of a unit in a config of 2018 or 2019.
type oldUnit struct {
	cost, stability, reach, damage, damageI, damageF, shieldAmount, damageToPlayer float32
}

var oldUnitKeys = [...]valueKey[oldUnit]{
	{"cost", func(u *oldUnit) any { return &u.cost }},
	{"stability", func(u *oldUnit) any { return &u.stability }},
	{"range", func(u *oldUnit) any { return &u.reach }},
	{"damage", func(u *oldUnit) any { return &u.damage }},
	{"damageI", func(u *oldUnit) any { return &u.damageI }},
	{"damageF", func(u *oldUnit) any { return &u.damageF }},
	{"shieldAmount", func(u *oldUnit) any { return &u.shieldAmount }},
	{"damageToPlayer", func(u *oldUnit) any { return &u.damageToPlayer }},
}

// oldRules holds the values of a config of 2018 or 2019 that belong to no unit: its
// mechanics, and one of its resources.
type oldRules struct {
	breachCores float32 // resources.coresForPlayerDamage

	blastRange, shieldDecay, refund float32
	blastSteps, removeTurns         int32

	fixedMechanics
}

// fixedMechanics are mechanics that cannot be played with other values than
// defaultMechanics has. All known files have those values.
type fixedMechanics struct {
	breachDamage, growthByY, melee, buildTime float32
	stack, remove, reroute                    bool
}

var defaultMechanics = oldRules{fixedMechanics: fixedMechanics{breachDamage: 1, stack: true, remove: true, reroute: true}}

var mechanicsKeys = [...]valueKey[oldRules]{
	{"basePlayerHealthDamage", func(r *oldRules) any { return &r.breachDamage }},
	{"damageGrowthBasedOnY", func(r *oldRules) any { return &r.growthByY }},
	{"bitsCanStackOnDeployment", func(r *oldRules) any { return &r.stack }},
	{"destroyOwnUnitsEnabled", func(r *oldRules) any { return &r.remove }},
	{"rerouteMidRound", func(r *oldRules) any { return &r.reroute }},
	{"meleeMultiplier", func(r *oldRules) any { return &r.melee }},
	{"firewallBuildTime", func(r *oldRules) any { return &r.buildTime }},

	{"destroyOwnUnitRefund", func(r *oldRules) any { return &r.refund }},
	{"destroyOwnUnitDelay", func(r *oldRules) any { return &r.removeTurns }},
	{"stepsRequiredSelfDestruct", func(r *oldRules) any { return &r.blastSteps }},
	{"selfDestructRadius", func(r *oldRules) any { return &r.blastRange }},
	{"shieldDecayPerFrame", func(r *oldRules) any { return &r.shieldDecay }},
}

// defaultDeadAt is the default of Rules.DeadAt. In recordings, a unit with 1.2e-5 health was
// dead and a unit with 0.02 was alive.
const defaultDeadAt = 1e-4
