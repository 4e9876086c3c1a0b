// Package schedule decides who plays whom, in which seats and on which game seed.
//
// A schedule is a pure function of its fields and of the results so far. It plays no games and
// keeps no state: Next receives all results and returns the games that can be played now. So a
// killed tournament can continue, and any number of workers plays the same games.
//
// A game's number identifies it in the schedule. It depends only on the game's players, seats and
// seed, and in schedules with rounds on its round and table. Numbers have gaps. A tournament can be
// extended without changing earlier games:
//
//   - RoundRobin: by seeds, and by players at the end of the list.
//   - Swiss: by rounds, and by players that join in a round that has not begun.
//   - Duel: by pairs, while its test is undecided.
//   - Sandbox: by rounds, and by players that join. Championship: not at all.
//
// Players are numbered from 0 in the order of the list of participants, and seeds from 0: seed e is
// the seed of episode e under the tournament's master seed.
package schedule

import (
	"fmt"
	"slices"
	"strings"
)

// Fixture is a scheduled game: its players by seat, and its seed.
type Fixture struct {
	Number  int64 `json:"number"`          // unique in a schedule, 0 … 2⁵³−1
	Players []int `json:"players"`         // by seat; read only
	Seed    int   `json:"seed"`            // index of the game's seed
	Round   int   `json:"round,omitempty"` // in schedules with rounds, from 0; in a Championship the wave of its part
	Stage   int   `json:"stage,omitempty"` // in a Championship, from 0
}

// Placing is the result of a game: the place of each seat.
type Placing struct {
	Fixture
	// Places are by seat: a smaller number is a better place, and equal numbers are a shared place.
	Places []int `json:"places"`
}

// Schedule is implemented by the schedules of this package.
type Schedule interface {
	// Next returns all games that can be played now and have no result among results, which may be
	// in any order. This includes games in progress; the caller recognises them by their numbers.
	// If it returns none, the tournament is over. It fails if the schedule's fields are invalid, or
	// if results contradict each other or the schedule. It ignores results of games that the
	// schedule no longer has because it now has fewer seeds or players.
	Next(results []Placing) ([]Fixture, error)
}

// maxGames bounds the number of games that Next returns.
const maxGames = 1 << 24

// byNumber has results by the numbers of their games.
type byNumber map[int64]*Placing

// index checks results and indexes them by number.
func index(results []Placing) (byNumber, error) {
	have := make(byNumber, len(results))
	for i := range results {
		r := &results[i]
		if len(r.Players) < 2 || len(r.Places) != len(r.Players) {
			return nil, fmt.Errorf("schedule: game %d has %d players and places of %d", r.Number, len(r.Players), len(r.Places))
		}
		if have[r.Number] != nil {
			return nil, fmt.Errorf("schedule: game %d has two results", r.Number)
		}
		have[r.Number] = r
	}
	return have, nil
}

// find returns the result of a game, nil if there is none. It fails if the result with the game's
// number has other players or another seed.
func (b byNumber) find(g *Fixture) (*Placing, error) {
	r := b[g.Number]
	if r != nil && (!slices.Equal(r.Players, g.Players) || r.Seed != g.Seed) {
		return nil, fmt.Errorf("schedule: game %d is of players %v on seed %d, the result is of %v on seed %d, from another tournament",
			g.Number, g.Players, g.Seed, r.Players, r.Seed)
	}
	return r, nil
}

func (b byNumber) missing(games []Fixture) ([]Fixture, error) {
	var all []Fixture
	for i := range games {
		r, err := b.find(&games[i])
		if err != nil {
			return nil, err
		}
		if r == nil {
			all = append(all, games[i])
		}
	}
	return all, nil
}

// Fields of the number of a game in a schedule with rounds, in bits.
const (
	roundBits = 21
	tableBits = 16
	gameBits  = 16
)

// number returns the number of a game by its round, its table in the round, and its index at the
// table.
func number(round, table, game int) int64 {
	return int64(round)<<(tableBits+gameBits) | int64(table)<<gameBits | int64(game)
}

// entered returns the players that take part in a round, in schedules in which joined has the round from which each player
// does; players beyond its length take part from the first. It fails if they are fewer than least.
func entered(players int, joined []int, round, least int) (list []int, err error) {
	if len(joined) > players {
		return nil, fmt.Errorf("schedule: %d players, but Joined for %d", players, len(joined))
	}
	for p := range players {
		if p >= len(joined) || joined[p] <= round {
			list = append(list, p)
		}
	}
	if len(list) < least {
		return nil, fmt.Errorf("schedule: round %d has %d players, expected %d or more", round, len(list), least)
	}
	return list, nil
}

// checkRange returns an error if a value lies outside least … most.
func checkRange(what string, value, least, most int) error {
	if value < least || value > most {
		return fmt.Errorf("schedule: %s: %d, expected %d to %d", what, value, least, most)
	}
	return nil
}

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
