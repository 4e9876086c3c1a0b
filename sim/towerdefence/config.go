package towerdefence

import (
	"fmt"
	"strconv"
	"strings"

	"moonfarm/sim/texts"
)

// The text of rule values is the original's game-config.properties: lines of
// key and value in the syntax of Java's properties files. AppendText writes
// it in one canonical form, every key in a fixed order.

const configPrefix = "game.config."

// Table lists the rules in the order of their canonical text. Each Rule points
// to its value in r. It leaves out the two keys of B's start: see handicap.
func (r *Rules) Table() []texts.Rule {
	width, height := boardSize(2*Width), boardSize(Height)
	list := []texts.Rule{
		texts.NewRule("map-width", &width, 2*Width, 2*Width, "columns of the map: a half is one 64-bit word"),
		texts.NewRule("map-height", &height, Height, Height, "rows of the map"),
		texts.NewRule("max-rounds", &r.MaxRounds, 1, maxRound, "the last round played has this number: one more rounds are played"),
		texts.NewRule("start-energy", &r.StartEnergy, 0, MaxEnergy, "energy of a player at the start"),
		texts.NewRule("round-income-energy", &r.RoundIncome, 0, maxNumber, "energy each round, before energy buildings"),
		texts.NewRule("starting-health", &r.StartHealth, 1, MaxHealth, "health of a base at the start"),
		texts.NewRule("health-score-multiplier", &r.HealthScoreMultiplier, 0, maxNumber, "points for each point of health taken from the base"),
		texts.NewRule("energy-score-multiplier", &r.EnergyScoreMultiplier, 0, maxNumber, "points for each energy of the income"),
		texts.NewRule("deconstruction-refund-amount", &r.DeconstructionRefund, 0, maxNumber, "energy back for a deconstructed building"),
		texts.NewRule("max-do-nothings", &r.MaxDoNothings, 1, 250, "failed commands in a row that end the match"),
	}
	for _, k := range Kinds {
		list = r.Buildings[k].appendRules(list, k)
	}
	list = append(list,
		texts.NewRule("tesla.energy.per.shot", &r.TeslaEnergyPerShot, 0, maxNumber, "energy that a tesla tower pays for a shot"),
		texts.NewRule("ironcurtain.config.price", &r.CurtainPrice, 0, maxNumber, "energy that raising the curtain costs"),
		texts.NewRule("ironcurtain.config.active-rounds", &r.CurtainActiveRounds, 1, maxNumber, "rounds that the curtain protects"),
		texts.NewRule("ironcurtain.config.reset-period", &r.CurtainResetPeriod, 1, maxNumber, "rounds from one availability of the curtain to the next"),
		texts.NewRule("ironcurtain.config.construction-score", &r.CurtainConstructionScore, 0, maxNumber, "points for raising the curtain"))
	for _, k := range Kinds {
		list = append(list, texts.NewRule(kindKey(k)+"icon", (*letter)(&r.Buildings[k].Icon), 'A', 'z', "the building's letter on displays"))
	}
	for i := range list {
		list[i].Key = configPrefix + list[i].Key
	}
	return list
}

// kindKey returns the beginning of the keys of a kind.
func kindKey(k Kind) string { return strings.ToLower(k.String()) + ".config." }

// appendRules lists the numbers of a building of kind k. Numbers that only some
// kinds have in 3.0.2 must be 0 for the others: no rule is known for them.
func (b *Building) appendRules(list []texts.Rule, k Kind) []texts.Rule {
	key := kindKey(k)
	shoots := k == Attack || k == Tesla
	return append(list,
		texts.NewRule(key+"health", &b.Health, 1, MaxHealth, "health when placed"),
		texts.NewRule(key+"construction-time-left", &b.ConstructionTime, 1, maxNumber, "acts and can be hit from this many rounds after its placement"),
		texts.NewRule(key+"price", &b.Price, 0, maxNumber, "energy that it costs"),
		texts.NewRule(key+"weapon-damage", &b.Damage, 1, MaxHealth, "health that a missile or a strike takes").Only(shoots),
		texts.NewRule(key+"weapon-speed", &b.Speed, 2, 2*Width, "cells that its missiles move each round").Only(k == Attack),
		texts.NewRule(key+"weapon-cooldown-period", &b.Cooldown, 0, maxNumber, "idle rounds between two shots").Only(shoots),
		texts.NewRule(key+"destroy-multiplier", &b.DestroyMultiplier, 0, maxNumber, "points for each point of health taken from it"),
		texts.NewRule(key+"construction-score", &b.ConstructionScore, 0, maxNumber, "points for placing it"),
		texts.NewRule(key+"energy-produced-per-turn", &b.EnergyPerTurn, 0, maxNumber, "income while it stands").Only(k == Energy),
		texts.NewRule(key+"max-range", &b.Range, 0, 2*Width, "columns of lightning in front of it").Only(k == Tesla))
}

