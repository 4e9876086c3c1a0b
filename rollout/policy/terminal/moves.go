package terminal

import (
	"math/bits"

	"moonfarm/rollout/policy/search"
	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/prng"
	"moonfarm/sim/terminal"
)

// Move is a move of the search: a defence for the cores and an attack for the bits. Its
// orders depend on the state in which it is played.
type Move struct {
	defence defence
	attack  attack
	start   uint8 // edge cell of the attack, by terminal.Edge
	variant uint8 // seed of the defence's random numbers
}

// defence is the use of the cores in a move.
type defence uint8

const (
	defenceNone    defence = iota // saves them
	defenceMaze                   // the structures of the script maze
	defenceTurtle                 // the structures of the script turtle
	defenceAnswer                 // a turret on the enemy's best path, then the maze
	defenceSupport                // supports in the middle, then the maze
	defenceLeft                   // turrets and upgrades beside the left corner, then the maze
	defenceRight                  // beside the right one
	defencePlan                   // what the strategist orders: see plans
	defenceGiven                  // all orders of a given turn, whose number is in start and variant: see Give
)

// play gives the orders of a move. It uses the random numbers of draw.
func (c *seat) play(m Move) {
	switch m.defence {
	case defenceMaze:
		c.keepMaze()
	case defenceTurtle:
		c.keepTurtle()
	case defenceAnswer:
		c.answer()
		c.keepMaze()
	case defenceLeft, defenceRight:
		c.keepCorner(int(m.defence - defenceLeft))
		c.keepMaze()
	case defenceSupport:
		if c.buildAll(terminal.Support, starterSupports[:]) && c.upgradeAll(starterSupports[:]) {
			c.keepMaze()
		}
	}
	c.launch(m.attack, int(m.start))
}

// draw starts the random numbers of a variant.
func (c *seat) draw(variant uint8) {
	c.Random = prng.New(uint64(c.State.Turn)<<16 | uint64(c.Player)<<8 | uint64(variant))
}

// moves appends the moves of the search: sieges, the maze with each of the other attacks, and
// the other defences without an attack, one of them also with the best attack of scouts.
func (c *seat) moves(dst []search.Choice[Move]) []search.Choice[Move] {
	add := func(m Move, prior float64) {
		dst = append(dst, search.Choice[Move]{Move: m, Prior: prior})
	}
	spends := c.spends()
	c.addSieges(add)
	c.draw(0)
	c.keepMaze()
	add(Move{defence: defenceMaze}, 2)
	scouts := c.attacks(add)
	if !spends {
		return dst
	}
	add(Move{defence: defenceAnswer}, 1)
	if scouts != noStart {
		add(Move{defence: defenceAnswer, attack: attackScouts, start: scouts}, 1)
	}
	add(Move{defence: defenceLeft}, 1)
	add(Move{defence: defenceRight}, 1)
	add(Move{defence: defenceTurtle}, 0.5)
	add(Move{defence: defenceSupport}, 0.5)
	if len(c.Orders) > 0 {
		add(Move{defence: defenceNone}, 0.5)
	}
	if c.State.Own[c.Player].Empty() { // the opening of the maze is not drawn yet
		add(Move{defence: defenceMaze, variant: 1}, 1)
		add(Move{defence: defenceMaze, variant: 2}, 1)
	}
	return dst
}

// spends reports whether the cores suffice for any structure or upgrade.
func (c *seat) spends() bool {
	for k := range terminal.Kind(terminal.Structures) {
		if c.cores >= c.Rules.Units[k].Cores || c.Rules.Upgradable[k] && c.cores >= c.Rules.Upgraded[k].Cores {
			return true
		}
	}
	return false
}

// answer strengthens the defence along the path on which the enemy's scouts get through with
// the fewest losses: it upgrades the turret that covers most of the path, or builds a turret if
// none covers at least three cells.
func (c *seat) answer() {
	way, through := c.enemyWay()
	if !through {
		return
	}
	turrets := c.State.Turrets
	turrets.And(&c.State.Own[c.Player])
	turrets.AndNot(&c.State.Upgraded)
	if c.Rules.Upgradable[terminal.Turret] {
		if cell := c.covering(way, &turrets, c.Rules.Upgraded[terminal.Turret].AttackRange, 3); cell != 0 {
			c.upgrade(c.coordinates(cell))
			return
		}
	}
	free := halves[c.Player]
	free.AndNot(&c.blocked)
	for _, cell := range way {
		free.Drop(int(cell))
	}
	if cell := c.covering(way, &free, c.Rules.Units[terminal.Turret].AttackRange, 1); cell != 0 {
		x, y := c.coordinates(cell)
		c.build(terminal.Turret, x, y)
	}
}

// covering returns the cell of a board with most cells of a path in range; 0 if no cell has
// at least `least`.
func (c *seat) covering(way []uint16, board *bitboard.Diamond, radius float32, least int) (best int) {
	for w, b := range board {
		for ; b != 0; b &= b - 1 {
			cell := w<<6 | bits.TrailingZeros64(b)
			if n := covered(cell, way, radius); n >= least {
				best, least = cell, n+1
			}
		}
	}
	return best
}

// covered returns the number of cells of a path that are in range.
func covered(cell int, way []uint16, radius float32) (n int) {
	x, y := bitboard.DiamondXY(cell)
	for _, at := range way {
		dx, dy := bitboard.DiamondXY(int(at))
		dx, dy = dx-x, dy-y
		if float32(dx*dx+dy*dy) <= radius*radius {
			n++
		}
	}
	return n
}

// cells are the cells of each player's half by terminal.Local, halves the same as boards.
var cells, halves = func() (cells [2][terminal.HalfCells]uint16, halves [2]bitboard.Diamond) {
	for p := range cells {
		for i := range cells[p] {
			cell, _ := bitboard.DiamondCell(terminal.LocalXY(i, sim.Player(p)))
			cells[p][i] = uint16(cell)
			halves[p].Add(cell)
		}
	}
	return cells, halves
}()
