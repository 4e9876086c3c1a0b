package schedule

import "slices"

// maxSeats is the largest number of seats of a game.
const maxSeats = 8

// Arrangement is the set of seatings in which a lineup plays each seed.
type Arrangement uint8

const (
	// Rotations is one game per seat: in rotation r, seat p goes to number (p+r) mod seats of the
	// lineup. Each player has every seat once. With more than two seats, neighbours remain
	// neighbours.
	Rotations Arrangement = iota
	// Permutations is every order of the lineup: 2, 6 or 24 games with 2, 3 or 4 seats. Each two
	// players have each two seats equally often. Orders that only exchange a repeated player with
	// itself are played once.
	Permutations
)

// Lineups lists the lineups: every set of players that fills the seats, in lexicographic order. If
// there are fewer players than seats, the one lineup repeats all players in order.
func Lineups(players, seats int) [][]int {
	all := make([]int, players)
	for p := range all {
		all[p] = p
	}
	return subsets(all, seats)
}

// subsets lists every subset of the given size, or, if there are fewer players, all of them
// repeated in order.
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

// arrange lists the seatings of a lineup, each with its rank among all permutations of the seats in
// lexicographic order.
func arrange(lineup []int, a Arrangement) (seatings [][]int, numbers []int64) {
	seats := len(lineup)
	order := make([]int, seats)
	if a == Rotations {
		for r := range seats {
			for p := range seats {
				order[p] = (p + r) % seats
			}
			seatings, numbers = append(seatings, reordered(lineup, order)), append(numbers, permutationRank(order))
		}
		return seatings, numbers
	}
	seen := map[[maxSeats]int]bool{}
	for p := range order {
		order[p] = p
	}
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

// permutationRank returns the number of permutations before order.
func permutationRank(order []int) (rank int64) {
	for i, x := range order {
		smaller := int64(0)
		for _, y := range order[i+1:] {
			if y < x {
				smaller++
			}
		}
		rank = rank*int64(len(order)-i) + smaller
	}
	return rank
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
