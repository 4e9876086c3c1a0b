package schedule

import "slices"

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
	chosen := make([]int, 0, size)
	var choose func(from int)
	choose = func(from int) {
		if len(chosen) == size {
			all = append(all, slices.Clone(chosen))
			return
		}
		for k := from; k < len(players); k++ {
			chosen = append(chosen, players[k])
			choose(k + 1)
			chosen = chosen[:len(chosen)-1]
		}
	}
	choose(0)
	return all
}

// arrange lists every order of a lineup, each with its rank among all permutations of the seats in
// lexicographic order. Orders that only exchange a repeated player with itself are listed once.
func arrange(lineup []int) (seatings [][]int, numbers []int64) {
	order := make([]int, len(lineup))
	for p := range order {
		order[p] = p
	}
	seen := map[[maxSeats]int]bool{}
	for n := int64(0); ; n++ {
		seating := reordered(lineup, order)
		var key [maxSeats]int
		copy(key[:], seating)
		if !seen[key] {
			seen[key] = true
			seatings, numbers = append(seatings, seating), append(numbers, n)
		}
		if !nextPermutation(order) {
			return seatings, numbers
		}
	}
}

// reordered returns the lineup in the given order.
func reordered(lineup, order []int) []int {
	seating := make([]int, len(order))
	for p, k := range order {
		seating[p] = lineup[k]
	}
	return seating
}

// nextPermutation changes order to the lexicographically next permutation; it returns false for the
// last.
func nextPermutation(order []int) bool {
	i := len(order) - 2
	for i >= 0 && order[i] > order[i+1] {
		i--
	}
	if i < 0 {
		return false
	}
	j := len(order) - 1
	for order[j] < order[i] {
		j--
	}
	order[i], order[j] = order[j], order[i]
	slices.Reverse(order[i+1:])
	return true
}

// permutations returns n!.
func permutations(n int) (all int64) {
	all = 1
	for k := 2; k <= n; k++ {
		all *= int64(k)
	}
	return all
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
