package script

import (
	"moonfarm/env"
	"moonfarm/features"
	"moonfarm/rollout/policy/search"
	"moonfarm/sim"
)

// Search is the tree search of a game: its defaults and its SearchGame. S is the game's
// State, M a move of the search: see search.Model.
type Search[S, M any] struct {
	Doc      string         // one line
	Options  search.Options // the defaults
	Rollout  Words          // option rollout: the script that continues from a leaf, for both seats
	Opponent Words          // option opponent: the script that the other seat plays
	Horizon  Number         // option horizon: limit of the turns of Rollout; 0: to the end
	Moves    Words          // option moves: the moves at the root; no values: the game has no such option
	Model    string         // doc of the option model: the values, the meaning
	Turns    bool           // the search has the option turns: New returns a Given

	Room int // limit of the orders of a move
	New  func(o SearchOptions) SearchGame[S, M]
	// Kit returns the encoder and the action space of a game of the rules of a spec
	// (sim.Info.Config), for a network.
	Kit func(config string) (features.Kit[S], error)
}

// KitOf returns a function for Search.Kit: parse reads the rules, make makes their game, and kit its
// encoder and action space.
func KitOf[S, R, G any](parse func(text []byte) (R, error), make func(R) (G, error), kit func(G) features.Kit[S]) func(config string) (features.Kit[S], error) {
	return func(config string) (k features.Kit[S], err error) {
		rules, err := parse([]byte(config))
		if err != nil {
			return k, err
		}
		game, err := make(rules)
		if err != nil {
			return k, err
		}
		return kit(game), nil
	}
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

// SearchOptions are the options of a search whose meaning the game defines.
type SearchOptions struct {
	Rollout, Opponent string
	Moves             string
	Horizon           int
}

// Defaults returns the default values of these options.
func (s Search[S, M]) Defaults() SearchOptions {
	return SearchOptions{Rollout: s.Rollout.Default, Opponent: s.Opponent.Default, Moves: s.Moves.Default, Horizon: s.Horizon.Default}
}

// AnyMove is the value of the option opponent with which the search considers all moves of
// the other seat.
const AnyMove = "search"

// SearchGame is a game to be searched: its search.Model, and the orders of moves.
type SearchGame[S, M any] interface {
	search.Model[S, M]
	// Look adopts the rules of the Vector; it returns false if the Vector plays another game.
	Look(v env.Vector) bool
	// AppendOrders appends the orders of a move of seat p.
	AppendOrders(dst []sim.Order, s *S, p sim.Player, m M) []sim.Order
}

// Opposed is a SearchGame that can play the other seat by a script: that seat then has only
// the script's move at every node.
type Opposed interface {
	// SearchFor sets the searching seat of the next search.
	SearchFor(p sim.Player)
}

// Rooted is a SearchGame that lists other moves at the root than below it.
type Rooted[S any] interface {
	// SearchFrom sets the root of the search: it is called before each search, and before each
	// leaf of searches that are interleaved. The game may keep what it computes about the root.
	SearchFrom(s *S)
}

// Together is a SearchGame that evaluates the leaves of several searches at the same time, to the
// same values as Evaluate, where that is faster.
type Together[S, M any] interface {
	// AtOnce returns the greatest and the smallest number of searches that should share EvaluateAll,
	// and 0, 0 if each should be evaluated by itself.
	AtOnce() (most, least int)
	// EvaluateAll evaluates the leaves of n searches, at most AtOnce, until all have ended. next(i)
	// returns the next leaf of search i that Evaluate would be asked for, nil at its end; it reads
	// the Value of the leaf before.
	EvaluateAll(n int, next func(i int) *search.Leaf[S, M])
}

// Given is a SearchGame that takes whole turns from elsewhere as moves.
type Given[M any] interface {
	// Give returns a move with these orders, which may only be played in the state for which they
	// were chosen. The number, 0 … 65535, identifies the move until the next call with the same
	// number. Give returns false if a move has no room for the orders.
	Give(number int, orders []sim.Order) (M, bool)
}
