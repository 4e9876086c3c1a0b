package terminal

import (
	"moonfarm/sim/bitboard"
	"moonfarm/sim/terminal"
)

// draft is a snapshot of a seat's orders, for revert.
type draft struct {
	orders  int
	cores   float32
	blocked bitboard.Diamond
	fresh   [terminal.Structures]bitboard.Diamond
	treated bitboard.Diamond
}

// draft returns a snapshot of the orders so far.
func (c *seat) draft() draft {
	return draft{len(c.Orders), c.cores, c.blocked, c.fresh, c.treated}
}

// revert removes the orders given since the snapshot.
func (c *seat) revert(d *draft) {
	c.Orders, c.cores, c.blocked, c.fresh, c.treated = c.Orders[:d.orders], d.cores, d.blocked, d.fresh, d.treated
}

// defend simulates the attacks that the enemy can pay after waiting for some turns, against
// the maze with opening o as far as the cores can pay for it. If an attack does much harm, it
// orders the turret or upgrade that, together with the maze for the cores left, reduces the
// worst attacks' gain most.
func (c *planner) defend(o, turns int) {
	foe := c.Player ^ 1
	bits := c.State.Bits[foe]
	for k := 1; k <= turns; k++ {
		bits = c.waited(bits, k)
	}
	start := c.draft()
	c.buildMaze(o, false)
	worst := c.best(foe, bits)
	if worst.gain < planThreat {
		c.revert(&start)
		return
	}
	threats := c.threats(worst.gain, planMostThreat)
	best, least := 0, worst.gain-planSaves
	for _, cell := range c.sites(&worst, &start) {
		c.strengthen(int(cell))
		c.buildMaze(o, false)
		if gain := c.suffers(threats); gain < least {
			best, least = int(cell), gain
		}
		c.revert(&start)
	}
	if best != 0 {
		c.strengthen(best)
	}
}

// threats keeps the listed attacks whose gain is similar to the worst, at most that many, and returns them.
func (c *planner) threats(worst float32, most int) []wave {
	threats := c.waves[:0]
	for _, w := range c.waves[:c.listed] {
		if w.gain >= float32(planSimilar*worst) && len(threats) < most {
			threats = append(threats, w)
		}
	}
	return threats
}

// suffers returns the largest gain of an attack after the orders given so far.
func (c *planner) suffers(threats []wave) (gain float32) {
	for i := range threats {
		gain = max(gain, c.exchange(&c.before, c.Player^1, &threats[i]))
	}
	return gain
}

// siteSteps lead from a cell of a path to the cells of turrets that guard it.
var siteSteps = [...][2]int{{-1, 0}, {1, 0}, {0, 1}, {-1, 1}, {1, 1}, {0, 0}}

// sites returns cells near the last part of an attack's path, under the present orders, where
// the cores of the snapshot start can pay for a turret or an upgrade. It reverts the orders to
// start. The edges stay free for own units.
func (c *planner) sites(w *wave, start *draft) []uint16 {
	o := terminal.Decode(w.orders[0])
	from, _ := bitboard.DiamondCell(int(o.X), int(o.Y))
	c.paths.Reset(&c.blocked)
	way, _ := c.paths.Walk(c.way[:0], from, c.Player^1)
	found := c.found[:0]
	c.revert(start)
	var seen bitboard.Diamond
	for i := len(way) - 1; i >= 0; i-- {
		x, y := c.coordinates(int(way[i]))
		for _, d := range siteSteps {
			cell := c.cell(x+d[0], y+d[1])
			if cell == 0 || y+d[1] >= terminal.Side/2 || seen.Has(cell) {
				continue
			}
			if _, edge := terminal.Edge(x+d[0], y+d[1]); edge && y+d[1] < mazeLine-1 {
				continue
			}
			seen.Add(cell)
			if c.strengthen(cell) {
				found = append(found, uint16(cell))
				c.revert(start)
			}
			if len(found) == planSites {
				return found
			}
		}
	}
	return found
}

// strengthen orders a turret on a cell and its upgrade, or the upgrade of the structure
// there, and reports whether it ordered anything.
func (c *planner) strengthen(cell int) bool {
	n := len(c.Orders)
	x, y := c.coordinates(cell)
	if c.blocked.Has(cell) || c.build(terminal.Turret, x, y) {
		c.upgrade(x, y)
	}
	return len(c.Orders) > n
}
