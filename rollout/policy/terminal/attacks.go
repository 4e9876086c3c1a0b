package terminal

import (
	"math/bits"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/terminal"
)

// attack is the use of the bits in a move.
type attack uint8

const (
	attackNone         attack = iota // saves them
	attackScouts                     // all on scouts
	attackHalf                       // half of them on scouts
	attackDemolishers                // all on demolishers
	attackMixed                      // half on demolishers, the rest on scouts
	attackInterceptors               // interceptors for a third of the scouts that the enemy can pay
	attackSiege                      // all scouts to the left corner, or with start 1 to the right one: see siegeLine
	attackPlan                       // the attack of the strategist, with defencePlan
)

// siegeLeast is the smallest number of scouts of a siege.
const siegeLeast = 6

// noStart means that there is no edge cell.
const noStart = 255

// launch gives the orders of an attack.
func (c *seat) launch(a attack, start int) {
	x, y := terminal.EdgeXY(start, 0)
	switch a {
	case attackSiege:
		c.siege(start)
	case attackScouts:
		c.spawn(terminal.Scout, x, y, c.affords(terminal.Scout))
	case attackHalf:
		c.spawn(terminal.Scout, x, y, (c.affords(terminal.Scout)+1)/2)
	case attackDemolishers:
		c.spawn(terminal.Demolisher, x, y, c.affords(terminal.Demolisher))
	case attackMixed:
		c.spawn(terminal.Demolisher, x, y, (c.affords(terminal.Demolisher)+1)/2)
		c.spawn(terminal.Scout, x, y, c.affords(terminal.Scout))
	case attackInterceptors:
		n := int(c.State.Bits[c.Player^1] / c.Rules.Units[terminal.Scout].Bits)
		c.spawn(terminal.Interceptor, x, y, max(1, n/3))
	}
}

// attacks adds the maze with each attack that the bits can pay, and returns the best start
// of scouts.
func (c *seat) attacks(add func(m Move, prior float64)) (scouts uint8) {
	scouts = noStart
	if c.affords(terminal.Scout) > 0 {
		starts := c.starts(terminal.Scout)
		scouts = starts[0]
		for i, start := range starts {
			if start == noStart {
				break
			}
			add(Move{defenceMaze, attackScouts, start, 0}, 1)
			if i == 0 {
				add(Move{defenceMaze, attackHalf, start, 0}, 0.5)
			}
		}
		for range 2 { // two random starts
			if e := c.Random.IntN(terminal.EdgeCells); !c.blocked.Has(edgeCell(e, c.Player)) {
				add(Move{defenceMaze, attackScouts, uint8(e), 0}, 0.5)
			}
		}
	}
	if c.affords(terminal.Demolisher) > 0 {
		for i, start := range c.starts(terminal.Demolisher) {
			if start == noStart {
				break
			}
			add(Move{defenceMaze, attackDemolishers, start, 0}, 1)
			if i == 0 {
				add(Move{defenceMaze, attackMixed, start, 0}, 1)
			}
		}
	}
	if c.affords(terminal.Interceptor) > 0 {
		if start := c.intercepting(); start != noStart {
			add(Move{defenceMaze, attackInterceptors, start, 0}, 0.5)
		}
	}
	return scouts
}

// addSieges adds the sieges that the cores can pay.
func (c *seat) addSieges(add func(m Move, prior float64)) {
	if c.affords(terminal.Scout) < siegeLeast {
		return
	}
	for corner := range uint8(2) {
		if c.besiege(&c.line, c.Player, int(corner)) && c.paysSiege() {
			add(Move{defenceNone, attackSiege, corner, 0}, 1)
		}
	}
}

// starts returns the best start of a stack of kind k on each of the two edges, the better
// one first: the cell from which it meets the least fire, preferably one from which it gets
// through.
func (c *seat) starts(k terminal.Kind) [2]uint8 {
	sides := [2]launchCell{{edge: noStart}, {edge: noStart}}
	c.aim(c.Player^1, c.Rules.Units[k].Health+c.shields())
	walks := c.walk(c.Player)
	for e := range walks.ends {
		way, through := walks.way(e)
		if len(way) == 0 {
			continue
		}
		if s := (launchCell{uint8(e), c.losses(way, k), through}); s.before(&sides[e&1]) {
			sides[e&1] = s
		}
	}
	if sides[1].before(&sides[0]) {
		sides[0], sides[1] = sides[1], sides[0]
	}
	return [2]uint8{sides[0].edge, sides[1].edge}
}

// walks holds the paths from all free edge cells of a player.
type walks struct {
	blocked bitboard.Diamond // the structures for which they hold
	cells   []uint16         // of the paths, one after the other; nil before the first use
	ends    [terminal.EdgeCells]int32
	through [terminal.EdgeCells]bool // the path ends on the enemy's edge
}

// way returns the path from an edge cell, by terminal.Edge. It is empty if the cell is not free.
func (w *walks) way(e int) (way []uint16, through bool) {
	from := int32(0)
	if e > 0 {
		from = w.ends[e-1]
	}
	return w.cells[from:w.ends[e]], w.through[e]
}

