package terminal

import (
	"fmt"
	"math/bits"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/features"
	"moonfarm/features/featuretest"
	"moonfarm/sim"
	"moonfarm/sim/prng"
	"moonfarm/sim/simtest"
	tm "moonfarm/sim/terminal"
)

// newDrafts returns the drafts of the form of single orders.
func newDrafts(g *tm.Game, n int) *drafts {
	kit := Kit(g)
	return kit.Forms[0].NewDrafts(n).(*drafts)
}

// drawn calls look for drafts of random orders in random games, after each order and at the end of
// the turn, with the state at the start of the turn.
func drawn(t *testing.T, g *tm.Game, seed uint64, turns int, look func(f *drafts, s *tm.State, d *row)) {
	t.Helper()
	f, r := newDrafts(g, 1), prng.New(seed)
	mask, action := make([]uint64, choiceWords), make([]int32, 1)
	visit(g, seed, turns, func(s *tm.State) {
		if r.IntN(3) == 0 {
			s.Bits = [2]float32{45, 45}
		}
		f.Begin(0, s, sim.Player(r.IntN(2)))
		look(f, s, &f.rows[0])
		for ended := false; !ended; {
			f.Mask(mask, 0)
			// The first of two, so that turns have several orders.
			featuretest.Choose(action, []int{choices}, mask, func(_, n int) int { return min(r.IntN(n), r.IntN(n)) / 4 })
			ended = f.Take(0, action)
			look(f, s, &f.rows[0])
		}
	})
}

// TestOrdersShown compares what a draft shows with the state that its orders lead to.
func TestOrdersShown(t *testing.T) {
	for name, r := range map[string]tm.Rules{"2026": rules(t, "2026"), "2020": rules(t, "2020"), "heavy": heavy(t), "tight": tight(t)} {
		t.Run(name, func(t *testing.T) {
			g := newGame(t, r)
			units, orders := 0, 0
			drawn(t, g, 8, 60, func(f *drafts, s *tm.State, d *row) {
				units += checkShown(t, g, f, s, d)
				orders++
			})
			t.Logf("%d orders, %d units", orders, units)
			assert.True(t, orders > 100 && units > 10, "that is too few")
		})
	}
}

// checkShown compares one draft, and returns the number of units that wait.
func checkShown(t *testing.T, g *tm.Game, f *drafts, s *tm.State, d *row) (units int) {
	t.Helper()
	p, r := d.Player, g.Rules()
	given := f.AppendOrders(nil, 0)
	turn := sim.NewTurn(len(given))
	turn.Set(p, given)
	after := *s
	g.Deploy(&after, turn)
	want := append(plainPlanes(&r, &after, s, p), make([]uint8, ordersBytes-boardBytes)...)
	for _, u := range g.AppendMobile(nil, p) {
		e, _ := tm.Edge(int(u.At.X), int(u.At.Y))
		x, y := tm.EdgeXY(e, 0)
		want[(planeWaiting+int(u.Kind-tm.Scout))*planeBytes+y*side+x]++
		units++
	}
	for i := range tm.HalfCells {
		x, y := tm.LocalXY(i, p)
		before, stood := s.At(x, y)
		now, stands := after.At(x, y)
		x, y = tm.LocalXY(i, 0)
		upgraded := now.Upgraded && !before.Upgraded
		marked := now.RemoveIn > 0 && (before.RemoveIn == 0 || upgraded)
		want[planeOrdered*planeBytes+y*side+x] = uint8(flag(stands && !stood) | flag(upgraded)<<1 | flag(marked)<<2)
	}
	dst := features.Rows{Planes: make([]uint8, ordersBytes), Scalars: make([]float32, ordersScalars)}
	f.Observe(dst, 0)
	featuretest.SamePlanes(t, f.encoder, fmt.Sprintf("turn %d seat %d, orders %x", s.Turn, p, given), dst.Planes, want)
	own, enemy := make([]float32, scalars), make([]float32, scalars)
	f.encoder.plain.Scalars(own, &after, p)
	f.encoder.plain.Scalars(enemy, s, p)
	next := d.last + 1
	if d.last >= choiceStack && (d.last-choiceStack)%6 == 1 {
		next--
	}
	phase := make([]float32, phases)
	phase[min(next/210, 5)] = 1
	numbers := slices.Concat(own[:scalarsPerSide], enemy[scalarsPerSide:],
		[]float32{s.Cores[p], s.Bits[p], float32(d.given), float32(next)}, phase, []float32{float32(flag(d.ended))})
	if !slices.Equal(dst.Scalars, numbers) {
		t.Fatalf("turn %d seat %d, orders %x: scalars %v, want %v", s.Turn, p, given, dst.Scalars, numbers)
	}
	return units
}

