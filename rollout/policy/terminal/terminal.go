// Package terminal has the scripts and the tree search of Terminal: the scripts are listed in
// Scripts, the search in Search.
package terminal

import (
	"moonfarm/env"
	"moonfarm/rollout/policy/script"
	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/terminal"
)

// Scripts are the scripted policies of Terminal.
var Scripts = []script.Script{
	newScript("scatter", "a few random structures, upgrades and removals, and random stacks from random edge cells",
		(*seat).scatter),
	newScript("starter", "the plan of the contest's starter kit: a few fixed turrets, interceptors first, then demolishers behind a line or scouts",
		(*seat).starter),
	newScript("maze", "a wall with one opening between turrets, kept in repair; saves its bits and attacks where it meets the least fire",
		(*seat).maze),
	newScript("turtle", "turrets behind walls along the whole front, interceptors against expected attacks, attacks with the bits left over",
		(*seat).turtle),
	script.New("planner", "simulates the attacks of both sides: builds turrets against harmful ones, attacks when waiting gains no more",
		terminal.PlayoutOrders, env.WantRowSeed, func() (*view, func()) {
			c := new(planner)
			return &c.view, c.decide
		}),
	script.New("strategist", "plans as planner does, and foresees walls that the enemy orders with an attack or against one, and its saved bits; the strongest script",
		terminal.PlayoutOrders, env.WantRowSeed, func() (*view, func()) {
			c := new(strategist)
			return &c.view, c.decide
		}),
}

// newScript returns a script whose rule gives the orders of the turn.
func newScript(name, doc string, rule func(c *seat)) script.Script {
	return script.New(name, doc, terminal.PlayoutOrders, env.WantRowSeed, func() (*view, func()) {
		c := new(seat)
		return &c.view, func() {
			c.prepare()
			rule(c)
		}
	})
}

type view = script.View[terminal.State, terminal.Rules, *terminal.Game]

// seat is a state as a script sees it from one seat, and the orders it gives. Coordinates
// are the seat's own: its edges are at the bottom, and its half is y = 0 … 13.
type seat struct {
	view

	cores, bits float32                               // left after the orders
	blocked     bitboard.Diamond                      // structures of both players, standing or ordered
	fresh       [terminal.Structures]bitboard.Diamond // structures ordered, by kind
	treated     bitboard.Diamond                      // structures ordered to be upgraded or removed

	paths terminal.Paths                // over the cells that are not blocked, see route and closeGap
	fire  [bitboard.DiamondSpan]float32 // see aim
	way   [bitboard.DiamondCells]uint16 // scratch for a path
	walks [2]walks                      // by player: see walk
	front siegeFront                    // see besiege
	line  siegeLine
}

// prepare makes the seat ready for the orders of a turn.
func (c *seat) prepare() {
	s, p := c.State, c.Player
	c.cores, c.bits = s.Cores[p], s.Bits[p]
	c.blocked = s.Built()
	clear(c.fresh[:])
	clear(c.treated[:])
}

// scatter gives random orders: see terminal.Game.Playout.
func (c *seat) scatter() {
	c.Orders = c.Game.Playout(c.Orders, c.State, c.Player, &c.Random)
}

// absolute converts the seat's coordinates into the arena's, and back.
func (c *seat) absolute(x, y int) (int, int) {
	if c.Player == 1 {
		return terminal.Side - 1 - x, terminal.Side - 1 - y
	}
	return x, y
}

// cell returns the cell at the seat's coordinates; 0, which is not a cell, outside of the
// arena.
func (c *seat) cell(x, y int) int {
	cell, _ := bitboard.DiamondCell(c.absolute(x, y))
	return cell
}

// coordinates returns the seat's coordinates of a cell.
func (c *seat) coordinates(cell int) (x, y int) {
	return c.absolute(bitboard.DiamondXY(cell))
}

