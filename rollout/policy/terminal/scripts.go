package terminal

import "moonfarm/sim/terminal"

// Each script has a plan: structures and upgrades, the most urgent first. It orders them
// until the cores do not suffice for the next. It skips structures that stand, so following
// the plan every turn also replaces lost structures.

// The cells of the starter kit's plan.
var (
	starterTurrets  = [...][2]int{{0, 13}, {27, 13}, {8, 11}, {19, 11}, {13, 11}, {14, 11}}
	starterWalls    = [...][2]int{{8, 12}, {19, 12}}
	starterSupports = [...][2]int{{13, 2}, {14, 2}, {13, 3}, {14, 3}}
)

// starter follows the plan of the contest's starter kit: some fixed turrets; another one
// where the enemy gets through; interceptors in the first turns; then demolishers behind a
// line of walls against a crowded front that repels scouts, or scouts every other turn.
func (c *seat) starter() {
	planned := c.buildAll(terminal.Turret, starterTurrets[:]) && c.buildAll(terminal.Wall, starterWalls[:])
	if planned {
		planned = c.upgradeAll(starterWalls[:])
	}
	if c.State.Health[c.Player] < c.Rules.StartHealth {
		c.closeGap()
	}
	switch {
	case c.State.Turn < 5:
		c.sendInterceptors()
	case c.enemyFront() > 10 && c.repelled():
		c.sendDemolishers()
	case c.State.Turn&1 == 1:
		c.strike(0)
	}
	if planned && c.buildAll(terminal.Support, starterSupports[:]) {
		c.upgradeAll(starterTurrets[:])
	}
}

// buildAll orders structures one after the other, and reports whether the cores sufficed for
// all of them.
func (c *seat) buildAll(k terminal.Kind, at [][2]int) bool {
	for _, a := range at {
		if !c.build(k, a[0], a[1]) {
			return false
		}
	}
	return true
}

// upgradeAll orders upgrades as buildAll orders structures.
func (c *seat) upgradeAll(at [][2]int) bool {
	for _, a := range at {
		if !c.upgrade(a[0], a[1]) {
			return false
		}
	}
	return true
}

// closeGap builds a turret where the enemy's scouts would reach the edge with the fewest
// losses: one row above the edge, so that the edge stays free for own units.
func (c *seat) closeGap() {
	foe := c.Player ^ 1
	c.paths.Reset(&c.blocked)
	c.aim(c.Player, c.Rules.Units[terminal.Scout].Health)
	least, end := float32(-1), 0
	for _, at := range launchCells {
		cell := c.cell(terminal.Side-1-at[0], terminal.Side-1-at[1])
		if c.blocked.Has(cell) {
			continue
		}
		way, through := c.paths.Walk(c.way[:0], cell, foe)
		if n := c.losses(way, terminal.Scout); through && (least < 0 || n < least) {
			least, end = n, int(way[len(way)-1])
		}
	}
	if least >= 0 {
		x, y := c.coordinates(end)
		y = min(y+1, terminal.Side/2-1)
		if c.build(terminal.Turret, x, y) {
			c.upgrade(x, y)
		}
	}
}

// sendInterceptors spends all bits on interceptors from random cells of the own
// edges.
func (c *seat) sendInterceptors() {
	for tries := 0; tries < 40 && c.affords(terminal.Interceptor) > 0; tries++ {
		x := c.Random.IntN(terminal.Side)
		c.spawn(terminal.Interceptor, x, max(13-x, x-14), 1)
	}
}

// enemyFront counts the enemy's structures in its two front rows.
func (c *seat) enemyFront() (n int) {
	for x := range terminal.Side {
		for y := terminal.Side / 2; y < terminal.Side/2+2; y++ {
			if c.State.Own[c.Player^1].Has(c.cell(x, y)) {
				n++
			}
		}
	}
	return n
}

