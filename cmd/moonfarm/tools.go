package main

import (
	"io"
	"slices"

	"moonfarm/rollout"
	"moonfarm/sim"
)

// gameTools is what a game brings to the commands besides its entry in the
// catalog: the files of its own that they read. Each game has one file here.
type gameTools struct {
	game      string
	variants  []string // games of the catalog that take the same rules
	rulesFile string   // what --rules takes
	ruleSets  []string // names that --rules takes in place of a file

	// holds tells by the first bytes, uncompressed, what a file of this game
	// holds: "games" with all their orders, something else that can be
	// verified, or "" for a file of another kind.
	holds func(head []byte) string
	// verify plays a recording again. It returns what was compared together
	// with the error of a recording that cannot be read to its end.
	verify func(name string, in io.Reader, rules string) (replayed, error)
	counts []string // the keys of replayed.Counts, in the order to print
	forms  []string // what --as takes; the first is the default
	show   func(name string, in io.Reader, rules string, o showOptions) (shown, error)

	// read turns a recording into an episode; nil if the game's cannot be. If
	// check is true it is played again, and refused if it differs or is not
	// complete.
	read func(name string, in io.Reader, check bool) (recorded, error)
	// write writes an episode as a replay file of the original; nil if the game
	// has none.
	write func(out io.Writer, e *rollout.Episode, rules string) error
	// replayExt is how the names of replay files end.
	replayExt string
}

// tools lists the games that bring any.
var tools = []gameTools{towerdefenceTools, terminalTools, codecraftTools}

// toolsOf returns what the game brings: nothing but its name if it brings none,
// and the rules if it is a variant of another.
func toolsOf(game string) gameTools {
	for _, t := range tools {
		if t.game == game {
			return t
		}
		if slices.Contains(t.variants, game) {
			return gameTools{game: game, rulesFile: t.rulesFile, ruleSets: t.ruleSets}
		}
	}
	return gameTools{game: game}
}

// recorded is a recording as an episode; its number is not set.
type recorded struct {
	Rules   string // canonical text
	RuleSet string // the name of these rules, "" if they have none
	Episode rollout.Episode
}

// replayed tells how a recording was played again.
type replayed struct {
	Counts    map[string]int // what was compared: {"games": 70, "rounds": 4456}
	Different int            // games, or whatever is compared as a whole, that differ
	First     *difference
	Notes     []string // what is worth knowing but no difference
}

// difference is a place where a recording and this program disagree.
type difference struct {
	Line     int    `json:"line"`
	Game     string `json:"game"`
	Round    int    `json:"round"`
	Frame    *int   `json:"frame"` // of the round; nil if the game has none
	Field    string `json:"field"`
	Expected string `json:"expected"`
	Found    string `json:"found"`
}

// showOptions say what of a recording to show.
type showOptions struct {
	Game  int // from 1
	Round int // the round about to be played; −1: the end
	Frame int // of the round; −1: before it
	As    string
	Seat  sim.Player
}

// shown is a position of a recording as text. Its JSON keys are documented in
// the help.
type shown struct {
	File     string   `json:"file"`
	Game     string   `json:"game"`
	Name     string   `json:"name"`
	Round    int      `json:"round"`
	Frame    *int     `json:"frame"` // of the round; nil if the game has none
	Rounds   int      `json:"rounds"`
	Commands []string `json:"commands"`
	As       string   `json:"as"`
	Text     string   `json:"text"`
}
