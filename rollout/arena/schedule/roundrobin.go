package schedule

import (
	"fmt"
	"slices"
)

// RoundRobin is all lineups of the players, each on all seeds in all seatings. All
// play the same seeds, so every two players meet equally often. Games come seed
// by seed, the lineups of a seed in the order of Lineups, and each in its seatings
// one after the other. So what was played of a tournament that was broken off is
// whole seeds, and a long one can be played in blocks by raising Seeds.
type RoundRobin struct {
	Players int // 2 or more
	Seats   int // of the game
	Seeds   int
	Seating Arrangement
}

// NewRoundRobin is a RoundRobin of so many games of each lineup, at least. With more
// than two seats a lineup sits in all orders.
func NewRoundRobin(players, seats, games int) RoundRobin {
	s, each := RoundRobin{Players: players, Seats: seats}, seats
	if seats > 2 {
		s.Seating, each = Permutations, orders(players, seats)
	}
	s.Seeds = (games-1)/max(1, each) + 1
	return s
}

// orders is how many orders a lineup has. Players who are fewer than the seats are
// repeated in it.
func orders(players, seats int) int {
	n, count := 1, map[int]int{}
	for i := range seats {
		p := i % max(1, players)
		count[p]++
		n = n * (i + 1) / count[p] // a multinomial coefficient after each step
	}
	return n
}

// Next returns all games without a result: see Schedule.
func (s RoundRobin) Next(results []Result) ([]Game, error) {
	if err := checkGrid(s.Players, s.Seats, s.Seeds, s.Seating); err != nil {
		return nil, err
	}
	if err := checkLineups(binomial(int64(s.Players), int64(s.Seats)), s.Players, s.Seats, s.Seating); err != nil {
		return nil, err
	}
	return grid(Lineups(s.Players, s.Seats), s.Seeds, s.Seating, results)
}

// Gauntlet is every lineup of one of Heroes and others that are none, as
// RoundRobin plays it. Heroes do not meet each other. If there are fewer others
// than other seats, they are repeated in order.
type Gauntlet struct {
	Players int // 2 or more
	Heroes  []int
	Seats   int // of the game
	Seeds   int
	Seating Arrangement
}

// Next returns all games without a result: see Schedule. Without Heroes player 0
// is one.
func (s Gauntlet) Next(results []Result) ([]Game, error) {
	if err := checkGrid(s.Players, s.Seats, s.Seeds, s.Seating); err != nil {
		return nil, err
	}
	heroes := s.Heroes
	if len(heroes) == 0 {
		heroes = []int{0}
	}
	hero := make([]bool, s.Players)
	for _, p := range heroes {
		if err := checkRange("a player of a gauntlet that meets all others", p, 0, s.Players-1); err != nil {
			return nil, err
		}
		if hero[p] {
			return nil, fmt.Errorf("schedule: player %d meets all others of a gauntlet twice", p)
		}
		hero[p] = true
	}
	var others []int
	for p := range s.Players {
		if !hero[p] {
			others = append(others, p)
		}
	}
	if len(others) == 0 {
		return nil, fmt.Errorf("schedule: a gauntlet of %d players against no others", len(heroes))
	}
	n := min(maxGames+1, binomial(int64(len(others)), int64(s.Seats-1)))
	if err := checkLineups(n*int64(len(heroes)), s.Players, s.Seats, s.Seating); err != nil {
		return nil, err
	}
	var lineups [][]int
	for _, p := range heroes {
		for _, o := range subsets(others, s.Seats-1) {
			l := append([]int{p}, o...)
			slices.Sort(l) // so that the games have the numbers that they have in a round robin
			lineups = append(lineups, l)
		}
	}
	return grid(lineups, s.Seeds, s.Seating, results)
}

func checkGrid(players, seats, seeds int, a Arrangement) error {
	err := firstError(
		checkRange("players", players, 2, maxShell),
		checkRange("seats", seats, 2, maxSeats),
		checkRange("seeds", seeds, 0, maxShell),
	)
	if err == nil && a > Permutations {
		return fmt.Errorf("schedule: there is no arrangement %d", a)
	}
	return err
}

// checkLineups refuses more lineups than can be played once in all seatings.
func checkLineups(n int64, players, seats int, a Arrangement) error {
	seatings := int64(seats)
	if a == Permutations {
		seatings = permutations(seats)
	}
	if n > maxGames/seatings {
		return fmt.Errorf("schedule: the lineups of %d players at tables of %d make more than %d games on each seed", players, seats, maxGames)
	}
	return nil
}

// grid is the games of all lineups on all seeds that have no result.
func grid(lineups [][]int, seeds int, a Arrangement, results []Result) ([]Game, error) {
	have, err := index(results)
	if err != nil {
		return nil, err
	}
	var tables []Game
	for _, l := range lineups {
		seatings, numbers := arrange(l, a)
		rank := lineupRank(l)
		for i, seating := range seatings {
			if rank > maxShell/permutations(len(l))-1 {
				return nil, fmt.Errorf("schedule: the lineup %v has no number: too many players for %d seats", l, len(l))
			}
			tables = append(tables, Game{Number: rank*permutations(len(l)) + numbers[i], Players: seating})
		}
	}
	if seeds > maxGames/len(tables) {
		return nil, fmt.Errorf("schedule: %d seeds of %d games, want at most %d games", seeds, len(tables), maxGames)
	}
	games := make([]Game, 0, seeds*len(tables))
	for e := range seeds {
		for _, t := range tables {
			games = append(games, Game{Number: shell(int64(e), t.Number), Players: t.Players, Seed: e})
		}
	}
	return have.missing(games)
}
