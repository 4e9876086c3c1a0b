package squads

import (
	"math/bits"
	"slices"

	"moonfarm/rollout/policy/codecraft/internal/toolbox"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/codecraft"
)

// How builders gather: distances in steps.
const (
	searchCells = 500 // limit of the cells that a builder searches for a vacant place
	stepCost    = 2   // cost of a step to a place
	oreWorth    = 2   // worth of a resource beside a place, in cost
	scoutAfter  = 25  // steps by which a place is preferred to the edge of the sight
)

// eachCell calls visit with the cells of a board.
func eachCell(b *bitboard.Square, visit func(x, y int)) {
	low, high := b.Rows()
	for y := low; y <= high; y++ {
		left, right := b.Row(y)
		for ; left != 0; left &= left - 1 {
			visit(bits.TrailingZeros64(left), y)
		}
		for ; right != 0; right &= right - 1 {
			visit(64+bits.TrailingZeros64(right), y)
		}
	}
}

// gather sends the idle builders to resources.
func (c *Commander) gather() {
	c.escape()
	c.mining = [cells]bool{}
	for _, at := range c.Builders.All() {
		i := int(at)
		if x, y, _ := c.Corner(i); !c.busy[i] && c.oresBeside(cellAt(x, y)) > 0 {
			c.mining[cellAt(x, y)], c.busy[i] = true, true
			c.stay(i)
		}
	}
	c.mapWork()
	c.jobless = 0
	for _, key := range c.idle(&c.Builders, &c.toWork) {
		c.findWork(int(key & (codecraft.MaxUnits - 1)))
	}
	var take codecraft.Action
	take.AddAuto(1, 1<<codecraft.Resource)
	for _, at := range c.Builders.All() {
		if x, y, _ := c.Corner(int(at)); c.mining[cellAt(x, y)] {
			c.give(int(at), take)
		}
	}
}

// oresBeside returns the number of resources beside a cell.
func (c *Commander) oresBeside(at int) (n int) {
	for _, by := range around {
		if c.ground[at+by] == ore {
			n++
		}
	}
	return n
}

// vacant returns the number of resources beside a cell; 0 if no builder can gather from there
// or another builder has the cell.
func (c *Commander) vacant(at int) int {
	if c.ground[at] != open && c.ground[at] != own || c.kept[at] || c.taken[at] || c.danger[at] != 0 {
		return 0
	}
	return c.oresBeside(at)
}

// passable are the kinds of cells that builders expect to become free.
var passable = [wall + 1]bool{open: true, own: true}

// mapWork computes toWork: the distances from vacant places to gather, and from the edge of
// the sight, which counts as scoutAfter steps farther.
func (c *Commander) mapWork() {
	f := &c.toWork
	f.begin()
	ores := c.State.Resources
	ores.And(&c.sight)
	eachCell(&ores, func(x, y int) {
		at := cellAt(x, y)
		for _, by := range around {
			if to := at + by; f.dist[to] == far && c.vacant(to) > 0 {
				f.source(to, 0)
			}
		}
	})
	f.flood(&c.ground, &passable)
	if !c.Rules.Fog {
		return
	}
	f.head, f.tail = 0, 0
	edge := c.sight
	edge.Grow(&c.sight)
	edge.AndNot(&c.sight)
	eachCell(&edge, func(x, y int) {
		if at := cellAt(x, y); c.ground[at] == open && f.dist[at] > scoutAfter {
			f.source(at, scoutAfter)
		}
	})
	f.flood(&c.ground, &passable)
}

// idle returns the units of a list without an action, in the low bits of keys, those nearest to
// the sources of a field first.
func (c *Commander) idle(l *toolbox.List, f *field) []uint32 {
	n := 0
	for _, at := range l.All() {
		if x, y, _ := c.Corner(int(at)); !c.busy[at] {
			c.local.sorted[n] = uint32(f.dist[cellAt(x, y)])<<11 | uint32(at)
			n++
		}
	}
	slices.Sort(c.local.sorted[:n])
	return c.local.sorted[:n]
}

