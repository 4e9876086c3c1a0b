package terminal_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	"moonfarm/sim/terminal"
)

func TestEdge(t *testing.T) {
	for p := range sim.Player(2) {
		next := 0
		for i := range terminal.HalfCells {
			x, y := terminal.LocalXY(i, p)
			e, ok := terminal.Edge(x, y)
			edge := !terminal.Inside(x-1, y) || !terminal.Inside(x+1, y)
			if ok != edge || ok && e != next {
				t.Fatalf("(%d, %d): %d, %v", x, y, e, ok)
			}
			if ok {
				if ex, ey := terminal.EdgeXY(e, p); ex != x || ey != y {
					t.Fatalf("edge cell %d of seat %d is (%d, %d), want (%d, %d)", e, p, ex, ey, x, y)
				}
				next++
			}
		}
		require.Equalf(t, terminal.EdgeCells, next, "%d edge cells", next)
	}
	for _, at := range [][2]int{{13, -1}, {-1, 14}, {13, 28}, {0, 0}, {27, 27}} {
		e, ok := terminal.Edge(at[0], at[1])
		assert.Falsef(t, ok, "%v is edge cell %d", at, e)
	}
}
