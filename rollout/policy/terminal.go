package policy

import (
	"fmt"

	"moonfarm/env"
	"moonfarm/rollout"
	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/prng"
	"moonfarm/sim/terminal"
)

// terminalPolicies are the scripted policies of Terminal.
var terminalPolicies = []entry{
	{Entry{"scatter", "a few random structures, upgrades and removals, and random stacks from random edge cells"},
		fort("scatter", (*terminalSeat).scatter)},
	{Entry{"starter", "the plan of the contest's starter kit: a few fixed turrets, interceptors first, then demolishers behind a line or scouts"},
		fort("starter", (*terminalSeat).starter)},
	{Entry{"maze", "a wall with one opening between turrets, kept in repair; saves its bits and rushes where it meets the least fire"},
		fort("maze", (*terminalSeat).maze)},
	{Entry{"turtle", "turrets behind walls along the whole front, interceptors against stacks to come, attacks with what is left over"},
		fort("turtle", (*terminalSeat).turtle)},
}

// terminalPolicy plays by a rule that looks at the state from one seat and
// gives the orders of the turn. It has no memory: where the rule leaves a
// choice, the row's key decides.
type terminalPolicy struct {
	name string
	rule func(c *terminalSeat)
	seat terminalSeat // scratch
}

// fort makes a terminalPolicy.
func fort(name string, rule func(c *terminalSeat)) rollout.Maker {
	return func(s env.Spec) (rollout.Policy, error) {
		if s.Info.Name != "terminal" {
			return nil, fmt.Errorf("%s plays terminal, not %s", name, s.Info.Name)
		}
		if s.Info.MaxOrders < terminal.PlayoutOrders {
			return nil, fmt.Errorf("%s needs room for %d orders, not %d", name, terminal.PlayoutOrders, s.Info.MaxOrders)
		}
		return &terminalPolicy{name: name, rule: rule}, nil
	}
}

func (t *terminalPolicy) Name() string { return t.name }

func (t *terminalPolicy) Wants() env.Want { return env.WantKey }

func (t *terminalPolicy) Act(v env.Vector, b *env.Batch, rows []int32) {
	states, ok := env.States[terminal.State](v)
	rules, _ := env.Rules[terminal.State](v)
	game, same := rules.(*terminal.Game)
	if !ok || !same {
		panic("policy: " + t.name + " plays no " + v.Spec().Info.Name)
	}
	c := &t.seat
	if c.game != game {
		c.game, c.rules = game, game.Rules()
	}
	room := len(b.Orders) / b.Rows
	for _, row := range rows {
		at := int(row) * room
		c.look(&states[row/2], sim.Player(row&1), b.Key[row], b.Orders[at:at:at+room])
		t.rule(c)
		b.OrderLen[row] = int32(len(c.orders))
	}
}

// terminalSeat is a state as a scripted policy sees it from one seat, and the
// orders it gives. Coordinates are the seat's own: its edges are at the bottom,
// y = 0 … 13 is its half.
type terminalSeat struct {
	game   *terminal.Game
	rules  terminal.Rules
	state  *terminal.State
	player sim.Player
	random prng.Rand

	orders      []sim.Order
	cores, bits float32                               // left after the orders
	blocked     bitboard.Diamond                      // structures of both players, with those ordered
	fresh       [terminal.Structures]bitboard.Diamond // those ordered, by kind
	treated     bitboard.Diamond                      // those ordered to be upgraded or removed

	fields [2]bitboard.Field // ways to the edges, see chart
	goals  [2]bitboard.Diamond
	free   bitboard.Diamond
	pocket bitboard.Field
	fire   [bitboard.DiamondSpan]float32 // see aim
	path   terminalPath
}

// look turns the seat to a state.
func (c *terminalSeat) look(s *terminal.State, p sim.Player, key uint64, orders []sim.Order) {
	c.state, c.player = s, p
	c.random = prng.New(key)
	c.orders = orders
	c.cores, c.bits = s.Cores[p], s.Bits[p]
	for w := range c.blocked {
		c.blocked[w] = s.Own[0][w] | s.Own[1][w]
	}
	clear(c.fresh[:])
	clear(c.treated[:])
}

// scatter gives random orders: see terminal.Game.Playout.
func (c *terminalSeat) scatter() {
	c.orders = c.game.Playout(c.orders, c.state, c.player, &c.random)
}

// absolute turns the seat's coordinates into the arena's, and back.
func (c *terminalSeat) absolute(x, y int) (int, int) {
	if c.player == 1 {
		return terminal.Side - 1 - x, terminal.Side - 1 - y
	}
	return x, y
}

// cell is the cell at the seat's coordinates; 0, which is none, outside of the
// arena.
func (c *terminalSeat) cell(x, y int) int {
	cell, _ := bitboard.DiamondCell(c.absolute(x, y))
	return cell
}