// findWork sends a builder to the nearest vacant place to gather.
func (c *Commander) findWork(i int) {
	x, y, _ := c.Corner(i)
	from := cellAt(x, y)
	for _, through := range [...]bool{true, false} {
		if to := c.search(from, searchCells, through); to >= 0 && c.push(i, from, to) {
			c.taken[to] = true
			return
		}
	}
	if to := c.downhill(from, &c.toWork, false); to >= 0 {
		c.step(i, to)
		return
	}
	c.jobless++
	c.give(i, codecraft.Action{Parts: codecraft.Given})
	c.stay(i)
}

// downhill returns the neighbour that can be entered and is nearest to the sources of a field;
// −1 if none is nearer than the cell itself. With shoots, cells with resources are allowed, too, which
// the unit shoots.
func (c *Commander) downhill(from int, f *field, shoots bool) int {
	best, least := -1, f.dist[from]
	for _, by := range around {
		if to := from + by; f.dist[to] < least && (c.enters(to) || shoots && c.ground[to] == ore) {
			best, least = to, f.dist[to]
		}
	}
	return best
}

// search returns the best vacant place to gather, near to a cell and beside many resources,
// among at most `most` cells; −1 if there is none. With through, the path may lead through
// gathering builders. The first step can be taken now unless such a builder is there.
func (c *Commander) search(from, most int, through bool) (best int) {
	f := &c.local
	f.stamp++
	f.head, f.tail = 0, 0
	f.seen[from] = f.stamp
	for _, by := range around {
		if to := from + by; c.enters(to) || through && c.mining[to] {
			f.reach(to, from, 1)
		}
	}
	best = -1
	least := 1 << 30
	for f.head < f.tail && f.head < most {
		at := int(f.queue[f.head])
		f.head++
		d := int(f.steps[at])
		if stepCost*d-oreWorth*len(around) >= least {
			break
		}
		if n := c.vacant(at); n > 0 && stepCost*d-oreWorth*n < least {
			best, least = at, stepCost*d-oreWorth*n
		}
		for _, by := range around {
			next := at + by
			if f.seen[next] == f.stamp || !passable[c.ground[next]] {
				continue
			}
			if c.ground[next] == open || !c.kept[next] || through && c.mining[next] {
				f.reach(next, at, d+1)
			}
		}
	}
	return best
}

// push moves a builder along the path of search: if gathering builders are in its way, each of
// them steps forward and the next one takes its place. It reports whether that is possible.
func (c *Commander) push(i, from, to int) bool {
	f := &c.local
	n := 0
	for at := to; at != from; at = int(f.before[at]) {
		f.queue[n] = uint16(at)
		n++
	}
	last := n - 1 // the first cell of the path without a gathering builder
	for ; last >= 0 && c.mining[f.queue[last]]; last-- {
	}
	if last < 0 || !c.enters(int(f.queue[last])) {
		return false
	}
	for k := last; k < n-1; k++ {
		at := int(f.queue[k+1])
		c.mining[at] = false
		c.step(int(c.State.At[codecraft.CellOf(at%wide-1, at/wide-1)])-1, int(f.queue[k]))
	}
	c.step(i, int(f.queue[n-1]))
	return true
}

// reach records that the search has reached a cell.
func (l *local) reach(at, before, steps int) {
	l.seen[at] = l.stamp
	l.before[at], l.steps[at] = uint16(before), uint16(steps)
	l.queue[l.tail] = uint16(at)
	l.tail++
}

// escape moves builders away from enemy fighters that can soon hit them.
func (c *Commander) escape() {
	for _, at := range c.Builders.All() {
		i := int(at)
		x, y, _ := c.Corner(i)
		from := cellAt(x, y)
		if c.busy[i] || c.danger[from] == 0 {
			continue
		}
		best, least := -1, c.fear(from)
		for _, by := range around {
			if to := from + by; c.enters(to) && c.fear(to) < least {
				best, least = to, c.fear(to)
			}
		}
		if best >= 0 {
			c.step(i, best)
		}
	}
}
