// Package tron has the scripts of the light cycles. It is the smallest policy package of a
// game, and the one to read first.
package tron

import (
	"math/bits"

	"moonfarm/env"
	"moonfarm/rollout/policy/script"
	"moonfarm/sim"
	"moonfarm/sim/tron"
)

// Scripts are the scripted policies of the light cycles.
var Scripts = []script.Script{
	newScript("safe", "straight on or a turn, by chance, but not where it crashes at once",
		func(*seat) int { return 0 }),
	newScript("territory", "does not crash at once, and maximises its lead in free cells that it reaches first",
		(*seat).territory),
}

// seat is a state as a script sees it from one seat.
type seat struct {
	view
	then tron.State // scratch: the state after an order of this seat; only its Trail and Head are set
}

type view = script.View[tron.State, tron.Rules, *tron.Game]

// newScript returns a script that gives the order with the highest worth of the state after
// it, among the orders by which its cycle does not crash at once.
func newScript(name, doc string, worth func(c *seat) int) script.Script {
	return script.New(name, doc, 1, env.WantRowSeed, func() (*view, func()) {
		c := new(seat)
		return &c.view, func() { c.Orders = append(c.Orders, c.best(worth)) }
	})
}

// best returns the order after which the state has the highest worth; it draws among equals. A
// cycle that crashes in any case goes straight on.
func (c *seat) best(worth func(c *seat) int) sim.Order {
	s, p := c.State, c.Player
	best, most, ties := tron.Straight, 0, 0 // ties: number of orders with the highest worth
	for o := range sim.Order(tron.Orders) {
		next := c.Game.Beside(1<<s.Head[p], s.Heading[p].Turned(o)) & s.Free()
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
			if ties++; c.Random.IntN(ties) == 0 {
				best = o
			}
		}
	}
	return best
}

// territory returns the number of free cells that are nearer to the own cycle, less the
// number of those nearer to the enemy's, after the order.
func (c *seat) territory() int {
	cells := c.Game.Nearer(&c.then)
	return bits.OnesCount64(cells[c.Player]) - bits.OnesCount64(cells[c.Player^1])
}
