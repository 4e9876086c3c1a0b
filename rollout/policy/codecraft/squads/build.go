package squads

import (
	"moonfarm/rollout/policy/codecraft/internal/toolbox"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/codecraft"
)

// Limits and distances of building.
const (
	ahead       = 12  // ticks for which the population is planned ahead
	mostHouses  = 4   // limit of unfinished houses
	settled     = 38  // builders to have before the ranged base
	early       = 12  // fighters to have, after it, before further builders
	fewBuilders = 50  // builders to have before their number depends on the army
	mostBuilder = 80  // limit of builders
	mostFighter = 110 // limit of fighters
	mostUnits   = 250 // limit of all own units: the action space has no more slots
	plenty      = 700 // money at which another ranged base is built
	walkReach   = 60  // distance from which a builder comes to begin a building
	mendReach   = 8   // distance from which a builder comes to repair a building
	finishReach = 14  // distance from which a builder comes to finish a building
	mostJobless = 3   // limit of builders without work while more are built
	mostTurrets = 3
	crowdReach  = 7 // distance from which builders help to finish a building
	oreCost     = 4 // cost of a resource on a site, in cells of distance
	laneWorth   = 8 // worth of a lane around a building, in cost of a site
	helpWorth   = 4 // worth of each builder nearby, up to four, in cost of a site
)

// count returns the number of entities of a type that the player has.
func (c *Commander) count(t codecraft.Type) int32 { return int32(c.State.Count[c.Player][t]) }

// builds reports whether builders can build a type.
func (c *Commander) builds(t codecraft.Type) bool {
	b := &c.Rules.Types[codecraft.BuilderUnit]
	return b.CanBuild && b.Builds.Set().Has(t) && c.Rules.Types[t].Size <= 5
}

// expand begins the most urgent building, if one is needed and can be paid for.
func (c *Commander) expand() {
	n := c.count(codecraft.BuilderUnit)
	if n == 0 || c.State.N == codecraft.MaxUnits || c.Builders.N+c.Army.N+c.Fixed.N >= mostUnits {
		return
	}
	switch {
	case c.count(codecraft.BuilderBase) == 0:
		c.begin(codecraft.BuilderBase)
	case c.needsTurret():
		c.begin(codecraft.Turret)
	case n >= settled && c.count(codecraft.RangedBase) == 0:
		c.begin(codecraft.RangedBase)
		if !c.Saving && c.needsHouse() {
			c.begin(codecraft.House)
		}
	case c.needsHouse():
		c.begin(codecraft.House)
	case c.Money >= plenty && c.count(codecraft.RangedBase) == 1 && c.pending[codecraft.RangedBase] == 0:
		c.begin(codecraft.RangedBase)
	}
}

// needsHouse reports whether the units of the next ticks will exceed the population limit.
func (c *Commander) needsHouse() bool {
	used := c.State.PopUse[c.Player]
	if c.Housed >= mostBuilder+mostFighter || c.pending[codecraft.House] >= min(1+used/c.plan.perHouse, mostHouses) {
		return false
	}
	price := c.Rules.CostOf(codecraft.BuilderUnit, c.count(codecraft.BuilderUnit))
	if c.count(codecraft.RangedBase) > 0 && c.count(codecraft.BuilderUnit) >= fewBuilders {
		price = c.Rules.CostOf(codecraft.RangedUnit, c.count(codecraft.RangedUnit))
	}
	income := int32(c.Builders.N) * 3 / 5
	next := (c.Money + income*ahead) / max(price+10, 1)
	if used < c.plan.beginners {
		return c.Housed <= used
	}
	return c.Housed-used < 1+min(next, ahead)
}

// needsTurret reports whether enemies are near the base and the army is smaller.
func (c *Commander) needsTurret() bool {
	return c.foes.near > 0 && c.Army.N < c.foes.near && c.count(codecraft.Turret) < mostTurrets &&
		c.Builders.N > 6 && c.pending[codecraft.Turret] == 0
}

// begin sends a builder to build a building of type t on the cheapest site. Until there is
// money for it, begin only sets its price aside; if there is no site, it clears one.
func (c *Commander) begin(t codecraft.Type) {
	if !c.builds(t) {
		return
	}
	cost := c.Rules.Types[t].Cost
	if c.Money+int32(c.Builders.N)/2 < cost {
		c.Reserve(cost)
		return
	}
	x, y, ok := c.chooseSite(t)
	if !ok {
		c.clearSite(t)
		return
	}
	c.Reserve(cost)
	var a codecraft.Action
	a.AddBuild(t, x, y)
	c.recruit(x, y, int(c.Rules.Types[t].Size), walkReach, 1, 1, a)
}

// works are own buildings that are damaged or not finished, and hurt fighters.
type works struct {
	n    int
	unit [128]uint16
}

func (w *works) add(i int) {
	if w.n < len(w.unit) {
		w.unit[w.n] = uint16(i)
		w.n++
	}
}

