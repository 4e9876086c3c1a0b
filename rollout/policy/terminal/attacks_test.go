package terminal

import (
	"testing"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/terminal"
)

// aim adds the fire of the turrets in range; a shot destroys at most one unit.
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
	c := new(seat)
	c.Look(g, &s, 0, nil)
	c.prepare()
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
	c.Rules.Units[terminal.Turret].AttackRange = 3
	c.aim(1, 3)
	if cell, _ := bitboard.DiamondCell(13, 17); c.fire[cell] != 1 {
		t.Errorf("fire at the whole range is %v, want 1", c.fire[cell])
	}
}
