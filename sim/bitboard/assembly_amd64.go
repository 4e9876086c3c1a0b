//go:build amd64 && !purego

package bitboard

// has512 reports whether the processor and the operating system have the parts F, BW and VL of
// AVX-512, and hasVBMI whether they also have the part VBMI.
var has512, hasVBMI = func() (all, vbmi bool) {
	const (
		saves     = 1 << 27                   // leaf 1: xgetbv
		f, bw, vl = 1 << 16, 1 << 30, 1 << 31 // leaf 7
		permutes  = 1 << 1                    // leaf 7: VBMI
		kept      = 1<<1 | 1<<2 | 1<<5 | 3<<6 // xgetbv: the registers of SSE, AVX and AVX-512
	)
	most, _, _, _ := cpuid(0, 0)
	if _, _, c, _ := cpuid(1, 0); most < 7 || c&saves == 0 || xgetbv()&kept != kept {
		return false, false
	}
	_, b, c, _ := cpuid(7, 0)
	all = b&f != 0 && b&bw != 0 && b&vl != 0
	return all, all && c&permutes != 0
}()

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

//go:noescape
func cpuid(leaf, part uint32) (a, b, c, d uint32)

//go:noescape
func xgetbv() (state uint32)
