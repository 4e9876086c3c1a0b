package terminal

import (
	"math"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/terminal"
)

// A siege is an attack on a corner. The attacker closes its front with walls except for
// a few cells, so that all its units leave its half beside the corner, destroy the
// structures there, and reach the edge at once. It may order the walls with the attack, and
// remove them in the same turn for most of their price. So the defender does not see them
// before the attack.

// siegeLine is the line of the walls of a siege: cells that touch at least at their
// corners, from the gap beside the corner to the other edge.
type siegeLine struct {
	cells [siegeRows * terminal.Side]uint16 // the cells without a structure
	n     int
}

// The rows of the attacker, in its own coordinates, through which the line of a siege
// passes, and the columns of the uppermost row where it may begin for the right corner.
const (
	siegeFirst = 5
	siegeRows  = terminal.Side/2 - siegeFirst
	siegeLeft  = 22
	siegeRight = 25
)

// siegeStarts are the cells from which the scouts of a siege of the right corner start, in
// the attacker's coordinates; for the left corner they are mirrored.
var siegeStarts = [...][2]int{{10, 3}, {13, 0}, {11, 2}, {12, 1}}

// siegeWaves are cells from which two waves of a siege of the right corner start, in the attacker's
// coordinates. Walls on siegeDelays delay the second wave by two steps. siegeParts are the twelfths of the
// scouts in the first wave.
var (
	siegeWaves  = [2][2]int{{11, 2}, {12, 1}}
	siegeDelays = [...][2]int{{12, 3}, {13, 2}, {13, 1}}
	siegeParts  = [...]int{3, 6, 8}
)

// cornerSites are the cells where turrets and upgrades guard the left corner, in the own
// coordinates; for the right corner they are mirrored.
var cornerSites = [...][2]int{{3, 11}, {4, 11}, {3, 12}, {0, 13}, {1, 12}, {2, 11}, {2, 12}, {4, 10}}

// mirrored returns column x, or with corner 1 its mirror image.
func mirrored(x, corner int) int {
	if corner == 1 {
		return terminal.Side - 1 - x
	}
	return x
}

// attacker returns the cell at player p's own coordinates.
func (c *seat) attacker(p sim.Player, x, y int) int {
	if p != c.Player {
		x, y = terminal.Side-1-x, terminal.Side-1-y
	}
	return c.cell(x, y)
}

// besiege finds the line with the fewest missing walls for a siege by player p of the corner
// at its left (0) or right (1). It reports whether there is one.
func (c *seat) besiege(line *siegeLine, p sim.Player, corner int) bool {
	f := &c.front
	f.open()
	for x := siegeLeft; x <= siegeRight; x++ {
		f.reach(c, p, corner, [2]int{x, siegeRows - 1}, siegeNowhere, 0)
	}
	for level := uint8(0); f.next(level); level++ {
		for len(f.now) > 0 {
			at := f.now[len(f.now)-1]
			f.now = f.now[:len(f.now)-1]
			if f.missing[at] != level {
				continue // already reached with fewer missing walls
			}
			x, row := int(at)%terminal.Side, int(at)/terminal.Side
			if x == terminal.Side/2-1-(row+siegeFirst) {
				c.trace(line, p, corner, at)
				return true
			}
			for _, d := range siegeSteps {
				f.reach(c, p, corner, [2]int{x + d[0], row + d[1]}, at, level)
			}
		}
	}
	return false
}

// trace stores the cells of the line that ends at a cell.
func (c *seat) trace(line *siegeLine, p sim.Player, corner int, at int16) {
	line.n = 0
	for ; at != siegeNowhere; at = c.front.from[at] {
		x, row := int(at)%terminal.Side, int(at)/terminal.Side
		if cell := c.attacker(p, mirrored(x, 1-corner), row+siegeFirst); !c.blocked.Has(cell) {
			line.cells[line.n] = uint16(cell)
			line.n++
		}
	}
}

// siegeStart returns a free cell from which the scouts of player p start a siege of a corner.
func (c *seat) siegeStart(p sim.Player, corner int) (cell int, ok bool) {
	at, ok := c.freeStart(p, corner)
	return c.attacker(p, mirrored(at[0], 1-corner), at[1]), ok
}

