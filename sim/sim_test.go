package sim_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"moonfarm/sim"
)

func TestStatusNames(t *testing.T) {
	for s, want := range map[sim.Status]string{
		sim.Running: "running", sim.Over: "over", sim.Cut: "cut", 9: "invalid",
	} {
		t.Run(want, func(t *testing.T) {
			assert.Equalf(t, want, s.String(), "Status(%d)", s)
		})
	}
}

func expect(t *testing.T, turn *sim.Turn, want ...[]sim.Order) {
	t.Helper()
	for p := range sim.Player(sim.MaxPlayers) {
		assert.Truef(t, slices.Equal(turn.Orders(p), want[p]), "seat %d: orders", p)
	}
}

func TestTurn(t *testing.T) {
	for name, turn := range map[string]*sim.Turn{"zero": new(sim.Turn), "roomy": sim.NewTurn(8), "tight": sim.NewTurn(1)} {
		t.Run(name, func(t *testing.T) {
			expect(t, turn, nil, nil, nil, nil)
			turn.SetOne(1, 7)
			turn.Add(1, 7)
			turn.Add(3, 5)
			turn.Set(2, []sim.Order{1, 2, 3})
			expect(t, turn, nil, []sim.Order{7, 7}, []sim.Order{1, 2, 3}, []sim.Order{5})
			turn.SetOne(2, 9)
			turn.Set(1, nil)
			expect(t, turn, nil, nil, []sim.Order{9}, []sim.Order{5})
			turn.Clear()
			expect(t, turn, nil, nil, nil, nil)
		})
	}
}

func TestTurnKeepsACopy(t *testing.T) {
	turn, orders := sim.NewTurn(2), []sim.Order{1, 2}
	turn.Set(0, orders)
	orders[0] = 9
	turn.Add(0, 3)
	expect(t, turn, []sim.Order{1, 2, 3}, nil, nil, nil)
	assert.Equal(t, sim.Order(2), orders[1], "the Turn writes into the caller's orders")
}

func TestTurnAllocatesNothing(t *testing.T) {
	turn, orders := sim.NewTurn(4), []sim.Order{1, 2, 3, 4}
	n := testing.AllocsPerRun(10, func() {
		turn.Clear()
		turn.Set(0, orders)
		turn.SetOne(1, 1)
		turn.Add(1, 2)
	})
	assert.Zerof(t, n, "%g allocations", n)
}