// sendDemolishers sends demolishers along a line of the cheapest structures, which keeps
// them at a distance from which they hit the enemy's front without being hit.
func (c *seat) sendDemolishers() {
	cheapest := terminal.Wall
	for k := range terminal.Kind(terminal.Structures) {
		if c.Rules.Units[k].Cores < c.Rules.Units[cheapest].Cores {
			cheapest = k
		}
	}
	for x := 25; x > 5 && c.build(cheapest, x, 11); x-- {
	}
	c.spawn(terminal.Demolisher, 24, 10, 1000)
}

// strike attacks with all bits once they are about the given fraction of the most that saving
// can accumulate: with scouts if enough of them get through, else with demolishers.
func (c *seat) strike(saved float32) {
	if c.savedPart(c.bits) < saved*(0.85+float32(0.3*float32(c.Random.Float64()))) {
		return
	}
	k := terminal.Scout
	if c.repelled() && c.affords(terminal.Demolisher) >= 2 {
		k = terminal.Demolisher
	}
	if r := c.route(k); r.found {
		c.spawn(k, r.start[0], r.start[1], c.affords(k))
	}
}

// repelled reports whether the enemy would stop most or all of the scouts that the bits can
// pay.
func (c *seat) repelled() bool {
	r := c.route(terminal.Scout)
	return !r.through || r.lost > 0.7*float32(c.affords(terminal.Scout))
}

// shields returns the health that the own supports add to a mobile unit that passes all of
// them.
func (c *seat) shields() (sum float32) {
	list := &c.State.Ages[c.Player][terminal.Support]
	for _, local := range list.Cell[:list.N] {
		x, y := terminal.LocalXY(int(local), 0)
		sum += c.Rules.Structure(terminal.Support, c.State.Upgraded.Has(c.cell(x, y))).ShieldAt(y)
	}
	return sum
}

// maze builds a wall across the own half with one opening, turrets on both sides of the
// opening and supports behind it, and attacks with saved bits.
func (c *seat) maze() {
	c.keepMaze()
	c.strike(0.6)
}

// keepMaze orders the structures of the maze.
func (c *seat) keepMaze() {
	o := c.opening()
	c.repairMaze(o)
	if c.buildMaze(o, true) {
		c.closeGap()
	}
}

const mazeLine = 12 // row of the wall; its ends, in the corners, are one up

// mazeOpenings are the columns where the opening may be.
var mazeOpenings = [...]int{9, 13, 14, 18}

// opening returns the column of the opening: the possible one with most turrets beside it;
// it draws among equals.
func (c *seat) opening() int {
	best, most, ties := 0, -1, 0
	for _, o := range mazeOpenings {
		n := 0
		for _, dx := range [...]int{-2, -1, 1, 2} {
			cell := c.cell(o+dx, mazeLine-1)
			if c.State.Own[c.Player].Has(cell) && c.State.Turrets.Has(cell) {
				n++
			}
		}
		if n > most {
			best, most, ties = o, n, 0
		}
		if n == most {
			ties++
			if c.Random.IntN(ties) == 0 {
				best = o
			}
		}
	}
	return best
}

// repairMaze renews damaged structures, and removes a structure in the opening.
func (c *seat) repairMaze(o int) {
	for x := 1; x < terminal.Side-1; x++ {
		c.renew(x, mazeLine, 0.5)
	}
	for dx := -2; dx <= 2; dx++ {
		c.renew(o+dx, mazeLine-1, 0.5)
	}
	c.renew(o, mazeLine, 2)
}

// buildMaze orders the structures and upgrades of the maze, and reports whether the cores
// sufficed for all of them. With early, supports that give bits come before the wall.
func (c *seat) buildMaze(o int, early bool) bool {
	return c.buildInside(o, early) && c.buildOutside(o)
}

