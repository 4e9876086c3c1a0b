package policy

import (
	"math/bits"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/terminal"
)

// terminalSteps bounds the length of a way: no cell is walked over twice.
const terminalSteps = bitboard.DiamondCells

// terminalPath is the way of a mobile unit as long as no structure falls.
type terminalPath struct {
	cells   [terminalSteps]uint16
	n       int
	through bool // it ends on the edge it aims at
}

// terminalEdge is an edge of the arena on which a player scores.
type terminalEdge struct {
	cells  bitboard.Diamond
	colour int    // of its cells
	order  [4]int // the directions, those towards it first: vertical, horizontal, then back
}

// Directions, as bitboard.Diamond lists the neighbours.
const (
	towardsUp = iota
	towardsRight
	towardsLeft
	towardsDown
)

// terminalNeighbours are the steps from a cell by colour and direction.
var terminalNeighbours = [2][4]int{{256, 257, 240, 241}, {-241, -240, -257, -256}}

// terminalEdges are the edges by the player who aims at them and by the side,
// as the arena lies, on which the unit has started: left or right.
var terminalEdges = func() (t [2][2]terminalEdge) {
	for p := range t {
		for side := range t[p] {
			e := &t[p][side]
			x, y, dx, dy := 13, 0, -1, 1 // bottom left: for player 2 from the right
			e.order = [4]int{towardsDown, towardsLeft, towardsUp, towardsRight}
			if p == 0 {
				y, dy = terminal.Side-1, -1
				e.order[0], e.order[2] = e.order[2], e.order[0]
			}
			if side == 0 {
				x, dx = 14, 1
				e.order[1], e.order[3] = e.order[3], e.order[1]
			}
			for i := range 14 {
				cell, _ := bitboard.DiamondCell(x+dx*i, y+dy*i)
				e.cells.Add(cell)
				e.colour = cell >> 8
			}
		}
	}
	return t
}()

// chart computes the ways of player p's mobile units over the cells that are
// not blocked.
func (c *terminalSeat) chart(p sim.Player) {
	for w := range c.free {
		c.free[w] = bitboard.DiamondBoard[w] &^ c.blocked[w]
	}
	for side := range c.fields {
		e := &terminalEdges[p][side]
		for w := range c.free {
			c.goals[side][w] = e.cells[w] & c.free[w]
		}
		c.fields[side].Fill(&c.free, &c.goals[side], e.colour, &bitboard.Everywhere)
	}
}

// walk finds the way of a unit of player p from a free cell, given in the
// arena's coordinates, by the fields of chart.
func (c *terminalSeat) walk(p sim.Player, x, y int) {
	cell, _ := bitboard.DiamondCell(x, y)
	side := x / (terminal.Side / 2)
	e := &terminalEdges[p][side]
	field, goals, colour := &c.fields[side], c.goals[side], e.colour
	c.path.n, c.path.through = 0, field.Reached(cell)
	if !c.path.through {
		deepest := c.deepest(p, cell, side)
		goals, colour, field = bitboard.Diamond{}, deepest>>8, &c.pocket
		goals.Add(deepest)
	}
	vertical := false // of the last move
	for range terminalSteps {
		c.path.cells[c.path.n] = uint16(cell)
		c.path.n++
		if goals.Has(cell) {
			return
		}
		cell, vertical = descend(field, cell, colour, &e.order, vertical)
	}
}

// descend is the step from a cell down the field. Among several it turns if it
// can, then goes towards the edge.
func descend(field *bitboard.Field, cell, colour int, order *[4]int, vertical bool) (next int, nowVertical bool) {
	want := (field.Phase(cell, colour) - 1) & 3
	from := 0
	if vertical {
		from = 1
	}
	// Vertical and horizontal take turns in the order, so that an odd start
	// begins with horizontal; towards comes before back on both axes.
	for _, i := range [4]int{from, from + 2, 1 - from, 3 - from} {
		n := cell + terminalNeighbours[cell>>8][order[i]]
		if field.Reached(n) && field.Phase(n, colour) == want {
			return n, i&1 == 0
		}
	}
	return cell, vertical // not met: a cell that is no goal has a neighbour nearer to one
}

// deepest is the cell where a unit ends that cannot get to its edge: of those
// it can reach the one deepest in the enemy's half, then nearest to the side of
// the edge. It leaves the field to it in c.pocket.
func (c *terminalSeat) deepest(p sim.Player, cell, side int) int {
	var from bitboard.Diamond
	from.Add(cell)
	c.pocket.Fill(&c.free, &from, cell>>8, &bitboard.Everywhere)
	best, rank := cell, -1
	for w := range c.free {
		for b := c.pocket.Step[0][w] | c.pocket.Step[1][w]; b != 0; b &= b - 1 {
			at := w<<6 | bits.TrailingZeros64(b)
			x, y := bitboard.DiamondXY(at)
			if p == 1 {
				y = terminal.Side - 1 - y
			}
			if side == 1 {
				x = terminal.Side - 1 - x
			}
			if r := y*terminal.Side + x; r > rank {
				best, rank = at, r
			}
		}
	}
	from = bitboard.Diamond{}
	from.Add(best)
	c.pocket.Fill(&c.free, &from, best>>8, &bitboard.Everywhere)
	return best
}

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
			u := &c.rules.Units[terminal.Turret]
			if c.state.Upgraded.Has(cell) {
				u = &c.rules.Upgraded[terminal.Turret]
			}
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

// losses is how many units of a kind the fire brings down on the path.
func (c *terminalSeat) losses(k terminal.Kind) float32 {
	sum := float32(0)
	for _, cell := range c.path.cells[:c.path.n] {
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
	c.chart(c.player)
	c.aim(c.player^1, c.rules.Units[k].Health+c.shields())
	for _, at := range terminalStarts {
		if c.blocked.Has(c.cell(at[0], at[1])) {
			continue
		}
		x, y := c.absolute(at[0], at[1])
		c.walk(c.player, x, y)
		r := terminalRoute{at, c.losses(k), c.path.through, true}
		if !best.found || r.through && !best.through || r.through == best.through && r.lost < best.lost {
			best = r
		}
	}
	return best
}