// repair sends builders to the works.
func (c *Commander) repair() {
	b := &c.Rules.Types[codecraft.BuilderUnit]
	if !b.CanRepair {
		return
	}
	for _, at := range c.works.unit[:c.works.n] {
		i := int(at)
		u := &c.State.Units[i]
		t := &c.Rules.Types[u.Type]
		if !b.Repairs.Set().Has(u.Type) {
			continue
		}
		x, y, size := c.Corner(i)
		missing := int(t.MaxHealth) - int(u.Health)
		wants, reach := min(1+missing/40, 4), mendReach
		if !u.Active {
			wants, reach = min(1+missing/14, 2+c.Builders.N/3, 12), finishReach
			if size > 3 {
				wants, reach = min(1+missing/6, 8), walkReach
			}
		}
		var a codecraft.Action
		a.AddRepair(u.ID)
		c.recruit(x, y, size, reach, wants, missing, a)
	}
}

// recruit gives an action to idle builders beside a square, at most `there` of them, and then
// lets the nearest builders come, until it has `wants` builders.
func (c *Commander) recruit(x, y, size, reach, wants, there int, a codecraft.Action) {
	f := &c.local
	f.stamp++
	f.head, f.tail = 0, 0
	for side := range 4 {
		for k := range size {
			bx, by := toolbox.Beside(x, y, size, side, k)
			if !codecraft.OnMap(bx, by, 1) {
				continue
			}
			at := cellAt(bx, by)
			if i := c.freeBuilder(at); i >= 0 && there > 0 {
				c.give(i, a)
				c.stay(i)
				wants--
				there--
			} else if c.ground[at] == open && !c.kept[at] && c.danger[at] == 0 {
				f.seen[at] = f.stamp
				f.queue[f.tail] = uint16(at)
				f.tail++
			}
		}
	}
	for ring := 0; ring < reach && f.head < f.tail && wants > 0; ring++ {
		for end := f.tail; f.head < end && wants > 0; f.head++ {
			wants -= c.recruitAround(int(f.queue[f.head]), wants)
		}
	}
}

// recruitAround lets builders beside a cell on the way step onto it, and adds the cells beside
// it to the queue.
func (c *Commander) recruitAround(at, wants int) (found int) {
	f := &c.local
	for _, by := range around {
		to := at + by
		if f.seen[to] == f.stamp {
			continue
		}
		if i := c.freeBuilder(to); i >= 0 && found < wants && c.enters(at) {
			c.step(i, at)
			found++
		}
		if c.ground[to] == open || c.ground[to] == own {
			f.seen[to] = f.stamp
			f.queue[f.tail] = uint16(to)
			f.tail++
		}
	}
	return found
}

// freeBuilder returns the idle builder on a cell, −1 if there is none.
func (c *Commander) freeBuilder(at int) int {
	if c.ground[at] != own || c.danger[at] != 0 {
		return -1
	}
	i := int(c.State.At[codecraft.CellOf(at%wide-1, at/wide-1)]) - 1
	if i < 0 || c.busy[i] || c.State.Units[i].Type != codecraft.BuilderUnit {
		return -1
	}
	return i
}

// siteSearch is scratch memory for findSite.
type siteSearch struct {
	free    bitboard.Square // where a building may stand
	corners bitboard.Square // the lowest corners of such squares
	walk    field           // steps from the nearest builder
	crowd   [cells]uint8    // builders nearby
}

// chooseSite returns the site for a building of type t. It prefers a site with a lane to other
// buildings unless one without is cheaper by more than laneWorth.
func (c *Commander) chooseSite(t codecraft.Type) (x, y int, ok bool) {
	c.mapSites()
	c.openSites(t, 1)
	x, y, cost := c.findSite(t)
	if cost > laneWorth {
		c.openSites(t, 0)
		if nx, ny, near := c.findSite(t); near+laneWorth < cost {
			x, y, cost = nx, ny, near
		}
	}
	return x, y, cost < far
}

// openSites finds the cells where a building of type t may stand: free, and with a lane of
// some cells to other buildings, at least one cell to the ranged base. Houses keep the site of
// the ranged base free.
func (c *Commander) openSites(t codecraft.Type, lane int) {
	free := &c.site.free
	*free = c.sight
	free.AndNot(&c.State.Occupied)
	for _, i := range c.Fixed.All() {
		x, y, size := c.Corner(int(i))
		kept := lane
		if c.State.Units[i].Type == codecraft.RangedBase {
			kept = max(lane, 1) // builders finish the base from the lane, and units leave through it
		}
		toolbox.ClearAround(free, x, y, size, kept)
	}
	if t == codecraft.House && c.count(codecraft.RangedBase) == 0 && c.builds(codecraft.RangedBase) {
		if x, y, ok := c.future(codecraft.RangedBase); ok {
			toolbox.ClearAround(free, x, y, int(c.Rules.Types[codecraft.RangedBase].Size), 1)
		}
	}
}

