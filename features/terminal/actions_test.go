package terminal

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/prng"
	tm "moonfarm/sim/terminal"
)

// tight returns rules whose prices are not multiples of 0.1.
func tight(t testing.TB) tm.Rules {
	r := rules(t, "2026")
	r.Units[tm.Wall].Cores, r.Upgraded[tm.Wall].Cores = 0.33, 0.77
	r.Units[tm.Scout].Bits, r.Units[tm.Interceptor].Bits = 0.35, 1.26
	r.Upgradable[tm.Support], r.Upgraded[tm.Support] = false, tm.Unit{}
	return r
}

// commands returns the commands of a choice of a head, by the description in Doc.
func commands(h, c int, p sim.Player) (all []sim.Order) {
	if h < stackHeads {
		x, y := tm.EdgeXY(h/3, p)
		if c > 0 {
			all = append(all, tm.Spawn(tm.Scout+tm.Kind(h%3), x, y, c))
		}
		return all
	}
	x, y := tm.LocalXY(h-stackHeads, p)
	if c&3 != 0 {
		all = append(all, tm.Place(tm.Kind(c&3-1), x, y))
	}
	if c&4 != 0 {
		all = append(all, tm.UpgradeAt(x, y))
	}
	if c&8 != 0 {
		all = append(all, tm.RemoveAt(x, y))
	}
	return all
}

// effects counts the spawn events that the orders of seat p cause.
func effects(g *tm.Game, s *tm.State, p sim.Player, orders []sim.Order) map[tm.SpawnEvent]int {
	var record tm.Record
	turn := sim.NewTurn(len(orders))
	turn.Set(p, orders)
	after := *s
	g.Record(&record)
	g.Deploy(&after, turn)
	g.Record(nil)
	done := map[tm.SpawnEvent]int{}
	for _, e := range record.Spawns {
		e.ID = 0
		done[e]++
	}
	return done
}

// accepted reports whether the rules accept all the commands.
func accepted(g *tm.Game, s *tm.State, p sim.Player, orders []sim.Order) bool {
	want := 0
	for _, o := range orders {
		want += max(1, int(tm.Decode(o).Count))
	}
	for _, n := range effects(g, s, p, orders) {
		want -= n
	}
	return want == 0
}

// TestMaskTwin asks the game about every choice of every head.
func TestMaskTwin(t *testing.T) {
	for name, r := range map[string]tm.Rules{"2026": rules(t, "2026"), "2020": rules(t, "2020"), "tight": tight(t)} {
		t.Run(name, func(t *testing.T) {
			g := newGame(t, r)
			a := NewActions(g)
			mask, n := make([]uint64, gridMaskWords), 0
			visit(g, 5, 100, func(s *tm.State) {
				n++
				if n%20 != 0 {
					return
				}
				for p := range sim.Player(2) {
					a.Mask(mask, s, p)
					at := 0
					for h, size := range a.Heads() {
						for c := range size {
							orders := commands(h, c, p)
							want := accepted(g, s, p, orders)
							if h < stackHeads && c == stackAll { // at least one unit
								want = accepted(g, s, p, commands(h, 1, p))
							}
							if got := mask[at/64]>>(at%64)&1 != 0; got != want {
								t.Fatalf("turn %d seat %d head %d choice %d: the mask says %v, the rules %v", s.Turn, p, h, c, got, want)
							}
							at++
						}
					}
				}
			})
		})
	}
}

// TestAppendOrdersTwin carries out random actions and checks that all orders are accepted, that they are
// commands of the action in the documented order, and that no command was left out that the rules
// would have accepted.
func TestAppendOrdersTwin(t *testing.T) {
	for name, r := range map[string]tm.Rules{"2026": rules(t, "2026"), "tight": tight(t)} {
		t.Run(name, func(t *testing.T) {
			g := newGame(t, r)
			a := NewActions(g)
			random := prng.New(1)
			action := make([]int32, heads)
			visit(g, 9, 200, func(s *tm.State) {
				p := sim.Player(s.Turn & 1)
				for h, n := range a.Heads() {
					if action[h] = 0; random.IntN(5) == 0 {
						action[h] = int32(random.IntN(n+2) - 1)
					}
				}
				// All commands of the action, in order; the game skips commands that it rejects.
				var all []sim.Order
				for j := range cellHeads {
					if i := 97 * j % cellHeads; action[stackHeads+i] > 0 && action[stackHeads+i] < cellChoices {
						all = append(all, commands(stackHeads+i, int(action[stackHeads+i]), p)...)
					}
				}
				for j := range stackHeads {
					h := 37 * j % stackHeads
					if c := int(action[h]); c > 0 && c < stackChoices {
						if c == stackAll {
							c = r.MaxMobile()
						}
						all = append(all, commands(h, c, p)...)
					}
				}
				got := a.AppendOrders(nil, action, s, p)
				require.Truef(t, accepted(g, s, p, got), "turn %d seat %d: the rules reject some of %#x", s.Turn, p, got)
				if want := effects(g, s, p, all); !maps.Equal(want, effects(g, s, p, got)) {
					t.Fatalf("turn %d seat %d: the commands of the action do %v, the orders %v", s.Turn, p, want, effects(g, s, p, got))
				}
			})
		})
	}
}

