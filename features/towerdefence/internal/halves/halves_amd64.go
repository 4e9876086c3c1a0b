//go:build !purego

package halves

import "golang.org/x/sys/cpu"

//go:generate go run -C gen . -out ../halves_amd64.s

var (
	has512 = cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW
	has256 = cpu.X86.HasAVX2
)

// assembled writes the planes by assembly, of the second viewer unless it is nil. It returns
// false on a machine without the instructions.
func assembled(first, second *Planes, a, b *Words) bool {
	switch {
	case has512 && second != nil:
		both512(&first[0], &second[0], &a.Defense[0], &b.Defense[0])
	case has512:
		one512(&first[0], &a.Defense[0], &b.Defense[0])
	case has256:
		one256(&first[0], &a.Defense[0], &b.Defense[0])
		if second != nil {
			one256(&second[0], &b.Defense[0], &a.Defense[0])
		}
	default:
		return false
	}
	return true
}

//go:noescape
func both512(first, second *byte, own, enemy *uint64)

//go:noescape
func one512(first *byte, own, enemy *uint64)

//go:noescape
func one256(first *byte, own, enemy *uint64)
