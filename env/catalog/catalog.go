// Package catalog lists the games.
package catalog

import (
	"fmt"
	"strings"

	"moonfarm/env"
	"moonfarm/sim"
	"moonfarm/sim/texts"
)

// Entry is a game of the list, with the functions that make vectors of it.
type Entry struct {
	Name string // the name on the command line
	Doc  string // one line
	// New returns a vector of games. rules is the canonical text of the rules
	// (sim.Info.Config) or the game's own config file; "" means the default
	// rules.
	New func(rules string, c env.Settings) (env.Vector, error)
	// Rules lists the rules of the default game: their keys, bounds and meanings.
	Rules func() []texts.Rule
	// ShardEpisodes is the default number of episodes in a shard of a dataset,
	// chosen so that a worker makes a shard in some seconds. It affects the
	// bytes of datasets, so it never changes for a game.
	ShardEpisodes uint64
	// Recorded returns a vector of one game that replays a recording without a
	// seed, in the form of the original engine. The game goes through the
	// recorded states; Recorded has checked every transition by the rules. The
	// game ignores the seed and the orders that it is given. orders and ends
	// are those of the recording, in the form of rollout.Episode. Recorded is
	// nil if the game has no such recordings.
	Recorded func(rules string, c env.Settings, recording []byte) (v env.Vector, orders []sim.Order, ends []int32, err error)
	// Shown returns a vector of one game in the state that a message shows to a
	// bot, and the seat of the bot. Values that the message lacks are assumed
	// as documented for ReadState or StateOfView below the game's package wire.
	// The error says what could not be read or is impossible. Shown is nil if
	// the game has no original engine.
	Shown func(m Message) (v env.Vector, seat sim.Player, err error)
	// AppendAnswer appends a bot's answer that gives the orders in game 0 of v:
	// the command of Tower Defence, the two lines of Terminal, the message of
	// CodeCraft. It is nil if Shown is nil.
	AppendAnswer func(dst []byte, v env.Vector, p sim.Player, orders []sim.Order) ([]byte, error)
}

// Games returns all games.
func Games() []Entry { return games }

// UnknownError means that no game has the name.
type UnknownError struct {
	Name  string
	Known []string // the names of all games
}

// Error implements error.
func (u *UnknownError) Error() string {
	return fmt.Sprintf("no game %q; there are: %s", u.Name, strings.Join(u.Known, ", "))
}

// Find returns the game called name, or an *UnknownError that lists the names
// of all games.
func Find(name string) (Entry, error) {
	var names []string
	for _, g := range games {
		if g.Name == name {
			return g, nil
		}
		names = append(names, g.Name)
	}
	return Entry{}, &UnknownError{name, names}
}

// RuleCard describes a rule value that the text of rules may set.
type RuleCard struct {
	Key   string `json:"key"`
	Value string `json:"value"` // the default
	Least string `json:"least"` // like Most empty if the value is not a number, or fixed
	Most  string `json:"most"`
	Doc   string `json:"doc"`
}

// RuleCards describes the rules of the game. The list is never nil.
func (e Entry) RuleCards() []RuleCard {
	cards := []RuleCard{}
	for _, r := range e.Rules() {
		least, most := r.Bounds()
		cards = append(cards, RuleCard{r.Key, string(r.AppendText(nil)), least, most, r.Doc})
	}
	return cards
}
