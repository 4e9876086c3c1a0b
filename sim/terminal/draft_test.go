package terminal_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	"moonfarm/sim/prng"
	"moonfarm/sim/simtest"
	"moonfarm/sim/terminal"
)

// TestDraftDeploys compares drafts of random turns, some of whose orders are illegal, repeated or in
// the other line, with what Deploy makes of the turn.
func TestDraftDeploys(t *testing.T) {
	for _, name := range []string{"2026", "2022", "2020", "classic"} {
		t.Run(name, func(t *testing.T) {
			g := mustGame(t, name)
			random := prng.New(3)
			deployed, units := 0, 0
			for range 4 {
				playout(g, &random, 100, func(s *terminal.State, _ *sim.Turn) {
					p := sim.Player(random.IntN(2))
					orders := mixed(g, s, p, &random)
					deployed += len(orders)
					units += checkDraft(t, g, s, p, orders)
				})
			}
			t.Logf("%d orders, %d mobile units", deployed, units)
			assert.True(t, deployed > 1000 && units > 100, "that is too few")
		})
	}
}

// mixed returns random orders in random order, with some that the rules refuse.
func mixed(g *terminal.Game, s *terminal.State, p sim.Player, random *prng.Rand) []sim.Order {
	orders := g.Playout(nil, s, p, random)
	orders = append(orders, g.Playout(nil, s, p, random)...)
	for range 4 {
		x, y := random.IntN(28), random.IntN(28)
		ex, ey := terminal.EdgeXY(random.IntN(terminal.EdgeCells), p)
		orders = append(orders, terminal.UpgradeAt(x, y), terminal.RemoveAt(x, y), terminal.Clock(5), terminal.Nothing,
			terminal.Place(terminal.Kind(random.IntN(4)), ex, ey), terminal.Spawn(terminal.Kind(random.IntN(7)), ex, ey, random.IntN(3)))
	}
	for i := range orders {
		if random.IntN(8) == 0 {
			orders[i] = terminal.Swap(orders[i])
		}
		j := random.IntN(i + 1)
		orders[i], orders[j] = orders[j], orders[i]
	}
	return orders
}

// checkDraft compares a draft with Deploy and returns the number of its mobile units.
func checkDraft(t *testing.T, g *terminal.Game, s *terminal.State, p sim.Player, orders []sim.Order) (units int) {
	t.Helper()
	var d terminal.Draft
	g.Begin(&d, s, p)
	g.TakeTurn(&d, orders)
	want, turn := *s, sim.NewTurn(len(orders))
	turn.Set(p, orders)
	g.Deploy(&want, turn)
	d.View.Time = want.Time // the draft ignores the referee's orders
	if diff := simtest.Diff(&want, &d.View); diff != "" {
		t.Fatalf("turn %d seat %d: orders %x: %s", s.Turn, p, orders, diff)
	}
	var waiting uint32
	var count [terminal.EdgeCells][terminal.MobileKinds]int32
	for _, u := range g.AppendMobile(nil, p) {
		e, _ := terminal.Edge(int(u.At.X), int(u.At.Y))
		waiting |= 1 << e
		count[e][u.Kind-terminal.Scout]++
		units++
	}
	if waiting != d.Waiting || count != d.Units {
		t.Fatalf("turn %d seat %d: orders %x: units %v wait, want %v", s.Turn, p, orders, d.Units, count)
	}
	checkSets(t, g, s, &d)
	return units
}

