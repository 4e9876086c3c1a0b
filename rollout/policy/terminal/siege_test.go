package terminal

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	"moonfarm/sim/terminal"
)

// plainSiege returns the number of missing walls of the best line for a siege, which besiege
// must find: it lowers the numbers of cells from their neighbours until none changes.
func plainSiege(c *seat, corner int) int {
	const none = 1000
	price := func(x, y int) int {
		if c.blocked.Has(c.cell(mirrored(x, 1-corner), y)) {
			return 0
		}
		return 1
	}
	least := map[[2]int]int{}
	for y := siegeFirst; y < terminal.Side/2; y++ {
		for x := 13 - y; x <= 14+y; x++ {
			least[[2]int{x, y}] = none
		}
	}
	for x := siegeLeft; x <= siegeRight; x++ {
		least[[2]int{x, 13}] = price(x, 13)
	}
	for changed := true; changed; {
		changed = false
		for at, n := range least {
			for _, d := range siegeSteps {
				if m, ok := least[[2]int{at[0] + d[0], at[1] + d[1]}]; ok && m+price(at[0], at[1]) < n {
					n, changed = m+price(at[0], at[1]), true
					least[at] = n
				}
			}
		}
	}
	best := none
	for y := siegeFirst; y < terminal.Side/2; y++ {
		best = min(best, least[[2]int{13 - y, y}])
	}
	return best
}

// The line of a siege has the fewest missing walls possible, and once they stand the scouts
// leave the own half only near the corner.
func TestTerminalSiegeLine(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		p, corner := sim.Player(r.IntN(2)), r.IntN(2)
		g, s := searchSeat(t, p, nil, nil)
		c := g.sit(s, p)
		for n := r.IntN(80); n > 0; n-- {
			y := r.IntN(14)
			c.blocked.Add(c.cell(13-y+r.IntN(2*y+2), y))
		}
		want := plainSiege(c, corner)
		require.Truef(t, c.besiege(&c.line, p, corner) && c.line.n == want, "%d walls are missing, want %d", c.line.n, want)
		for _, cell := range c.line.cells[:c.line.n] {
			c.blocked.Add(int(cell))
		}
		cell, ok := c.siegeStart(p, corner)
		if !ok {
			continue
		}
		c.paths.Reset(&c.blocked)
		way, _ := c.paths.Walk(nil, cell, p)
		for _, at := range way {
			x, y := c.coordinates(int(at))
			if x = mirrored(x, 1-corner); y == 13 {
				if x <= siegeLeft {
					t.Fatalf("corner %d: scouts leave the half at column %d of the corner's side", corner, x)
				}
				break
			}
		}
	}
}

// A siege orders its walls, marks all of them for removal and sends all scouts; if the cores
// cannot pay for the walls it orders nothing.
func TestTerminalSiege(t *testing.T) {
	for p := range sim.Player(2) {
		g, s := searchSeat(t, p, nil, nil)
		c := g.sit(s, p)
		c.siege(1)
		var placed, removed int
		for _, o := range c.Orders {
			switch terminal.Decode(o).Op {
			case terminal.OpPlace:
				placed++
			case terminal.OpRemove:
				removed++
			}
		}
		last := terminal.Decode(c.Orders[len(c.Orders)-1])
		assert.Truef(t, placed != 0 && placed == removed && last.Op == terminal.OpSpawn && last.Count == 20, "%d walls are placed, %d removed, the last order is %+v", placed, removed, last)
		c = g.sit(s, p)
		c.cores = 1
		if c.siege(1); len(c.Orders) != 0 {
			t.Errorf("%d orders of a siege that the cores do not pay", len(c.Orders))
		}
	}
}

// The threat grows with the bits, against turrets faster than in proportion; turrets reduce
// it.
func TestTerminalThreat(t *testing.T) {
	g, s := searchSeat(t, 0, nil, nil)
	threat := func(bits float32) float64 {
		s.Bits[1] = bits
		return g.threat(s, 1)
	}
	if threat(0) != 0 || threat(10) < 9 {
		t.Errorf("threats %v and %v without bits and with ten against an open arena", threat(0), threat(10))
	}
	turn := sim.NewTurn(64)
	for y := 12; y < 14; y++ {
		for x := 13 - y; x <= 14+y; x++ {
			turn.Add(0, terminal.Place(terminal.Turret, x, y))
		}
	}
	open := threat(10)
	g.seat.Game.Deploy(s, turn)
	few, many := threat(10), threat(20)
	assert.Truef(t, few < open && many >= 2*few, "threats of 10 scouts %v, of 20 %v, without turrets %v", few, many, open)
}
