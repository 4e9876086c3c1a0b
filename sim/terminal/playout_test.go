package terminal_test

import (
	"slices"
	"testing"

	"moonfarm/sim"
	"moonfarm/sim/prng"
	"moonfarm/sim/terminal"
)

// playoutGames plays games of Playout against itself and shows each state
// before its orders.
func playoutGames(t testing.TB, rules string, games int, look func(g *terminal.Game, s *terminal.State, p sim.Player, orders []sim.Order)) {
	t.Helper()
	r, ok := terminal.RuleSet(rules)
	if !ok {
		t.Fatalf("no rules %q", rules)
	}
	g, err := terminal.New(r)
	if err != nil {
		t.Fatal(err)
	}
	var s terminal.State
	turn := sim.NewTurn(terminal.PlayoutOrders)
	var orders [2][]sim.Order
	random := prng.New(7)
	for range games {
		g.Reset(&s, 0)
		for status := sim.Running; status == sim.Running; status = g.Step(&s, turn) {
			for p := range sim.Player(2) {
				orders[p] = g.Playout(orders[p][:0], &s, p, &random)
				turn.Set(p, orders[p])
			}
			for p := range sim.Player(2) {
				look(g, &s, p, orders[p])
			}
		}
	}
}

// carriedOut reports whether a single order changes the state as it should:
// all units of a stack are paid for, a structure comes, is upgraded or marked.
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

// The orders of a playout are legal one after the other under every rule set,
// and so many as promised; there is something of everything in them.
func TestPlayoutIsLegal(t *testing.T) {
	for _, name := range terminal.RuleSets() {
		turn := sim.NewTurn(1)
		seats, most, ops := 0, 0, map[terminal.Op]int{}
		kinds := map[terminal.Kind]int{}
		idle, units := 0, 0
		playoutGames(t, name, 4, func(g *terminal.Game, s *terminal.State, p sim.Player, orders []sim.Order) {
			seats++
			most = max(most, len(orders))
			if len(orders) == 0 {
				idle++
			}
			after := *s
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
		})
		mean := float64(ops[terminal.OpPlace]+ops[terminal.OpUpgrade]+ops[terminal.OpRemove]+ops[terminal.OpSpawn]) / float64(seats)
		t.Logf("%s: %d seats and turns, %.1f orders each, at most %d, none in %d, %.1f units; %v, %v",
			name, seats, mean, most, idle, float64(units)/float64(seats), ops, kinds)
		if most > terminal.PlayoutOrders || most < terminal.PlayoutOrders/2 {
			t.Errorf("%s: %d orders in a turn, promised are at most %d", name, most, terminal.PlayoutOrders)
		}
		for k := range terminal.Kind(terminal.Kinds) {
			if kinds[k] == 0 {
				t.Errorf("%s: no %v", name, k)
			}
		}
		if ops[terminal.OpUpgrade] == 0 && name != "2019" || ops[terminal.OpRemove] == 0 || mean < 3 || idle == 0 {
			t.Errorf("%s: orders %v, %.1f each turn, %d turns without", name, ops, mean, idle)
		}
	}
}

// Playout appends, depends on its generator alone and keeps to dst's memory.
func TestPlayoutAppends(t *testing.T) {
	g, err := terminal.New(terminal.DefaultRules())
	if err != nil {
		t.Fatal(err)
	}
	var s terminal.State
	g.Reset(&s, 0)
	a, b := prng.New(3), prng.New(3)
	first := []sim.Order{terminal.Place(terminal.Wall, 13, 5)}
	for range 20 {
		one := g.Playout(first, &s, 1, &a)
		two := g.Playout(nil, &s, 1, &b)
		if !slices.Equal(one[1:], two) || one[0] != first[0] {
			t.Fatalf("%x, then %x", one, two)
		}
	}
	dst := make([]sim.Order, 0, terminal.PlayoutOrders)
	if n := testing.AllocsPerRun(100, func() { g.Playout(dst, &s, 0, &a) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// The seats play alike: what seat 1 orders is what seat 0 would, turned by 180°.
func TestPlayoutTurns(t *testing.T) {
	g, err := terminal.New(terminal.DefaultRules())
	if err != nil {
		t.Fatal(err)
	}
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

// BenchmarkPlayoutOrders draws the orders of one seat in states of such games.
func BenchmarkPlayoutOrders(b *testing.B) {
	var states []terminal.State
	var game *terminal.Game
	playoutGames(b, "2026", 4, func(g *terminal.Game, s *terminal.State, _ sim.Player, _ []sim.Order) {
		game = g
		states = append(states, *s)
	})
	random, n := prng.New(1), 0
	dst := make([]sim.Order, 0, terminal.PlayoutOrders)
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		at := i % len(states)
		n += len(game.Playout(dst, &states[at], sim.Player(at&1), &random))
	}
	b.ReportMetric(float64(n)/float64(b.N), "orders/op")
}
