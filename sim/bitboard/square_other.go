//go:build !amd64 || purego

package bitboard

const squareVectors = 0

// flood512 is not called without vectors.
func flood512(*Square, *Square, *Square, int) (int, bool) { return 0, false }

// flood256 is not called without vectors.
func flood256(*Square, *Square, *Square, int) (int, bool) { return 0, false }

// grow512 is not called without vectors.
func grow512(*Square, int) {}
