package terminal

import (
	"moonfarm/sim"
	"moonfarm/sim/terminal"
)

// outlet is a breadth-first search from a corner over an attacker's half, in its coordinates for
// the right corner.
type outlet struct {
	steps [terminal.Side * terminal.Side / 2]uint8 // to the corner, and one more; 0: not reached
	queue [terminal.HalfCells]int16
	n     int // cells in queue
}

// outletSteps lead to the neighbours of a cell. Among shortest ways the one along the edge is taken.
var outletSteps = [...][2]int{{1, 0}, {0, 1}, {-1, 0}, {0, -1}}

// visit adds a cell that the search reaches first.
func (o *outlet) visit(c *seat, p sim.Player, corner, x, y int, steps uint8) {
	if x < 0 || x >= terminal.Side || y < 0 || y >= terminal.Side/2 || o.steps[y*terminal.Side+x] != 0 {
		return
	}
	if cell := c.attacker(p, mirrored(x, 1-corner), y); cell != 0 && !c.blocked.Has(cell) {
		o.steps[y*terminal.Side+x] = steps
		o.queue[o.n] = int16(y*terminal.Side + x)
		o.n++
	}
}

// keepOutlet keeps the line of a siege by player p off the cells of a shortest way from its start to
// the corner, and reports whether there is one. The line with the fewest missing walls could
// close it: the attacker's own structures at the corner leave only a narrow way out.
func (c *seat) keepOutlet(p sim.Player, corner int) bool {
	start, ok := c.freeStart(p, corner)
	if !ok {
		return false
	}
	var o outlet
	o.visit(c, p, corner, terminal.Side-1, terminal.Side/2-1, 1)
	o.visit(c, p, corner, terminal.Side-2, terminal.Side/2-1, 1)
	for i := 0; i < o.n; i++ {
		x, y := int(o.queue[i])%terminal.Side, int(o.queue[i])/terminal.Side
		for _, d := range outletSteps {
			o.visit(c, p, corner, x+d[0], y+d[1], o.steps[o.queue[i]]+1)
		}
	}
	x, y := start[0], start[1]
	left := o.steps[y*terminal.Side+x]
	for ; left > 1; left-- {
		c.front.kept.Add(c.attacker(p, mirrored(x, 1-corner), y))
		for _, d := range outletSteps {
			nx, ny := x+d[0], y+d[1]
			if nx >= 0 && nx < terminal.Side && ny >= 0 && ny < terminal.Side/2 && o.steps[ny*terminal.Side+nx] == left-1 {
				x, y = nx, ny
				break
			}
		}
	}
	if left == 0 {
		return false
	}
	c.front.kept.Add(c.attacker(p, mirrored(x, 1-corner), y))
	return true
}