// TestActionOfOrders finds actions for random orders, some without effect, in
// any order.
func TestActionOfOrders(t *testing.T) {
	g := newGame(t, rules(t, "2026"))
	a := NewActions(g)
	random := prng.New(2)
	action := make([]int32, heads)
	visit(g, 4, 400, func(s *tm.State) {
		for p := range sim.Player(2) {
			orders := g.Playout(nil, s, p, &random)
			for range random.IntN(4) { // orders without effect, or of the referee
				x, y := random.IntN(28), random.IntN(28)
				orders = append(orders, tm.UpgradeAt(x, y), tm.Place(tm.Kind(random.IntN(4)), x, y), tm.Clock(7), tm.RemoveAt(x, y))
			}
			for i := range orders {
				j := random.IntN(i + 1)
				orders[i], orders[j] = orders[j], orders[i]
			}
			require.Truef(t, a.Action(action, orders, s, p), "turn %d seat %d: no action for %#x", s.Turn, p, orders)
			want, got := result(g, s, p, orders), result(g, s, p, a.AppendOrders(nil, action, s, p))
			require.Equalf(t, want, got, "turn %d seat %d: orders %#x come to\n%s\ntheir action to\n%s", s.Turn, p, orders, want, got)
		}
	})
}

// result returns the effect of orders as text, without ids.
func result(g *tm.Game, s *tm.State, p sim.Player, orders []sim.Order) string {
	turn := sim.NewTurn(len(orders))
	turn.Set(p, orders)
	after := *s
	g.Deploy(&after, turn)
	text := fmt.Sprintln(after.Cores, after.Bits, after.Marked)
	for _, c := range half[p] {
		if u, ok := after.At(int(c.x), int(c.y)); ok {
			u.ID = 0
			text += fmt.Sprint(u, " ")
		}
	}
	count := map[tm.Piece]int{}
	for _, u := range g.AppendMobile(nil, p) {
		u.ID = 0
		count[u]++
	}
	return text + fmt.Sprint(count) // maps are printed in the order of their keys
}

// headOf returns the head that an event belongs to.
func headOf(e tm.SpawnEvent, p sim.Player) int {
	if e.Kind.Mobile() {
		edge, _ := tm.Edge(int(e.At.X), int(e.At.Y))
		return 3*edge + int(e.Kind-tm.Scout)
	}
	cell, _ := bitboard.DiamondCell(int(e.At.X), int(e.At.Y))
	return stackHeads + int(listAt[p][cell])
}

// TestActionByHead finds actions for orders that no action represents completely. Heads that are not −1
// must have the effect of their orders.
func TestActionByHead(t *testing.T) {
	for name, r := range map[string]tm.Rules{"2026": rules(t, "2026"), "tight": tight(t)} {
		t.Run(name, func(t *testing.T) {
			g := newGame(t, r)
			a := NewActions(g)
			random := prng.New(7)
			action := make([]int32, heads)
			parts, alone := 0, 0 // rows with a partial action, and heads that are −1
			visit(g, 6, 600, func(s *tm.State) {
				s.Bits = [2]float32{float32(random.IntN(400)) / 10, float32(random.IntN(400)) / 10}
				for p := range sim.Player(2) {
					orders := g.Playout(nil, s, p, &random)
					x, y := tm.EdgeXY(random.IntN(edgeCells), p)
					orders = append(orders, tm.Spawn(tm.Scout+tm.Kind(random.IntN(3)), x, y, 25+random.IntN(20)))
					for i := range orders {
						if random.IntN(6) == 0 {
							orders[i] = tm.Swap(orders[i])
						}
						j := random.IntN(i + 1)
						orders[i], orders[j] = orders[j], orders[i]
					}
					said := a.Action(action, orders, s, p)
					require.Equalf(t, !slices.Contains(action, -1), said, "turn %d seat %d: said is %v, action %v", s.Turn, p, said, action)
					want, got := effects(g, s, p, orders), effects(g, s, p, a.AppendOrders(nil, action, s, p))
					for e, n := range got {
						if h := headOf(e, p); action[h] == -1 || want[e] != n {
							t.Fatalf("turn %d seat %d head %d: choice %d does %v %d times, the orders %d times", s.Turn, p, h, action[h], e, n, want[e])
						}
					}
					for e, n := range want {
						off := e
						off.Kind = tm.Upgrade
						if h := headOf(e, p); action[h] != -1 && got[e] != n && (e.Kind != tm.Removal || want[off] == 0) {
							t.Fatalf("turn %d seat %d head %d: the orders do %v %d times, choice %d %d times", s.Turn, p, h, e, n, action[h], got[e])
						}
					}
					if !said && len(got) > 0 {
						parts++
					}
					for _, c := range action {
						if c == -1 {
							alone++
						}
					}
				}
			})
			t.Logf("%d rows said in part, %d heads not", parts, alone)
			assert.True(t, parts >= 100 && alone >= 100, "that is too few")
		})
	}
}

