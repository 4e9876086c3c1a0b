package matchlog

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"

	"moonfarm/sim/texts"
	"moonfarm/sim/towerdefence"
	"moonfarm/sim/towerdefence/wire/display"
)

// PartialRules holds the rules that a match log contains. The first state.json
// of a log has most of them, and the first state.json that shows a tesla tower
// two more. The text maps have the letter of a kind of buildings as soon as one
// building of the kind is finished.
type PartialRules struct {
	State bool               // the log has the first state.json
	Tower bool               // the log has a state.json with a tesla tower
	Rules towerdefence.Rules // values that the log lacks are 0
}

// Over returns r, overridden by the values of the log.
func (p *PartialRules) Over(r towerdefence.Rules) towerdefence.Rules {
	for _, k := range towerdefence.Kinds {
		b, told := &r.Buildings[k], p.Rules.Buildings[k]
		if told.Icon == 0 {
			told.Icon = b.Icon
		}
		switch {
		case !p.State:
			b.Icon = told.Icon
			continue
		case k != towerdefence.Tesla || !p.Tower:
			told.Range = b.Range
		}
		*b = told
	}
	if !p.State {
		return r
	}
	told := &p.Rules
	r.MaxRounds, r.RoundIncome = told.MaxRounds, told.RoundIncome
	r.CurtainPrice, r.CurtainActiveRounds = told.CurtainPrice, told.CurtainActiveRounds
	r.CurtainResetPeriod, r.CurtainConstructionScore = told.CurtainResetPeriod, told.CurtainConstructionScore
	r.StartEnergy, r.StartHealth, r.Handicap = told.StartEnergy, told.StartHealth, told.Handicap
	if p.Tower {
		r.TeslaEnergyPerShot = told.TeslaEnergyPerShot
	}
	return r
}

// Missing lists the keys of the rules that influence play and are missing in the log. It
// returns nil for a log without any state.json.
func (p *PartialRules) Missing() []string {
	if !p.State {
		return nil
	}
	keys := []string{"health-score-multiplier", "energy-score-multiplier", "deconstruction-refund-amount", "max-do-nothings"}
	if !p.Tower {
		keys = append(keys, "tesla.energy.per.shot", "tesla.config.max-range")
	}
	for i := range keys {
		keys[i] = "game.config." + keys[i]
	}
	return keys
}

// read reads the rules in the files of player A in a round folder; first is true for the
// first round. The path ends in a slash.
func (p *PartialRules) read(fsys fs.FS, path string, first bool) error {
	state, err := readLog(fsys, path+logState)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case first:
		if err := p.start([]byte(state)); err != nil {
			return fmt.Errorf("%s: %w", path+logState, err)
		}
		p.State = true
	case p.State && !p.Tower:
		p.tower(state)
	}
	if p.icons() == len(towerdefence.Kinds) {
		return nil
	}
	text, err := readLog(fsys, path+logText)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	p.letters(text)
	return err
}

// start reads the rules in the first state.json.
func (p *PartialRules) start(state []byte) error {
	energy, health, err := display.StartOf(state)
	if err != nil {
		return err
	}
	var release struct {
		GameDetails struct{ IronCurtainStats *struct{} }
		Players     []struct{ IsIronCurtainActive *bool }
	}
	if err := json.Unmarshal(texts.Unmarked(state), &release); err != nil {
		return err
	}
	switch {
	case release.GameDetails.IronCurtainStats == nil:
		return errors.New("expected a log of release 3.0.1 or later, found no ironCurtainStats: releases before 3.0 played by other rules")
	case release.Players[0].IsIronCurtainActive == nil:
		return errors.New("expected a log of release 3.0.1 or later, found no isIronCurtainActive: release 3.0.0 scored by other rules")
	}
	p.Rules, err = display.ReadRules(state, towerdefence.Rules{})
	p.Rules.SetStart(energy, health)
	return err
}

// teslaFields matches the fields of a tesla tower in a state.json, which the first state.json
// of a match does not have.
var teslaFields = regexp.MustCompile(`"maxRange":(\d+),"buildingType":"TESLA","energyPerShot":(\d+)`)

// tower reads the rules of tesla towers from a state.json.
func (p *PartialRules) tower(state string) {
	found := teslaFields.FindStringSubmatch(state)
	if found == nil {
		return
	}
	reach, errReach := strconv.Atoi(found[1])
	shot, errShot := strconv.Atoi(found[2])
	if errReach == nil && errShot == nil {
		p.Tower = true
		p.Rules.Buildings[towerdefence.Tesla].Range, p.Rules.TeslaEnergyPerShot = reach, shot
	}
}

// icons returns the number of kinds whose letter is known.
func (p *PartialRules) icons() (n int) {
	for _, k := range towerdefence.Kinds {
		if p.Rules.Buildings[k].Icon != 0 {
			n++
		}
	}
	return n
}

// finishedBuilding matches the line of a finished building in the building data of a text
// map: its cell and its kind.
var finishedBuilding = regexp.MustCompile(`(?m)^(\[\d+,\d+)\] [AB]\|([A-Z]+)\|-`)

// letters reads the letters of the kinds of buildings from a text map, from finished buildings:
// the letters of unfinished ones are changed to lower case.
func (p *PartialRules) letters(text string) {
	for _, line := range finishedBuilding.FindAllStringSubmatch(text, -1) {
		for _, k := range towerdefence.Kinds {
			_, cell, found := strings.Cut(text, line[1]+",")
			if found && k.String() == line[2] && len(cell) > 0 {
				p.Rules.Buildings[k].Icon = cell[0]
			}
		}
	}
}
