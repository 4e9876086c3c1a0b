// Package gamedoc describes each game with an original engine to the commands, and the flags that
// only some games have. Package recordings reads the recordings of these games.
package gamedoc

import (
	"moonfarm/rollout/recordings"
)

// Doc describes a game to the commands.
type Doc struct {
	Name      string
	RuleSets  []string // names that --rules takes instead of a file
	Score     string   // description of a player's score
	Contest   []string // the rule set of each stage of a contest; nil: the default in all
	Runner    bool     // match has flags of the original's runner, and writes its results files
	SoftLimit bool     // thinking for too long costs health: --soft-timeout
}

// All lists the games with an original engine, in the order of recordings.Engines.
func All() []Doc {
	all := []Doc{towerdefence, terminal, codecraft}
	for i := range all {
		engine, _ := recordings.Of(all[i].Name)
		all[i].RuleSets = engine.Info().RuleSets
	}
	return all
}

// Of returns the texts of a game. For a game without an original engine they are empty.
func Of(game string) Doc {
	for _, g := range All() {
		if g.Name == game {
			return g
		}
	}
	return Doc{Name: game}
}
