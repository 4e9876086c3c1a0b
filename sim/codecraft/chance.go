package codecraft

import "moonfarm/sim/prng"

// Every random draw is a function of the seed, the tick, its purpose and, where
// several units draw for one purpose, the id of the unit (RULES.md, 2.10). So no
// draw depends on the order in which others are made.

// chance is the purpose of a draw.
type chance uint64

const (
	chanceMap     chance = iota // the map; tick 0
	chanceStep                  // which of equal first steps; by the id of the mover
	chanceAttacks               // order of the attacks: one stream
	chanceVictim                // which target; by the id of the attacker
	chanceBuilds                // order of the builds: one stream
	chanceCell                  // who gets a contested cell; by its index in At
)

// stream is the seed of the draws for a purpose in a tick.
func stream(seed uint64, tick int32, c chance) uint64 {
	return prng.StreamSeed(seed, 0, uint64(tick), uint64(c), prng.PurposeGame)
}

// draw is a number from 0 to n−1 for one of several that draw for one purpose.
func draw(root uint64, who uint32, n int) int {
	r := prng.New(root ^ uint64(who)<<32)
	return r.IntN(n)
}

// shuffle puts a list in random order: Fisher and Yates from the end.
func shuffle[T any](list []T, root uint64) {
	r := prng.New(root)
	for i := len(list) - 1; i > 0; i-- {
		k := r.IntN(i + 1)
		list[i], list[k] = list[k], list[i]
	}
}
