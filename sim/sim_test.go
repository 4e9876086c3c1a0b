package sim_test

import (
	"slices"
	"testing"

	"moonfarm/sim"
)

func TestStatusNames(t *testing.T) {
	for s, want := range map[sim.Status]string{
		sim.Running: "running", sim.Over: "over", sim.Cut: "cut", 9: "invalid",
	} {
		t.Run(want, func(t *testing.T) {
			if got := s.String(); got != want {
				t.Errorf("Status(%d) is %q, want %q", s, got, want)
			}
		})
	}
}

func expect(t *testing.T, turn *sim.Turn, want ...[]sim.Order) {
	t.Helper()
	for p := range sim.Player(sim.MaxPlayers) {
		if got := turn.Orders(p); !slices.Equal(got, want[p]) {
			t.Errorf("seat %d: orders %d, want %d", p, got, want[p])
		}
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
	if orders[1] != 2 {
		t.Error("the Turn writes into the caller's orders")
	}
}

func TestTurnAllocatesNothing(t *testing.T) {
	turn, orders := sim.NewTurn(4), []sim.Order{1, 2, 3, 4}
	if n := testing.AllocsPerRun(10, func() {
		turn.Clear()
		turn.Set(0, orders)
		turn.SetOne(1, 1)
		turn.Add(1, 2)
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
}
