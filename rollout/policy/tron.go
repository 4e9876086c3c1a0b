package policy

import (
	"math/bits"

	"moonfarm/env"
	"moonfarm/sim"
	"moonfarm/sim/tron"
)

// tronPolicies are the scripted policies of the light cycles.
var tronPolicies = []entry{
	tronScript("safe", "straight on or a turn, by chance, but not where it crashes at once",
		func(*tronSeat) int { return 0 }),
	tronScript("territory", "does not crash at once, and goes where its lead in free cells that it comes to first is largest",
		(*tronSeat).territory),
}

// tronSeat is a state as a scripted policy sees it from one seat.
type tronSeat struct {
	tronView
	then tron.State // scratch: after an order
}

type tronView = seat[tron.State, tron.Rules, *tron.Game]

// tronScript is the entry of a script that gives the order after which the
// state then is worth most to it, of those by which its cycle does not crash at
// once.
func tronScript(name, doc string, worth func(c *tronSeat) int) entry {
	return scriptEntry("tron", Entry{Name: name, Doc: doc}, 1, env.WantKey, func() (*tronView, func()) {
		c := new(tronSeat)
		return &c.tronView, func() { c.orders = append(c.orders, c.best(worth)) }
	})
}

// best is the order after which the state is worth most; of several one is
// drawn. A cycle that crashes anyway goes straight on.
func (c *tronSeat) best(worth func(c *tronSeat) int) sim.Order {
	s, p := c.state, c.player
	best, most, ties := tron.Straight, 0, 0 // ties: how many orders are worth most
	for o := range sim.Order(tron.Orders) {
		next := c.game.Beside(1<<s.Head[p], s.Heading[p].Turned(o)) & s.Free()
		if next == 0 {
			continue
		}
		c.then = *s
		c.then.Trail[p] |= next
		c.then.Head[p] = uint8(bits.TrailingZeros64(next))
		switch n := worth(c); {
		case ties == 0 || n > most:
			best, most, ties = o, n, 1
		case n == most:
			if ties++; c.random.IntN(ties) == 0 {
				best = o
			}
		}
	}
	return best
}

// territory is how many more free cells are nearer to the own cycle than to the
// enemy's after the order.
func (c *tronSeat) territory() int {
	cells := c.game.Nearer(&c.then)
	return bits.OnesCount64(cells[c.player]) - bits.OnesCount64(cells[c.player^1])
}
