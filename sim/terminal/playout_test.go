package terminal_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	"moonfarm/sim/prng"
	"moonfarm/sim/terminal"
)

// carriedOut reports whether the game carries out a single order completely: all units of a stack are
// bought; a structure is placed, upgraded or marked.
func carriedOut(g *terminal.Game, s *terminal.State, p sim.Player, turn *sim.Turn, o sim.Order) bool {
	before := *s
	turn.Clear()
	turn.SetOne(p, o)
	g.Deploy(s, turn)
	if c := terminal.Decode(o); c.Op == terminal.OpSpawn {
		return s.NextID-before.NextID == c.Count && s.Bits[p] < before.Bits[p]
	}
	return s.Own != before.Own || s.Upgraded != before.Upgraded || s.Marked != before.Marked
}

// TestPlayoutIsLegal checks that the orders of Playout are legal one after the other under every rule
// set, that they are at most PlayoutOrders, and that all kinds of orders occur.
func TestPlayoutIsLegal(t *testing.T) {
	for _, name := range terminal.RuleSets() {
		turn := sim.NewTurn(1)
		seats, most, ops := 0, 0, map[terminal.Op]int{}
		kinds := map[terminal.Kind]int{}
		idle, units := 0, 0
		g, random := mustGame(t, name), prng.New(7)
		for range 4 {
			playout(g, &random, 100, func(s *terminal.State, given *sim.Turn) {
				for p := range sim.Player(2) {
					orders, after := given.Orders(p), *s
					seats++
					most = max(most, len(orders))
					if len(orders) == 0 {
						idle++
					}
					for _, o := range orders {
						c := terminal.Decode(o)
						ops[c.Op]++
						if c.Op == terminal.OpPlace || c.Op == terminal.OpSpawn {
							kinds[c.Kind]++
						}
						if c.Op == terminal.OpSpawn {
							units += int(c.Count)
						}
						if !carriedOut(g, &after, p, turn, o) {
							t.Fatalf("%s, turn %d, seat %d: order %+v of %x is not carried out", name, s.Turn, p, c, orders)
						}
					}
				}
			})
		}
		mean := float64(ops[terminal.OpPlace]+ops[terminal.OpUpgrade]+ops[terminal.OpRemove]+ops[terminal.OpSpawn]) / float64(seats)
		t.Logf("%s: %d seats and turns, %.1f orders each, at most %d, none in %d, %.1f units; %v, %v",
			name, seats, mean, most, idle, float64(units)/float64(seats), ops, kinds)
		assert.Truef(t, most <= terminal.PlayoutOrders && most >= terminal.PlayoutOrders/2, "%s: %d orders in a turn, promised are at most %d", name, most, terminal.PlayoutOrders)
		for k := range terminal.Kind(terminal.Kinds) {
			if kinds[k] == 0 {
				t.Errorf("%s: no %v", name, k)
			}
		}
		assert.Truef(t, (ops[terminal.OpUpgrade] != 0 || name == "2019") && ops[terminal.OpRemove] != 0 && mean >= 3 && idle != 0, "%s: orders %v, %.1f each turn, %d turns without", name, ops, mean, idle)
	}
}

// TestPlayoutAppends checks that Playout appends to dst, reuses its memory, and depends only on the state
// and the generator.
func TestPlayoutAppends(t *testing.T) {
	g := newGame(t, terminal.DefaultRules())
	var s terminal.State
	g.Reset(&s, 0)
	a, b := prng.New(3), prng.New(3)
	first := []sim.Order{terminal.Place(terminal.Wall, 13, 5)}
	for range 20 {
		one := g.Playout(first, &s, 1, &a)
		two := g.Playout(nil, &s, 1, &b)
		require.Truef(t, slices.Equal(one[1:], two) && one[0] == first[0], "%x, then %x", one, two)
	}
	dst := make([]sim.Order, 0, terminal.PlayoutOrders)
	n := testing.AllocsPerRun(100, func() { g.Playout(dst, &s, 0, &a) })
	assert.Zerof(t, n, "%v allocations", n)
}

// TestPlayoutTurns checks that seat 1 gives the orders of seat 0, turned by 180°.
func TestPlayoutTurns(t *testing.T) {
	g := newGame(t, terminal.DefaultRules())
	var s terminal.State
	g.Reset(&s, 0)
	a, b := prng.New(5), prng.New(5)
	for range 50 {
		one, two := g.Playout(nil, &s, 0, &a), g.Playout(nil, &s, 1, &b)
		for i, o := range one {
			c, d := terminal.Decode(o), terminal.Decode(two[i])
			d.X, d.Y = terminal.Side-1-d.X, terminal.Side-1-d.Y
			if c != d {
				t.Fatalf("order %d: %+v, turned %+v", i, c, d)
			}
		}
	}
}

// TestSimulate plays random games and compares each Exchange with the events of the same action phase.
// The game must be able to continue after Simulate.
func TestSimulate(t *testing.T) {
	for _, name := range []string{"2022", "2026"} {
		g, recorded := mustGame(t, name), mustGame(t, name)
		rules := g.Rules()
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

// In this example a player simulates an attack of its scouts.
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
