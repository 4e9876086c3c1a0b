package codecraft_test

import (
	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/prng"
)

// commander draws orders for the units of a state. Its weights are percentages.
type commander struct {
	r *prng.Rand
	s *codecraft.State
	g *codecraft.Game

	again    int // that a unit gets a new order at all
	far      int // that a move goes anywhere, not near
	closest  int // flags of a move
	through  int //
	hunts    int // that an action has an auto attack
	careless int // that an order makes no sense
}

func (c *commander) likely(percent int) bool { return c.r.IntN(100) < percent }

// orders draws the orders of player p.
func (c *commander) orders(dst []sim.Order, p sim.Player) []sim.Order {
	for i := range c.s.Units[:c.s.N] {
		u := &c.s.Units[i]
		if u.Owner == p && c.likely(c.again) {
			dst = c.action(dst, u)
		}
		if u.Owner != p && c.likely(c.careless) && chance(c.r, 10) {
			dst = append(dst, codecraft.Stop(u.ID)) // not his to order
		}
	}
	if c.likely(c.careless) {
		dst = append(dst, sim.Order(c.r.Uint64()), codecraft.Nothing)
	}
	return dst
}

// action draws an action of a unit, with one or several parts.
func (c *commander) action(dst []sim.Order, u *codecraft.Unit) []sim.Order {
	rules := c.g.Rules()
	p := &rules.Types[u.Type]
	var parts []sim.Order
	if p.CanMove && c.likely(75) {
		parts = append(parts, c.move(u))
	}
	if p.CanAttack && c.likely(c.hunts) {
		parts = append(parts, c.auto(u))
	}
	if p.CanAttack && c.likely(15) {
		parts = append(parts, codecraft.Attack(u.ID, c.target(u, 1+int(p.Range))))
	}
	if p.CanBuild && c.likely(60) {
		parts = append(parts, c.build(u, p))
	}
	if p.CanRepair && c.likely(40) {
		parts = append(parts, codecraft.Repair(u.ID, c.target(u, 2)))
	}
	if c.likely(c.careless) {
		parts = append(parts, pick(c.r, codecraft.Stop(u.ID), codecraft.Repair(u.ID, u.ID), codecraft.Attack(u.ID, u.ID),
			c.build(u, p), c.auto(u), c.move(u)))
	}
	for len(parts) > 1 && chance(c.r, 2) { // one part less
		k := c.r.IntN(len(parts))
		parts[k] = parts[len(parts)-1]
		parts = parts[:len(parts)-1]
	}
	for i, o := range parts {
		if i > 0 && !(c.likely(c.careless) && chance(c.r, 3)) {
			o = codecraft.And(o)
		}
		dst = append(dst, o)
	}
	return dst
}

func (c *commander) move(u *codecraft.Unit) sim.Order {
	x, y := c.place(u)
	return codecraft.Move(u.ID, x, y, c.likely(c.closest), c.likely(c.through))
}

// place draws the target of a move.
func (c *commander) place(u *codecraft.Unit) (x, y int) {
	x, y = int(u.X), int(u.Y)
	switch {
	case c.likely(c.far):
		switch c.r.IntN(5) {
		case 0: // to somebody
			v := &c.s.Units[c.r.IntN(int(c.s.N))]
			return int(v.X), int(v.Y)
		case 1: // to an edge or a corner
			return pick(c.r, 0, x, codecraft.Side-1), pick(c.r, 0, y, codecraft.Side-1)
		}
		return c.r.IntN(codecraft.Side), c.r.IntN(codecraft.Side)
	case c.likely(4): // out of the map, here or there
		return pick(c.r, x, codecraft.Side, codecraft.Side+9, 1<<16), pick(c.r, y, codecraft.Side, 70_000, codecraft.Side+1)
	case c.likely(15):
		return x + c.r.IntN(3) - 1, y + c.r.IntN(3) - 1
	}
	near := pick(c.r, 3, 6, 12, 25)
	return within(x+c.r.IntN(2*near+1)-near, 0, codecraft.Side-1), within(y+c.r.IntN(2*near+1)-near, 0, codecraft.Side-1)
}

func within(v, least, most int) int { return min(max(v, least), most) }

