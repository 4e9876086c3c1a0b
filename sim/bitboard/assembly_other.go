//go:build !amd64 || purego

package bitboard

// There is no assembly.
const has512, hasVBMI = false, false

// fill512 is never called.
func (f *Field) fill512(_, _ *Diamond, _ int, _ *Diamond) {}

// gather512 is never called.
func gather512(*Gather, *Diamond) uint64 { return 0 }
