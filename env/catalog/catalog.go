// Package catalog is the one list of games.
package catalog

import (
	"fmt"
	"strings"

	"moonfarm/env"
	"moonfarm/sim"
	"moonfarm/sim/texts"
)

// Entry is one entry: how to make vectors of it.
type Entry struct {
	Name string // as on the command line
	Doc  string // one line
	// New returns a vector of games. rules is the canonical text of the rules
	// (sim.Info.Config) or the game's own config file; "" means the default.
	New func(rules string, c env.Settings) (env.Vector, error)
	// Rules lists the rules of the default game: their keys, bounds and meanings.
	Rules func() []texts.Rule
	// ShardEpisodes is how many episodes a shard of a dataset has by default. One
	// worker makes a shard, which should take it some seconds. The number decides
	// the bytes of datasets, so it is fixed for each game.
	ShardEpisodes uint64
	// Recorded returns a vector of one game for a recording, in the original's
	// own form, that does not tell its seed. The game goes through the recorded
	// states, after every transition has been checked by the rules; it ignores
	// the seed and the orders that it is given. orders and ends are those of the
	// recording, as rollout.Episode has them. Recorded is nil if the game has no
	// such recordings.
	Recorded func(rules string, c env.Settings, recording []byte) (v env.Vector, orders []sim.Order, ends []int32, err error)
	// Shown returns a vector of one game in the state that a message shows to a bot, and
	// the seat of that bot. What the message does not tell is assumed as the reader of the
	// game says: ReadState or StateOfView in its package wire. The error names what cannot
	// be read, or what no state can have. Shown is nil if no original engine plays the game.
	Shown func(m Message) (v env.Vector, seat sim.Player, err error)
	// AppendAnswer appends what a bot answers to give the orders in game 0 of v: the
	// command of Tower Defence, the two lines of Terminal, the message of CodeCraft. It is
	// nil where Shown is.
	AppendAnswer func(dst []byte, v env.Vector, p sim.Player, orders []sim.Order) ([]byte, error)
}

// Games lists every game.
func Games() []Entry { return games }

// UnknownError tells of a name that no game has.
type UnknownError struct {
	Name  string
	Known []string // the names of all games
}

// Error implements error.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("no game %q; there are: %s", e.Name, strings.Join(e.Known, ", "))
}

// Find returns the game of that name; the error, an *UnknownError, names those
// there are.
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