// orderOf returns the order of a choice by the description in Doc; of a stack of as many units as the
// bits buy, one unit.
func orderOf(c int, p sim.Player) sim.Order {
	if c >= 1050 {
		h := 83 - (c-1050)/6
		x, y := tm.EdgeXY(h/3, p)
		return tm.Spawn(tm.Scout+tm.Kind(h%3), x, y, []int{1, 10, 5, 3, 2, 1}[(c-1050)%6])
	}
	x, y := tm.LocalXY(c%210, p)
	switch c / 210 {
	case 3:
		return tm.UpgradeAt(x, y)
	case 4:
		return tm.RemoveAt(x, y)
	}
	return tm.Place(tm.Kind(c/210), x, y)
}

// TestOrdersMaskTwin asks the game about every choice in drafts.
func TestOrdersMaskTwin(t *testing.T) {
	for name, r := range map[string]tm.Rules{"2026": rules(t, "2026"), "2020": rules(t, "2020"), "tight": tight(t)} {
		t.Run(name, func(t *testing.T) {
			g := newGame(t, r)
			mask, n, again := make([]uint64, choiceWords), 0, 0
			drawn(t, g, 5, 60, func(f *drafts, s *tm.State, d *row) {
				if n++; n%9 != 0 && (d.last < choiceStack || d.ended) {
					return
				}
				f.Mask(mask, 0)
				given := f.AppendOrders(nil, 0)
				for c := range choices {
					repeated := c == d.last && c >= 1050 && (c-1050)%6 == 1
					want := c == choiceEnd || !d.ended && (c > d.last || repeated) && accepted(g, s, d.Player, append(given[:len(given):len(given)], orderOf(c, d.Player)))
					if got := mask[c/64]>>(c%64)&1 != 0; got != want {
						t.Fatalf("turn %d seat %d, after choice %d, orders %x: the mask says %v of choice %d, the rules %v", s.Turn, d.Player, d.last, given, got, c, want)
					}
					again += int(flag(want && repeated))
				}
				require.Zero(t, mask[choiceWords-1]>>(choices%64))
			})
			t.Logf("%d drafts, %d with a stack that may be repeated", n, again)
			assert.NotZero(t, again, "no stack could be repeated")
		})
	}
}