func (c *commander) auto(u *codecraft.Unit) sim.Order {
	reach := pick(c.r, 0, 1, 2, 4, 5, 6, 8, 10, 13, 20, 30, 40, 80, 160, 1<<16-1)
	valid := pick[codecraft.TypeSet](c.r, 0, 0, 0, 1<<codecraft.Resource, codecraft.EveryType, 1<<codecraft.BuilderUnit,
		1<<codecraft.MeleeUnit|1<<codecraft.RangedUnit, codecraft.TypeSet(c.r.Uint64()))
	if u.Type == codecraft.BuilderUnit && chance(c.r, 2) {
		valid = 1 << codecraft.Resource
	}
	return codecraft.Auto(u.ID, reach, valid)
}

// target draws the id of an entity near a unit, or any id.
func (c *commander) target(u *codecraft.Unit, near int) uint32 {
	if chance(c.r, 12) {
		return pick(c.r, 0, u.ID, c.s.NextID, c.s.NextID-1, uint32(c.r.IntN(int(c.s.NextID))), 1<<32-1)
	}
	for range 12 {
		x, y := int(u.X)+c.r.IntN(2*near+6)-near-1, int(u.Y)+c.r.IntN(2*near+6)-near-1
		if x < 0 || y < 0 || x >= codecraft.Side || y >= codecraft.Side {
			continue
		}
		if i := c.s.At[codecraft.CellOf(x, y)]; i != 0 {
			return c.s.Units[i-1].ID
		}
		if c.s.Resources.Has(x, y) && chance(c.r, 3) {
			return c.s.ResourceID(x, y)
		}
	}
	return c.s.Units[c.r.IntN(int(c.s.N))].ID
}

// build draws a type and a place, mostly beside the unit.
func (c *commander) build(u *codecraft.Unit, p *codecraft.Properties) sim.Order {
	t := codecraft.Type(c.r.IntN(16))
	if p.Builds.N > 0 && !c.likely(c.careless) {
		t = pick(c.r, p.Builds.All()...)
		if chance(c.r, 2) {
			t = p.Builds.T[0]
		}
	}
	size, own := 1, int(p.Size)
	rules := c.g.Rules()
	if t < codecraft.Types {
		size = int(rules.Types[t].Size)
	}
	x, y := int(u.X), int(u.Y)
	along := c.r.IntN(size+own) - size // overlaps the side at all but one end
	switch c.r.IntN(4) {
	case 0:
		x, y = x+own, y+along
	case 1:
		x, y = x-size, y+along
	case 2:
		x, y = x+along, y+own
	case 3:
		x, y = x+along, y-size
	}
	return codecraft.Build(u.ID, t, x, y)
}

// campaign draws the orders of a player that grows and attacks, as the first strategies of the
// contest did.
func (c *commander) campaign(dst []sim.Order, p sim.Player) []sim.Order {
	rules := c.g.Rules()
	for i := range c.s.Units[:c.s.N] {
		u := &c.s.Units[i]
		if u.Owner != p || !c.likely(25) {
			continue
		}
		t := &rules.Types[u.Type]
		switch {
		case u.Type == codecraft.BuilderUnit && c.unfinished(u) != 0:
			dst = append(dst, codecraft.Repair(u.ID, c.unfinished(u)))
		case u.Type == codecraft.BuilderUnit && c.s.Resource[p] > 50 && chance(c.r, 3):
			dst = append(dst, c.build(u, t), codecraft.And(c.move(u)), codecraft.And(codecraft.Repair(u.ID, c.target(u, 2))))
		case u.Type == codecraft.BuilderUnit:
			dst = append(dst, codecraft.Auto(u.ID, 80, 1<<codecraft.Resource), codecraft.And(c.move(u)))
		case t.CanMove:
			if c.s.Acts[i].Parts != 0 && !chance(c.r, 8) {
				continue // it is on its way
			}
			to := &c.s.Units[c.r.IntN(int(c.s.N))]
			for tries := 0; to.Owner == p && tries < 9; tries++ {
				to = &c.s.Units[c.r.IntN(int(c.s.N))]
			}
			dst = append(dst, codecraft.Move(u.ID, int(to.X), int(to.Y), true, true), codecraft.And(codecraft.Auto(u.ID, 20, 0)))
		case t.CanBuild:
			dst = append(dst, c.build(u, t))
		default:
			dst = append(dst, codecraft.Auto(u.ID, 0, 0))
		}
	}
	return dst
}

