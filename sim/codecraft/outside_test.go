package codecraft_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	"moonfarm/sim/codecraft"
)

// TestMoveOutside checks that a move to a target outside of the map is stored as the nearest cell,
// on each side of the map, and that its orders and its text give the same action.
func TestMoveOutside(t *testing.T) {
	g := mustGame(t, "round2", nil)
	last := codecraft.Side - 1
	for _, c := range []struct {
		x, y, nearX, nearY int
		outside            bool
	}{
		{0, 0, 0, 0, false},
		{last, last, last, last, false},
		{last + 1, 7, last, 7, true},
		{7, math.MaxInt, 7, last, true},
		{-1, 7, 0, 7, true},
		{7, math.MinInt, 7, 0, true},
		{-3, 200, 0, last, true},
		{200, -3, last, 0, true},
	} {
		t.Run(fmt.Sprintf("to %d,%d", c.x, c.y), func(t *testing.T) {
			var a codecraft.Action
			a.Take(codecraft.Move(4, c.x, c.y, true, false))
			assert.Truef(t, int(a.MoveX) == c.nearX && int(a.MoveY) == c.nearY && a.Parts&codecraft.MoveOutside != 0 == c.outside && a.Parts&codecraft.FindClosest != 0, "to (%d, %d): %+v", c.x, c.y, a)
			var again codecraft.Action
			for _, o := range a.AppendOrders(nil, 4) {
				again.Take(o)
			}
			assert.Truef(t, again == a, "to (%d, %d): %+v, by its orders %+v", c.x, c.y, a, again)
			s, err := codecraft.ParseText(g, "10 b1\n")
			require.NoError(t, err)
			s.Acts[0] = a
			s, err = codecraft.ParseText(g, string(codecraft.AppendText(nil, g, &s)))
			require.NoErrorf(t, err, "to (%d, %d): %+v, by its text %+v", c.x, c.y, a, s.Acts[0])
			assert.Truef(t, s.Acts[0] == a, "to (%d, %d): %+v, by its text %+v", c.x, c.y, a, s.Acts[0])
		})
	}
	// Coordinates far outside need no flag, and a cell in the middle of the map is never
	// outside.
	for _, c := range []struct {
		o    sim.Order
		want bool
	}{
		{2 | 4<<4 | 300<<32 | 5<<48, true},
		{2 | 4<<4 | 1<<30 | 5<<32 | 5<<48, false},
		{2 | 4<<4 | 1<<30 | 5<<32, true},
	} {
		t.Run(fmt.Sprintf("order %x", uint64(c.o)), func(t *testing.T) {
			assert.Equalf(t, c.want, codecraft.Decode(c.o).Outside, "%x: outside", uint64(c.o))
		})
	}
}