// TestOrdersLabels checks the actions on the way to orders.
func TestOrdersLabels(t *testing.T) {
	g := newGame(t, rules(t, "2026"))
	f := newDrafts(g, 1)
	cell := func(block, x, y int) int32 { return int32(block*210 + tm.Local(x, y)) }
	stack := func(x, y int, k tm.Kind, size int) int32 {
		e, _ := tm.Edge(x, y)
		return int32(1050 + 6*(83-3*e-int(k-tm.Scout)) + size)
	}
	for _, c := range []struct {
		name   string
		orders []sim.Order
		before []int32 // actions taken first
		want   []int32
		said   bool
	}{
		{"nothing", []sim.Order{0, tm.Clock(9), tm.Penalty(1)}, nil, nil, true},
		{"in the order of the choices", []sim.Order{tm.Spawn(tm.Scout, 13, 0, 1), tm.Place(tm.Turret, 4, 12), tm.Place(tm.Wall, 13, 5), tm.RemoveAt(4, 12), tm.UpgradeAt(13, 5)}, nil,
			[]int32{cell(0, 13, 5), cell(2, 4, 12), cell(3, 13, 5), cell(4, 4, 12), stack(13, 0, tm.Scout, 5)}, true},
		{"an upgrade calls a removal off", []sim.Order{tm.Place(tm.Wall, 4, 12), tm.RemoveAt(4, 12), tm.UpgradeAt(4, 12)}, nil, []int32{cell(0, 4, 12), cell(3, 4, 12)}, true},
		{"without effect", []sim.Order{tm.Place(tm.Wall, 13, 0), tm.Place(tm.Wall, 13, 0), tm.Spawn(tm.Scout, 13, 0, 1), tm.Place(tm.Wall, 13, 14), tm.UpgradeAt(5, 12)}, nil, []int32{cell(0, 13, 0)}, true},
		{"in the other line", []sim.Order{tm.Swap(tm.Spawn(tm.Scout, 13, 0, 1)), tm.Place(tm.Wall, 13, 0), tm.Swap(tm.Place(tm.Wall, 14, 0))}, nil,
			[]int32{cell(0, 14, 0), stack(13, 0, tm.Scout, 5)}, true},
		{"sizes", []sim.Order{tm.Spawn(tm.Scout, 13, 0, 39)}, nil,
			[]int32{stack(13, 0, tm.Scout, 1), stack(13, 0, tm.Scout, 1), stack(13, 0, tm.Scout, 1), stack(13, 0, tm.Scout, 2), stack(13, 0, tm.Scout, 3), stack(13, 0, tm.Scout, 5)}, true},
		{"all", []sim.Order{tm.Spawn(tm.Scout, 13, 0, 99)}, nil, []int32{stack(13, 0, tm.Scout, 0)}, true},
		{"all that is left", []sim.Order{tm.Spawn(tm.Scout, 14, 0, 4), tm.Spawn(tm.Demolisher, 0, 13, 99)}, nil,
			[]int32{stack(0, 13, tm.Demolisher, 1), stack(0, 13, tm.Demolisher, 4), stack(14, 0, tm.Scout, 0)}, true},
		{"on the way", []sim.Order{tm.Place(tm.Wall, 4, 12), tm.Place(tm.Wall, 13, 5), tm.Spawn(tm.Scout, 13, 0, 16)}, []int32{cell(0, 13, 5), cell(0, 4, 12), stack(13, 0, tm.Scout, 2)},
			[]int32{stack(13, 0, tm.Scout, 3), stack(13, 0, tm.Scout, 4), stack(13, 0, tm.Scout, 5)}, false},
		{"the sizes left suffice", []sim.Order{tm.Spawn(tm.Scout, 13, 0, 11)}, []int32{stack(13, 0, tm.Scout, 2)},
			[]int32{stack(13, 0, tm.Scout, 3), stack(13, 0, tm.Scout, 4), stack(13, 0, tm.Scout, 5)}, true},
		{"behind the cursor", []sim.Order{tm.Place(tm.Wall, 13, 5), tm.Place(tm.Turret, 4, 12), tm.UpgradeAt(4, 12)}, []int32{cell(0, 4, 13)}, []int32{cell(2, 4, 12), cell(3, 4, 12)}, false},
		{"too much", []sim.Order{tm.Place(tm.Wall, 13, 5)}, []int32{cell(0, 13, 4)}, []int32{cell(0, 13, 5)}, false},
		{"too many units", []sim.Order{tm.Spawn(tm.Scout, 13, 0, 3)}, []int32{stack(13, 0, tm.Scout, 2)}, nil, false},
		{"the purse is empty", []sim.Order{tm.Place(tm.Turret, 4, 12), tm.UpgradeAt(4, 12)}, []int32{cell(1, 1, 13), cell(1, 2, 13), cell(1, 3, 13), cell(1, 4, 13), cell(1, 5, 13), cell(1, 6, 13), cell(1, 7, 13), cell(1, 8, 13), cell(1, 9, 13)},
			[]int32{cell(2, 4, 12)}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s tm.State
			g.Reset(&s, 0)
			s.Bits[0], s.Cores[0] = 40, 40
			f.Begin(0, &s, 0)
			for _, a := range c.before {
				require.False(t, f.Take(0, []int32{a}))
			}
			all, said, action := []int32(nil), true, []int32{0}
			for ended := false; !ended; {
				said = f.Action(action, c.orders, 0) && said
				all = append(all, action[0])
				ended = f.Take(0, action)
			}
			assert.Equal(t, c.said, said)
			assert.Equal(t, append(slices.Clone(c.want), choiceEnd), all)
		})
	}
}

