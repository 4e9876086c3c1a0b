package policy

import (
	"moonfarm/sim"
	"moonfarm/sim/towerdefence"
)

// Each script is a list of wishes in the order of their urgency. The first
// that applies decides: it is granted, or saved for by doing nothing.

// econ grows until it is rich, shooting back no more than it must, and then
// masses attack towers in the rows where the enemy can stand the least.
func (c *towerSeat) econ() sim.Order {
	c.survey()
	energy, attack := c.standing(towerdefence.Energy), c.standing(towerdefence.Attack)
	switch {
	case energy < 4:
		return c.grow()
	case c.shield(2):
		return c.wall(2)
	case energy < 9, energy < 16 && attack > energy-3:
		return c.grow()
	}
	return c.strike()
}

// turtle keeps a wall before every row that is shot at, and shoots at those
// who do.
func (c *towerSeat) turtle() sim.Order {
	c.survey()
	energy, walls := c.standing(towerdefence.Energy), c.standing(towerdefence.Defense)
	switch {
	case c.legal.Curtain() && c.swarm() >= 12:
		return towerdefence.Curtain
	case energy < 5:
		return c.grow()
	case c.shield(3):
		return c.wall(3)
	case energy < 9:
		return c.grow()
	case c.shield(1):
		return c.wall(1)
	case c.challenged():
		return c.counter()
	case energy < 16:
		return c.grow()
	case walls < towerdefence.Height:
		return c.wall(0)
	case int(c.me.Teslas) < towerdefence.MaxTeslas:
		return c.bolt()
	case int(c.me.Energy) < c.reserve():
		return towerdefence.Nothing
	}
	return c.strike()
}

// rush shoots first and thinks never: one row after the other is filled with
// attack towers, with just enough energy to pay for them.
func (c *towerSeat) rush() sim.Order {
	c.survey()
	energy, attack := c.standing(towerdefence.Energy), c.standing(towerdefence.Attack)
	if energy < 3 || energy < 8 && energy < attack/2 {
		return c.grow()
	}
	y := c.least(midColumns|frontColumns, func(r *towerRow) int {
		return 4*r.foeWalls + r.foeAttack + r.foeTesla + r.foeOther - 3*r.attack
	})
	return c.frontOrSave(towerdefence.Attack, y, midColumns|frontColumns)
}

// tesla saves for two tesla towers on the front column, where they reach the
// base, and keeps the energy for their shots.
func (c *towerSeat) tesla() sim.Order {
	c.survey()
	energy, teslas := c.standing(towerdefence.Energy), int(c.me.Teslas)
	switch {
	case energy < 5:
		return c.grow()
	case c.shield(2):
		return c.wall(2)
	case energy < 11:
		return c.grow()
	case teslas < towerdefence.MaxTeslas:
		return c.bolt()
	case int(c.me.Energy) < c.reserve():
		return towerdefence.Nothing
	}
	return c.strike()
}

// bolt places a tesla tower on the front column, where the enemy shoots least.
func (c *towerSeat) bolt() sim.Order {
	y := c.least(frontColumn, func(r *towerRow) int { return 2*r.foeAttack - r.walls })
	return c.frontOrSave(towerdefence.Tesla, y, frontColumn)
}

// reserve is the energy below which a player with tesla towers builds nothing
// else: a shot, and an attack tower.
func (c *towerSeat) reserve() int {
	return c.rules.TeslaEnergyPerShot + c.rules.Buildings[towerdefence.Attack].Price
}

// grow places an energy building at the back, in the row least shot at.
func (c *towerSeat) grow() sim.Order {
	if !c.affords(towerdefence.Energy) {
		return towerdefence.Nothing
	}
	danger := func(r *towerRow) int { return r.foeAttack - 2*r.walls }
	for _, columns := range [...]uint64{backColumns, midColumns} {
		if y := c.least(columns, danger); y >= 0 {
			order, _ := c.place(towerdefence.Energy, columns&(towerRowMask<<(8*y)))
			return order
		}
	}
	return towerdefence.Nothing
}

// shield tells whether a row with more than spare attack towers of the enemy
// for each own wall lacks one.
func (c *towerSeat) shield(spare int) bool {
	for y := range c.rows {
		if r := &c.rows[y]; r.foeAttack > spare*r.walls && r.walls < 2 && c.room(frontColumns, y) {
			return true
		}
	}
	return false
}

// room tells whether a cell of the columns is free in row y.
func (c *towerSeat) room(columns uint64, y int) bool {
	return columns&^c.me.Occupied>>(8*y)&towerRowMask != 0
}

// wall places a wall in the row that needs it most.
func (c *towerSeat) wall(spare int) sim.Order {
	y := c.least(frontColumns, func(r *towerRow) int { return 2*spare*r.walls + r.walls - 2*r.foeAttack })
	return c.frontOrSave(towerdefence.Defense, y, frontColumns)
}

// frontOrSave places kind k in row y as near to the enemy as the columns go,
// or nothing if it cannot be paid yet.
func (c *towerSeat) frontOrSave(k towerdefence.Kind, y int, columns uint64) sim.Order {
	if y < 0 {
		return towerdefence.Nothing
	}
	order, _ := c.front(k, y, columns)
	return order
}

// strike places an attack tower in the row where the own ones, with this one,
// have the least to shoot through.
func (c *towerSeat) strike() sim.Order {
	y := c.least(midColumns, func(r *towerRow) int {
		return 4*r.foeWalls + r.foeAttack + r.foeTesla + r.foeOther - 2*r.attack
	})
	return c.frontOrSave(towerdefence.Attack, y, midColumns)
}

// menace is how much of what an attack tower in the row could put an end to.
func (r *towerRow) menace() int { return r.foeAttack + 3*r.foeTesla }

// challenged tells whether the enemy's menace in some row outweighs the own
// attack towers there.
func (c *towerSeat) challenged() bool {
	for y := range c.rows {
		if r := &c.rows[y]; r.menace() > r.attack && c.room(midColumns, y) {
			return true
		}
	}
	return false
}

// counter places an attack tower in the row where the menace outweighs the own
// most.
func (c *towerSeat) counter() sim.Order {
	y := c.least(midColumns, func(r *towerRow) int { return r.attack - r.menace() })
	return c.frontOrSave(towerdefence.Attack, y, midColumns)
}

// swarm counts the enemy's attack towers.
func (c *towerSeat) swarm() (n int) {
	for y := range c.rows {
		n += c.rows[y].foeAttack
	}
	return n
}
