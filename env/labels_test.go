package env_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/sim"
	"moonfarm/sim/simtest"
)

// TestStepSaysOrdersByHead: if no choice stands for an order, only its head is
// -1, in Action and in Played. A row that plays such an action plays the other
// heads.
func TestStepSaysOrdersByHead(t *testing.T) {
	g := simtest.Toy{Seats: 2, Orders: 3}
	v, again := pool(t, g, env.Settings{N: 1}), pool(t, g, env.Settings{N: 1})
	b := env.NewBatch(v.Spec(), 1, wantAll|env.WantPlayed)
	v.Observe(b)
	room := v.Spec().Info.MaxOrders
	copy(b.Orders, []sim.Order{2, 77, 5}) // 77 names no heap
	b.OrderLen[0] = 3
	copy(b.Orders[room:], []sim.Order{4})
	b.OrderLen[1] = 1
	v.Step(b)
	want := []int32{2, -1, 5, 4, 0, 0}
	require.Truef(t, slices.Equal(b.Action, want) && slices.Equal(b.Played, want), "action %d, played %d, want %d", b.Action, b.Played, want)

	c := env.NewBatch(v.Spec(), 1, wantAll|env.WantPlayed)
	again.Observe(c)
	copy(c.Action, want)
	again.Step(c)
	require.Truef(t, slices.Equal(c.Orders[:c.OrderLen[0]], []sim.Order{2, 5}) && c.OrderLen[1] == 1 && c.Orders[room] == 4, "orders %d of %d", c.Orders, c.OrderLen)
	require.Truef(t, slices.Equal(c.Action, want) && slices.Equal(c.Played[3:], want[3:]) && !slices.Contains(c.Played, -1), "action %d, played %d", c.Action, c.Played)
}
