package script

import (
	"moonfarm/env"
	"moonfarm/features"
	"moonfarm/rollout/search"
	"moonfarm/sim"
)

// Search is the tree search of a game: the figures that the game decides, and its
// SearchGame. S is the game's State, M a move of the search: see search.Model.
type Search[S, M any] struct {
	Doc      string         // one line
	Options  search.Options // the defaults
	Rollout  Words          // option rollout: the script that plays on from a leaf, for both seats
	Opponent Words          // option opponent: what the other seat plays
	Horizon  Number         // option horizon: turns that Rollout plays at most; 0: to the end
	Model    string         // doc of the option model: the values, the meaning

	Room int // most orders of a move
	New  func(o SearchOptions) SearchGame[S, M]
	// Kit returns the encoder and the action space of a game of the rules of a spec
	// (sim.Info.Config), for a network.
	Kit func(config string) (features.Kit[S], error)
}

// Words documents an option of a search whose value is one of several words.
type Words struct {
	Values  []string
	Default string
	Doc     string // what the values mean
}

// Number documents an option of a search whose value is a number.
type Number struct {
	Default int
	Doc     string // what it counts
}

// SearchOptions are the options of a search that the game understands by itself.
type SearchOptions struct {
	Rollout, Opponent string
	Horizon           int
}

// Defaults are the default values of these options.
func (s Search[S, M]) Defaults() SearchOptions {
	return SearchOptions{s.Rollout.Default, s.Opponent.Default, s.Horizon.Default}
}

// AnyMove is the value of the option opponent with which the other seat plays any of its
// moves.
const AnyMove = "search"

// SearchGame is a game as its searches see it.
type SearchGame[S, M any] interface {
	search.Model[S, M]
	// Look takes the rules of the Vector; false if it plays another game.
	Look(v env.Vector) bool
	// AppendOrders appends the orders of a move of seat p.
	AppendOrders(dst []sim.Order, s *S, p sim.Player, m M) []sim.Order
}

// Opposed is a SearchGame that can play the other seat by a script: that seat then has one
// move at every node, the script's.
type Opposed interface {
	// SearchFor sets the seat for which the next search is.
	SearchFor(p sim.Player)
}
