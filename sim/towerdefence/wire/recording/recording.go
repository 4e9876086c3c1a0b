// Package recording reads, writes and verifies recordings of Tower Defence: the commands and
// positions of matches, round by round. A recording is a text of JSON Lines, mostly
// compressed with gzip: for each match a Header line, a Round line for each round and a
// Result line. A file of renders, which Verify knows too, has positions with their displays.
package recording

import (
	"slices"

	"moonfarm/sim"
	"moonfarm/sim/towerdefence/wire/display"
)

// Bounds of what is read.
const (
	maxLine  = 1 << 20  // bytes of a line; the longest of the original's have 4 KB
	maxStack = 255      // missiles of a player on a cell; the original's rules allow at most 4
	maxSkip  = 16 << 20 // bytes read in search of a header line; a match of the recordings has 2 MB
)

// Header is the first line of a recorded game.
type Header struct {
	Game   string
	Seed   string
	Policy [2]string // of A and B, by name
	Energy [2]int    // of A and B at the start
	Health [2]int    // of the bases of A and B at the start
	// First is the letter of the player whose command is carried out first in every
	// round, "A" or "B"; "" if the recording lacks it: Verify infers it.
	First string
}

// Round is a line of a recorded game: the commands of a round and the
// position after it.
type Round struct {
	Number      int       // 0, 1, 2, …
	Commands    [2]string // texts as given by A and B
	Players     [2]display.Player
	Buildings   []display.Building // by row, then column; the owner follows from the column
	Missiles    []Stack            // by row, column, owner
	TeslaHits   [][]display.Cell   // shots in firing order
	CurtainHits []display.Cell     // in the original's order
}

// Stack holds the missiles of one player on one cell.
type Stack struct {
	X, Y  int // absolute column, row
	Owner sim.Player
	Count int
}

// RoundOf returns the line of the round that led to position p with these commands.
func RoundOf(p *display.Position, commands [2]string) Round {
	r := Round{Number: p.Round - 1, Commands: commands, Players: p.Players, TeslaHits: p.TeslaHits, CurtainHits: p.CurtainHits}
	r.Buildings = slices.Clone(p.Buildings)
	slices.SortFunc(r.Buildings, func(a, b display.Building) int { return placeOf(a) - placeOf(b) })
	flying := slices.Clone(p.Missiles)
	slices.SortStableFunc(flying, func(a, b display.Missile) int { return cellOrder(a.X, a.Y, a.Owner) - cellOrder(b.X, b.Y, b.Owner) })
	for _, m := range flying {
		last := len(r.Missiles) - 1
		if last >= 0 && r.Missiles[last].X == m.X && r.Missiles[last].Y == m.Y && r.Missiles[last].Owner == m.Owner {
			r.Missiles[last].Count++
			continue
		}
		r.Missiles = append(r.Missiles, Stack{m.X, m.Y, m.Owner, 1})
	}
	return r
}

// cellOrder returns the place of a cell and an owner in the order of row, column, owner.
func cellOrder(x, y int, owner sim.Player) int { return (y*display.Columns+x)*2 + int(owner) }

func placeOf(b display.Building) int { return cellOrder(b.X, b.Y, 0) }
func placeOfStack(s Stack) int       { return cellOrder(s.X, s.Y, s.Owner) }