// TestActionOfHead checks the choices of heads for orders.
func TestActionOfHead(t *testing.T) {
	g := newGame(t, rules(t, "2026"))
	a := NewActions(g)
	var s tm.State
	g.Reset(&s, 0)
	s.Bits[0], s.Cores[0] = 40, 40
	action := make([]int32, heads)
	set := func(pairs ...int) []int32 {
		want := make([]int32, heads)
		for i := 0; i < len(pairs); i += 2 {
			want[pairs[i]] = int32(pairs[i+1])
		}
		return want
	}
	cell := func(x, y int) int { return stackHeads + tm.Local(x, y) }
	for _, c := range []struct {
		name   string
		orders []sim.Order
		want   []int32
	}{
		{"nothing", []sim.Order{0, tm.Clock(9), tm.Penalty(1)}, set()},
		{"all at once", []sim.Order{tm.Place(tm.Turret, 4, 12), tm.UpgradeAt(4, 12), tm.RemoveAt(4, 12)}, set(cell(4, 12), 15)},
		{"upgrade calls a removal off", []sim.Order{tm.Place(tm.Wall, 4, 12), tm.RemoveAt(4, 12), tm.UpgradeAt(4, 12)}, set(cell(4, 12), 5)},
		{"30 and the rest", []sim.Order{tm.Spawn(tm.Scout, 13, 0, 40)}, set(0, 31)},
		{"30 units", []sim.Order{tm.Spawn(tm.Scout, 13, 0, 20), tm.Spawn(tm.Scout, 13, 0, 10)}, set(0, 30)},
		{"31 of 40", []sim.Order{tm.Spawn(tm.Scout, 13, 0, 31), tm.Place(tm.Wall, 13, 1)}, set(0, -1, cell(13, 1), 1)},
		{"35 and another", []sim.Order{tm.Spawn(tm.Scout, 13, 0, 35), tm.Spawn(tm.Demolisher, 13, 0, 1)}, set(0, -1, 1, 1)},
		{"on a wall", []sim.Order{tm.Spawn(tm.Scout, 13, 0, 1), tm.Place(tm.Wall, 13, 0)}, set(cell(13, 0), 1)},
		{"the other line", []sim.Order{tm.Swap(tm.Place(tm.Wall, 13, 0)), tm.Place(tm.Wall, 14, 0)}, set(cell(13, 0), -1, cell(14, 0), 1)},
		{"the other line, mobile", []sim.Order{tm.Swap(tm.Spawn(tm.Scout, 13, 0, 1)), tm.Spawn(tm.Scout, 14, 0, 2)}, set(0, -1, 3, 2)},
		{"a unit is there already", []sim.Order{tm.Swap(tm.Spawn(tm.Scout, 13, 0, 1)), tm.Place(tm.Wall, 13, 0)}, set(0, -1)},
		{"the other half", []sim.Order{tm.Place(tm.Wall, 13, 14), tm.Spawn(tm.Scout, 13, 27, 1)}, set()},
		{"the other half and line", []sim.Order{tm.Swap(tm.Place(tm.Wall, 13, 14)), tm.Swap(tm.Spawn(tm.Scout, 13, 27, 1))}, set()},
	} {
		t.Run(c.name, func(t *testing.T) {
			complete := a.Action(action, c.orders, &s, 0)
			assert.Equal(t, !slices.Contains(c.want, -1), complete)
			assert.Equal(t, c.want, action)
		})
	}
}