// unfinished returns the id of an own building beside a unit that needs a repair, or 0.
func (c *commander) unfinished(u *codecraft.Unit) uint32 {
	rules := c.g.Rules()
	for _, d := range [4][2]int{{1, 0}, {-1, 0}, {0, 1}, {0, -1}} {
		x, y := int(u.X)+d[0], int(u.Y)+d[1]
		if x < 0 || y < 0 || x >= codecraft.Side || y >= codecraft.Side {
			continue
		}
		i := c.s.At[codecraft.CellOf(x, y)]
		if i == 0 {
			continue
		}
		v := &c.s.Units[i-1]
		if v.Owner == u.Owner && int32(v.Health) < rules.Types[v.Type].MaxHealth {
			return v.ID
		}
	}
	return 0
}

// works draws the orders of a player that builds and repairs wherever it can.
func (c *commander) works(dst []sim.Order, p sim.Player) []sim.Order {
	rules := c.g.Rules()
	for i := range c.s.Units[:c.s.N] {
		u := &c.s.Units[i]
		switch t := &rules.Types[u.Type]; {
		case u.Owner != p || !c.likely(c.again):
		case t.CanRepair && c.unfinished(u) != 0 && !c.likely(c.careless):
			dst = append(dst, codecraft.Repair(u.ID, c.unfinished(u)))
			if chance(c.r, 2) {
				dst = append(dst, codecraft.And(c.move(u)))
			}
		case t.CanRepair && chance(c.r, 2):
			dst = append(dst, codecraft.Repair(u.ID, c.target(u, 1)), codecraft.And(c.build(u, t)), codecraft.And(c.move(u)))
		case t.CanBuild:
			dst = append(dst, c.build(u, t))
		default:
			dst = c.action(dst, u)
		}
	}
	return dst
}

// march draws the orders of a player whose units all move in one direction, in a line, while
// distant units attack.
func (c *commander) march(dst []sim.Order, p sim.Player) []sim.Order {
	rules := c.g.Rules()
	way := [4][2]int{{1, 0}, {-1, 0}, {0, 1}, {0, -1}}[c.r.IntN(4)]
	for i := range c.s.Units[:c.s.N] {
		u := &c.s.Units[i]
		if u.Owner != p {
			continue
		}
		if t := &rules.Types[u.Type]; t.CanMove && (t.Range < 2 || chance(c.r, 3)) && !chance(c.r, 9) {
			dst = append(dst, codecraft.Move(u.ID, int(u.X)+way[0], int(u.Y)+way[1], false, false))
		} else if t.CanAttack {
			dst = append(dst, codecraft.Auto(u.ID, 0, 0))
		}
	}
	return dst
}

// rally draws the orders of a player whose units go to few places or hunt the same targets, with
// equal orders except for the flags.
func (c *commander) rally(dst []sim.Order, p sim.Player) []sim.Order {
	rules := c.g.Rules()
	var x, y [3]int
	for k := range x {
		x[k], y[k] = c.place(&c.s.Units[c.r.IntN(int(c.s.N))])
	}
	places, reach := 1+c.r.IntN(3), pick(c.r, 5, 8, 12, 25, 60, 200)
	valid := pick[codecraft.TypeSet](c.r, 0, 1<<codecraft.Resource, 1<<codecraft.RangedUnit, 1<<codecraft.House|1<<codecraft.Wall)
	hunt := c.likely(c.hunts)
	for i := range c.s.Units[:c.s.N] {
		u := &c.s.Units[i]
		switch t := &rules.Types[u.Type]; {
		case u.Owner != p || !c.likely(c.again):
		case hunt && t.CanAttack:
			dst = append(dst, codecraft.Auto(u.ID, reach-c.r.IntN(2), valid))
		case t.CanMove:
			k := c.r.IntN(places)
			dst = append(dst, codecraft.Move(u.ID, x[k], y[k], c.likely(c.closest), c.likely(c.through)))
		}
	}
	return dst
}
