//go:build !purego

package batch

import (
	"testing"

	"moonfarm/sim/simtest"
)

func TestVectorPaths(t *testing.T) {
	simtest.VectorPaths(t, "sim/towerdefence/batch", map[string]bool{"blocks vbmi, bitalg, vpopcntdq": hasVectors})
}