// mapSites computes the distances from idle builders, and their number near each cell.
func (c *Commander) mapSites() {
	f := &c.site.walk
	f.begin()
	c.site.crowd = [cells]uint8{}
	for _, i := range c.Builders.All() {
		bx, by, _ := c.Corner(int(i))
		if at := cellAt(bx, by); !c.busy[i] && c.danger[at] == 0 {
			f.source(at, 0)
			mark(&c.site.crowd, bx, by, crowdReach)
		}
	}
	f.flood(&c.ground, &passable)
}

// findSite returns the site with the lowest cost: near to a builder and to the anchor, beside
// few resources.
func (c *Commander) findSite(t codecraft.Type) (x, y, least int) {
	size := int(c.Rules.Types[t].Size)
	corners := &c.site.corners
	*corners = c.site.free
	for range size - 1 {
		corners.Corners(corners)
	}
	ax, ay := c.anchor(t)
	perStep := 4
	if size > 3 {
		perStep = c.plan.baseStep // the distance from the anchor matters more
	}
	least = far
	eachCell(corners, func(sx, sy int) {
		if cost := c.siteCost(sx, sy, size, ax, ay, least, perStep); cost < least {
			x, y, least = sx, sy, cost
		}
	})
	return x, y, least
}

// anchor returns the preferred place of a building.
func (c *Commander) anchor(t codecraft.Type) (x, y int) {
	switch t {
	case codecraft.RangedBase, codecraft.MeleeBase:
		return codecraft.TurnBack(c.Player, c.plan.forward, c.plan.forward, 1)
	case codecraft.Turret:
		return c.foes.nearX, c.foes.nearY
	}
	x, y = c.Home()
	n := c.Builders.N + 1
	for _, i := range c.Builders.All() {
		x += int(c.State.Units[i].X)
		y += int(c.State.Units[i].Y)
	}
	return x / n, y / n
}

// future returns the site that a building of type t will have once its resources are gathered
// and units have left it: near to the anchor, with few resources.
func (c *Commander) future(t codecraft.Type) (bx, by int, ok bool) {
	size := int(c.Rules.Types[t].Size)
	corners := &c.site.corners
	corners.Flip(&bitboard.Square{})
	for _, i := range c.Fixed.All() {
		x, y, s := c.Corner(int(i))
		toolbox.ClearAround(corners, x, y, s, 1)
	}
	corners.And(&c.sight)
	for range size - 1 {
		corners.Corners(corners)
	}
	ax, ay := c.anchor(t)
	least := 1 << 30
	eachCell(corners, func(x, y int) {
		cost := codecraft.Gap(x, y, size, ax, ay, 1)
		for k := 0; k < size*size && cost < least; k++ {
			if c.ground[cellAt(x+k%size, y+k/size)] == ore {
				cost += oreCost
			}
		}
		if cost < least {
			bx, by, least, ok = x, y, cost, true
		}
	})
	return bx, by, ok
}

// clearSite sends builders to gather the resources on the future site of a building of type t,
// and sends builders on it away.
func (c *Commander) clearSite(t codecraft.Type) {
	bx, by, ok := c.future(t)
	if !ok {
		return
	}
	size := int(c.Rules.Types[t].Size)
	for k := range size * size {
		x, y := bx+k%size, by+k/size
		at := cellAt(x, y)
		c.taken[at] = true
		if c.ground[at] == ore {
			var a codecraft.Action
			a.AddTarget(c.State.ResourceID(x, y))
			c.recruit(x, y, 1, mendReach, 2, 2, a)
		}
	}
	for k := range size * size {
		at := cellAt(bx+k%size, by+k/size)
		if i := c.freeBuilder(at); i >= 0 {
			c.leave(i, at, bx+size/2, by+size/2)
		}
	}
}

// leave moves a unit on cell from one step away from (x, y).
func (c *Commander) leave(i, from, x, y int) {
	far := distance(int16(from%wide-1), int16(from/wide-1), int16(x), int16(y))
	for _, by := range around {
		to := from + by
		if c.enters(to) && distance(int16(to%wide-1), int16(to/wide-1), int16(x), int16(y)) > far {
			c.step(i, to)
			return
		}
	}
}

// siteCost returns the cost of a site, with perStep for each step of a builder to it. If the
// cost is not below least, the result need not be exact.
func (c *Commander) siteCost(x, y, size, ax, ay, least, perStep int) int {
	cost := codecraft.Gap(x, y, size, ax, ay, 1)
	if cost-4*helpWorth >= least {
		return cost
	}
	walk, ores := int(far), 0
	for side := range 4 {
		for k := range size {
			bx, by := toolbox.Beside(x, y, size, side, k)
			at := cellAt(bx, by)
			walk = min(walk, int(c.site.walk.dist[at]))
			if c.ground[at] == ore {
				ores++
			}
			if c.danger[at] != 0 {
				return far
			}
		}
	}
	crowd := int(c.site.crowd[cellAt(x+size/2, y+size/2)])
	return cost + perStep*walk + 2*ores - helpWorth*min(crowd, 4)
}
