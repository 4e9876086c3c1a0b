//go:build !amd64 || purego

package batch

import "moonfarm/sim/prng"

const hasVectors = false

// step512 is not called without vectors.
func step512(*Block, *tables, *Orders, *[2][Games]uint8, *[Games]prng.Rand, uint64, uint64) (next, games, left uint64) {
	return 0, 0, 0
}
