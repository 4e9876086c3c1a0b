package schedule

import (
	"slices"

	"gonum.org/v1/gonum/stat/combin"
)

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
