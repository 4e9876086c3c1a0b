// Package tron has the scripts of the light cycles. It is the smallest of the games'
// packages of policies: to be read first.
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
	newScript("territory", "does not crash at once, and goes where its lead in free cells that it comes to first is largest",
		(*seat).territory),
}

// seat is a state as a script sees it from one seat.
type seat struct {
	view
	then tron.State // scratch: after an order
}

type view = script.Seat[tron.State, tron.Rules, *tron.Game]

// newScript returns a script that gives the order after which the
// state is worth most to it, among the orders by which its cycle does not crash at
// once.
func newScript(name, doc string, worth func(c *seat) int) script.Script {
	return script.New(name, doc, 1, env.WantRowSeed, func() (*view, func()) {
		c := new(seat)
		return &c.view, func() { c.Orders = append(c.Orders, c.best(worth)) }
	})
}

// best is the order after which the state is worth most, drawn among equals. A cycle that
// crashes anyway goes straight on.
func (c *seat) best(worth func(c *seat) int) sim.Order {
	s, p := c.State, c.Player
	best, most, ties := tron.Straight, 0, 0 // ties: how many orders are worth most
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

// territory is how many more free cells are nearer to the own cycle than to the
// enemy's after the order.
func (c *seat) territory() int {
	cells := c.Game.Nearer(&c.then)
	return bits.OnesCount64(cells[c.Player]) - bits.OnesCount64(cells[c.Player^1])
}
