//go:build !purego

package halves

import (
	"testing"

	"moonfarm/sim/simtest"
)

func TestVectorPaths(t *testing.T) {
	simtest.VectorPaths(t, "features/towerdefence/internal/halves", map[string]bool{"avx512bw": has512, "avx2": has256})
}

// paths calls f once for each kind of assembly on this machine, which is then in use, and once
// without assembly.
func paths(f func(name string)) {
	was512, was256 := has512, has256
	defer func() { has512, has256 = was512, was256 }()
	if has512 {
		f("avx512")
	}
	if has512 = false; has256 {
		f("avx2")
	}
	has256 = false
	f("portable")
}
