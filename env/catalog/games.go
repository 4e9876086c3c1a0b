package catalog

import (
	"fmt"
	"strings"

	"moonfarm/env"
	ccfeatures "moonfarm/features/codecraft"
	tmfeatures "moonfarm/features/terminal"
	tdfeatures "moonfarm/features/towerdefence"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/terminal"
	tmwire "moonfarm/sim/terminal/wire"
	"moonfarm/sim/towerdefence"
)

var games = []Game{
	{"towerdefence", "Entelect Challenge 2018 Tower Defence, release 3.0.2", newTowerDefence},
	{"terminal", "C1 Terminal, all seasons: one action for the whole turn", newTerminal},
	{terminal.SequentialName, "C1 Terminal, all seasons: one placement at a time", newTerminalSequential},
	{"codecraft", "CodeCraft 2020 (Russian AI Cup 2020), rules of the finals, round2 and round1", newCodeCraft},
}

func newTowerDefence(rules string, c env.Config) (env.Vector, error) {
	r := towerdefence.DefaultRules()
	if rules != "" {
		var err error
		if r, err = towerdefence.ParseRules([]byte(rules)); err != nil {
			return nil, err
		}
	}
	g, err := towerdefence.New(r)
	if err != nil {
		return nil, fmt.Errorf("rules of towerdefence: %w", err)
	}
	return env.New(g, tdfeatures.Kit(g), c)
}

// terminalRules reads the canonical text, the name of a rule set, or the game's
// own config, which is one JSON object.
func terminalRules(text string) (terminal.Rules, error) {
	switch trimmed := strings.TrimSpace(text); {
	case trimmed == "":
		return terminal.DefaultRules(), nil
	case trimmed[0] == '{':
		config, err := tmwire.ParseConfig([]byte(text))
		return config.Rules, err
	}
	return terminal.ParseRules([]byte(text))
}

func newTerminal(rules string, c env.Config) (env.Vector, error) {
	r, err := terminalRules(rules)
	if err != nil {
		return nil, err
	}
	g, err := terminal.New(r)
	if err != nil {
		return nil, fmt.Errorf("rules of terminal: %w", err)
	}
	return env.New(g, tmfeatures.Kit(g), c)
}

func newTerminalSequential(rules string, c env.Config) (env.Vector, error) {
	r, err := terminalRules(rules)
	if err != nil {
		return nil, err
	}
	g, err := terminal.NewSequential(r)
	if err != nil {
		return nil, fmt.Errorf("rules of terminal: %w", err)
	}
	return env.New(g, tmfeatures.SequentialKit(g), c)
}

func newCodeCraft(rules string, c env.Config) (env.Vector, error) {
	r, err := codecraft.ParseRules([]byte(rules))
	if err != nil {
		return nil, err
	}
	g, err := codecraft.New(r)
	if err != nil {
		return nil, fmt.Errorf("rules of codecraft: %w", err)
	}
	return env.New(g, ccfeatures.Kit(g), c)
}
