// Package display writes and reads what the original Tower Defence shows between two rounds:
// the state.json and textMap.txt of its bots and the console map of spectators.
package display

import (
	"slices"

	"moonfarm/sim/towerdefence"
	"moonfarm/sim/towerdefence/internal/plain"
)

// Columns is the width of the whole map: A owns the absolute columns 0 … 7,
// B 8 … 15.
const Columns = 2 * towerdefence.Width

// Rows is the height of the map.
const Rows = towerdefence.Height

// Position is everything that the original's displays show between two rounds, in
// absolute columns.
type Position struct {
	Rules       towerdefence.Rules
	Round       int // number of the round about to be played
	Players     [2]Player
	Buildings   []Building // in the order of placement; within a round the building of the seat whose command comes first is first
	Missiles    []Missile  // in the order of creation
	TeslaHits   [][]Cell   // shots of the last round, in firing order
	CurtainHits []Cell     // missiles that curtains blocked in the last round
}

// The parts of a position are types of the plain game, the twin of the rules: columns are
// absolute, and the ID of a missile stands for the random identifier of the original.
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
