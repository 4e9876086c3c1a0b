package script

import (
	"moonfarm/env"
	"moonfarm/rollout"
	"moonfarm/sim"
)

// Portfolio is the portfolio greedy search of a game (Churchill and Buro: "Portfolio greedy search
// and simulation for large-scale combat in StarCraft", 2013): each unit gets one of several
// scripts, the scripts are improved unit by unit, and each assignment is judged by playouts.
type Portfolio[S any] struct {
	Doc      string // one line
	Playouts int    // default of the limit of a turn
	Horizon  Number // option horizon: turns of a playout
	Room     int    // limit of the orders of a turn
	New      func(horizon int) Planner[S]
}

// Planner is the portfolio search of a game for one row at a time.
type Planner[S any] interface {
	// Look adopts the rules of the Vector; it returns false if the Vector plays another game.
	Look(v env.Vector) bool
	// Search stores the result for seat p in found, in the same memory. The last move is the best
	// one. The result depends on nothing but the state, the seat, the seed and the budget.
	Search(found *rollout.SearchResult, s *S, p sim.Player, seed uint64, b *Budget)
}

// Budget is the effort of a search.
type Budget struct {
	All int // in units of Spent
	// Spent returns how much of All the search has used; made is the number of its playouts so
	// far. An interrupted search has used all.
	Spent func(made int) int
}
