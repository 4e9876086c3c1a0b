package featuretest

import (
	"fmt"
	"testing"

	"moonfarm/features"
	"moonfarm/sim"
	"moonfarm/sim/prng"
)

// commandHeads is the most heads of which a view draws a choice, so that games of many heads do not take long.
const commandHeads = 40

// testCommand checks what the kit says of orders: of a legal choice of each head, and of any number.
func (c *suite[S]) testCommand(t *testing.T) {
	action, drawn, orders := make([]int32, len(c.heads)), make([]int32, len(c.heads)), make([]sim.Order, 0, c.info.MaxOrders)
	scene := &features.Scene{}
	c.each(t, func(v view[S]) {
		if v.status != sim.Running {
			return
		}
		c.kit.Scene(scene, v.s, features.Spectator)
		mask := c.mask(t, v)
		g := prng.New(v.seed*1000003 + uint64(v.turn)*31 + uint64(v.p))
		Choose(drawn, c.heads, mask, func(_, n int) int { return g.IntN(n) })
		for h, k := range drawn {
			if k < 0 || len(c.heads) > commandHeads && g.IntN(len(c.heads)) >= commandHeads {
				continue
			}
			clear(action)
			action[h] = k
			for _, o := range c.kit.Actions.AppendOrders(orders[:0], action, v.s, v.p) {
				if fault := commandFault(c.kit.Command(o, v.p), scene, o != 0); fault != "" {
					t.Errorf("seed %d turn %d seat %d: order %#x: %s", v.seed, v.turn, v.p, uint64(o), fault)
				}
			}
		}
		for range 16 { // any number is an order
			c.kit.Command(sim.Order(g.Uint64()), v.p)
		}
	})
}

// commandFault returns what is wrong with what a kit says of an order, or "". named: the order does something.
func commandFault(d features.Command, s *features.Scene, named bool) string {
	inside := d.X >= 0 && d.Y >= 0 && d.X+1 <= s.Width && d.Y+1 <= s.Height // false for NaN
	if d.Number < 0 || d.Placed && !inside || named && d.Kind == "" {
		return fmt.Sprintf("%+v", d)
	}
	return ""
}
