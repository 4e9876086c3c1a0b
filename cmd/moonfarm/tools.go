package main

import (
	"io"

	"moonfarm/sim"
)

// gameTools is what a game brings to the commands besides its entry in the
// catalog: the files of its own that they read. Each game has one file here.
type gameTools struct {
	game      string
	rulesFile string // what --rules FILE takes

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
}

// tools lists the games that bring any.
var tools = []gameTools{towerdefenceTools}

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
	Field    string `json:"field"`
	Expected string `json:"expected"`
	Found    string `json:"found"`
}

// showOptions say what of a recording to show.
type showOptions struct {
	Game  int // from 1
	Round int // the round about to be played; −1: the end
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
	Rounds   int      `json:"rounds"`
	Commands []string `json:"commands"`
	As       string   `json:"as"`
	Text     string   `json:"text"`
}
