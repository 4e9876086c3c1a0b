//go:build amd64 && !purego

package bitboard

import "golang.org/x/sys/cpu"

// has512 reports whether this machine has the instructions of fillA512 and fillB512, hasVBMI whether it has
// those of gather512.
var (
	has512  = cpu.X86.HasAVX512F && cpu.X86.HasAVX512VL
	hasVBMI = cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VBMI
)

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
func gather512(list *Gather, d *Diamond) (cells uint64)
