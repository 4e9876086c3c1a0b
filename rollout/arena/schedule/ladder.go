package schedule

import (
	"cmp"
	"fmt"
	"slices"
)

// Ladder rates one player against a pool: in each round the player meets members with ratings near
// its own, preferring members that it met less often. The ratings are those after the earlier
// rounds, rounded to whole points so that their last digits do not matter.
type Ladder struct {
	Player int
	Pool   []int
	// Joined is the round from which each member takes part; members beyond its length take part
	// from the first.
	Joined []int
	Rounds int
	Tables int // lineups of a round, each of the player and Seats−1 members
	Seats  int // of the game
	Seeds  int // of each lineup in each rotation of the seats; new in each round
	// Spread is the distance in rating points that counts as much as one meeting.
	Spread int
	Rate   Rate
}

// Next returns the games without a result of the first incomplete round: see Schedule. A small pool
// gives fewer than Tables lineups.
func (s Ladder) Next(results []Placing) ([]Fixture, error) {
	have, err := index(results)
	if err = firstError(s.check(), err); err != nil {
		return nil, err
	}
	met, rate := map[int]int{}, s.Rate()
	var last []Placing
	for round := range s.Rounds {
		ratings, err := rounded(rate(last), append(slices.Clone(s.Pool), s.Player))
		if err != nil {
			return nil, err
		}
		games, err := s.games(round, met, ratings)
		if err != nil {
			return nil, err
		}
		left, err := have.missing(games)
		if err != nil || len(left) > 0 {
			return left, err
		}
		last = have.all(games)
	}
	return nil, nil
}

func (s Ladder) check() error {
	err := firstError(
		checkRange("seats", s.Seats, 2, maxSeats),
		checkRange("rounds", s.Rounds, 0, 1<<roundBits-1),
		checkRange("lineups of a round", s.Tables, 1, 1<<tableBits-1),
		checkRange("seeds of a round", s.Seeds, 1, (1<<gameBits-1)/maxSeats),
		checkRange("spread", s.Spread, 0, 1<<20),
	)
	if err != nil {
		return err
	}
	if s.Rate == nil {
		return fmt.Errorf("schedule: a ladder without ratings")
	}
	if len(s.Joined) > len(s.Pool) {
		return fmt.Errorf("schedule: a pool of %d members, but Joined for %d", len(s.Pool), len(s.Joined))
	}
	seen := map[int]bool{s.Player: true}
	for _, p := range append([]int{s.Player}, s.Pool...) {
		if p < 0 {
			return fmt.Errorf("schedule: player %d", p)
		}
	}
	for _, p := range s.Pool {
		if seen[p] {
			return fmt.Errorf("schedule: player %d is in the ladder twice", p)
		}
		seen[p] = true
	}
	return nil
}

// games returns the games of a round, and counts meetings in met.
func (s Ladder) games(round int, met map[int]int, ratings map[int]int) ([]Fixture, error) {
	var members []int
	for i, p := range s.Pool {
		if i >= len(s.Joined) || s.Joined[i] <= round {
			members = append(members, p)
		}
	}
	if len(members) < s.Seats-1 {
		return nil, fmt.Errorf("schedule: the pool has %d members in round %d, want %d or more", len(members), round, s.Seats-1)
	}
	cost := func(p int) int {
		d := ratings[p] - ratings[s.Player]
		return max(d, -d) + s.Spread*met[p]
	}
	slices.SortStableFunc(members, func(p, q int) int { return cmp.Compare(cost(p), cost(q)) })
	var games []Fixture
	for table := range min(s.Tables, len(members)/(s.Seats-1)) {
		others := members[table*(s.Seats-1) : (table+1)*(s.Seats-1)]
		seatings, _ := arrange(append([]int{s.Player}, others...), Rotations)
		for e := range s.Seeds {
			for r, players := range seatings {
				games = append(games, Fixture{number(round, table, e*s.Seats+r), players, round*s.Seeds + e, round, 0})
			}
		}
		for _, p := range others {
			met[p]++
		}
	}
	return games, nil
}
