//go:build !amd64 || purego

package bitboard

const squareVectors = false

// flood512 is not called without vectors.
func flood512(*Square, *Square, *Square, int) (int, bool) { return 0, false }

// grow512 is not called without vectors.
func grow512(*Square, int) {}
