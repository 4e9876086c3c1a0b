// Package squads is a scripted policy of CodeCraft that builds its economy first
// and fights where it is stronger:
//
//   - Builders spread: each takes its own cell beside a resource, the nearest
//     vacant one, and pushes gathering builders in its way onwards; builders that
//     see no vacant cell explore.
//   - The first house is begun when the first builders have used up the
//     population limit; later houses are begun before the units of the next ticks
//     reach it, near builders.
//   - A site for the ranged base, towards the middle of the map, is kept free, or
//     cleared of resources. The base is built once there are 38 builders, then a
//     first dozen of ranged units; from then on builders and army grow together.
//   - Builders nearby finish and repair buildings and heal fighters; all builders
//     flee from enemy fighters.
//   - Fighters follow one distance field to all enemies in sight, units rather
//     than buildings, else to the enemies' homes; a small army attacks only enemies
//     in the own half.
//   - Around each enemy fighter the strength of both sides is compared: fighters
//     advance where theirs is greater, wait out of range where it is not, and
//     retreat from enemies that come near; fighters in range shoot.
//   - Shots are assigned so that an enemy gets no more than kill it, fighters first.
//   - Turrets defend the base against early attacks.
//
// It has no memory, and uses nothing that its player does not see.
package squads

import (
	"moonfarm/rollout/policy/codecraft/internal/toolbox"
	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/codecraft"
)

// Commander gives the orders of a seat. It holds scratch memory, so each goroutine
// needs its own.
type Commander struct {
	toolbox.Holdings // the army are the fighters

	sight   bitboard.Square // cells that the player sees
	ground  [cells]ground   // content of each cell, as far as it is seen
	kept    [cells]bool     // a unit is there at the end of this tick
	leaving [cells]bool     // a unit leaves the cell in this tick
	taken   [cells]bool     // the destination of a builder
	mining  [cells]bool     // a builder gathers from there
	danger  [cells]uint8    // number of enemy fighters that can soon hit a unit there
	foes    foes

	plan    *plan
	busy    [codecraft.MaxUnits]bool // own units that have their action
	pending [codecraft.Types]int32   // own buildings that are not finished
	works   works
	jobless int // builders without work
	shots   shots

	toWork field // distances to vacant cells beside resources
	toFoes field // distances to enemies
	ways   weighted
	local  local
	site   siteSearch
}

// AppendOrders appends the orders for seat p in state s of game g. Entities whose
// stored action is already the right one get no order.
func (c *Commander) AppendOrders(dst []sim.Order, g *codecraft.Game, s *codecraft.State, p sim.Player) []sim.Order {
	c.Look(g, s, p, dst)
	c.look()
	c.measureFoes()
	c.keepInactive()
	c.lead()
	c.expand()
	c.repair()
	c.gather()
	c.fight()
	c.produce()
	dst, c.Orders, c.State = c.Orders, nil, nil
	return dst
}

// give gives unit i action a, and marks it busy.
func (c *Commander) give(i int, a codecraft.Action) {
	c.busy[i] = true
	c.Give(i, a)
}

// look lists the units that the player sees.
func (c *Commander) look() {
	s := c.State
	if c.Rules.Fog {
		c.Game.Sight(&c.sight, s, c.Player)
	} else {
		c.sight.Flip(&bitboard.Square{})
	}
	c.Begin()
	c.foes.n, c.foes.armed = 0, 0
	c.pending = [codecraft.Types]int32{}
	c.works.n = 0
	c.markGround()
	for i := range s.Units[:s.N] {
		u := &s.Units[i]
		switch {
		case u.Owner == c.Player:
			c.lookAtOwn(i, u)
		case c.sight.MeetsSquare(int(u.X), int(u.Y), int(c.Rules.Types[u.Type].Size)):
			c.lookAtFoe(i, u)
		}
	}
}

// lookAtOwn lists an own unit.
func (c *Commander) lookAtOwn(i int, u *codecraft.Unit) {
	c.busy[i] = !u.Active
	t := &c.Rules.Types[u.Type]
	what := own
	switch {
	case !t.CanMove:
		what = wall
		c.Fixed.Add(i)
		if !u.Active {
			c.pending[u.Type]++
			c.Housed += t.PopProvide
		}
		if int32(u.Health) < t.MaxHealth {
			c.works.add(i)
		}
	case u.Type == codecraft.BuilderUnit:
		c.Builders.Add(i)
	default:
		c.Army.Add(i)
		if int32(u.Health) < t.MaxHealth {
			c.works.add(i)
		}
	}
	c.cover(u, what)
}

// lookAtFoe lists an enemy's unit in sight.
func (c *Commander) lookAtFoe(i int, u *codecraft.Unit) {
	t := &c.Rules.Types[u.Type]
	what := foe
	if !t.CanMove {
		what = wall
	}
	c.cover(u, what)
	c.foes.add(i, u, t)
}

// cover marks the cells of a unit in ground.
func (c *Commander) cover(u *codecraft.Unit, what ground) {
	size := int(c.Rules.Types[u.Type].Size)
	for y := int(u.Y); y < int(u.Y)+size; y++ {
		for x := int(u.X); x < int(u.X)+size; x++ {
			c.ground[cellAt(x, y)] = what
		}
	}
}

// keepInactive keeps the cells of own units that are not active.
func (c *Commander) keepInactive() {
	for _, l := range [...]*toolbox.List{&c.Builders, &c.Army} {
		for _, i := range l.All() {
			if c.busy[i] {
				c.stay(int(i))
			}
		}
	}
}

// stay marks the cell of a unit as kept.
func (c *Commander) stay(i int) {
	u := &c.State.Units[i]
	c.kept[cellAt(int(u.X), int(u.Y))] = true
}

// step sends unit i to a neighbour cell.
func (c *Commander) step(i int, to int) {
	u := &c.State.Units[i]
	from := cellAt(int(u.X), int(u.Y))
	if c.ground[to] == ore {
		c.kept[from] = true // it shoots the resource
	} else {
		c.kept[to], c.leaving[from] = true, true
	}
	var a codecraft.Action
	a.AddMove(to%wide-1, to/wide-1, 0)
	c.give(i, a)
}

// enters reports whether a unit may go to a cell in this tick: no other unit goes there,
// and a unit that stands there leaves.
func (c *Commander) enters(to int) bool {
	return !c.kept[to] && (c.ground[to] == open || c.ground[to] == own && c.leaving[to])
}
