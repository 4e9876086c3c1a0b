package policy

import (
	"fmt"

	"moonfarm/env"
	"moonfarm/rollout"
	"moonfarm/sim"
	"moonfarm/sim/prng"
)

// seat is a state as a scripted policy sees it from one seat, and the orders it
// gives. S, R and G are the game's State, Rules and Game.
type seat[S, R any, G game[S, R]] struct {
	game   G
	rules  R
	state  *S
	player sim.Player
	random prng.Rand // of the row's key, for scripts that want it
	orders []sim.Order
}

// game is what scripts ask of the Game of any of the games.
type game[S, R any] interface {
	comparable
	sim.Game[S]
	Rules() R
}

// look turns the seat to a state.
func (c *seat[S, R, G]) look(g G, s *S, p sim.Player, orders []sim.Order) {
	if c.game != g {
		c.game, c.rules = g, g.Rules()
	}
	c.state, c.player, c.orders = s, p, orders
}

// script is a policy of one game: a rule that reads the state from one seat and
// gives the orders of the turn. It has no memory: where the rule leaves a choice,
// the row's key decides.
type script[S, R any, G game[S, R]] struct {
	name  string
	wants env.Want
	seats int32
	seat  *seat[S, R, G]
	rule  func() // gives the orders of seat
}

// scriptEntry is the entry of a script. room is the number of orders that it may
// give in a turn; begin makes a seat and the rule that plays there.
func scriptEntry[S, R any, G game[S, R]](plays string, e Entry, room int, wants env.Want, begin func() (*seat[S, R, G], func())) entry {
	return entry{Entry: e, make: func(s env.Spec) (rollout.Policy, error) {
		if s.Info.Name != plays {
			return nil, fmt.Errorf("%s plays %s, not %s", e.Name, plays, s.Info.Name)
		}
		if s.Info.MaxOrders < room {
			return nil, fmt.Errorf("%s needs room for %d orders, not %d", e.Name, room, s.Info.MaxOrders)
		}
		seat, rule := begin()
		return &script[S, R, G]{e.Name, wants, int32(s.Info.Players), seat, rule}, nil
	}}
}

// Name is the name of the script.
func (c *script[S, R, G]) Name() string { return c.name }

// Wants is the row's key, if the rule draws.
func (c *script[S, R, G]) Wants() env.Want { return c.wants }

// Act has the rule give the orders of the rows.
func (c *script[S, R, G]) Act(v env.Vector, b *env.Batch, rows []int32) {
	states, ok := env.States[S](v)
	rules, _ := env.Rules[S](v)
	g, same := rules.(G)
	if !ok || !same {
		panic(wrongGame(c.name, v))
	}
	b.Need(c.wants, c.name)
	room := len(b.Orders) / b.Rows
	for _, row := range rows {
		at := int(row) * room
		c.seat.look(g, &states[row/c.seats], sim.Player(row%c.seats), b.Orders[at:at:at+room])
		if c.wants&env.WantKey != 0 {
			c.seat.random = prng.New(b.Key[row])
		}
		c.rule()
		b.OrderLen[row] = int32(len(c.seat.orders))
	}
}

// wrongGame says that a script is asked to play a game of others.
func wrongGame(name string, v env.Vector) string {
	if v == nil {
		return "policy: " + name + " needs the Vector of its game, got nil"
	}
	return "policy: " + name + " plays no " + v.Spec().Info.Name
}
