package schedule

import (
	"fmt"
	"slices"
)

// RoundRobin plays all lineups of the players, each on all seeds in all seatings. All lineups play
// the same seeds, so each two players meet equally often. Games come seed by seed; within a seed in
// the order of Lineups, each lineup in its seatings. So an interrupted tournament has complete
// seeds, and raising Seeds plays a long one in blocks.
type RoundRobin struct {
	Players int // 2 or more
	Seats   int // of the game
	Seeds   int
	Seating Arrangement
}

// NewRoundRobin returns a RoundRobin with at least the given number of games of each lineup. With
// more than two seats a lineup plays in all orders.
func NewRoundRobin(players, seats, games int) RoundRobin {
	s, each := RoundRobin{Players: players, Seats: seats}, seats
	if seats > 2 {
		s.Seating, each = Permutations, orders(players, seats)
	}
	s.Seeds = (games-1)/max(1, each) + 1
	return s
}

// orders returns the number of orders of a lineup, which repeats players if they are fewer than the
// seats.
func orders(players, seats int) int {
	n, count := 1, map[int]int{}
	for i := range seats {
		p := i % max(1, players)
		count[p]++
		n = n * (i + 1) / count[p] // an integer after each step: a multinomial coefficient
	}
	return n
}

// Next returns all games without a result: see Schedule.
func (s RoundRobin) Next(results []Placing) ([]Fixture, error) {
	if err := checkGrid(s.Players, s.Seats, s.Seeds, s.Seating); err != nil {
		return nil, err
	}
	if err := checkLineups(binomial(int64(s.Players), int64(s.Seats)), s.Players, s.Seats, s.Seating); err != nil {
		return nil, err
	}
	return grid(Lineups(s.Players, s.Seats), s.Seeds, s.Seating, results)
}

// Gauntlet plays every lineup with exactly one of Heroes, as RoundRobin plays it. Heroes do not
// meet each other. If the other players are too few to fill the seats, they are repeated in order.
type Gauntlet struct {
	Players int // 2 or more
	Heroes  []int
	Seats   int // of the game
	Seeds   int
	Seating Arrangement
}

// Next returns all games without a result: see Schedule. If Heroes is empty, player 0 is the hero.
func (s Gauntlet) Next(results []Placing) ([]Fixture, error) {
	if err := checkGrid(s.Players, s.Seats, s.Seeds, s.Seating); err != nil {
		return nil, err
	}
	heroes := s.Heroes
	if len(heroes) == 0 {
		heroes = []int{0}
	}
	hero := make([]bool, s.Players)
	for _, p := range heroes {
		if err := checkRange("a hero of a gauntlet", p, 0, s.Players-1); err != nil {
			return nil, err
		}
		if hero[p] {
			return nil, fmt.Errorf("schedule: player %d is twice a hero of the gauntlet", p)
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
		return nil, fmt.Errorf("schedule: a gauntlet of %d heroes and no other players", len(heroes))
	}
	n := min(maxGames+1, binomial(int64(len(others)), int64(s.Seats-1)))
	if err := checkLineups(n*int64(len(heroes)), s.Players, s.Seats, s.Seating); err != nil {
		return nil, err
	}
	var lineups [][]int
	for _, p := range heroes {
		for _, o := range subsets(others, s.Seats-1) {
			l := append([]int{p}, o...)
			slices.Sort(l) // gives the games the numbers that they have in a round robin
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
		return fmt.Errorf("schedule: no arrangement %d", a)
	}
	return err
}

// checkLineups refuses more lineups than one call of Next can return.
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

// grid returns the games without a result of all lineups on all seeds.
func grid(lineups [][]int, seeds int, a Arrangement, results []Placing) ([]Fixture, error) {
	have, err := index(results)
	if err != nil {
		return nil, err
	}
	var tables []Fixture
	for _, l := range lineups {
		seatings, numbers := arrange(l, a)
		rank := lineupRank(l)
		for i, seating := range seatings {
			if rank > maxShell/permutations(len(l))-1 {
				return nil, fmt.Errorf("schedule: the lineup %v has no number: too many players for %d seats", l, len(l))
			}
			tables = append(tables, Fixture{Number: rank*permutations(len(l)) + numbers[i], Players: seating})
		}
	}
	if seeds > maxGames/len(tables) {
		return nil, fmt.Errorf("schedule: %d seeds of %d games, want at most %d games", seeds, len(tables), maxGames)
	}
	games := make([]Fixture, 0, seeds*len(tables))
	for e := range seeds {
		for _, t := range tables {
			games = append(games, Fixture{Number: shell(int64(e), t.Number), Players: t.Players, Seed: e})
		}
	}
	return have.missing(games)
}