// buildInside orders the maze without the structures of buildOutside.
func (c *seat) buildInside(o int, early bool) bool {
	gate := [...][2]int{{o - 1, mazeLine - 1}, {o + 1, mazeLine - 1}}
	posts := [...][2]int{{o - 1, mazeLine}, {o + 1, mazeLine}}
	inner := [...][2]int{{o - 2, mazeLine - 1}, {o + 2, mazeLine - 1}, {o - 1, mazeLine - 2}, {o + 1, mazeLine - 2}}
	supports := [...][2]int{{o - 2, mazeLine - 3}, {o + 2, mazeLine - 3}, {o - 2, mazeLine - 4}, {o + 2, mazeLine - 4}}
	if !c.buildAll(terminal.Turret, gate[:]) || !c.buildAll(terminal.Wall, posts[:]) {
		return false
	}
	if early && c.Rules.Units[terminal.Support].GivesBits > 0 && !c.buildAll(terminal.Support, supports[:]) {
		return false
	}
	if !c.buildWall(o) || !c.upgradeAll(gate[:]) {
		return false
	}
	if !c.buildAll(terminal.Turret, inner[:2]) || !c.buildAll(terminal.Support, supports[:]) || !c.upgradeAll(posts[:]) {
		return false
	}
	return c.upgradeAll(supports[:]) && c.buildAll(terminal.Turret, inner[2:]) && c.upgradeAll(inner[:])
}

// buildWall orders the wall, from both ends to the middle.
func (c *seat) buildWall(o int) bool {
	const last = terminal.Side - 1
	for x := range terminal.Side / 2 {
		y := mazeLine
		if x == 0 {
			y++
		}
		if x != o && !c.build(terminal.Wall, x, y) || last-x != o && !c.build(terminal.Wall, last-x, y) {
			return false
		}
	}
	return true
}

// buildOutside orders turrets behind the rest of the wall, and upgrades of the wall.
func (c *seat) buildOutside(o int) bool {
	for d := 4; d < terminal.Side; d += 3 {
		for _, x := range [...]int{o - d, o + d} {
			if x < 2 || x > 25 {
				continue
			}
			if !c.build(terminal.Turret, x, mazeLine-1) || !c.upgrade(x, mazeLine) || !c.upgrade(x, mazeLine-1) {
				return false
			}
		}
	}
	return true
}

// turtle defends the whole front, and attacks with the bits that are left.
func (c *seat) turtle() {
	c.keepTurtle()
	c.intercept()
	c.strike(0.6)
}

// keepTurtle orders the structures of the turtle.
func (c *seat) keepTurtle() {
	for _, x := range turtleColumns {
		c.renew(x, 12, 0.4)
		c.renew(x, 13, 0.4)
	}
	if c.buildTurtle(c.Random.IntN(len(turtleColumns))) {
		c.closeGap()
	}
}

// turtleColumns are the columns of the turrets of the front row, at y = 12: with a
// range of 2.5 they cover all of it.
var turtleColumns = [...]int{7, 20, 2, 25, 11, 16}

// buildTurtle orders the turtle's structures, starting at one of the columns, and reports
// whether the cores sufficed for all of them.
func (c *seat) buildTurtle(first int) bool {
	var columns [len(turtleColumns)]int
	for i := range columns {
		columns[i] = turtleColumns[(first+i)%len(columns)]
	}
	for _, x := range columns {
		if !c.build(terminal.Turret, x, 12) || !c.build(terminal.Wall, x, 13) {
			return false
		}
	}
	if c.Rules.Units[terminal.Support].GivesBits > 0 && !c.buildAll(terminal.Support, starterSupports[:]) {
		return false
	}
	for _, x := range columns {
		if !c.upgrade(x, 12) || !c.build(terminal.Wall, x-1, 13) || !c.build(terminal.Wall, x+1, 13) {
			return false
		}
	}
	for _, x := range columns {
		inner := x + 2 // towards the middle
		if x > 13 {
			inner = x - 2
		}
		if !c.build(terminal.Turret, inner, 10) || !c.upgrade(x, 13) {
			return false
		}
	}
	return c.buildAll(terminal.Support, starterSupports[:])
}

// intercept sends interceptors once the enemy has saved half of the bits that it can
// accumulate.
func (c *seat) intercept() {
	bits := c.State.Bits[c.Player^1]
	if c.savedPart(bits) < 0.5 {
		return
	}
	n := int(bits) / 4
	for i, at := range [...][2]int{{6, 7}, {21, 7}} {
		c.spawn(terminal.Interceptor, at[0], at[1], (n+i)/2)
	}
}
