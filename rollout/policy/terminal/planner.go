package terminal

import (
	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/terminal"
)

// The planner of Terminal decides by simulated turns, in these steps:
//
//  1. It repairs the maze: a wall with one opening between turrets.
//  2. It simulates the enemy's attacks with its bits of this turn and of the next,
//     against the maze as far as the cores can pay for it. If an attack would do much
//     harm, the planner tries turrets and upgrades beside the end of its path against
//     the worst attacks, and orders the best one if it reduces their gain enough: so
//     the defence grows where it was breached or would be.
//  3. It spends the cores left on the maze, supports and upgrades last.
//  4. It simulates its own attacks with its present bits, and with its bits after
//     waiting for one to three turns. It attacks unless waiting gains more for each
//     turn in which the bits were saved.
//
// The gain of an attack is the health it takes, the price of the structures that
// it destroys, and the cores that it earns. The rules have the prices, ranges and
// incomes.
const (
	planHealth = 4    // gain for a point of health, in cores
	planDamage = 0.01 // gain for a point of health of a structure
	planWon    = 1000 // gain for the last point of health

	planWait = 3 // turns of waiting that are considered

	planThreat     = 30  // least gain of an enemy attack against which the planner defends
	planAhead      = 1   // turns ahead whose attacks are considered
	planSites      = 10  // turrets and upgrades that are tried
	planSaves      = 20  // least gain by which a site must reduce the attacks
	planSimilar    = 0.6 // attacks with at least this part of the worst attack's gain count, too
	planMostThreat = 5   // limit of the attacks against which a site is tried
)

// planner is a seat that simulates turns.
type planner struct {
	seat
	own    *terminal.Game // a second game of the same rules: the Vector's may be recording
	turn   *sim.Turn
	before terminal.State // the state with other bits
	after  terminal.State // the end of a simulation
	waves  [3*len(launchCells) + 2*(1+len(siegeParts))]wave
	listed int // waves in use
	found  [planSites]uint16
}

// wave is an attack: stacks from one cell, and its gain.
type wave struct {
	orders [2]sim.Order
	n      int
	line   *siegeLine // walls that are ordered with the attack; nil: none
	reply  *siegeLine // walls that the other seat orders in the same turn; nil: none
	gain   float32
}

// decide gives the orders of a turn.
func (c *planner) decide() {
	c.ready()
	o := c.opening()
	c.repairMaze(o)
	for k := range planAhead + 1 {
		c.defend(o, k)
	}
	if c.buildMaze(o, false) {
		c.closeGap()
	}
	c.attack()
}

// ready makes the planner ready for the orders of a turn.
func (c *planner) ready() {
	if c.own == nil || c.own.Rules() != c.Rules {
		own, err := terminal.New(c.Rules)
		if err != nil {
			panic(err) // the Vector already has a game of these rules
		}
		c.own, c.turn = own, sim.NewTurn(own.Info().MaxOrders)
	}
	c.prepare()
}

// exchange simulates a turn from s, with the orders given so far and an attack of player
// p, and returns p's gain.
func (c *planner) exchange(s *terminal.State, p sim.Player, w *wave) float32 {
	c.turn.Set(c.Player, c.Orders)
	c.turn.Set(c.Player^1, nil)
	c.addWalls(p, w.line, false)
	c.addWalls(p^1, w.reply, true)
	for _, o := range w.orders[:w.n] {
		c.turn.Add(p, o)
	}
	x := c.own.Simulate(&c.after, s, c.turn)
	gain := float32(planHealth*x.Health[p^1]) + x.Value[p^1] + x.Cores[p] + float32(planDamage*x.Damage[p^1])
	if c.after.Health[p^1] <= 0 {
		gain += planWon
	}
	return gain
}

// addWalls adds the walls of a line to the simulated turn, or upgraded ones.
func (c *planner) addWalls(p sim.Player, line *siegeLine, upgraded bool) {
	if line == nil {
		return
	}
	for _, cell := range line.cells[:line.n] {
		x, y := bitboard.DiamondXY(int(cell))
		c.turn.Add(p, terminal.Place(terminal.Wall, x, y))
		if upgraded && c.Rules.Upgradable[terminal.Wall] {
			c.turn.Add(p, terminal.UpgradeAt(x, y))
		}
	}
}

