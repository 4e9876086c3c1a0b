package terminal

import (
	"slices"

	"moonfarm/rollout/policy/search"
	"moonfarm/sim"
	"moonfarm/sim/prng"
	"moonfarm/sim/terminal"
)

// plans has the strategist's orders as moves of the search, with its own attack or another one. They
// are moves at the root only: a decision of the strategist takes as long as some ten
// simulations. It keeps the latest decisions, because every simulation begins at the root.
type plans struct {
	strategist
	kept [plansKept]plan
}

// plansKept is the number of decisions that are kept: both seats of some roots, whose searches may
// be interleaved.
const plansKept = 32

// plan is a decision of the strategist.
type plan struct {
	state      terminal.State
	player     sim.Player
	orders     []sim.Order
	structures int // orders before the attack
}

func newPlans() *plans {
	c := new(plans)
	for i := range c.kept {
		c.kept[i].orders = make([]sim.Order, 0, room)
		c.kept[i].player = 2 // of no seat
	}
	return c
}

// moves appends the strategist's orders, and its structures with other attacks.
func (c *plans) moves(dst []search.Choice[Move], at *seat) []search.Choice[Move] {
	add := func(a attack, start uint8, prior float64) {
		dst = append(dst, search.Choice[Move]{Move: Move{defence: defencePlan, attack: a, start: start}, Prior: prior})
	}
	add(attackPlan, 0, 3)
	add(attackNone, 0, 1)
	if at.affords(terminal.Scout) > 0 {
		if start := at.starts(terminal.Scout)[0]; start != noStart {
			add(attackScouts, start, 1)
			add(attackDemolishers, start, 0.5)
			add(attackInterceptors, start, 0.5)
		}
	}
	return dst
}

// play gives the orders of a move.
func (c *plans) play(at *seat, m Move) {
	p := c.plan(at)
	if m.attack == attackPlan {
		at.Orders = append(at.Orders, p.orders...)
		return
	}
	at.Orders = append(at.Orders, p.orders[:p.structures]...)
	at.launch(m.attack, int(m.start))
}

// plan returns the strategist's decision for a seat.
func (c *plans) plan(at *seat) *plan {
	p := &c.kept[(at.Game.Hash(at.State)+uint64(at.Player))%plansKept]
	if p.player == at.Player && p.state == *at.State {
		return p
	}
	p.state, p.player = *at.State, at.Player
	c.Look(at.Game, &p.state, at.Player, p.orders[:0])
	c.Random = prng.New(uint64(at.State.Turn)<<16 | uint64(at.Player)<<8)
	c.decide()
	p.orders = c.Orders
	p.structures = slices.IndexFunc(p.orders, func(o sim.Order) bool { return terminal.Decode(o).Op == terminal.OpSpawn })
	if p.structures < 0 {
		p.structures = len(p.orders)
	}
	return p
}
