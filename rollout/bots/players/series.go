package players

import "moonfarm/rollout"

// Seating returns who sits at each seat in game n, counted from 0, of a series
// between so many players. From game to game everyone moves one seat on, until all
// have sat everywhere; then the players behind the first take their next order, until
// all orders have been played.
func Seating(players, n int) []int {
	order := permutation(players-1, n/players)
	seats := make([]int, players)
	for i := range seats {
		p := 0
		if i > 0 {
			p = order[i-1] + 1
		}
		seats[(i+n)%players] = p
	}
	return seats
}

// SeriesSeed is the seed of game n of a series: the same until all have sat
// everywhere, and first that of the series itself.
func SeriesSeed(seed uint64, players, n int) uint64 {
	if round := n / players; round > 0 {
		return rollout.GameSeed(seed, uint64(round))
	}
	return seed
}

// permutation is the k-th permutation of the numbers below n in lexical order. It
// begins anew after the last.
func permutation(n, k int) []int {
	left := make([]int, n)
	ways := 1
	for i := range left {
		left[i] = i
		ways *= i + 1
	}
	k %= ways
	list := make([]int, 0, n)
	for ; n > 0; n-- {
		ways /= n
		i := k / ways
		k %= ways
		list = append(list, left[i])
		left = append(left[:i:i], left[i+1:]...)
	}
	return list
}
