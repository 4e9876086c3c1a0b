//go:build !amd64 || purego

package batch

import "moonfarm/sim/prng"

const hasVectors = false

// step512 is not called without vectors.
func step512(*Block, *tables, *Orders, *[2][Games]uint8, uint64) (next, games uint64) {
	return 0, 0
}

// draw512 is not called without vectors.
func draw512(*Block, *tables, *[Games]prng.Rand, *Orders) (games uint64) { return 0 }
