package terminal

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/prng"
	"moonfarm/sim/terminal"
)

// searchSeat returns a search model and the start of a game to which both seats have added
// structures by orders.
func searchSeat(t *testing.T, p sim.Player, own, foe []sim.Order) (*model, *terminal.State) {
	t.Helper()
	r := terminal.DefaultRules()
	r.StartCores, r.StartBits = 500, 20
	game, err := terminal.New(r)
	require.NoError(t, err)
	g := newModel(Search.Defaults())
	g.seat.Game, g.seat.Rules = game, r
	s := new(terminal.State)
	game.Reset(s, 0)
	turn := sim.NewTurn(8)
	turn.Set(p, own)
	turn.Set(p^1, foe)
	game.Deploy(s, turn)
	return g, s
}

// The best starts of scouts are out of the turrets' range, one on each edge.
func TestTerminalStarts(t *testing.T) {
	// A unit that starts at the lowest cell of the left edge arrives at (27, 14).
	g, s := searchSeat(t, 0, nil, []sim.Order{terminal.Place(terminal.Turret, 26, 15), terminal.Place(terminal.Turret, 25, 16)})
	c := g.sit(s, 0)
	best := c.starts(terminal.Scout)
	assert.NotEqualf(t, best[1]&1, best[0]&1, "starts %v are on one side", best)
	lost := func(e int) float32 {
		way, _ := c.paths.Walk(nil, edgeCell(e, 0), 0)
		return c.losses(way, terminal.Scout)
	}
	if lost(0) == 0 || best[0] == noStart || best[1] == noStart || lost(int(best[0])) != 0 || lost(int(best[1])) != 0 {
		t.Errorf("starts %v, fire on the lowest of the left edge %v", best, lost(0))
	}
	for e := range terminal.EdgeCells {
		c.blocked.Add(edgeCell(e, 0))
	}
	if best := c.starts(terminal.Scout); best != [2]uint8{noStart, noStart} {
		t.Errorf("starts %v on blocked edges", best)
	}
}

// The answer to an open path is a turret that covers it, or the upgrade of such a turret.
func TestTerminalAnswer(t *testing.T) {
	g, s := searchSeat(t, 1, nil, nil)
	c := g.sit(s, 1)
	way, through := c.enemyWay()
	require.True(t, through, "no way over an empty arena")
	before := append([]uint16(nil), way...)
	c.answer()
	require.Truef(t, len(c.Orders) == 1 && terminal.Decode(c.Orders[0]).Op == terminal.OpPlace && terminal.Decode(c.Orders[0]).Kind == terminal.Turret, "orders %x, want a turret", c.Orders)
	o := terminal.Decode(c.Orders[0])
	cell, _ := bitboard.DiamondCell(int(o.X), int(o.Y))
	n := covered(cell, before, c.Rules.Units[terminal.Turret].AttackRange)
	assert.GreaterOrEqualf(t, n, 4, "the turret on (%d, %d) covers %d cells of the way", o.X, o.Y, n)
	orders := []sim.Order{terminal.Place(terminal.Turret, 12, 12)}
	for x := range terminal.Side { // a wall with an opening beside the turret
		if x != 13 {
			orders = append(orders, terminal.Place(terminal.Wall, x, 13))
		}
	}
	g, s = searchSeat(t, 0, orders, nil)
	c = g.sit(s, 0)
	if c.answer(); len(c.Orders) != 1 || c.Orders[0] != terminal.UpgradeAt(12, 12) {
		t.Errorf("orders %x, want the turret's upgrade", c.Orders)
	}
}

// Each attack sends the units that its name says.
func TestTerminalLaunch(t *testing.T) {
	g, s := searchSeat(t, 0, nil, nil) // 20 bits each
	scout, demolisher, interceptor := g.seat.Rules.Units[terminal.Scout].Bits, g.seat.Rules.Units[terminal.Demolisher].Bits, g.seat.Rules.Units[terminal.Interceptor].Bits
	require.True(t, scout == 1 && demolisher == 3 && interceptor == 1, "other prices than the test expects")
	for attack, want := range map[attack][3]uint32{
		attackNone: {}, attackScouts: {20}, attackHalf: {10}, attackDemolishers: {0, 6}, attackMixed: {11, 3}, attackInterceptors: {0, 0, 6},
	} {
		var got [3]uint32 // scouts, demolishers, interceptors
		c := g.sit(s, 0)
		c.launch(attack, 6)
		for _, o := range c.Orders {
			d := terminal.Decode(o)
			if e, ok := terminal.Edge(int(d.X), int(d.Y)); !ok || e != 6 {
				t.Errorf("attack %d begins at (%d, %d)", attack, d.X, d.Y)
			}
			got[d.Kind-terminal.Scout] += d.Count
		}
		assert.Truef(t, got == want, "attack %d sends %v units, want %v", attack, got, want)
	}
}

// Health, structures and resources raise the value for their owner.
func TestTerminalFormula(t *testing.T) {
	g, s := searchSeat(t, 0, nil, nil)
	assert.Zero(t, g.formula(s), "the start is worth")
	change := func(what string, do func(s *terminal.State), more bool) {
		t.Helper()
		after := *s
		do(&after)
		v := g.formula(&after)
		assert.Truef(t, more == (v > 0) && v > -1 && v < 1 && v != 0, "%s: %v", what, v)
	}
	change("a breach", func(s *terminal.State) { s.Health[1]-- }, true)
	change("bits", func(s *terminal.State) { s.Bits[1]++ }, false)
	change("cores", func(s *terminal.State) { s.Cores[0]++ }, true)
	change("a turret", func(s *terminal.State) {
		s.Put(terminal.Piece{At: terminal.Pos{X: 13, Y: 20}, Kind: terminal.Turret, Player: 1, ID: 1, Health: 10})
	}, false)
}

// The opponent of the searching seat plays the script's orders, in the tree and in
// rollouts.
func TestTerminalOpponent(t *testing.T) {
	g, s := searchSeat(t, 0, nil, nil)
	g.opponent = (*seat).turtle
	g.script = func(*seat) {}
	g.horizon = 3
	for p := range sim.Player(2) {
		g.SearchFor(p)
		foe := p ^ 1
		choices := g.Moves(nil, s, foe)
		require.Truef(t, len(choices) == 1 && len(g.Moves(nil, s, p)) >= 2, "seat %d: %d moves of the opponent", p, len(choices))
		got := g.AppendOrders(nil, s, foe, choices[0].Move)
		c := g.sit(s, foe)
		c.draw(0)
		if c.turtle(); len(got) == 0 || !slices.Equal(got, c.Orders) {
			t.Errorf("seat %d: the opponent orders %x, want %x", p, got, c.Orders)
		}
		r := prng.New(1)
		g.Evaluate(s, &r)
		n, m := g.state.Own[p].Count(), g.state.Own[foe].Count()
		assert.Truef(t, n == 0 && m >= 10, "seat %d: it builds %d structures behind a leaf, the opponent %d", p, n, m)
	}
}
