package schedule

import (
	"cmp"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/stat/combin"
)

// RoundRobin plays all lineups of the players, each on all seeds in every order of the seats. All
// lineups play the same seeds, so each two players meet equally often. Games come seed by seed; within
// a seed lineup by lineup in lexicographic order. So an interrupted tournament has complete seeds, and
// raising Seeds plays a long one in blocks.
//
// A Gauntlet has only the lineups with player 0, once, as a round robin plays them. If the other players
// are too few to fill the seats, they are repeated in order.
type RoundRobin struct {
	Players  int // 2 or more
	Seats    int // of the game
	Seeds    int
	Gauntlet bool
}

// NewRoundRobin returns a RoundRobin with at least the given number of games of each lineup.
func NewRoundRobin(players, seats, games int) RoundRobin {
	return RoundRobin{Players: players, Seats: seats, Seeds: (games-1)/max(1, orders(players, seats)) + 1}
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
func (r RoundRobin) Next(results []Placing) ([]Fixture, error) {
	have, err := index(results)
	if err = cmp.Or(r.check(), err); err != nil {
		return nil, err
	}
	var tables []Fixture
	permutations := combin.Permutations(r.Seats, r.Seats)
	all := int64(len(permutations))
	for _, l := range r.lineups() {
		rank := lineupRank(l)
		if rank > maxShell/all-1 {
			return nil, fmt.Errorf("schedule: the lineup %v has no number: too many players for %d seats", l, r.Seats)
		}
		seatings, numbers := arrange(l, permutations)
		for i, seating := range seatings {
			tables = append(tables, Fixture{Number: rank*all + numbers[i], Players: seating})
		}
	}
	if r.Seeds > maxGames/len(tables) {
		return nil, fmt.Errorf("schedule: %d seeds of %d games, expected at most %d games", r.Seeds, len(tables), maxGames)
	}
	games := make([]Fixture, 0, r.Seeds*len(tables))
	for e := range r.Seeds {
		for _, t := range tables {
			games = append(games, Fixture{Number: shell(int64(e), t.Number), Players: t.Players, Seed: e})
		}
	}
	return have.missing(games)
}

func (r RoundRobin) check() error {
	err := cmp.Or(
		checkRange("players", r.Players, 2, maxShell),
		checkRange("seats", r.Seats, 2, maxSeats),
		checkRange("seeds", r.Seeds, 0, maxShell),
	)
	if err != nil {
		return err
	}
	n := binomial(int64(r.Players), int64(r.Seats))
	if r.Gauntlet {
		n = binomial(int64(r.Players-1), int64(r.Seats-1))
	}
	if n > maxGames/int64(combin.NumPermutations(r.Seats, r.Seats)) {
		return fmt.Errorf("schedule: the lineups of %d players at tables of %d make more than %d games on each seed", r.Players, r.Seats, maxGames)
	}
	return nil
}

// lineups lists the lineups, each sorted, so that a game has one number in all schedules.
func (r RoundRobin) lineups() [][]int {
	players := make([]int, r.Players)
	for p := range players {
		players[p] = p
	}
	if !r.Gauntlet {
		return subsets(players, r.Seats)
	}
	lineups := subsets(players[1:], r.Seats-1)
	for i, others := range lineups {
		lineups[i] = append([]int{0}, others...)
		slices.Sort(lineups[i])
	}
	return lineups
}
