package players

import "moonfarm/rollout"

// Seating returns the player of each seat in game n, counted from 0, of a series between a
// number of players. From game to game every player moves to the next seat. After a round,
// in which each has had every seat once, all players but the first take the next of their
// permutations.
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

// SeriesSeed returns the seed of game n of a series. It is the same in all games of a
// round (see Seating); in the first round it is the seed of the series.
func SeriesSeed(seed uint64, players, n int) uint64 {
	if round := n / players; round > 0 {
		return rollout.GameSeed(seed, uint64(round))
	}
	return seed
}

// permutation returns the k-th permutation of the numbers below n in lexical order. After
// the last one the first follows again.
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
