package plain

import (
	"math/big"

	"moonfarm/sim/prng"
)

// The kinds of random draws (RULES.md, 2.10): each kind has a stream in each tick.
const (
	chanceStep    = 1
	chanceAttacks = 2
	chanceVictim  = 3
	chanceBuilds  = 4
	chanceCell    = 5
)

// stream returns the seed of the draws of a kind in this tick.
func (g *Game) stream(kind uint64) uint64 {
	return prng.StreamSeed(g.Seed, 0, uint64(g.Tick), kind, prng.PurposeGame)
}

// high returns the upper half of the product of a random word and n.
func high(word uint64, n int) int {
	product := new(big.Int).Mul(new(big.Int).SetUint64(word), big.NewInt(int64(n)))
	return int(product.Rsh(product, 64).Int64())
}

// draw returns a number below n. The draws of a kind differ by id.
func (g *Game) draw(kind uint64, id uint32, n int) int {
	if n == 1 {
		return 0
	}
	r := prng.New(g.stream(kind) ^ uint64(id)<<32)
	return high(r.Uint64(), n)
}

// shuffle puts a list in random order.
func (g *Game) shuffle(kind uint64, list []*Entity) {
	r := prng.New(g.stream(kind))
	for left := len(list); left > 1; left-- {
		k := high(r.Uint64(), left)
		list[left-1], list[k] = list[k], list[left-1]
	}
}
