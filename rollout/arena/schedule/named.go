package schedule

import (
	"fmt"
	"slices"
	"strings"
)

// The names of schedules that Named makes.
const (
	NameRoundRobin = "round-robin"
	NameGauntlet   = "gauntlet"
	NameSwiss      = "swiss"
	NameLadder     = "ladder"
	NameSandbox    = "sandbox"
)

// Names lists what Named takes.
func Names() []string {
	return []string{NameRoundRobin, NameGauntlet, NameSwiss, NameLadder, NameSandbox}
}

// Plan is what a schedule is made of.
type Plan struct {
	Players, Seats int
	// Games is how many there are to be, at least: in a round robin and a gauntlet of
	// each lineup, in a ladder of the first player, else of each player.
	Games int
	Seed  uint64
	Rate  Rate
}

// Values of named schedules.
const (
	swissSeeds   = 2   // that a pair plays in a round: four games
	ladderTables = 2   // lineups of a round
	ladderSeeds  = 4   // that each of them plays
	nearby       = 100 // points of rating
)

// Named makes the schedule of a name. The error says why it cannot be.
func Named(name string, p Plan) (Schedule, error) {
	if !slices.Contains(Names(), name) {
		return nil, fmt.Errorf("no schedule %q; there are: %s", name, strings.Join(Names(), ", "))
	}
	seeds := (p.Games-1)/p.Seats + 1
	switch {
	case name == NameRoundRobin:
		return RoundRobin{Players: p.Players, Seats: p.Seats, Seeds: seeds}, nil
	case name == NameGauntlet:
		return Gauntlet{Players: p.Players, Seats: p.Seats, Seeds: seeds}, nil
	case name == NameSwiss && p.Seats != 2:
		return nil, fmt.Errorf("swiss: this game has %d seats, want 2", p.Seats)
	case name == NameSwiss:
		return Swiss{Players: p.Players, Rounds: (p.Games-1)/(2*swissSeeds) + 1, Seeds: swissSeeds, Seed: p.Seed}, nil
	case p.Players < p.Seats:
		return nil, fmt.Errorf("%s: %d players at tables of %d", name, p.Players, p.Seats)
	case name == NameLadder:
		pool := make([]int, p.Players-1)
		for i := range pool {
			pool[i] = i + 1
		}
		return Ladder{Pool: pool, Rounds: (p.Games-1)/(ladderTables*ladderSeeds*p.Seats) + 1, Tables: ladderTables,
			Seats: p.Seats, Seeds: ladderSeeds, Spread: nearby, Rate: p.Rate}, nil
	}
	rounds := (p.Games*p.Players-1)/(p.Players/p.Seats*p.Seats) + 1
	return Sandbox{Players: p.Players, Seats: p.Seats, Rounds: rounds, Spread: nearby, Seed: p.Seed, Rate: p.Rate}, nil
}
