package terminal_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	"moonfarm/sim/prng"
	"moonfarm/sim/terminal"
)

// TestSimulate plays random games and checks the sums against the events of the
// same action phases, and that the game can go on from where Simulate ends.
func TestSimulate(t *testing.T) {
	for _, name := range []string{"2022", "2026"} {
		rules, _ := terminal.RuleSet(name)
		g, err := terminal.New(rules)
		require.NoError(t, err)
		recorded, err := terminal.New(rules)
		require.NoError(t, err)
		var rec terminal.Record
		recorded.Record(&rec)
		random := prng.New(3)
		turn := sim.NewTurn(terminal.PlayoutOrders)
		var s, after, twin terminal.State
		g.Reset(&s, 0)
		breaches, fallen := int32(0), int32(0)
		for range 300 {
			for p := range sim.Player(2) {
				turn.Set(p, g.Playout(nil, &s, p, &random))
			}
			before := s
			x := g.Simulate(&after, &s, turn)
			require.Equal(t, before, s, "the state given is not changed")
			rec.Clear()
			twin = s
			y := recorded.Simulate(&twin, &twin, turn)
			require.Equal(t, after, twin)
			require.Equal(t, x, y, "with a record or without")
			var want terminal.Exchange
			for _, e := range rec.Breaches {
				want.Breaches[e.Player]++
				want.Health[e.Player^1] += e.Damage
				want.Cores[e.Player] += rules.Units[e.Kind].BreachCores
			}
			for _, e := range rec.Deaths {
				if e.Kind.Structure() {
					want.Structures[e.Player]++
				}
			}
			require.Equal(t, want.Breaches, x.Breaches)
			require.Equal(t, want.Structures, x.Structures)
			for p := range 2 {
				require.InDelta(t, want.Health[p], x.Health[p], 1e-3)
				require.InDelta(t, want.Cores[p], x.Cores[p], 1e-3)
				require.GreaterOrEqual(t, x.Damage[p], float32(0))
				require.Equal(t, x.Structures[p] > 0, x.Value[p] > 0)
				breaches += x.Breaches[p]
				fallen += x.Structures[p]
			}
			status := g.Restore(&after)
			s = before
			require.Equal(t, status, g.Step(&s, turn))
			require.Equal(t, s, after)
			if status != sim.Running {
				g.Reset(&s, 0)
			}
		}
		require.Greater(t, breaches, int32(100))
		require.Greater(t, fallen, int32(100))
		var sink terminal.State
		require.Zero(t, testing.AllocsPerRun(20, func() { g.Simulate(&sink, &s, turn) }))
	}
}

// A player that foresees what its scouts would do.
func ExampleGame_Simulate() {
	g, err := terminal.New(terminal.DefaultRules())
	if err != nil {
		fmt.Println(err)
		return
	}
	var s, after terminal.State
	g.Reset(&s, 0)
	s.Bits[0] = 5
	turn := sim.NewTurn(1)
	turn.SetOne(0, terminal.Spawn(terminal.Scout, 13, 0, 5))
	x := g.Simulate(&after, &s, turn)
	fmt.Println(x.Breaches[0], "breaches,", after.Health[1], "health left to the enemy")
	// Output: 5 breaches, 35 health left to the enemy
}
