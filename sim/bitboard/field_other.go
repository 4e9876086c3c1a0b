//go:build !amd64 || purego

package bitboard

// has512 is false: there is no assembly.
const has512 = false

// fill512 is never called.
func (f *Field) fill512(_, _ *Diamond, _ int, _ *Diamond) {}
