//go:build amd64 && !purego

package batch

import (
	"unsafe"

	"moonfarm/sim/prng"
)

//go:generate go run -C gen . -out ../vector_amd64.s

// hasVectors reports whether the processor and the operating system have the vector
// instructions of the assembly.
var hasVectors = func() bool {
	const (
		saves  = 1<<27 | 1<<28                 // OSXSAVE and AVX of leaf 1
		state  = 0xe6                          // SSE, AVX and AVX-512 registers
		leaf7b = 1<<16 | 1<<17 | 1<<30 | 1<<31 // AVX512F, DQ, BW, VL
		leaf7c = 1<<1 | 1<<12 | 1<<14          // VBMI, BITALG, VPOPCNTDQ
	)
	most, _, _, _ := cpuid(0, 0)
	if most < 7 {
		return false
	}
	if _, _, c, _ := cpuid(1, 0); c&saves != saves || xgetbv()&state != state {
		return false
	}
	_, b, c, _ := cpuid(7, 0)
	return b&leaf7b == leaf7b && c&leaf7c == leaf7c
}()

// The assembly knows these sizes.
var (
	_ [32 * 64]struct{}     = [unsafe.Sizeof(half{})]struct{}{}
	_ [2 * 32 * 64]struct{} = [unsafe.Offsetof(Block{}.round)]struct{}{}
	_ [26 * 64]struct{}     = [unsafe.Offsetof(half{}.towers)]struct{}{}
	_ [32 * 64]struct{}     = [unsafe.Offsetof(tables{}.withCell)]struct{}{}
)

//go:noescape
func step512(b *Block, t *tables, orders *Orders, log *[2][Games]uint8, random *[Games]prng.Rand, from, rounds uint64) (next, games, left uint64)

func cpuid(leaf, index uint32) (a, b, c, d uint32)

func xgetbv() uint32
