package towerdefence

import (
	"math/bits"

	"moonfarm/sim"
	"moonfarm/sim/towerdefence"
)

// The planner compares orders by simulation, in these steps:
//
//  1. It lists its candidates: nothing; the curtain; an energy building in each of
//     the three rows that look safest; in each row an attack tower, in front of the
//     others or one column behind, and, if the enemy attacks the row, a wall.
//  2. For each candidate it plays the next eight rounds, in which neither seat gives
//     other orders. So it sees the effect of the missiles and towers of both sides on
//     each row: a wall is worth the hits that it stops, and the curtain the missiles
//     that would hit in its six rounds.
//  3. It evaluates the resulting state: health, energy, buildings, missiles, and the
//     obstacles in the way of each attack tower.
//  4. If it can pay for a tesla tower, it compares one on the front column with the
//     best candidate over more rounds, which include the tower's first shot.
//  5. It gives the best order, and draws among equals by the row's seed.
const (
	plannerRounds      = 8  // of a forecast
	plannerTeslaRounds = 6  // after a tesla tower is finished
	plannerEnergyRows  = 3  // rows in which an energy building is considered
	plannerMostEnergy  = 10 // energy buildings: more do not pay back in time
)

// The planner's values, in tenths of an energy.
const (
	worthHealth   = 40
	worthLow      = 10 // in addition for each point below plannerLow
	worthEnergy   = 10
	worthIncome   = 300 // an energy building
	worthAttack   = 200 // an attack tower …
	worthObstacle = 30  // … less this for each hit that stands in its way
	worthWall     = 40  // a hit that a wall survives
	worthTesla    = 500
	worthMissile  = 30 // on the enemy's half

	plannerLow       = 50 // health
	plannerObstacles = 8  // limit of the hits in the way that count
	plannerDecided   = 1 << 30
)

// plannerColumns are two sets of columns; the planner considers an attack tower on the
// frontmost free cell of each.
var plannerColumns = [...]uint64{midColumns | frontColumns, midColumns >> 1}

// plan is the best order so far.
type plan struct {
	order sim.Order
	value int
	ties  int // equally good orders
}

// planner gives the order with the best forecast of the next rounds.
func (c *seat) planner() sim.Order {
	c.survey()
	sites := uint64(0)
	for _, k := range towerdefence.Kinds {
		sites |= c.legal.Build(k)
	}
	if sites == 0 && !c.legal.Curtain() {
		return towerdefence.Nothing
	}
	best := plan{value: c.forecast(towerdefence.Nothing, plannerRounds), ties: 1}
	if c.legal.Curtain() {
		c.consider(&best, towerdefence.Curtain)
	}
	c.considerEnergy(&best)
	for y := range c.rows {
		for _, columns := range plannerColumns {
			c.consider(&best, c.front(towerdefence.Attack, y, columns))
		}
		if c.rows[y].foeAttack > 0 || c.foe.Far[0]>>(8*y)&rowMask != 0 {
			c.consider(&best, c.front(towerdefence.Defense, y, frontColumns))
		}
	}
	if c.affords(towerdefence.Tesla) {
		rounds := c.Rules.Buildings[towerdefence.Tesla].ConstructionTime + plannerTeslaRounds
		if o := c.placeTesla(); o != towerdefence.Nothing && c.forecast(o, rounds) > c.forecast(best.order, rounds) {
			return o
		}
	}
	return best.order
}

// consider replaces the best order if the forecast of o is better.
func (c *seat) consider(best *plan, o sim.Order) {
	if o == towerdefence.Nothing || o == best.order {
		return
	}
	switch v := c.forecast(o, plannerRounds); {
	case v > best.value:
		*best = plan{o, v, 1}
	case v == best.value:
		best.ties++
		if c.Random.IntN(best.ties) == 0 {
			best.order = o
		}
	}
}

// considerEnergy considers energy buildings on the rearmost free cells of the rows that look
// safest.
func (c *seat) considerEnergy(best *plan) {
	if !c.affords(towerdefence.Energy) || c.standing(towerdefence.Energy) >= plannerMostEnergy {
		return
	}
	free := c.legal.Build(towerdefence.Energy) &^ frontColumn
	for range plannerEnergyRows {
		safest, low := -1, 0
		for y := range c.rows {
			row := free >> (8 * y) & rowMask
			if row == 0 {
				continue
			}
			r := &c.rows[y]
			danger := 3*r.foeAttack - 2*r.walls - r.attack + 2*bits.TrailingZeros64(row)
			if safest < 0 || danger < low {
				safest, low = y, danger
			}
		}
		if safest < 0 {
			return
		}
		row := free & (rowMask << (8 * safest))
		c.consider(best, towerdefence.OrderAt(towerdefence.OpEnergy, bits.TrailingZeros64(row)))
		free &^= row
	}
}

// forecast returns the value of the state that many rounds after an order.
func (c *seat) forecast(o sim.Order, rounds int) int {
	s := &c.ahead
	*s = *c.State
	var orders [2]sim.Order
	orders[c.Player] = o
	for i := range rounds {
		if c.Game.Play(s, orders[0], orders[1]) != sim.Running {
			return int(c.Game.Outcome(s, c.Player).Result) * (plannerDecided - i)
		}
		orders = [2]sim.Order{}
	}
	me, foe := &s.Half[c.Player], &s.Half[c.Player^1]
	return plannerWorth(me, foe) - plannerWorth(foe, me)
}

// plannerWorth evaluates a half; foe is the other half.
func plannerWorth(h, foe *towerdefence.Half) int {
	v := worthHealth*h.Health() - worthLow*max(0, plannerLow-h.Health()) + worthEnergy*int(h.Energy)
	v += worthIncome*bits.OnesCount64(h.Standing(towerdefence.Energy)) + worthTesla*int(h.Teslas)
	v += worthMissile * bits.OnesCount64(h.Far[0])
	v += worthWall * plannerHits(h, h.Standing(towerdefence.Defense))
	attack := h.Standing(towerdefence.Attack)
	v += worthAttack * bits.OnesCount64(attack)
	for y := range towerdefence.Height {
		row := uint64(rowMask) << (8 * y)
		if n := bits.OnesCount64(attack & row); n > 0 {
			v -= worthObstacle * n * min(plannerHits(foe, row), plannerObstacles)
		}
	}
	return v
}

// plannerHits counts the hits that the finished buildings on the cells survive.
func plannerHits(h *towerdefence.Half, cells uint64) int {
	return bits.OnesCount64(h.Live&cells) + bits.OnesCount64(h.Extra0&cells) + 2*bits.OnesCount64(h.Extra1&cells)
}
