package codecraft

import "moonfarm/sim/prng"

// Every random draw is a function of the seed, the tick, its purpose and, where
// several units draw for one purpose, the id of the unit (RULES.md, 2.10). So a
// draw does not depend on the order of other draws.

// chance is the purpose of a draw.
type chance uint64

const (
	chanceMap     chance = iota // the map; in tick 0
	chanceStep                  // one of equally good first steps; by the id of the mover
	chanceAttacks               // the order of attacks: one stream
	chanceVictim                // the target of an auto attack; by the id of the attacker
	chanceBuilds                // the order of builds: one stream
	chanceCell                  // the unit that gets a contested cell; by the cell's index in At
)

// stream returns the seed of the draws for a purpose in a tick.
func stream(seed uint64, tick int32, c chance) uint64 {
	return prng.StreamSeed(seed, 0, uint64(tick), uint64(c), prng.PurposeGame)
}

// draw returns a number from 0 to n−1. The draws for one purpose differ by id.
func draw(root uint64, id uint32, n int) int {
	r := prng.New(root ^ uint64(id)<<32)
	return r.IntN(n)
}

// shuffle puts a list in random order by the algorithm of Fisher and Yates, from the end.
func shuffle[T any](list []T, root uint64) {
	r := prng.New(root)
	for i := len(list) - 1; i > 0; i-- {
		k := r.IntN(i + 1)
		list[i], list[k] = list[k], list[i]
	}
}
