package catalog

import (
	"bytes"
	"fmt"

	"moonfarm/env"
	"moonfarm/features"
	ccfeatures "moonfarm/features/codecraft"
	tmfeatures "moonfarm/features/terminal"
	tdfeatures "moonfarm/features/towerdefence"
	tronfeatures "moonfarm/features/tron"
	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/wire/replay"
	"moonfarm/sim/terminal"
	tmconfig "moonfarm/sim/terminal/wire/config"
	"moonfarm/sim/texts"
	"moonfarm/sim/towerdefence"
	"moonfarm/sim/tron"
)

var games = []Entry{
	{Name: "towerdefence", Doc: "Entelect Challenge 2018 Tower Defence, release 3.0.2", ShardEpisodes: 500,
		Rules: rulesOf(towerdefence.ParseRules), New: vectors("towerdefence", towerdefence.ParseRules, towerdefence.New, tdfeatures.Kit), Shown: shownTowerDefence, AppendAnswer: answerTowerDefence},
	{Name: "terminal", Doc: "C1 Terminal, all seasons", ShardEpisodes: 500,
		Rules: rulesOf(terminal.ParseRules), New: vectors("terminal", tmconfig.ParseRules, terminal.New, tmfeatures.Kit), Shown: shownTerminal, AppendAnswer: answerTerminal},
	{Name: "codecraft", Doc: "CodeCraft 2020 (Russian AI Cup 2020), rules of the finals, round2 and round1", ShardEpisodes: 10,
		Rules: rulesOf(codecraft.ParseRules), New: vectors("codecraft", codecraft.ParseRules, codecraft.New, ccfeatures.Kit), Recorded: recordedCodeCraft, Shown: shownCodeCraft, AppendAnswer: answerCodeCraft},
	{Name: "tron", Doc: "light cycles, the game of Tron, on 8 × 8 cells: a small game to read first", ShardEpisodes: 500,
		Rules: rulesOf(tron.ParseRules), New: vectors("tron", tron.ParseRules, tron.New, tronfeatures.Kit)},
}

// rulesOf returns a function for Entry.Rules. parse reads the rules of the
// game; the empty text means the default rules.
func rulesOf[R any, P interface {
	*R
	Table() []texts.Rule
}](parse func(text []byte) (R, error)) func() []texts.Rule {
	return func() []texts.Rule {
		r, _ := parse(nil)
		return P(&r).Table()
	}
}

// vectors returns a function for Entry.New. parse reads the rules of the game
// called name, make makes the game, and kit its features.
func vectors[S, R any, G sim.Game[S]](name string, parse func(text []byte) (R, error), make func(R) (G, error), kit func(G) features.Kit[S]) func(string, env.Settings) (env.Vector, error) {
	return func(text string, c env.Settings) (env.Vector, error) {
		r, err := parse([]byte(text))
		if err != nil {
			return nil, err
		}
		g, err := make(r)
		if err != nil {
			return nil, fmt.Errorf("rules of %s: %w", name, err)
		}
		return env.New(g, kit(g), c)
	}
}

func recordedCodeCraft(rules string, c env.Settings, recording []byte) (v env.Vector, orders []sim.Order, ends []int32, err error) {
	base, err := codecraft.ParseRules([]byte(rules))
	if err != nil {
		return nil, nil, nil, err
	}
	r, err := replay.Read("in the dataset", bytes.NewReader(recording))
	if err != nil {
		return nil, nil, nil, err
	}
	g, _, err := r.Check(base)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("the recording: %w", err)
	}
	if got := g.Rules(); got != base {
		return nil, nil, nil, fmt.Errorf("the recording has other rules than the episode")
	}
	c.N = 1
	v, err = env.New(g, ccfeatures.Kit(g.Game), c)
	return v, r.Orders, r.OrderEnds, err
}