// give adds an order and reports true, unless the turn has no room for it.
func (c *seat) give(o sim.Order) bool {
	if len(c.Orders) == cap(c.Orders) {
		return false
	}
	c.Orders = append(c.Orders, o)
	return true
}

// pay subtracts a price from a purse and reports true, unless the purse has less.
func pay(purse *float32, price float32) bool {
	if price > *purse {
		return false
	}
	*purse = terminal.Tenths(*purse - price)
	return true
}

// build orders a structure, unless the cell is taken or outside of the arena. It reports
// false if the cores do not suffice yet.
func (c *seat) build(k terminal.Kind, x, y int) bool {
	cell := c.cell(x, y)
	if cell == 0 || c.blocked.Has(cell) {
		return true
	}
	ax, ay := c.absolute(x, y)
	if !pay(&c.cores, c.Rules.Units[k].Cores) || !c.give(terminal.Place(k, ax, ay)) {
		return false
	}
	c.blocked.Add(cell)
	c.fresh[k].Add(cell)
	return true
}

// own returns the kind of the own structure on a cell, standing or ordered; not ok if there is
// none or it is upgraded.
func (c *seat) own(cell int) (k terminal.Kind, ok bool) {
	for k := range c.fresh {
		if c.fresh[k].Has(cell) {
			return terminal.Kind(k), true
		}
	}
	return c.State.Cells[cell].Kind(), c.State.Own[c.Player].Has(cell) && !c.State.Upgraded.Has(cell)
}

// upgrade orders the upgrade of the own structure on (x, y), if there is one that can be
// upgraded. It reports false if the cores do not suffice yet.
func (c *seat) upgrade(x, y int) bool {
	cell := c.cell(x, y)
	k, ok := c.own(cell)
	if !ok || !c.Rules.Upgradable[k] || c.treated.Has(cell) {
		return true
	}
	ax, ay := c.absolute(x, y)
	if !pay(&c.cores, c.Rules.Upgraded[k].Cores) || !c.give(terminal.UpgradeAt(ax, ay)) {
		return false
	}
	c.treated.Add(cell)
	return true
}

// renew removes the own structure on (x, y) if it has less than a part of its health and the
// cores left can pay for a new one, towards which the removal pays a refund.
func (c *seat) renew(x, y int, part float32) {
	cell := c.cell(x, y)
	s := c.State.Cells[cell]
	if !c.State.Own[c.Player].Has(cell) || s.RemoveIn() != 0 || c.treated.Has(cell) {
		return
	}
	whole := c.Rules.Structure(s.Kind(), s.Upgraded()).Health
	if s.Health >= whole*part || c.Rules.Units[s.Kind()].Cores > c.cores {
		return
	}
	if ax, ay := c.absolute(x, y); c.give(terminal.RemoveAt(ax, ay)) {
		c.treated.Add(cell)
	}
}

// spawn orders n mobile units, or as many as the bits left can pay.
func (c *seat) spawn(k terminal.Kind, x, y, n int) {
	n = min(n, c.affords(k))
	if n <= 0 || c.blocked.Has(c.cell(x, y)) {
		return
	}
	ax, ay := c.absolute(x, y)
	if c.give(terminal.Spawn(k, ax, ay, n)) {
		pay(&c.bits, float32(float32(n)*c.Rules.Units[k].Bits))
	}
}

// affords returns the number of mobile units of a kind that the bits left can pay.
func (c *seat) affords(k terminal.Kind) int {
	price := c.Rules.Units[k].Bits
	if price <= 0 {
		return 0
	}
	return int(c.bits / price)
}

// savedPart returns a player's bits as a fraction of the most that saving can accumulate,
// where decay equals the income of a turn.
func (c *seat) savedPart(bits float32) float32 {
	most := c.Rules.TurnBits(c.State.Turn+1) / max(c.Rules.BitDecay, 0.1)
	if most <= 0 {
		return 1
	}
	return bits / most
}
