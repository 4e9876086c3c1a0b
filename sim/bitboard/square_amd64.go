//go:build amd64 && !purego

package bitboard

// squareVectors reports whether this machine has the instructions of flood512 and grow512.
var squareVectors = hasSquareVectors()

//go:noescape
func flood512(b, free, watch *Square, most int) (steps int, met bool)

//go:noescape
func grow512(b *Square, n int)

func hasSquareVectors() (has bool)
