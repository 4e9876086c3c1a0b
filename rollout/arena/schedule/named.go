package schedule

import (
	"fmt"
	"slices"
	"strings"
)

// Names of the schedules that Named makes.
const (
	NameRoundRobin = "round-robin"
	NameGauntlet   = "gauntlet"
	NameSwiss      = "swiss"
	NameSandbox    = "sandbox"
	NameContest    = "contest"
)

// Names lists the schedules of Named.
func Names() []string {
	return []string{NameRoundRobin, NameGauntlet, NameSwiss, NameSandbox, NameContest}
}

// Plan has the parameters of a named schedule.
type Plan struct {
	Players, Seats int
	// Games is the least number of games: of each lineup in a round robin or gauntlet, otherwise of
	// each player.
	Games int
	Seed  uint64
	// Joined is the round from which each player takes part, in schedules with rounds; players
	// beyond its length take part from the first.
	Joined []int
	// Contest is the number of seats of a game in each stage of a contest; 0 stands for Seats.
	Contest [4]int
}

// Parameters of named schedules.
const (
	swissSeeds = 2   // of each pair in a round: four games
	nearby     = 100 // rating points
)

// Named makes the schedule with the given name. It fails for an unknown name or a plan that does
// not suit the schedule.
func Named(name string, p Plan) (Schedule, error) {
	if !slices.Contains(Names(), name) {
		return nil, fmt.Errorf("no schedule %q; there are: %s", name, strings.Join(Names(), ", "))
	}
	switch all := NewRoundRobin(p.Players, p.Seats, p.Games); {
	case name == NameRoundRobin:
		return all, nil
	case name == NameGauntlet:
		all.Gauntlet = true
		return all, nil
	case name == NameSwiss && p.Seats != 2:
		return nil, fmt.Errorf("swiss: this game has %d seats, expected 2", p.Seats)
	case name == NameSwiss:
		return Swiss{Players: p.Players, Rounds: (p.Games-1)/(2*swissSeeds) + 1, Seeds: swissSeeds, Seed: p.Seed, Joined: p.Joined}, nil
	case p.Players < p.Seats:
		return nil, fmt.Errorf("%s: %d players at tables of %d", name, p.Players, p.Seats)
	case name == NameContest:
		return p.championship()
	}
	return Sandbox{Players: p.Players, Joined: p.Joined, Seats: p.Seats, Rounds: roundsFor(p.Players, p.Seats, p.Games),
		Spread: nearby, Seed: p.Seed}, nil
}

// championship makes the schedule NameContest.
func (p *Plan) championship() (Schedule, error) {
	s := Championship{Players: p.Players, Games: p.Games, Seats: p.Contest, Seed: p.Seed}
	for i, n := range s.Seats {
		if n == 0 {
			s.Seats[i] = p.Seats
		}
		if p.Players < s.Seats[i] {
			return nil, fmt.Errorf("%s: %d players at tables of %d", NameContest, p.Players, s.Seats[i])
		}
	}
	_, err := s.Next(nil)
	return s, err
}
