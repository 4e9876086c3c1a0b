package terminal

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"moonfarm/sim/texts"
)

// The text of rule values has lines of key and value. The keys are those of the original's
// config file, joined by dots. Rules that the config file has no key for have keys that begin
// with "moonfarm.".

// Bounds of the rule values. RULES.md, 7, explains them.
const (
	maxAmount = 1_000_000 // of health, damage, cores, …: sums stay far below the greatest float32
	maxRange  = 40        // the arena's corners are closer
	maxRadius = 2
	minSpeed  = 0.01    // steps per frame: the sum of them must reach 1
	minPrice  = 0.1     // of a mobile unit: less could round to nothing
	maxPrice  = 1000    // of a mobile unit
	maxPurse  = 100_000 // bits a player can ever hold
	maxTurns  = 1000
	maxMobile = 4096 // mobile units a player can buy in one turn
)

// Table returns the rules in the order of their canonical text, with pointers to the values in
// r. It has the values of an upgraded form even if a structure has no upgraded form.
func (r *Rules) Table() []texts.Rule {
	var list []texts.Rule
	for k := range Kind(Kinds) {
		prefix := unitKey(k)
		list = append(list, r.Units[k].table(prefix, k)...)
		if k.Structure() {
			list = append(list, texts.NewRule(prefix+"upgrade", &r.Upgradable[k], 0, 0, "the structure has an upgraded form"))
			list = append(list, r.Upgraded[k].table(prefix+"upgrade.", k)...)
		}
	}
	return append(append(list, r.gameTable()...), r.laterTable()...)
}

// unitKey returns the beginning of the keys of a kind.
func unitKey(k Kind) string { return "unitInformation." + strconv.Itoa(int(k)) + "." }

// table returns the values of a unit of kind k. Some values must be 0 for some kinds, because the
// original's rules for them are not known: structures do not attack structures, walls and
// supports do not attack, walls and turrets do not shield, and mobile units neither shield nor
// give resources.
func (u *Unit) table(prefix string, k Kind) []texts.Rule {
	list := []texts.Rule{
		texts.NewRule("cost1", &u.Cores, 0, maxAmount, "price in cores; for an upgraded form, the price of the upgrade").Only(k.Structure()),
		texts.NewRule("cost2", &u.Bits, minPrice, maxPrice, "price in bits").Only(k.Mobile()),
		texts.NewRule("startHealth", &u.Health, 0, maxAmount, "health, above moonfarm.deadAt"),
		texts.NewRule("attackRange", &u.AttackRange, 0, maxRange, "range of its shots in cells"),
		texts.NewRule("attackDamageWalker", &u.DamageMobile, 0, maxAmount, "damage of a shot to mobile units").Only(k == Turret || k.Mobile()),
		texts.NewRule("attackDamageTower", &u.DamageStruct, 0, maxAmount, "damage of a shot to structures").Only(k.Mobile()),
		texts.NewRule("getHitRadius", &u.HitRadius, 0, maxRadius, "added to the range of attacks on it"),
		texts.NewRule("speed", &u.Speed, minSpeed, 1, "steps per frame").Only(k.Mobile()),
		texts.NewRule("playerBreachDamage", &u.BreachDamage, 0, maxAmount, "health that the enemy loses when it breaches").Only(k.Mobile()),
		texts.NewRule("metalForBreach", &u.BreachCores, 0, maxAmount, "cores that its owner earns when it breaches").Only(k.Mobile()),
		texts.NewRule("selfDestructDamageWalker", &u.BlastMobile, 0, maxAmount, "damage of its explosion to mobile units").Only(k.Mobile()),
		texts.NewRule("selfDestructDamageTower", &u.BlastStruct, 0, maxAmount, "damage of its explosion to structures").Only(k.Mobile()),
		texts.NewRule("selfDestructRange", &u.BlastRange, 0, maxRange, "range of its explosion in cells").Only(k.Mobile()),
		texts.NewRule("selfDestructStepsRequired", &u.BlastSteps, 0, maxAmount, "least number of moves before it can explode").Only(k.Mobile()),
		texts.NewRule("shieldPerUnit", &u.Shield, 0, maxAmount, "health that it gives to each unit in its shield range").Only(k == Support),
		texts.NewRule("shieldRange", &u.ShieldRange, 0, maxRange, "range of its shields in cells").Only(k.Structure()),
		texts.NewRule("shieldBonusPerY", &u.ShieldPerY, 0, maxAmount, "added to its shields for each row from its owner's end").Only(k == Support),
		texts.NewRule("shieldDecay", &u.ShieldDecay, 0, maxAmount, "health that its shields lose each frame").Only(k == Support),
		texts.NewRule("refundPercentage", &u.Refund, 0, 1, "fraction of its price that a removal pays back").Only(k.Structure()),
		texts.NewRule("turnsRequiredToRemove", &u.RemoveTurns, 1, MaxRemoveIn, "turns that a removal takes").Only(k.Structure()),
		texts.NewRule("generatesResource1", &u.GivesBits, 0, maxPurse, "bits that it gives each turn").Only(k.Structure()),
		texts.NewRule("generatesResource2", &u.GivesCores, 0, maxAmount, "cores that it gives each turn").Only(k.Structure()),
	}
	for i := range list {
		list[i].Key = prefix + list[i].Key
	}
	return list
}

