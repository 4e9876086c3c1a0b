package bitboard

import (
	"testing"

	"moonfarm/sim/simtest"
)

// TestGenerated: the assembly equals the output of gen.
func TestGenerated(t *testing.T) { simtest.Generated(t) }
