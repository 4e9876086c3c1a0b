// Package script is the toolbox of the games' policies: of scripts, which are rules that
// read the state from one seat and give the orders of the turn, and of the tree search.
//
// A game's scripts and search are in a package of their own beside this one, such as
// rollout/policy/GAME, which has a list of its Scripts and, if it has one, a Search. Package
// policy lists these packages and reads the texts by which policies are asked for. To add a
// script, write its rule and add a line to the list of the game's package.
package script

import (
	"fmt"

	"moonfarm/env"
	"moonfarm/rollout"
	"moonfarm/sim"
	"moonfarm/sim/prng"
)

// Script is a scripted policy that a game offers.
type Script struct {
	Name string
	Doc  string // one line
	New  rollout.Maker
}

// Game is the game of a script: S is its State, R its Rules.
type Game[S, R any] interface {
	comparable
	sim.Game[S]
	Rules() R
}

// Seat is a state as a script sees it from one seat, and the orders it gives. S, R and G
// are the game's State, Rules and Game.
type Seat[S, R any, G Game[S, R]] struct {
	Game   G
	Rules  R // of Game
	State  *S
	Player sim.Player
	Random prng.Rand   // of the row's seed, for scripts that want it
	Orders []sim.Order // given so far; has room for as many as the game takes
}

// Look turns the seat to a state, with the orders given so far.
func (c *Seat[S, R, G]) Look(g G, s *S, p sim.Player, orders []sim.Order) {
	if c.Game != g {
		c.Game, c.Rules = g, g.Rules()
	}
	c.State, c.Player, c.Orders = s, p, orders
}

// New returns the script of that name. room is the number of orders that it may
// give in a turn; begin makes a seat and the rule that gives the orders of that seat. The
// script has no memory: where the rule leaves a choice, the row's seed decides, which wants
// then names.
func New[S, R any, G Game[S, R]](name, doc string, room int, wants env.Want, begin func() (*Seat[S, R, G], func())) Script {
	return Script{name, doc, func(s env.Spec) (rollout.Policy, error) {
		if s.Info.MaxOrders < room {
			return nil, fmt.Errorf("%s needs room for %d orders, not %d", name, room, s.Info.MaxOrders)
		}
		seat, rule := begin()
		return &player[S, R, G]{name, wants, int32(s.Info.Players), seat, rule}, nil
	}}
}

// player plays a script.
type player[S, R any, G Game[S, R]] struct {
	name  string
	wants env.Want
	seats int32
	seat  *Seat[S, R, G]
	rule  func() // gives the orders of seat
}

// Name is the name of the script.
func (c *player[S, R, G]) Name() string { return c.name }

// Wants is the row's seed, if the rule draws.
func (c *player[S, R, G]) Wants() env.Want { return c.wants }

// Act has the rule give the orders of the rows.
func (c *player[S, R, G]) Act(v env.Vector, b *env.Batch, rows []int32) {
	states, ok := env.States[S](v)
	rules, _ := env.Rules[S](v)
	g, same := rules.(G)
	if !ok || !same {
		panic(WrongGame(c.name, v))
	}
	b.Need(c.wants, c.name)
	room := len(b.Orders) / b.Rows
	for _, row := range rows {
		at := int(row) * room
		c.seat.Look(g, &states[row/c.seats], sim.Player(row%c.seats), b.Orders[at:at:at+room])
		if c.wants&env.WantRowSeed != 0 {
			c.seat.Random = prng.New(b.RowSeed[row])
		}
		c.rule()
		b.OrderLen[row] = int32(len(c.seat.Orders))
	}
}

// WrongGame is the message of the panic of a policy that is asked for orders in a Vector of
// another game.
func WrongGame(name string, v env.Vector) string {
	if v == nil {
		return "policy: " + name + " needs the Vector of its game, got nil"
	}
	return "policy: " + name + " plays no " + v.Spec().Info.Name
}
