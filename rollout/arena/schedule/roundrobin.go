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

// maxSeats is the largest number of seats of a game.
const maxSeats = 8

// subsets lists every subset of the given size in lexicographic order, or, if there are fewer players,
// all of them repeated in order.
func subsets(players []int, size int) (all [][]int) {
	if len(players) <= size {
		one := make([]int, size)
		for p := range one {
			one[p] = players[p%len(players)]
		}
		return [][]int{one}
	}
	for _, chosen := range combin.Combinations(len(players), size) {
		all = append(all, reordered(players, chosen))
	}
	return all
}

// arrange lists every order of a lineup, each with its rank among all permutations of the seats, which are
// in lexicographic order. Orders that only exchange a repeated player with itself are listed once.
func arrange(lineup []int, permutations [][]int) (seatings [][]int, numbers []int64) {
	seen := map[[maxSeats]int]bool{}
	for n, order := range permutations {
		seating := reordered(lineup, order)
		var key [maxSeats]int
		copy(key[:], seating)
		if !seen[key] {
			seen[key] = true
			seatings, numbers = append(seatings, seating), append(numbers, int64(n))
		}
	}
	return seatings, numbers
}

// reordered returns players of the list in the given order.
func reordered(players, order []int) []int {
	seating := make([]int, len(order))
	for p, k := range order {
		seating[p] = players[k]
	}
	return seating
}

// lineupRank returns the number of a lineup, which may have repetitions. More players do not change
// it: all lineups of the first k players come before any other. It is the rank of multisets in
// colexicographic order, Σ C(aᵢ+i, i+1) over the sorted players aᵢ (D. E. Knuth, "The Art of
// Computer Programming", volume 4A, 7.2.1.3).
func lineupRank(lineup []int) (rank int64) {
	sorted := slices.Sorted(slices.Values(lineup))
	for i, a := range sorted {
		rank += binomial(int64(a+i), int64(i+1))
	}
	return rank
}

// binomial returns n over k, or a number above 2⁵³ if it is that large.
func binomial(n, k int64) int64 {
	if k > n {
		return 0
	}
	b := int64(1)
	for i := int64(1); i <= k; i++ {
		if b > 1<<53/n {
			return 1<<53 + 1
		}
		b = b * (n - k + i) / i
	}
	return b
}

// maxShell bounds both arguments of shell, so that it stays below 2⁵³.
const maxShell = 94_906_264

// shell numbers the pairs of numbers from 0: the pairs with both numbers below k have the numbers
// below k². So more seeds or more lineups change no number. It is the pairing function of A. L.
// Rosenberg and H. R. Strong, "Addressing arrays by shells", IBM Technical Disclosure Bulletin 14
// (1972).
func shell(x, y int64) int64 {
	m := max(x, y)
	return m*m + m + x - y
}