// walk returns the paths of player p. Kinds of units, and both seats of a search, share them.
func (c *seat) walk(p sim.Player) *walks {
	w := &c.walks[p]
	if w.cells != nil && w.blocked == c.blocked {
		return w
	}
	if w.cells == nil {
		w.cells = make([]uint16, 0, terminal.EdgeCells*bitboard.DiamondCells)
	}
	w.blocked, w.cells = c.blocked, w.cells[:0]
	c.paths.Reset(&c.blocked)
	for e := range w.ends {
		if cell := edgeCell(e, p); !c.blocked.Has(cell) {
			w.cells, w.through[e] = c.paths.Walk(w.cells, cell, p)
		}
		w.ends[e] = int32(len(w.cells))
	}
	return w
}

// launchCell is an edge cell from which an attack may begin.
type launchCell struct {
	edge    uint8   // by terminal.Edge, or noStart
	lost    float32 // units that the enemy's fire destroys
	through bool    // the path ends on the enemy's edge
}

// before reports whether l is better than t.
func (l *launchCell) before(t *launchCell) bool {
	if l.edge == noStart || t.edge == noStart {
		return t.edge == noStart && l.edge != noStart
	}
	if l.through != t.through {
		return l.through
	}
	return l.lost < t.lost
}

// edgeCell returns the cell of player p's edges with that number, by terminal.Edge.
func edgeCell(e int, p sim.Player) int {
	cell, _ := bitboard.DiamondCell(terminal.EdgeXY(e, p))
	return cell
}

// enemyWay returns the path on which the enemy's scouts get through with the fewest losses.
func (c *seat) enemyWay() (way []uint16, through bool) {
	c.aim(c.Player, c.Rules.Units[terminal.Scout].Health)
	walks, least := c.walk(c.Player^1), float32(0)
	for e := range walks.ends {
		path, ends := walks.way(e)
		if n := c.losses(path, terminal.Scout); ends && len(path) > 0 && (!through || n < least) {
			way, through, least = path, true, n
		}
	}
	return way, through
}

// intercepting returns the free edge cell nearest to the end of the enemy's best path.
func (c *seat) intercepting() uint8 {
	way, through := c.enemyWay()
	if !through {
		return noStart
	}
	end, _ := c.coordinates(int(way[len(way)-1]))
	best, least := uint8(noStart), terminal.Side
	for e := range terminal.EdgeCells {
		x, _ := terminal.EdgeXY(e, 0)
		if d := max(x-end, end-x); d < least && !c.blocked.Has(edgeCell(e, c.Player)) {
			best, least = uint8(e), d
		}
	}
	return best
}

// aim computes for every cell the number of units of the given health that the turrets of
// player p, standing and ordered, destroy there in a frame. A shot destroys at most one.
func (c *seat) aim(p sim.Player, health float32) {
	clear(c.fire[:])
	for w := range c.State.Turrets {
		b := c.State.Turrets[w] & c.State.Own[p][w]
		if p == c.Player {
			b |= c.fresh[terminal.Turret][w]
		}
		for ; b != 0; b &= b - 1 {
			cell := w<<6 | bits.TrailingZeros64(b)
			u := c.Rules.Structure(terminal.Turret, c.State.Upgraded.Has(cell))
			c.cover(cell, u.AttackRange, min(1, u.DamageMobile/health))
		}
	}
}

// cover adds the fire of one turret.
func (c *seat) cover(cell int, radius, shot float32) {
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

// losses returns the number of units of a kind that the fire destroys on a path.
func (c *seat) losses(way []uint16, k terminal.Kind) float32 {
	sum := float32(0)
	for _, cell := range way {
		sum += c.fire[cell]
	}
	return sum / max(c.Rules.Units[k].Speed, 0.05)
}

// launchCells are the cells of a seat's edges from which attacks are
// considered, in its own coordinates.
var launchCells = [...][2]int{{13, 0}, {14, 0}, {10, 3}, {17, 3}, {6, 7}, {21, 7}, {3, 10}, {24, 10}}

// route is the path of an attack.
type route struct {
	start   [2]int  // in the seat's coordinates
	lost    float32 // units that the enemy's fire destroys
	through bool    // the path ends on the enemy's edge
	found   bool    // false: all starts are blocked
}

// route returns the path on which a stack of kind k meets the least fire, preferably one on
// which it gets through.
func (c *seat) route(k terminal.Kind) (best route) {
	c.paths.Reset(&c.blocked)
	c.aim(c.Player^1, c.Rules.Units[k].Health+c.shields())
	for _, at := range launchCells {
		cell := c.cell(at[0], at[1])
		if c.blocked.Has(cell) {
			continue
		}
		way, through := c.paths.Walk(c.way[:0], cell, c.Player)
		r := route{at, c.losses(way, k), through, true}
		if !best.found || r.through && !best.through || r.through == best.through && r.lost < best.lost {
			best = r
		}
	}
	return best
}
