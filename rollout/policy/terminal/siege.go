package terminal

import (
	"math"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/terminal"
)

// A siege is an attack on a corner. The attacker closes its front with walls but for
// a few cells, so that all its units come out beside the corner, bring down the structures
// there, and are on the edge at once. Its walls may be ordered with the attack, and
// removed in the same turn for most of their price, so the defender does not see them
// before the attack and must be ready for it.

// siegeLine is the line of the walls of a siege: cells that touch at least by
// their corners, from beside the gap to the other edge.
type siegeLine struct {
	cells [siegeRows * terminal.Side]uint16 // the cells without a structure
	n     int
}

// The rows of an attacker, in its own coordinates, through which the line of a siege
// goes, and the columns of the upper one where it may begin for the corner at the right.
const (
	siegeFirst = 5
	siegeRows  = terminal.Side/2 - siegeFirst
	siegeLeft  = 22
	siegeRight = 25
)

// siegeStarts are the cells from which a siege of the corner that is at the right of
// the attacker begins, in its own coordinates; for the other corner they are mirrored.
var siegeStarts = [...][2]int{{10, 3}, {13, 0}, {11, 2}, {12, 1}}

// cornerSites are the cells where turrets and upgrades guard the corner at the left, in the
// own coordinates; for the right corner they are mirrored.
var cornerSites = [...][2]int{{3, 11}, {4, 11}, {3, 12}, {0, 13}, {1, 12}, {2, 11}, {2, 12}, {4, 10}}

// mirrored is a column, or with corner 1 the column on the other side.
func mirrored(x, corner int) int {
	if corner == 1 {
		return terminal.Side - 1 - x
	}
	return x
}

// attacker is the cell at player p's own coordinates.
func (c *seat) attacker(p sim.Player, x, y int) int {
	if p != c.Player {
		x, y = terminal.Side-1-x, terminal.Side-1-y
	}
	return c.cell(x, y)
}

// besiege finds the line with the fewest missing walls for a siege of a corner, at its left
// or right, by player p.
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
				continue // reached with fewer before
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

// siegeStart is a free cell from which player p can besiege a corner.
func (c *seat) siegeStart(p sim.Player, corner int) (cell int, ok bool) {
	for _, at := range siegeStarts {
		if cell = c.attacker(p, mirrored(at[0], 1-corner), at[1]); !c.blocked.Has(cell) {
			return cell, true
		}
	}
	return 0, false
}

// siegeFront has the least number of missing walls up to each cell of an attacker's front.
type siegeFront struct {
	missing [siegeRows * terminal.Side]uint8
	from    [siegeRows * terminal.Side]int16 // the cell before
	lists   [2][2 * siegeRows * terminal.Side]int16
	now     []int16 // the cells of the present level, the number of missing walls
	later   []int16 // the cells of the next level
}

const siegeNowhere = -1 // no cell of a front

// siegeSteps lead to the cells that touch a cell.
var siegeSteps = [...][2]int{{-1, 0}, {0, 1}, {0, -1}, {-1, 1}, {-1, -1}, {1, 0}, {1, 1}, {1, -1}}

// open forgets the last search.
func (f *siegeFront) open() {
	for i := range f.missing {
		f.missing[i] = math.MaxUint8
	}
	f.now, f.later = f.lists[0][:0], f.lists[1][:0]
}

// next goes on to the cells with one more wall missing, and reports whether there are any.
func (f *siegeFront) next(level uint8) bool {
	if level > 0 {
		f.now, f.later = f.later, f.now[:0]
	}
	return len(f.now) > 0 || len(f.later) > 0
}

// reach notes that a cell, in columns and rows for the corner at the right, is reached
// from another one.
func (f *siegeFront) reach(c *seat, p sim.Player, corner int, to [2]int, from int16, level uint8) {
	if to[1] < 0 || to[1] >= siegeRows || to[0] < 0 || to[0] >= terminal.Side {
		return
	}
	cell := c.attacker(p, mirrored(to[0], 1-corner), to[1]+siegeFirst)
	if cell == 0 {
		return
	}
	list := &f.now
	if !c.blocked.Has(cell) {
		list = &f.later
		level++
	}
	if at := int16(to[1]*terminal.Side + to[0]); level < f.missing[at] {
		f.missing[at], f.from[at] = level, from
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

// paysSiege reports whether the cores pay for the walls of a siege, and the orders for
// them have room.
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