// freeStart returns the coordinates of siegeStart for the right corner.
func (c *seat) freeStart(p sim.Player, corner int) (at [2]int, ok bool) {
	for _, at := range siegeStarts {
		if c.free(p, corner, at) {
			return at, true
		}
	}
	return [2]int{}, false
}

// free reports whether a cell has no structure. Its coordinates are given as attacker p sees them at
// the right corner.
func (c *seat) free(p sim.Player, corner int, at [2]int) bool {
	return !c.blocked.Has(c.attacker(p, mirrored(at[0], 1-corner), at[1]))
}

// siegeFront holds the least number of missing walls on a line to each cell of an attacker's
// front: a breadth-first search whose levels are the numbers of missing walls.
type siegeFront struct {
	missing [siegeRows * terminal.Side]uint8
	from    [siegeRows * terminal.Side]int16 // the cell before
	lists   [2][2 * siegeRows * terminal.Side]int16
	now     []int16 // the cells of the present level
	later   []int16 // the cells of the next level

	kept bitboard.Diamond // cells where no line may pass
}

const siegeNowhere = -1 // not a cell of a front

// siegeSteps lead to the cells that touch a cell.
var siegeSteps = [...][2]int{{-1, 0}, {0, 1}, {0, -1}, {-1, 1}, {-1, -1}, {1, 0}, {1, 1}, {1, -1}}

// open starts a new search.
func (s *siegeFront) open() {
	for i := range s.missing {
		s.missing[i] = math.MaxUint8
	}
	s.now, s.later = s.lists[0][:0], s.lists[1][:0]
}

// next proceeds to the cells of a level, and reports whether the search goes on.
func (s *siegeFront) next(level uint8) bool {
	if level > 0 {
		s.now, s.later = s.later, s.now[:0]
	}
	return len(s.now) > 0 || len(s.later) > 0
}

// reach records that the search reaches a cell, in columns and rows for the right corner,
// from another cell.
func (s *siegeFront) reach(c *seat, p sim.Player, corner int, to [2]int, from int16, level uint8) {
	if to[1] < 0 || to[1] >= siegeRows || to[0] < 0 || to[0] >= terminal.Side {
		return
	}
	cell := c.attacker(p, mirrored(to[0], 1-corner), to[1]+siegeFirst)
	if cell == 0 || s.kept.Has(cell) {
		return
	}
	list := &s.now
	if !c.blocked.Has(cell) {
		list = &s.later
		level++
	}
	if at := int16(to[1]*terminal.Side + to[0]); level < s.missing[at] {
		s.missing[at], s.from[at] = level, from
		*list = append(*list, at)
	}
}

// siege orders the walls of a siege of a corner, their removal, and scouts for all bits.
func (c *seat) siege(corner int) {
	cell, ok := c.siegeStart(c.Player, corner)
	if !ok || !c.besiege(&c.line, c.Player, corner) || !c.paysSiege() {
		return
	}
	for _, at := range c.line.cells[:c.line.n] {
		x, y := c.coordinates(int(at))
		c.build(terminal.Wall, x, y)
	}
	for _, at := range c.line.cells[:c.line.n] {
		x, y := bitboard.DiamondXY(int(at))
		c.give(terminal.RemoveAt(x, y))
		c.treated.Add(int(at))
	}
	x, y := c.coordinates(cell)
	c.spawn(terminal.Scout, x, y, c.affords(terminal.Scout))
}

// paysSiege reports whether the cores can pay for the walls of a siege, and the turn has room
// for their orders.
func (c *seat) paysSiege() bool {
	return float32(float32(c.line.n)*c.Rules.Units[terminal.Wall].Cores) <= c.cores && 2*c.line.n < cap(c.Orders)-len(c.Orders)
}

// keepCorner orders the turrets and upgrades that guard a corner.
func (c *seat) keepCorner(corner int) {
	for _, at := range cornerSites {
		x := mirrored(at[0], corner)
		if cell := c.cell(x, at[1]); c.blocked.Has(cell) {
			if !c.upgrade(x, at[1]) {
				return
			}
		} else if !c.build(terminal.Turret, x, at[1]) || !c.upgrade(x, at[1]) {
			return
		}
	}
}
