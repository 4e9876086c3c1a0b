package towerdefence

import (
	"moonfarm/sim"
	"moonfarm/sim/towerdefence"
)

// Each script is a list of cases, the most urgent first. The first case that applies
// decides: the script builds its building, or does nothing until it has the energy.

// econ builds energy first and defends itself only as far as necessary; then it masses
// attack towers in the rows where the enemy has the fewest buildings.
func (c *seat) econ() sim.Order {
	c.survey()
	energy, attack := c.standing(towerdefence.Energy), c.standing(towerdefence.Attack)
	switch {
	case energy < 4:
		return c.placeEnergy()
	case c.needsWall(2):
		return c.placeWall(2)
	case energy < 9, energy < 16 && attack > energy-3:
		return c.placeEnergy()
	}
	return c.placeAttack()
}

// turtle keeps a wall in every row that the enemy attacks, and shoots back there.
func (c *seat) turtle() sim.Order {
	c.survey()
	energy, walls := c.standing(towerdefence.Energy), c.standing(towerdefence.Defense)
	switch {
	case c.legal.Curtain() && c.enemyAttacks() >= 12:
		return towerdefence.Curtain
	case energy < 5:
		return c.placeEnergy()
	case c.needsWall(3):
		return c.placeWall(3)
	case energy < 9:
		return c.placeEnergy()
	case c.needsWall(1):
		return c.placeWall(1)
	case c.threatened():
		return c.counterAttack()
	case energy < 16:
		return c.placeEnergy()
	case walls < towerdefence.Height:
		return c.placeWall(0)
	case int(c.me.Teslas) < towerdefence.MaxTeslas:
		return c.placeTesla()
	case int(c.me.Energy) < c.reserve():
		return towerdefence.Nothing
	}
	return c.placeAttack()
}

// rush fills one row after the other with attack towers, with just enough energy
// buildings to pay for them.
func (c *seat) rush() sim.Order {
	c.survey()
	energy, attack := c.standing(towerdefence.Energy), c.standing(towerdefence.Attack)
	if energy < 3 || energy < 8 && energy < attack/2 {
		return c.placeEnergy()
	}
	y := c.least(midColumns|frontColumns, func(r *row) int {
		return 4*r.foeWalls + r.foeAttack + r.foeTesla + r.foeOther - 3*r.attack
	})
	return c.front(towerdefence.Attack, y, midColumns|frontColumns)
}

// tesla saves for two tesla towers on the front column, from which they reach the base,
// and keeps energy for their shots.
func (c *seat) tesla() sim.Order {
	c.survey()
	energy, teslas := c.standing(towerdefence.Energy), int(c.me.Teslas)
	switch {
	case energy < 5:
		return c.placeEnergy()
	case c.needsWall(2):
		return c.placeWall(2)
	case energy < 11:
		return c.placeEnergy()
	case teslas < towerdefence.MaxTeslas:
		return c.placeTesla()
	case int(c.me.Energy) < c.reserve():
		return towerdefence.Nothing
	}
	return c.placeAttack()
}

// placeTesla places a tesla tower on the front column, in the row that the enemy attacks
// least.
func (c *seat) placeTesla() sim.Order {
	y := c.least(frontColumn, func(r *row) int { return 2*r.foeAttack - r.walls })
	return c.front(towerdefence.Tesla, y, frontColumn)
}

// reserve returns the energy below which a player with tesla towers builds nothing else: the
// price of a shot and of an attack tower.
func (c *seat) reserve() int {
	return c.Rules.TeslaEnergyPerShot + c.Rules.Buildings[towerdefence.Attack].Price
}

// placeEnergy places an energy building at the back, in the row that the enemy attacks least.
func (c *seat) placeEnergy() sim.Order {
	if !c.affords(towerdefence.Energy) {
		return towerdefence.Nothing
	}
	danger := func(r *row) int { return r.foeAttack - 2*r.walls }
	for _, columns := range [...]uint64{backColumns, midColumns} {
		if y := c.least(columns, danger); y >= 0 {
			return c.place(towerdefence.Energy, columns&(rowMask<<(8*y)))
		}
	}
	return towerdefence.Nothing
}

// needsWall reports whether a row needs a wall: it has fewer than two, and the enemy has more
// than `spare` attack towers there for each of them.
func (c *seat) needsWall(spare int) bool {
	for y := range c.rows {
		if r := &c.rows[y]; r.foeAttack > spare*r.walls && r.walls < 2 && c.room(frontColumns, y) {
			return true
		}
	}
	return false
}

// room reports whether a cell of the columns is free in row y.
func (c *seat) room(columns uint64, y int) bool {
	return columns&^c.me.Occupied>>(8*y)&rowMask != 0
}

// placeWall places a wall in the row with most attack towers of the enemy for each wall.
func (c *seat) placeWall(spare int) sim.Order {
	y := c.least(frontColumns, func(r *row) int { return 2*spare*r.walls + r.walls - 2*r.foeAttack })
	return c.front(towerdefence.Defense, y, frontColumns)
}

// placeAttack places an attack tower in the row where the enemy has the fewest buildings for
// each own attack tower.
func (c *seat) placeAttack() sim.Order {
	y := c.least(midColumns, func(r *row) int {
		return 4*r.foeWalls + r.foeAttack + r.foeTesla + r.foeOther - 2*r.attack
	})
	return c.front(towerdefence.Attack, y, midColumns)
}

// threat weighs the enemy's attack and tesla towers in the row.
func (r *row) threat() int { return r.foeAttack + 3*r.foeTesla }

// threatened reports whether the enemy's threat in some row outweighs the own
// attack towers there.
func (c *seat) threatened() bool {
	for y := range c.rows {
		if r := &c.rows[y]; r.threat() > r.attack && c.room(midColumns, y) {
			return true
		}
	}
	return false
}

// counterAttack places an attack tower in the row where the threat exceeds the own
// attack towers by most.
func (c *seat) counterAttack() sim.Order {
	y := c.least(midColumns, func(r *row) int { return r.attack - r.threat() })
	return c.front(towerdefence.Attack, y, midColumns)
}

// enemyAttacks counts the enemy's attack towers.
func (c *seat) enemyAttacks() (n int) {
	for y := range c.rows {
		n += c.rows[y].foeAttack
	}
	return n
}
