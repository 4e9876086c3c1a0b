//go:build amd64 && !purego

package bitboard

// squareVectors is the size of the vectors that are used: 512, 256 or 0.
var squareVectors = vectorBits()

//go:noescape
func flood512(b, free, watch *Square, most int) (steps int, met bool)

//go:noescape
func flood256(b, free, watch *Square, most int) (steps int, met bool)

//go:noescape
func grow512(b *Square, n int)

func vectorBits() (bits uint32)
