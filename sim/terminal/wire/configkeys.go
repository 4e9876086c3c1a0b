package wire

import (
	"moonfarm/sim/terminal"
)

// configKey is a key of an object of the config and the value of T that it
// gives: a *float32, an *int32 or a *bool.
type configKey[T any] struct {
	name string
	of   func(*T) any
}

// unitKeys are the keys of a unit. Keys on which a HashMap does not decide are
// in the order that files have: see hashOrder.
var unitKeys = [...]configKey[terminal.Unit]{
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

// resourceKeys are the keys of resources, in the order of unitKeys.
var resourceKeys = [...]configKey[terminal.Rules]{
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

// timeKeys are those of timingAndReplay that the rules know.
var timeKeys = [...]configKey[terminal.Rules]{
	{"waitTimeBotSoft", func(r *terminal.Rules) any { return &r.SoftTime }},
	{"waitTimeBotMax", func(r *terminal.Rules) any { return &r.MaxTime }},
}

// choiceKeys are the keys of our own, below choicesKey: choices of the rules
// that the original's config does not name. Bots ignore them. They are named as
// in terminal.ParseRules.
var choiceKeys = [...]configKey[terminal.Rules]{
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
}

const choicesKey = "moonfarm"

// usualChoices are the choices where no key tells: all else is 0.
func usualChoices() terminal.Rules {
	return terminal.Rules{
		MaxTurns: 100, CapBits: true, DeadAt: usualDeadAt, DoomedShielded: true, DoomedExplode: true, RemovedGive: true,
	}
}

// oldUnit is a unit in a config of 2018 or 2019.
type oldUnit struct {
	cost, stability, reach, damage, damageI, damageF, shieldAmount, damageToPlayer float32
}

var oldUnitKeys = [...]configKey[oldUnit]{
	{"cost", func(u *oldUnit) any { return &u.cost }},
	{"stability", func(u *oldUnit) any { return &u.stability }},
	{"range", func(u *oldUnit) any { return &u.reach }},
	{"damage", func(u *oldUnit) any { return &u.damage }},
	{"damageI", func(u *oldUnit) any { return &u.damageI }},
	{"damageF", func(u *oldUnit) any { return &u.damageF }},
	{"shieldAmount", func(u *oldUnit) any { return &u.shieldAmount }},
	{"damageToPlayer", func(u *oldUnit) any { return &u.damageToPlayer }},
}

// oldRules are the values of a config of 2018 or 2019 that are not a unit's: its
// mechanics, and one of its resources.
type oldRules struct {
	breachCores float32 // resources.coresForPlayerDamage

	blastRange, shieldDecay, refund float32
	blastSteps, removeTurns         int32

	unplayed
}

// unplayed are mechanics that no file has other than usualMechanics says, and
// that cannot be played otherwise.
type unplayed struct {
	breachDamage, growthByY, melee, buildTime float32
	stack, remove, reroute                    bool
}

var usualMechanics = oldRules{unplayed: unplayed{breachDamage: 1, stack: true, remove: true, reroute: true}}

var mechanicsKeys = [...]configKey[oldRules]{
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

// usualDeadAt is Rules.DeadAt: between the 1.2e-5 of a unit that was taken for
// dead and the 0.02 of one that lived.
const usualDeadAt = 1e-4
