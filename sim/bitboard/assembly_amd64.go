//go:build amd64 && !purego

package bitboard

import "golang.org/x/sys/cpu"

//go:generate go run -C gen . -out ../assembly_amd64.s

// has512 reports whether this machine has the instructions of fillA512, fillB512 and join512, hasVBMI whether it
// has the instructions of around512.
var (
	has512  = cpu.X86.HasAVX512F && cpu.X86.HasAVX512VL
	hasVBMI = cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VBMI
)

// squareVectors is the size in bits of the vectors that squares use: 512, 256 or 0.
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

// fill512 is Fill with AVX-512.
func (f *Field) fill512(free, goals *Diamond, goal int, wanted *Diamond) {
	if goal == 0 {
		fillA512(f, free, goals, wanted)
	} else {
		fillB512(f, free, goals, wanted)
	}
}

//go:noescape
func fillA512(f *Field, free, goals, wanted *Diamond)

//go:noescape
func fillB512(f *Field, free, goals, wanted *Diamond)

//go:noescape
func around512(list *Around, board *Padded, cell int) (cells uint64)

//go:noescape
func join512(d, table *Diamond, entries int, list *uint16, n int) (joined int)

//go:noescape
func flood512(b, free, watch *Square, most int) (steps int, met bool)

//go:noescape
func flood256(b, free, watch *Square, most int) (steps int, met bool)

//go:noescape
func grow512(b *Square, n int)
