// Package catalog is the one list of games.
package catalog

import (
	"fmt"
	"strings"

	"moonfarm/env"
)

// Game is one entry: how to make vectors of it.
type Game struct {
	Name string // as on the command line
	Doc  string // one line
	// New returns a vector of games. rules is the canonical text of the rules
	// (sim.Info.Config) or the game's own config file; "" means the default.
	New func(rules string, c env.Config) (env.Vector, error)
}

// Games lists every game.
func Games() []Game { return games }

// Find returns the game of that name; the error names those there are.
func Find(name string) (Game, error) {
	var names []string
	for _, g := range games {
		if g.Name == name {
			return g, nil
		}
		names = append(names, g.Name)
	}
	return Game{}, fmt.Errorf("no game %q; there are: %s", name, strings.Join(names, ", "))
}