// gameTable returns the values that belong to no unit.
func (r *Rules) gameTable() []texts.Rule {
	return []texts.Rule{
		texts.NewRule("resources.startingHP", &r.StartHealth, minPrice, maxAmount, "health of a player at the start"),
		texts.NewRule("resources.startingCores", &r.StartCores, 0, maxAmount, "cores at the start"),
		texts.NewRule("resources.startingBits", &r.StartBits, 0, maxPurse, "bits at the start"),
		texts.NewRule("resources.coresPerRound", &r.CoresPerTurn, 0, maxAmount, "cores each turn"),
		texts.NewRule("resources.bitsPerRound", &r.BitsPerTurn, 0, maxPurse, "bits each turn"),
		texts.NewRule("resources.bitDecayPerRound", &r.BitDecay, 0, 1, "fraction of the unspent bits that is lost each turn"),
		texts.NewRule("resources.bitGrowthRate", &r.BitGrowth, 0, maxPurse, "bits added to the income of bits at each growth"),
		texts.NewRule("resources.roundStartBitRamp", &r.GrowthStart, 0, maxAmount, "turn of the first growth of the income of bits"),
		texts.NewRule("resources.turnIntervalForBitSchedule", &r.GrowthInterval, 1, maxAmount, "turns between two growths of the income of bits"),
		texts.NewRule("resources.maxBits", &r.MaxBits, 0, maxAmount, "maximum of a player's bits: see moonfarm.capBits"),
		texts.NewRule("resources.bitRampBitCapGrowthRate", &r.CapGrowth, 0, maxAmount, "bits added to the maximum at each growth"),
		texts.NewRule("resources.turnIntervalForBitCapSchedule", &r.CapInterval, 1, maxAmount, "turns between two growths of the maximum"),
		texts.NewRule("timingAndReplay.waitTimeBotSoft", &r.SoftTime, 0, math.MaxInt32, "milliseconds of thinking without a penalty"),
		texts.NewRule("timingAndReplay.waitTimeBotMax", &r.MaxTime, 0, math.MaxInt32, "milliseconds after which a player is out; 0: never"),
		texts.NewRule("moonfarm.maxTurns", &r.MaxTurns, 1, maxTurns, "turns played"),
		texts.NewRule("moonfarm.capBits", &r.CapBits, 0, 0, "bits after a turn's income are bounded by resources.maxBits and its growth"),
		texts.NewRule("moonfarm.deadAt", &r.DeadAt, 0, 1, "the health at or below which a unit is dead"),
		texts.NewRule("moonfarm.doomedShielded", &r.DoomedShielded, 0, 0,
			"a unit that decided to self-destruct in this frame's movement still receives shields before it does"),
		texts.NewRule("moonfarm.doomedExplode", &r.DoomedExplode, 0, 0,
			"a unit that decided to self-destruct explodes even if another explosion of the frame has killed it"),
		texts.NewRule("moonfarm.removedGive", &r.RemovedGive, 0, 0,
			"a structure whose removal comes due still gives bits and cores in that restore"),
		texts.NewRule("moonfarm.oldIDs", &r.OldIDs, 0, 0,
			"a placed structure takes two ids, the first for its spawn event; a removal takes one for its event"),
	}
}

// laterTable returns the rules that were added to the table after its text was in use: those of
// earlier engines, and FirstWins. AppendText leaves out those that are false, so that rules without
// them keep their text.
func (r *Rules) laterTable() []texts.Rule {
	return []texts.Rule{
		texts.NewRule("moonfarm.doomedTargets", &r.DoomedTargets, 0, 0,
			"a unit that has self-destructed can be shot at until the end of the frame"),
		texts.NewRule("moonfarm.bareWeakest", &r.BareWeakest, 0, 0,
			"the weakest target is the one with the lowest health without shields"),
		texts.NewRule("moonfarm.tiesByText", &r.TiesByText, 0, 0,
			"the youngest target is the one whose id is the greatest as text"),
		texts.NewRule("moonfarm.upgradeAsKind", &r.UpgradeAsKind, 0, 0,
			"the event of an upgrade has the kind of the structure; totals at the end of a match count an upgraded structure by the price of its upgrade alone"),
		texts.NewRule("moonfarm.freePenalties", &r.FreePenalties, 0, 0,
			"penalties pay nothing to the other player, even with moonfarm.oldIDs"),
		texts.NewRule("moonfarm.firstWins", &r.FirstWins, 0, 0,
			"player 1 wins if health and thinking times are equal at the end, as in the original; otherwise that is a draw"),
	}
}

// AppendText appends the rule values as their canonical text: one line "key=value" for each value
// in a fixed order, with floats as the shortest decimals that identify the float32. All values of
// an upgraded form are below the key "upgrade", which says whether the structure has the form.
// Rules of earlier engines and FirstWins are written only if they are true. Equal rules have equal
// texts, and ParseRules reads them back.
func (r Rules) AppendText(dst []byte) []byte {
	rules := r.Table()
	for _, later := range r.laterTable() {
		if *later.Value.(*bool) {
			continue
		}
		rules = slices.DeleteFunc(rules, func(x texts.Rule) bool { return x.Key == later.Key })
	}
	return texts.AppendRules(dst, rules)
}

// ParseRules reads the text of AppendText. The first line may be the name of a rule set ("2022",
// see RuleSets), without a key. Keys that the text lacks keep the value of that set, or of
// DefaultRules. ParseRules skips blank lines and lines that begin with #.
//
// It fails for an unknown name or key, a repeated key, and a value that is not of the key's type:
// a finite number, a whole number of 32 bits, or true or false. Errors contain the line.
// Rules.Validate checks whether the values can be played.
func ParseRules(text []byte) (Rules, error) {
	rules := DefaultRules()
	parser := texts.NewParser(rules.Table(), "resources.startingHP")
	err := parser.Parse(string(text), "rule set ("+strings.Join(RuleSets(), ", ")+")", func(name string) (ok bool) {
		rules, ok = RuleSet(name)
		return ok
	})
	if err != nil {
		return Rules{}, err
	}
	return rules, nil
}
