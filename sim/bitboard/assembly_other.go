//go:build !amd64 || purego

package bitboard

// There is no assembly, so the functions below are never called.
const (
	has512, hasVBMI = false, false
	squareVectors   = 0
)

func (f *Field) fill512(_, _ *Diamond, _ int, _ *Diamond) {}

func around512(*Around, *Padded, int) uint64 { return 0 }

func join512(_, _ *Diamond, _ int, _ *uint16, _ int) int { return 0 }

func flood512(*Square, *Square, *Square, int) (int, bool) { return 0, false }

func flood256(*Square, *Square, *Square, int) (int, bool) { return 0, false }

func grow512(*Square, int) {}