// checkSets compares the sets of a draft with the state before the turn and its view.
func checkSets(t *testing.T, g *terminal.Game, s *terminal.State, d *terminal.Draft) {
	t.Helper()
	p, v, r := d.Player, &d.View, g.Rules()
	for i := range terminal.HalfCells {
		x, y := terminal.LocalXY(i, p)
		before, stood := s.At(x, y)
		now, stands := v.At(x, y)
		e, edge := terminal.Edge(x, y)
		waits := edge && d.Waiting>>e&1 != 0
		for k := range terminal.Kind(terminal.Structures) {
			own := stands && now.Kind == k
			ok := d.Placed[k].Has(i) == (own && !stood) && d.Upgradable[k].Has(i) == (own && !now.Upgraded && r.Upgradable[k])
			require.Truef(t, ok, "cell %d, kind %v: placed %v, upgradable %v", i, k, d.Placed[k].Has(i), d.Upgradable[k].Has(i))
		}
		upgraded := stands && now.Upgraded && !before.Upgraded
		marked := now.RemoveIn > 0 && (before.RemoveIn == 0 || upgraded)
		ok := d.Free.Has(i) == (!stands && !waits) && d.Unmarked.Has(i) == (stands && now.RemoveIn == 0) &&
			(!edge || d.Built>>e&1 != 0 == stands) && d.Upgraded.Has(i) == upgraded && d.Marked.Has(i) == marked
		require.Truef(t, ok, "cell %d: %+v before, %+v now; free %v, unmarked %v, upgraded %v, marked %v", i, before, now,
			d.Free.Has(i), d.Unmarked.Has(i), d.Upgraded.Has(i), d.Marked.Has(i))
	}
}

// TestDraftTake checks that Take accepts the orders of AppendOrders and refuses all others.
func TestDraftTake(t *testing.T) {
	g := mustGame(t, "2026")
	random := prng.New(4)
	n := 0
	playout(g, &random, 60, func(s *terminal.State, _ *sim.Turn) {
		if n++; n%6 != 0 {
			return
		}
		p := sim.Player(n / 6 & 1)
		legal := map[sim.Order]bool{}
		for _, o := range g.AppendOrders(nil, s, p)[1:] {
			legal[o] = true
		}
		var d, begun terminal.Draft
		g.Begin(&begun, s, p)
		for y := range terminal.Side {
			for x := range terminal.Side {
				for _, o := range []sim.Order{
					terminal.Place(0, x, y), terminal.Place(1, x, y), terminal.Place(2, x, y), terminal.Place(3, x, y), terminal.UpgradeAt(x, y), terminal.RemoveAt(x, y),
					terminal.Spawn(2, x, y, 1), terminal.Spawn(3, x, y, 1), terminal.Spawn(4, x, y, 1), terminal.Spawn(5, x, y, 1), terminal.Clock(1),
				} {
					d = begun
					if got := g.Take(&d, o); got != legal[o] {
						t.Fatalf("turn %d seat %d: order %#x taken %v, listed %v", s.Turn, p, o, got, legal[o])
					}
				}
			}
		}
	})
}

// TestDraftKeeps checks that a draft neither changes the state nor disturbs the game's own turn.
func TestDraftKeeps(t *testing.T) {
	g := mustGame(t, "2026")
	var s terminal.State
	g.Reset(&s, 0)
	s.Bits[0] = 9
	turn := sim.NewTurn(2)
	turn.Set(0, []sim.Order{terminal.Spawn(terminal.Scout, 13, 0, 2)})
	g.Deploy(&s, turn)
	units, before := g.AppendMobile(nil, 0), s
	var d terminal.Draft
	g.Begin(&d, &s, 0)
	assert.True(t, g.Take(&d, terminal.Place(terminal.Wall, 13, 0)), "the cell of a unit of the last turn is free")
	assert.False(t, g.Take(&d, terminal.Spawn(terminal.Scout, 13, 0, 1)))
	assert.True(t, g.Take(&d, terminal.Spawn(terminal.Scout, 14, 0, 1)))
	assert.False(t, g.Take(&d, terminal.Place(terminal.Wall, 14, 0)), "a scout waits there")
	assert.Equal(t, units, g.AppendMobile(nil, 0))
	assert.Empty(t, simtest.Diff(&before, &s))
	assert.Zero(t, testing.AllocsPerRun(10, func() {
		g.Begin(&d, &s, 0)
		g.Take(&d, terminal.Place(terminal.Turret, 13, 5))
		g.Take(&d, terminal.UpgradeAt(13, 5))
	}))
}