// handicap lists the keys of B's start, which the original lacks.
func handicap(energy, health *int) [2]texts.Rule {
	return [2]texts.Rule{
		texts.NewRule(configPrefix+"start-energy.b", energy, 0, MaxEnergy, "energy of B at the start, if it is not that of A"),
		texts.NewRule(configPrefix+"starting-health.b", health, 1, MaxHealth, "health of B's base at the start, if it is not that of A"),
	}
}

// boardSize is a side of the map, which is fixed.
type boardSize int

// AppendText implements texts.Value.
func (b *boardSize) AppendText(dst []byte) []byte { return strconv.AppendInt(dst, int64(*b), 10) }

// ParseText implements texts.Value.
func (b *boardSize) ParseText(text string) error {
	if n, err := strconv.Atoi(text); err != nil || n != int(*b) {
		return fmt.Errorf("the board is fixed at %d, found %s", *b, text)
	}
	return nil
}

// Number implements texts.Value.
func (b *boardSize) Number() float64 { return float64(*b) }

// letter is the icon of a building.
type letter byte

// AppendText implements texts.Value.
func (l *letter) AppendText(dst []byte) []byte { return append(dst, byte(*l)) }

// ParseText implements texts.Value.
func (l *letter) ParseText(text string) error {
	if len(text) != 1 || text[0]|0x20 < 'a' || text[0]|0x20 > 'z' {
		return fmt.Errorf("expected one ASCII letter, found %q", text)
	}
	*l = letter(text[0])
	return nil
}

// Number implements texts.Value.
func (l *letter) Number() float64 { return float64(*l) }

// AppendText appends the rule values as the text of a game-config.properties
// file: every key once, in a fixed order, one line "key=value" per key; the
// keys of a handicap only if there is one. The text is canonical: equal rules
// have equal texts, and ParseRules reads it back.
func (r Rules) AppendText(dst []byte) []byte {
	dst = texts.AppendRules(dst, r.Table())
	energy, health := r.Start(1)
	ofB := handicap(&energy, &health)
	if r.Handicap.Energy != 0 {
		dst = texts.AppendRules(dst, ofB[:1])
	}
	if r.Handicap.Health != 0 {
		dst = texts.AppendRules(dst, ofB[1:])
	}
	return dst
}

// ParseRules reads the text of a game-config.properties file. Keys that are
// missing keep the value of release 3.0.2. It fails, naming the line, for an
// unknown key, a duplicate key, a number below its minimum or beyond 32 bits,
// an icon that is not one ASCII letter, and a map of another size than 16 × 8.
func ParseRules(text []byte) (Rules, error) {
	rules := DefaultRules()
	energyB, healthB := -1, -1 // −1: the same as A's
	ofB := handicap(&energyB, &healthB)
	parser := texts.NewParser(append(rules.Table(), ofB[:]...), configPrefix+"start-energy")
	p := properties{text: texts.Unmarked(string(text))}
	for p.next() {
		if err := parser.Set(p.at, p.key, p.value); err != nil {
			return Rules{}, err
		}
	}
	if p.err != nil {
		return Rules{}, p.err
	}
	if energyB >= 0 {
		rules.Handicap.Energy = energyB - rules.StartEnergy
	}
	if healthB >= 0 {
		rules.Handicap.Health = healthB - rules.StartHealth
	}
	return rules, nil
}
