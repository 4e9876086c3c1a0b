//go:build !purego

package rowzstd

import "golang.org/x/sys/cpu"

//go:generate go run -C gen . -out ../differences_amd64.s

var (
	has512 = cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW
	has256 = cpu.X86.HasAVX2
)

// differ sets dst to the differences of a and b, which have 64 bytes for each word of dst. It
// returns false on a machine without the instructions.
func differ(dst []uint64, a, b []byte) bool {
	if n := 64 * len(dst); n == 0 || len(a) != n || len(b) != n {
		panic("rowzstd: differences of other lengths")
	}
	switch {
	case has512:
		differ512(&dst[0], &a[0], &b[0], len(dst))
	case has256:
		differ256(&dst[0], &a[0], &b[0], len(dst))
	default:
		return false
	}
	return true
}

//go:noescape
func differ512(dst *uint64, a, b *byte, words int)

//go:noescape
func differ256(dst *uint64, a, b *byte, words int)
