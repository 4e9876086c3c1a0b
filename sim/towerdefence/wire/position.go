package wire

import (
	"slices"

	"moonfarm/sim"
	"moonfarm/sim/towerdefence"
	"moonfarm/sim/towerdefence/internal/plain"
)

// Columns is the width of the whole map: A owns the absolute columns 0 … 7,
// B 8 … 15.
const Columns = 2 * towerdefence.Width

// Rows is the height of the map.
const Rows = towerdefence.Height

// Position is everything the original's displays show between two rounds, in
// absolute columns.
type Position struct {
	Rules       towerdefence.Rules
	Round       int // number of the round about to be played
	Players     [2]Player
	Buildings   []Building // in the order of their placement; of one round that of the seat whose command came first
	Missiles    []Missile  // in the order of their creation
	TeslaHits   [][]Cell   // shots of the last round, in firing order
	CurtainHits []Cell     // what the curtains blocked in the last round
}

// What is on the map, and the players, are those of the plain game, the twin of
// the rules: columns are absolute, and the ID of a missile stands for the random
// identifier of the original.
type (
	Player   = plain.Player
	Building = plain.Building
	Missile  = plain.Missile
	Cell     = plain.Cell
)

// FromPlain copies a position of the plain game.
func FromPlain(g *plain.Game) *Position {
	return &Position{
		Rules: g.Rules, Round: g.Round, Players: g.Players,
		Buildings: slices.Clone(g.Buildings), Missiles: slices.Clone(g.Missiles),
		TeslaHits: slices.Clone(g.TeslaHits), CurtainHits: slices.Clone(g.CurtainHits), // Play makes new lists
	}
}

// Referee plays matches slowly, with command texts as the original takes
// them, and knows what the fast game does not keep: the orders of the lists
// and the hits the displays show.
type Referee struct {
	game *plain.Game
	end  plain.End
}

// NewReferee starts a match with these rules. A's command is carried out first in
// every round, unless First says otherwise.
func NewReferee(rules towerdefence.Rules) *Referee {
	return &Referee{game: plain.New(rules)}
}

// First makes p the seat whose command is carried out first in every round. The
// original keeps the commands of a round in a table whose order is the same
// throughout a match and left to chance from one match to the next. It shows in the
// order of the buildings of one round, of their missiles, and of the shots of two
// tesla towers of one age; see RULES.md, section 6.
func (r *Referee) First(p sim.Player) { r.game.First = p & 1 }

// Play plays a round with the command texts of A and B. It returns why the
// match is over, one of the End constants, and "" while it goes on.
func (r *Referee) Play(a, b string) string {
	r.end = r.game.Play(a, b)
	return r.end.String()
}

// Position returns a copy of what the displays show.
func (r *Referee) Position() *Position { return FromPlain(r.game) }

// Result says how the match ended; EndCut for one that has not.
func (r *Referee) Result() Result {
	res := Result{End: r.end.String(), Rounds: r.game.Round, Winner: Tie, Dead: r.game.DeadBases()}
	if res.End == "" {
		res.End = EndCut
	}
	if p, ok := r.game.Winner(); ok {
		res.Winner = [2]string{WinnerA, WinnerB}[p]
	}
	return res
}
