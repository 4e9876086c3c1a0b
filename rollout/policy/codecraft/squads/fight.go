package squads

import (
	"cmp"
	"moonfarm/rollout/policy/codecraft/internal/toolbox"
	"slices"

	"moonfarm/sim"
	"moonfarm/sim/codecraft"
)

// How fighters fight: distances in cells, strengths in parts of ten.
const (
	leastArmy  = 8  // fewer go for enemies in the own half alone
	bold       = 9  // the part of the enemies' strength that ours must reach to advance
	aware      = 9  // distance at which a fighter reacts to an enemy
	waitAt     = 7  // … and at which it waits
	unitsFirst = 8  // buildings are approached as if so much farther away
	rallyPoint = 24 // on both axes of the own frame
)

// marchPrice is what a step of fighters on each kind of cell takes.
var marchPrice = [wall + 1]uint16{open: 1, ore: 7, own: 2, foe: 1}

// fight gives the fighters their actions.
func (c *Commander) fight() {
	c.shoot()
	c.mapFoes()
	for _, key := range c.ranks() {
		c.advance(int(key & (codecraft.MaxUnits - 1)))
	}
}

// mapFoes makes toFoes: ways to the enemies that are seen and to their homes; for
// a small army, to those in the own half, or else to where it gathers.
func (c *Commander) mapFoes() {
	f := &c.toFoes
	f.begin()
	small := c.Army.N < leastArmy
	for _, at := range c.foes.at[:c.foes.n] {
		x, y, size := c.Corner(int(at))
		if ox, oy := codecraft.Turn(c.Player, x, y, size); small && ox+oy > codecraft.Side-10 {
			continue
		}
		far := uint16(0)
		if !c.Rules.Types[c.State.Units[at].Type].CanMove {
			far = unitsFirst
		}
		for k := range size * size {
			f.source(cellAt(x+k%size, y+k/size), far)
		}
	}
	switch {
	case small && f.tail == 0:
		x, y := codecraft.TurnBack(c.Player, rallyPoint, rallyPoint, 1)
		f.source(cellAt(x, y), 0)
	case !small:
		for q := range sim.Player(c.Rules.Players) {
			x, y := codecraft.TurnBack(q, toolbox.HomeAt, toolbox.HomeAt, 1)
			if q != c.Player && !c.sight.Has(x, y) {
				f.source(cellAt(x, y), 0)
			}
		}
	}
	c.ways.flood(f, &c.ground, &marchPrice)
}

// ranks are the idle fighters, the ones nearest to enemies first: the fighters behind them
// know the cells that they leave.
func (c *Commander) ranks() []uint32 {
	n := 0
	for _, at := range c.Army.All() {
		if c.busy[at] {
			continue
		}
		x, y, _ := c.Corner(int(at))
		c.local.sorted[n] = uint32(c.toFoes.dist[cellAt(x, y)])<<11 | uint32(at)
		n++
	}
	slices.SortFunc(c.local.sorted[:n], cmp.Compare[uint32])
	return c.local.sorted[:n]
}

// advance moves a fighter, or has it wait.
func (c *Commander) advance(i int) {
	x, y, _ := c.Corner(i)
	from := cellAt(x, y)
	if a, d := c.nearest(x, y); a != nil && d <= aware && !c.favourable(a) {
		limit := int16(waitAt)
		if !a.moves {
			limit = a.reach + 1
		}
		if d < limit {
			c.retreat(i, from)
			return
		}
		if d == limit {
			c.wait(i)
			return
		}
	}
	if to := c.downhillOver(from); to >= 0 {
		c.step(i, to)
		return
	}
	if c.toFoes.tail == 0 && c.Army.N >= leastArmy {
		c.roam(i)
		return
	}
	c.wait(i)
}

// wait has a unit stay and hit enemies that come in range.
func (c *Commander) wait(i int) {
	t := &c.Rules.Types[c.State.Units[i].Type]
	var a codecraft.Action
	a.AddAuto(int(t.Range), codecraft.AllButResource)
	c.give(i, a)
	c.stay(i)
}

// roam sends a unit about the map for a while.
func (c *Commander) roam(i int) {
	x, y := c.Roam(i)
	var a codecraft.Action
	a.AddMove(x, y, codecraft.FindClosest)
	c.give(i, a)
}

// downhillOver is downhill of toFoes; resources in the way are shot.
func (c *Commander) downhillOver(from int) int {
	best, least := -1, c.toFoes.dist[from]
	for _, by := range around {
		to := from + by
		if d := c.toFoes.dist[to]; d < least && (c.enters(to) || c.ground[to] == ore) {
			best, least = to, d
		}
	}
	return best
}

// nearest is the enemy fighter nearest to a cell, and how far it is.
func (c *Commander) nearest(x, y int) (best *armed, d int16) {
	for k := range c.foes.arms[:c.foes.armed] {
		a := &c.foes.arms[k]
		if e := apart(int16(x), int16(y), a.x, a.y); best == nil || e < d {
			best, d = a, e
		}
	}
	return best, d
}

// favourable reports whether own fighters about an enemy are the stronger ones.
func (c *Commander) favourable(a *armed) bool { return a.ours*10 >= a.theirs*bold }

// retreat has a unit leave the range of enemies, the farther the better.
func (c *Commander) retreat(i, from int) {
	best, least := -1, c.fear(from)
	for _, by := range around {
		to := from + by
		if !c.enters(to) {
			continue
		}
		if fear := c.fear(to); fear < least || fear == least && best >= 0 && c.toFoes.dist[to] > c.toFoes.dist[best] {
			best, least = to, fear
		}
	}
	if best < 0 {
		c.wait(i)
		return
	}
	c.step(i, best)
}
