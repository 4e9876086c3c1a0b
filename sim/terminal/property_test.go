package terminal_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"moonfarm/sim"
	"moonfarm/sim/prng"
	"moonfarm/sim/terminal"
)

// visit plays games of Playout under random rules for at most the given number of turns, and calls each
// for every state with its orders before they are played.
func visit(t *testing.T, seed uint64, games, turns int, look func(g *terminal.Game, s *terminal.State, turn *sim.Turn)) {
	t.Helper()
	r := prng.New(seed)
	for range games {
		rules := randomRules(&r)
		rules.CoresPerTurn += float32(r.IntN(20))
		g := newGame(t, rules)
		playout(g, &r, turns, func(s *terminal.State, turn *sim.Turn) { look(g, s, turn) })
	}
}

// playout does the same for one game.
func playout(g *terminal.Game, r *prng.Rand, turns int, look func(s *terminal.State, turn *sim.Turn)) {
	var s terminal.State
	g.Reset(&s, 0)
	turn := sim.NewTurn(terminal.PlayoutOrders)
	for status := sim.Running; status == sim.Running && turns > 0; turns-- {
		for p := range sim.Player(2) {
			turn.Set(p, g.Playout(nil, &s, p, r))
		}
		look(&s, turn)
		status = g.Step(&s, turn)
	}
}

// everyOrder returns all orders without a cell or for one cell, legal and illegal, in the order of
// AppendOrders.
func everyOrder(p sim.Player) (list []sim.Order) {
	list = append(list, terminal.Nothing)
	var spawns []sim.Order
	for _, half := range []sim.Player{p, p ^ 1} {
		for local := range terminal.HalfCells {
			x, y := terminal.LocalXY(local, half)
			for k := range terminal.Kind(8) {
				list = append(list, terminal.Place(k, x, y))
				spawns = append(spawns, terminal.Spawn(k, x, y, 1))
			}
			list = append(list, terminal.UpgradeAt(x, y), terminal.RemoveAt(x, y))
		}
	}
	return append(list, spawns...)
}

// TestLegalOrders tries every order: the game must carry out exactly the orders of AppendOrders, which are those of
// Legal.
func TestLegalOrders(t *testing.T) {
	states, tried := 0, 0
	every := [2][]sim.Order{everyOrder(0), everyOrder(1)}
	turn := sim.NewTurn(1)
	var record terminal.Record
	visit(t, 11, 12, 12, func(g *terminal.Game, s *terminal.State, _ *sim.Turn) {
		states++
		for p := range sim.Player(2) {
			want := []sim.Order{terminal.Nothing}
			g.Record(&record)
			turn.Clear()
			for _, o := range every[p][1:] {
				tried++
				after := *s
				record.Clear()
				turn.SetOne(p, o)
				g.Deploy(&after, turn)
				g.Frame(&after)
				if len(record.Spawns) > 0 {
					want = append(want, o)
				}
			}
			g.Record(nil)
			if got := g.AppendOrders(nil, s, p); !slices.Equal(got, want) {
				t.Fatalf("player %d: %d orders are listed, %d are carried out\n%x\n%x\n%s", p+1, len(got), len(want), got, want, terminal.AppendText(nil, g, s))
			}
			var l terminal.Legal
			g.Legal(&l, s, p)
			cells := l.Upgrade.Count() + l.Remove.Count()
			for i := range 3 {
				cells += l.Place[i].Count() + l.Spawn[i].Count()
			}
			assert.Equal(t, len(want)-1, cells, "the boards of Legal have the cells of AppendOrders")
		}
	})
	t.Logf("%d orders tried in %d states", tried, states)
}

// TestHashForgetsIDs checks that only the order of ids within a player counts: a state with other ids in
// the same order has the same hash and plays the same way; a state with two ids swapped has another
// hash.
func TestHashForgetsIDs(t *testing.T) {
	seen := 0
	visit(t, 13, 15, 15, func(g *terminal.Game, s *terminal.State, turn *sim.Turn) {
		other := renumbered(t, g, s, func(id uint32) uint32 { return 3*id + 1 })
		if g.Hash(&other) != g.Hash(s) {
			t.Fatalf("other ids make another hash:\n%s%s", terminal.AppendText(nil, g, s), terminal.AppendText(nil, g, &other))
		}
		a, b := *s, other
		if x, y := g.Step(&a, turn), g.Step(&b, turn); x != y || g.Hash(&a) != g.Hash(&b) {
			t.Fatalf("other ids play another way: %v, %v\n%s%s", x, y, terminal.AppendText(nil, g, &a), terminal.AppendText(nil, g, &b))
		}
		for p := range sim.Player(2) {
			if pieces := s.AppendStructures(nil, p); len(pieces) > 1 {
				i, j := pieces[0].ID, pieces[len(pieces)-1].ID
				swapped := renumbered(t, g, s, func(id uint32) uint32 {
					switch id {
					case i:
						return j
					case j:
						return i
					}
					return id
				})
				if seen++; g.Hash(&swapped) == g.Hash(s) {
					t.Fatalf("ids %d and %d exchanged make no other hash", i, j)
				}
			}
		}
	})
	assert.GreaterOrEqualf(t, seen, 100, "only %d exchanges", seen)
}

// renumbered returns s with other ids.
func renumbered(t *testing.T, g *terminal.Game, s *terminal.State, id func(uint32) uint32) terminal.State {
	t.Helper()
	var text strings.Builder
	for line := range strings.Lines(string(terminal.AppendText(nil, g, s))) {
		if !strings.HasPrefix(line, "id ") && !strings.HasPrefix(line, "turn ") {
			text.WriteString(line)
		}
	}
	fmt.Fprintf(&text, "turn %d next %d\n", s.Turn, id(s.NextID))
	for p := range sim.Player(2) {
		for _, c := range s.AppendStructures(nil, p) {
			fmt.Fprintf(&text, "id %d,%d=%d\n", c.At.X, c.At.Y, id(c.ID))
		}
	}
	return position(t, g, text.String())
}
