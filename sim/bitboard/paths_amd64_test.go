//go:build !purego

package bitboard

import (
	"testing"

	"moonfarm/sim/simtest"
)

func TestVectorPaths(t *testing.T) {
	simtest.VectorPaths(t, "sim/bitboard", map[string]bool{
		"fields avx512vl": has512, "around vbmi": hasVBMI, "squares vbmi2": squareVectors == 512, "squares avx2": squareVectors > 0,
	})
}
