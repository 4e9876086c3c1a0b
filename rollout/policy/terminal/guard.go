package terminal

import (
	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/terminal"
)

const (
	guardRounds  = 4  // turrets and upgrades that are ordered for the attacks of one turn
	guardThreats = 4  // limit of the attacks against which a site is tried
	guardLeast   = 12 // least gain of an enemy attack against which the strategist defends
	guardRate    = 1  // least gain that a site saves for each core

	guardRows = 2 // rows beyond the own half in which an attack's steps count

	guardHarm  = 12 // least gain of an enemy attack against which interceptors are sent
	guardPrice = 2  // gain that an interceptor must save
)

// guardAhead are the turns ahead whose attacks are considered.
var guardAhead = [...]int{0, 1, 3}

// guard simulates the attacks that the enemy can pay after waiting for some turns, and orders turrets
// and upgrades, each the one that saves most for its price, until no attack does much harm.
func (c *strategist) guard(o, turns int) {
	for range guardRounds {
		start := c.draft()
		c.develop(o)
		worst := c.foresee(turns)
		if worst.gain < guardLeast {
			c.revert(&start)
			return
		}
		threats := c.threats(worst.gain, guardThreats)
		best, most := 0, float32(guardRate)
		sites := c.guardSites(&worst, &start)
		for _, cell := range sites {
			c.strengthen(int(cell))
			price := start.cores - c.cores
			if price > 0 && c.leaves() {
				c.develop(o)
				if rate := c.saves(threats, worst.gain) / price; rate > most {
					best, most = int(cell), rate
				}
			}
			c.revert(&start)
		}
		if best == 0 {
			return
		}
		c.strengthen(best)
	}
}

// saves returns by how much the orders given so far reduce the gains of attacks, of which the worst is
// given: the larger one of the reductions of the worst gain and of the mean. Where two attacks are
// equally bad, such as on both corners, a turret against one of them reduces only the mean.
func (c *strategist) saves(threats []wave, worst float32) float32 {
	sum, most := float32(0), float32(0)
	for i := range threats {
		gain := c.exchange(&c.before, c.Player^1, &threats[i])
		sum += threats[i].gain - gain
		most = max(most, gain)
	}
	return max(worst-most, sum/float32(len(threats)))
}

// heat has for every cell the steps of an attack's units onto it.
type heat [bitboard.DiamondSpan]float32

// within returns the steps in range of a cell.
func (h *heat) within(cell int, radius float32) (sum float32) {
	x, y := bitboard.DiamondXY(cell)
	reach := int(radius)
	for dy := -reach; dy <= reach; dy++ {
		for dx := -reach; dx <= reach; dx++ {
			if float32(dx*dx+dy*dy) > radius*radius {
				continue
			}
			if at, ok := bitboard.DiamondCell(x+dx, y+dy); ok {
				sum += h[at]
			}
		}
	}
	return sum
}

// guardSites simulates an attack and returns the cells where a turret or an upgrade that the cores of
// the snapshot start can pay would shoot most. It reverts the orders to start. The edges
// stay free for own units.
func (c *strategist) guardSites(w *wave, start *draft) []uint16 {
	c.record.Clear()
	c.own.Record(&c.record)
	c.exchange(&c.before, c.Player^1, w)
	c.own.Record(nil)
	c.revert(start)
	clear(c.heat[:])
	for i := range c.record.Moves {
		m := &c.record.Moves[i]
		if _, y := c.absolute(int(m.To.X), int(m.To.Y)); m.Player != c.Player && y < terminal.Side/2+guardRows {
			cell, _ := bitboard.DiamondCell(int(m.To.X), int(m.To.Y))
			c.heat[cell]++
		}
	}
	var shots [planSites]float32
	sites := c.sited[:0]
	for _, at := range cells[c.Player] {
		x, y := c.coordinates(int(at))
		if _, edge := terminal.Edge(x, y); edge && y < mazeLine-1 {
			continue
		}
		n := c.shoots(int(at))
		if n == 0 || len(sites) == planSites && n <= shots[planSites-1] {
			continue
		}
		if len(sites) < planSites {
			sites = append(sites, 0)
		}
		i := len(sites) - 1
		for ; i > 0 && shots[i-1] < n; i-- {
			shots[i], sites[i] = shots[i-1], sites[i-1]
		}
		shots[i], sites[i] = n, at
	}
	return sites
}

// shoots returns the damage that a turret on a cell, or its upgrade, would add, in steps of the heat
// times damage; 0 if the cores cannot pay for it.
func (c *strategist) shoots(cell int) float32 {
	base, upgraded := &c.Rules.Units[terminal.Turret], &c.Rules.Upgraded[terminal.Turret]
	if !c.Rules.Upgradable[terminal.Turret] {
		upgraded = base
	}
	if c.blocked.Has(cell) {
		k, ok := c.seat.own(cell)
		if !ok || k != terminal.Turret || upgraded == base || c.treated.Has(cell) || c.cores < upgraded.Cores {
			return 0
		}
		return float32(c.heat.within(cell, upgraded.AttackRange)*upgraded.DamageMobile) - float32(c.heat.within(cell, base.AttackRange)*base.DamageMobile)
	}
	if c.cores < base.Cores {
		return 0
	}
	if c.cores < base.Cores+upgraded.Cores {
		upgraded = base
	}
	return float32(c.heat.within(cell, upgraded.AttackRange) * upgraded.DamageMobile)
}

// sendGuards sends interceptors if an attack that the enemy can pay now does much harm, and
// reports whether it did. It tries some numbers of them on the launch cells.
func (c *strategist) sendGuards() bool {
	all := c.affords(terminal.Interceptor)
	worst := c.foresee(0)
	if all == 0 || worst.gain < guardHarm {
		return false
	}
	threats := c.threats(worst.gain, guardThreats)
	best, least := sim.Order(terminal.Nothing), worst.gain
	for _, n := range [...]int{(all + 3) / 4, (all + 1) / 2, all} {
		for _, at := range launchCells {
			x, y := c.absolute(at[0], at[1])
			order := terminal.Spawn(terminal.Interceptor, x, y, n)
			if c.blocked.Has(c.cell(at[0], at[1])) || !c.give(order) {
				continue
			}
			if gain := c.suffers(threats) + float32(guardPrice*n); gain < least {
				best, least = order, gain
			}
			c.Orders = c.Orders[:len(c.Orders)-1]
		}
	}
	return best != terminal.Nothing && c.give(best)
}
