package policy

import (
	"testing"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/prng"
	"moonfarm/sim/terminal"
)

// The ways that the scripts foresee are those that mobile units take, as long
// as no structure falls: from every free cell of the edges, in positions of
// random games, open ones and such with pockets.
func TestTerminalWalk(t *testing.T) {
	g, err := terminal.New(terminal.DefaultRules())
	if err != nil {
		t.Fatal(err)
	}
	var s terminal.State
	random, turn := prng.New(11), sim.NewTurn(terminal.PlayoutOrders)
	c := &terminalSeat{game: g, rules: g.Rules()}
	ways, pockets, steps := 0, 0, 0
	for range 6 {
		g.Reset(&s, 0)
		for status := sim.Running; status == sim.Running; status = g.Step(&s, turn) {
			turn.Clear()
			for p := range sim.Player(2) {
				n, through := followWalk(t, g, c, s, p, random.IntN(terminal.Side))
				steps += n
				if n > 0 {
					ways++
				}
				if !through {
					pockets++
				}
				turn.Set(p, g.Playout(nil, &s, p, &random))
			}
		}
	}
	t.Logf("%d ways, %d of them into pockets, %d steps", ways, pockets, steps)
	if ways < 100 || pockets < 5 || steps < 2000 {
		t.Errorf("%d ways, %d of them into pockets, %d steps", ways, pockets, steps)
	}
}

// followWalk sends a scout from the edge cell in column x and compares its
// moves with the way foreseen. It returns how many there were.
func followWalk(t *testing.T, g *terminal.Game, c *terminalSeat, s terminal.State, p sim.Player, x int) (moves int, through bool) {
	t.Helper()
	s.Bits[p] = 100
	c.look(&s, p, 1, nil)
	ax, ay := c.absolute(x, max(13-x, x-14))
	if !c.passable(ax, ay) {
		return 0, true
	}
	c.chart(p)
	c.walk(p, ax, ay)
	var record terminal.Record
	g.Record(&record)
	defer g.Record(nil)
	turn := sim.NewTurn(1)
	turn.SetOne(p, terminal.Spawn(terminal.Scout, ax, ay, 1))
	before := s.Own
	g.Deploy(&s, turn)
	for g.Frame(&s) && s.Own == before {
	}
	for i, m := range record.Moves {
		from, _ := bitboard.DiamondCell(int(m.From.X), int(m.From.Y))
		to, _ := bitboard.DiamondCell(int(m.To.X), int(m.To.Y))
		if i+1 >= c.path.n || from != int(c.path.cells[i]) || to != int(c.path.cells[i+1]) {
			t.Fatalf("turn %d, player %d, move %d is %v to %v, another one was foreseen", s.Turn, p, i, m.From, m.To)
		}
	}
	if breached := len(record.Breaches) > 0; breached && (!c.path.through || len(record.Moves) != c.path.n-1) {
		t.Fatalf("turn %d, player %d breaches after %d moves; foreseen are %d, through: %v", s.Turn, p, len(record.Moves), c.path.n-1, c.path.through)
	}
	return len(record.Moves), c.path.through
}

// The fire foreseen is that of the turrets in reach, a shot for at most one unit.
func TestTerminalFire(t *testing.T) {
	r := terminal.DefaultRules()
	r.Units[terminal.Turret].AttackRange = 2.5
	r.Units[terminal.Turret].DamageMobile = 6
	g, err := terminal.New(r)
	if err != nil {
		t.Fatal(err)
	}
	var s terminal.State
	g.Reset(&s, 0)
	turn := sim.NewTurn(2)
	turn.Set(1, []sim.Order{terminal.Place(terminal.Turret, 13, 20), terminal.Place(terminal.Turret, 15, 20)})
	g.Deploy(&s, turn)
	c := &terminalSeat{game: g, rules: r}
	c.look(&s, 0, 1, nil)
	for _, want := range []struct {
		x, y   int
		health float32
		fire   float32
	}{
		{13, 20, 12, 1}, {14, 18, 12, 1}, {13, 18, 12, 0.5}, {11, 19, 12, 0.5}, {11, 18, 12, 0}, {14, 20, 3, 2}, {13, 17, 3, 0},
	} {
		c.aim(1, want.health)
		cell, _ := bitboard.DiamondCell(want.x, want.y)
		if c.fire[cell] != want.fire {
			t.Errorf("fire on (%d, %d) for health %v is %v, want %v", want.x, want.y, want.health, c.fire[cell], want.fire)
		}
	}
}