// coordinates are the seat's coordinates of a cell.
func (c *terminalSeat) coordinates(cell int) (x, y int) {
	return c.absolute(bitboard.DiamondXY(cell))
}

// passable reports whether a mobile unit can be on a cell, given in the arena's
// coordinates.
func (c *terminalSeat) passable(x, y int) bool {
	cell, ok := bitboard.DiamondCell(x, y)
	return ok && !c.blocked.Has(cell)
}

// give gives an order, if there is room for it.
func (c *terminalSeat) give(o sim.Order) bool {
	if len(c.orders) == cap(c.orders) {
		return false
	}
	c.orders = append(c.orders, o)
	return true
}

// pay takes a price from a purse, if it is there, and rounds as the rules do.
func pay(purse *float32, price float32) bool {
	if price > *purse {
		return false
	}
	*purse = float32(int32(float32((*purse-price)*10)+0.5)) / 10
	return true
}

// build wishes for a structure: it is ordered unless something stands there
// already, or there is no such cell. The answer is no if it must be saved for.
func (c *terminalSeat) build(k terminal.Kind, x, y int) bool {
	cell := c.cell(x, y)
	if cell == 0 || c.blocked.Has(cell) {
		return true
	}
	ax, ay := c.absolute(x, y)
	if !pay(&c.cores, c.rules.Units[k].Cores) || !c.give(terminal.Place(k, ax, ay)) {
		return false
	}
	c.blocked.Add(cell)
	c.fresh[k].Add(cell)
	return true
}

// own returns the kind of the own structure on a cell, standing or ordered,
// that has not been upgraded.
func (c *terminalSeat) own(cell int) (k terminal.Kind, ok bool) {
	for k := range c.fresh {
		if c.fresh[k].Has(cell) {
			return terminal.Kind(k), true
		}
	}
	return c.state.Cells[cell].Kind(), c.state.Own[c.player].Has(cell) && !c.state.Upgraded.Has(cell)
}

// upgrade wishes for the upgrade of what stands on (x, y), if there is one. The
// answer is no if it must be saved for.
func (c *terminalSeat) upgrade(x, y int) bool {
	cell := c.cell(x, y)
	k, ok := c.own(cell)
	if !ok || !c.rules.Upgradable[k] || c.treated.Has(cell) {
		return true
	}
	ax, ay := c.absolute(x, y)
	if !pay(&c.cores, c.rules.Upgraded[k].Cores) || !c.give(terminal.UpgradeAt(ax, ay)) {
		return false
	}
	c.treated.Add(cell)
	return true
}

// renew removes what stands on (x, y) and has less than a part of its health,
// as long as there are cores to build it again: the removal pays for the rest.
func (c *terminalSeat) renew(x, y int, part float32) {
	cell := c.cell(x, y)
	s := c.state.Cells[cell]
	if !c.state.Own[c.player].Has(cell) || s.RemoveIn() != 0 || c.treated.Has(cell) {
		return
	}
	u := &c.rules.Units[s.Kind()]
	health, price := u.Health, u.Cores
	if s.Upgraded() {
		health = c.rules.Upgraded[s.Kind()].Health
	}
	if s.Health >= health*part || price > c.cores {
		return
	}
	if ax, ay := c.absolute(x, y); c.give(terminal.RemoveAt(ax, ay)) {
		c.treated.Add(cell)
	}
}

// spawn orders as many of n mobile units as can be paid.
func (c *terminalSeat) spawn(k terminal.Kind, x, y, n int) {
	n = min(n, c.affords(k))
	if n <= 0 || c.blocked.Has(c.cell(x, y)) {
		return
	}
	ax, ay := c.absolute(x, y)
	if c.give(terminal.Spawn(k, ax, ay, n)) {
		pay(&c.bits, float32(n)*c.rules.Units[k].Bits)
	}
}

// affords is how many mobile units of a kind the bits left can pay.
func (c *terminalSeat) affords(k terminal.Kind) int {
	price := c.rules.Units[k].Bits
	if price <= 0 {
		return 0
	}
	return int(c.bits / price)
}

// income is what a player gets in bits at the next restore, structures aside.
func (c *terminalSeat) income() float32 {
	r, turn := &c.rules, int32(c.state.Turn)+1
	bits := r.BitsPerTurn
	if turn >= r.GrowthStart && r.GrowthInterval > 0 {
		bits += r.BitGrowth * float32(1+(turn-r.GrowthStart)/r.GrowthInterval)
	}
	return bits
}

// hoard is the part of the most bits that saving can bring to which a purse
// has come: that is when as much decays in a turn as comes in.
func (c *terminalSeat) hoard(purse float32) float32 {
	most := c.income() / max(c.rules.BitDecay, 0.1)
	if most <= 0 {
		return 1
	}
	return purse / most
}