// TestOrdersPlaythrough compares the actions of the short match, and what both seats see on the way,
// with a file.
func TestOrdersPlaythrough(t *testing.T) {
	g := newGame(t, tm.DefaultRules())
	f := newDrafts(g, 1)
	e := f.encoder
	table := e.Description().Scalars
	var s tm.State
	g.Reset(&s, 0)
	out := []byte("# The short match in the form of single orders, by the default rules: before each action the number of legal choices, the scalars\n" +
		"# that are not 0, and what the planes of this turn's orders show, as x,y=value; then the action, and at last the orders.\n")
	turn := sim.NewTurn(8)
	mask, action := make([]uint64, choiceWords), make([]int32, 1)
	dst := features.Rows{Planes: make([]uint8, ordersBytes), Scalars: make([]float32, ordersScalars)}
	for _, given := range match {
		for p := range sim.Player(2) {
			out = fmt.Appendf(out, "\nturn %d seat %d\n", s.Turn, p)
			f.Begin(0, &s, p)
			for ended := false; !ended; {
				f.Mask(mask, 0)
				legal := 0
				for _, w := range mask {
					legal += bits.OnesCount64(w)
				}
				out = fmt.Appendf(out, "%d legal;", legal)
				f.Observe(dst, 0)
				for i, v := range dst.Scalars {
					if v != 0 {
						out = fmt.Appendf(out, " %s=%v", table[i].Name, v)
					}
				}
				out = append(out, ';')
				for at, v := range dst.Planes[planeWaiting*planeBytes:] {
					if v != 0 {
						out = fmt.Appendf(out, " %d:%d,%d=%d", planeWaiting+at/planeBytes, at%side, at/side%side, v)
					}
				}
				known := f.Action(action, given[p], 0)
				out = fmt.Appendf(out, "\naction %d %v\n", action[0], known)
				ended = f.Take(0, action)
			}
			turn.Set(p, f.AppendOrders(nil, 0))
			out = fmt.Appendf(out, "orders %#x\n", turn.Orders(p))
		}
		g.Step(&s, turn)
	}
	simtest.Golden(t, "testdata/orders.txt", out)
}

// TestOrdersActions compares the first action of a turn with that of a draft, and counts allocations.
func TestOrdersActions(t *testing.T) {
	g := newGame(t, rules(t, "2026"))
	a, f, r := Kit(g).Forms[0].Actions, newDrafts(g, 1), prng.New(6)
	action, label := make([]int32, 1), make([]int32, 1)
	mask, orders := make([]uint64, choiceWords), make([]sim.Order, 0, 8)
	visit(g, 6, 100, func(s *tm.State) {
		p := sim.Player(s.Turn & 1)
		given := g.Playout(nil, s, p, &r)
		f.Begin(0, s, p)
		said := f.Action(label, given, 0)
		require.True(t, a.Action(action, given, s, p) == said && action[0] == label[0])
		f.Take(0, action)
		require.Equal(t, f.AppendOrders([]sim.Order{}, 0), a.AppendOrders([]sim.Order{}, action, s, p))
		allocations := testing.AllocsPerRun(1, func() {
			a.Mask(mask, s, p)
			a.Action(action, given, s, p)
			orders = a.AppendOrders(orders[:0], action, s, p)
		})
		require.Zero(t, allocations)
	})
}
