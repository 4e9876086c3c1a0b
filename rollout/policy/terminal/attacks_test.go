package terminal

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
	require.NoError(t, err)
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
		assert.Equalf(t, want.fire, c.fire[cell], "fire on (%d, %d) for health %v", want.x, want.y, want.health)
	}
	c.Rules.Units[terminal.Turret].AttackRange = 3
	c.aim(1, 3)
	cell, _ := bitboard.DiamondCell(13, 17)
	assert.Equal(t, float32(1), c.fire[cell], "fire at the whole range")
}
