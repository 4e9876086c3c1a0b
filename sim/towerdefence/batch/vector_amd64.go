//go:build amd64 && !purego

package batch

import (
	"unsafe"

	"golang.org/x/sys/cpu"

	"moonfarm/sim/prng"
)

//go:generate go run -C gen . -out ../vector_amd64.s

// hasVectors reports whether this machine has the instructions of step512.
var hasVectors = cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VL &&
	cpu.X86.HasAVX512VBMI && cpu.X86.HasAVX512BITALG && cpu.X86.HasAVX512VPOPCNTDQ

// The assembly knows these sizes.
var (
	_ [32 * 64]struct{}     = [unsafe.Sizeof(half{})]struct{}{}
	_ [2 * 32 * 64]struct{} = [unsafe.Offsetof(Block{}.round)]struct{}{}
	_ [26 * 64]struct{}     = [unsafe.Offsetof(half{}.towers)]struct{}{}
	_ [32 * 64]struct{}     = [unsafe.Offsetof(tables{}.withCell)]struct{}{}
)

//go:noescape
func step512(b *Block, t *tables, orders *Orders, log *[2][Games]uint8, random *[Games]prng.Rand, from, rounds uint64) (next, games, left uint64)