// best simulates the attacks that player p could pay with the bits, stores their gains
// and returns the best one. It returns a wave without stacks if no attack gains anything.
func (c *planner) best(p sim.Player, bits float32) (best wave) {
	c.list(p, bits)
	s := c.withBits(p, bits)
	for i := range c.waves[:c.listed] {
		w := &c.waves[i]
		w.gain = c.exchange(s, p, w)
		if w.gain > best.gain {
			best = *w
		}
	}
	return best
}

// withBits returns the state with other bits of player p.
func (c *planner) withBits(p sim.Player, bits float32) *terminal.State {
	c.before = *c.State
	c.before.Bits[p] = bits
	return &c.before
}

// list lists attacks of player p that spend the bits: from each start scouts,
// demolishers, or demolishers for half of the bits with scouts behind them.
func (c *planner) list(p sim.Player, bits float32) {
	c.listed = 0
	scouts, demolishers := c.paid(terminal.Scout, bits), c.paid(terminal.Demolisher, bits)
	half := demolishers / 2
	behind := c.paid(terminal.Scout, bits-float32(float32(half)*c.Rules.Units[terminal.Demolisher].Bits))
	for _, at := range launchCells {
		x, y := at[0], at[1]
		if p != c.Player {
			x, y = terminal.Side-1-x, terminal.Side-1-y
		}
		if c.blocked.Has(c.cell(x, y)) {
			continue
		}
		x, y = c.absolute(x, y)
		scout := terminal.Spawn(terminal.Scout, x, y, scouts)
		if scouts > 0 {
			c.addWave(scout, terminal.Nothing)
		}
		if demolishers > 0 {
			c.addWave(terminal.Spawn(terminal.Demolisher, x, y, demolishers), terminal.Nothing)
		}
		if half > 0 && behind > 0 {
			c.addWave(terminal.Spawn(terminal.Demolisher, x, y, half), terminal.Spawn(terminal.Scout, x, y, behind))
		}
	}
}

// addWave lists an attack of one or two stacks.
func (c *planner) addWave(first, second sim.Order) {
	w := wave{orders: [2]sim.Order{first, second}, n: 1}
	if second != terminal.Nothing {
		w.n = 2
	}
	c.waves[c.listed] = w
	c.listed++
}

// paid returns the number of units of a kind that the bits can pay.
func (c *planner) paid(k terminal.Kind, bits float32) int {
	price := c.Rules.Units[k].Bits
	if price <= 0 {
		return 0
	}
	return int(bits / price)
}

// waited returns the bits after the next turn without an attack, k turns from now.
func (c *planner) waited(bits float32, k int) float32 {
	return terminal.Tenths(float32(bits*(1-c.Rules.BitDecay))) + c.Rules.TurnBits(c.State.Turn+uint32(k))
}

// attack gives the orders of the best attack, unless waiting gains more for each turn.
func (c *planner) attack() {
	c.strike(planWait, 0, func(bits float32, _ int) wave { return c.best(c.Player, bits) })
}

// strike gives the orders of the best attack, unless waiting for up to `waits` turns gains more for
// each turn. best returns the best attack with the bits after some turns.
func (c *planner) strike(waits int, least float32, best func(bits float32, turns int) wave) {
	now := best(c.bits, 0)
	if now.n == 0 || now.gain < float32(least*c.bits) {
		return
	}
	saved, sum := float32(0), float32(0) // saved: turns in which the bits were saved
	for sum < c.bits && saved < 20 {
		sum = c.waited(sum, 1)
		saved++
	}
	left := int(c.Rules.MaxTurns) - int(c.State.Turn) - 1
	bits := c.bits
	for k := 1; k <= min(waits, left) && now.gain < planWon; k++ {
		bits = c.waited(bits, k)
		later := best(bits, k)
		if float32(later.gain*saved) > float32(now.gain*(saved+float32(k))) {
			return
		}
	}
	for _, o := range now.orders[:now.n] {
		c.give(o)
	}
}
