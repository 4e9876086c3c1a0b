package policy

import (
	"math/bits"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/terminal"
)

// aim computes for every cell how many units of the given health the turrets of
// player p, standing and ordered, bring down in a frame there: a shot counts at
// most for one.
func (c *terminalSeat) aim(p sim.Player, health float32) {
	clear(c.fire[:])
	for w := range c.state.Turrets {
		b := c.state.Turrets[w] & c.state.Own[p][w]
		if p == c.player {
			b |= c.fresh[terminal.Turret][w]
		}
		for ; b != 0; b &= b - 1 {
			cell := w<<6 | bits.TrailingZeros64(b)
			u := c.rules.Structure(terminal.Turret, c.state.Upgraded.Has(cell))
			c.cover(cell, u.AttackRange, min(1, u.DamageMobile/health))
		}
	}
}

// cover adds the fire of one turret.
func (c *terminalSeat) cover(cell int, radius, shot float32) {
	x, y := bitboard.DiamondXY(cell)
	reach := int(radius)
	for dy := -reach; dy <= reach; dy++ {
		for dx := -reach; dx <= reach; dx++ {
			if float32(dx*dx+dy*dy) > radius*radius {
				continue
			}
			if at, ok := bitboard.DiamondCell(x+dx, y+dy); ok {
				c.fire[at] += shot
			}
		}
	}
}

// losses is how many units of a kind the fire brings down on a way.
func (c *terminalSeat) losses(way []uint16, k terminal.Kind) float32 {
	sum := float32(0)
	for _, cell := range way {
		sum += c.fire[cell]
	}
	return sum / max(c.rules.Units[k].Speed, 0.05)
}

// terminalStarts are the cells of a seat's edges from which attacks are
// considered, in its own coordinates.
var terminalStarts = [...][2]int{{13, 0}, {14, 0}, {10, 3}, {17, 3}, {6, 7}, {21, 7}, {3, 10}, {24, 10}}

// terminalRoute is the way an attack takes.
type terminalRoute struct {
	start   [2]int  // in the seat's coordinates
	lost    float32 // units that the enemy's fire brings down
	through bool    // it ends on the edge
	found   bool    // false: all starts are blocked
}

// route finds the start from which a stack of kind k meets the least fire, of
// those from which it gets through if there are any.
func (c *terminalSeat) route(k terminal.Kind) (best terminalRoute) {
	c.paths.Reset(&c.blocked)
	c.aim(c.player^1, c.rules.Units[k].Health+c.shields())
	for _, at := range terminalStarts {
		cell := c.cell(at[0], at[1])
		if c.blocked.Has(cell) {
			continue
		}
		way, through := c.paths.Walk(c.way[:0], cell, c.player)
		r := terminalRoute{at, c.losses(way, k), through, true}
		if !best.found || r.through && !best.through || r.through == best.through && r.lost < best.lost {
			best = r
		}
	}
	return best
}
