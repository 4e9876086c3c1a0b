package squads

import (
	"moonfarm/rollout/policy/codecraft/internal/toolbox"
	"moonfarm/sim"
	"moonfarm/sim/codecraft"
)

// How fighters fight: distances in cells.
const (
	leastArmy  = 8  // a smaller army attacks only enemies in the own half
	bold       = 9  // part of the enemies' strength, in tenths, that ours must reach to advance
	aware      = 9  // distance at which a fighter reacts to an enemy
	waitAt     = 7  // distance at which it waits
	unitsFirst = 8  // distance added to buildings, so that units are approached first
	rallyPoint = 24 // on both axes of the own frame
)

// marchPrice is the price of a fighter's step onto each kind of cell.
var marchPrice = [wall + 1]uint16{open: 1, ore: 7, own: 2, foe: 1}

// fight gives the fighters their actions.
func (c *Commander) fight() {
	c.shoot()
	c.mapFoes()
	for _, key := range c.idle(&c.Army, &c.toFoes) { // so fighters behind others can enter the cells that those leave
		c.advance(int(key & (codecraft.MaxUnits - 1)))
	}
}

// mapFoes computes toFoes: the distances to the enemies in sight and to homes out of sight;
// for a small army, to the enemies in the own half, or else to its rally point.
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

// advance moves a fighter, or lets it wait.
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
	if to := c.downhill(from, &c.toFoes, true); to >= 0 {
		c.step(i, to)
		return
	}
	if c.toFoes.tail == 0 && c.Army.N >= leastArmy {
		c.roam(i)
		return
	}
	c.wait(i)
}

// wait lets a unit stay and attack enemies that come in range.
func (c *Commander) wait(i int) {
	t := &c.Rules.Types[c.State.Units[i].Type]
	var a codecraft.Action
	a.AddAuto(int(t.Range), codecraft.AllButResource)
	c.give(i, a)
	c.stay(i)
}

// roam sends a unit to a random place of the map.
func (c *Commander) roam(i int) {
	x, y := c.Roam(i)
	var a codecraft.Action
	a.AddMove(x, y, codecraft.FindClosest)
	c.give(i, a)
}

// nearest returns the enemy fighter nearest to a cell, and its distance.
func (c *Commander) nearest(x, y int) (best *armed, d int16) {
	for k := range c.foes.arms[:c.foes.armed] {
		a := &c.foes.arms[k]
		if e := distance(int16(x), int16(y), a.x, a.y); best == nil || e < d {
			best, d = a, e
		}
	}
	return best, d
}

// favourable reports whether the own fighters around an enemy are strong enough to advance.
func (c *Commander) favourable(a *armed) bool { return a.ours*10 >= a.theirs*bold }

// retreat moves a unit to the neighbour cell with the least fear.
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
