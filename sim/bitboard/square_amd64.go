//go:build amd64 && !purego

package bitboard

import "golang.org/x/sys/cpu"

// squareVectors is the size of the vectors that are used: 512, 256 or 0.
var squareVectors = vectorBits()

func vectorBits() int {
	switch {
	case cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VBMI2:
		return 512
	case cpu.X86.HasAVX2:
		return 256
	}
	return 0
}

//go:noescape
func flood512(b, free, watch *Square, most int) (steps int, met bool)

//go:noescape
func flood256(b, free, watch *Square, most int) (steps int, met bool)

//go:noescape
func grow512(b *Square, n int)
