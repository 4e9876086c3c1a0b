// Package squads is a scripted policy of CodeCraft that plays for its economy
// first and fights where it is the stronger one:
//
//   - Builders are spread: each takes a cell of its own beside a resource, the
//     nearest vacant one, and pushes others that gather on if they are in its
//     way; builders that see no such cell explore.
//   - The first builders fill all room before a house is begun; from then on one
//     is begun before the units of the next ticks have no room, where builders are.
//   - A place for the ranged base, towards the middle of the map, is kept free, or
//     cleared of resources. It comes with 38 builders and before all else, then a
//     first dozen of ranged units; from then on builders and army grow together.
//   - Builders nearby finish and repair buildings and heal fighters; all flee from
//     enemy fighters.
//   - Fighters follow one field of ways to all enemies in sight, units rather than
//     buildings, else to the enemies' homes; a small army attacks only enemies in the own
//     half.
//   - Around each enemy fighter the strength of both sides is compared: fighters
//     advance where theirs is greater, wait out of range where it is not, and
//     retreat from enemies that come near; fighters in range shoot.
//   - Shots are dealt out: as few as kill an enemy, fighters first.
//   - Turrets stand up against enemies that come early.
//
// It has no memory, and looks at nothing that its player does not see.
package squads

import (
	"moonfarm/rollout/policy/codecraft/internal/toolbox"
	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/codecraft"
)

// Player plays a seat. It holds scratch memory: each goroutine should have its
// own. The zero value is ready.
type Commander struct {
	toolbox.Holdings // the army are the fighters

	sight   bitboard.Square // cells that the player sees
	ground  [cells]ground   // what stands on each cell, as far as it is seen
	kept    [cells]bool     // taken by a unit at the end of this tick
	leaving [cells]bool     // left by a unit in this tick
	taken   [cells]bool     // the destination of a builder
	mining  [cells]bool     // a builder gathers from there
	danger  [cells]uint8    // enemy fighters that can soon hit a unit there
	foes    foes

	busy    [codecraft.MaxUnits]bool // own units that have their action
	pending [codecraft.Types]int32   // own buildings that are not finished
	works   works
	jobless int // builders that found nothing to do
	shots   shots

	toWork field // from cells beside resources that nobody has
	toFoes field // from enemies
	ways   weighted
	local  local
	site   siteSearch
}

// AppendOrders appends the orders for seat p in state s of game g. Entities whose
// stored action is what they should do are not named.
func (c *Commander) AppendOrders(dst []sim.Order, g *codecraft.Game, s *codecraft.State, p sim.Player) []sim.Order {
	c.Look(g, s, p, dst)
	c.look()
	c.measureFoes()
	c.standBy()
	c.expand()
	c.repair()
	c.gather()
	c.fight()
	c.produce()
	dst, c.Orders, c.State = c.Orders, nil, nil
	return dst
}

// give makes a the stored action of unit i, if it is not that already.
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

// lookAtFoe lists an enemy's unit that is seen.
func (c *Commander) lookAtFoe(i int, u *codecraft.Unit) {
	t := &c.Rules.Types[u.Type]
	what := foe
	if !t.CanMove {
		what = wall
	}
	c.cover(u, what)
	c.foes.add(i, u, t)
}

// cover marks the cells of a unit.
func (c *Commander) cover(u *codecraft.Unit, what ground) {
	size := int(c.Rules.Types[u.Type].Size)
	for y := int(u.Y); y < int(u.Y)+size; y++ {
		for x := int(u.X); x < int(u.X)+size; x++ {
			c.ground[cellAt(x, y)] = what
		}
	}
}

// standBy marks the cells of own units that are not active: they stay.
func (c *Commander) standBy() {
	for _, l := range [...]*toolbox.List{&c.Builders, &c.Army} {
		for _, i := range l.All() {
			if c.busy[i] {
				c.stay(int(i))
			}
		}
	}
}

// stay keeps the cell of a unit for it.
func (c *Commander) stay(i int) {
	u := &c.State.Units[i]
	c.kept[cellAt(int(u.X), int(u.Y))] = true
}

// step has unit i go to a neighbour cell.
func (c *Commander) step(i int, to int) {
	u := &c.State.Units[i]
	from := cellAt(int(u.X), int(u.Y))
	if c.ground[to] == ore {
		c.kept[from] = true // it shoots what is there
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
