// Package script is the toolbox of the games' policies: of scripts and of the tree search. A
// script is a rule that reads the state from one seat and gives the orders of the turn.
//
// The scripts and the search of a game are in rollout/policy/GAME, which exports a list
// Scripts and, if the game has a search, a Search. Package policy lists these packages and
// parses the specs of policies. To add a script, write its rule and add a line to the list of
// the game's package.
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

// GameWithRules is a game that reports its rules. S is its State, R its Rules.
type GameWithRules[S, R any] interface {
	comparable
	sim.Game[S]
	Rules() R
}

// View is a state as a script sees it from one seat, and the orders it gives. S, R and G
// are the game's State, Rules and Game.
type View[S, R any, G GameWithRules[S, R]] struct {
	Game   G
	Rules  R // of Game
	State  *S
	Player sim.Player
	Random prng.Rand   // from the row's seed, for scripts that want it
	Orders []sim.Order // given so far; its capacity is the game's MaxOrders
}

// Look sets the state, the seat and the orders given so far.
func (v *View[S, R, G]) Look(g G, s *S, p sim.Player, orders []sim.Order) {
	if v.Game != g {
		v.Game, v.Rules = g, g.Rules()
	}
	v.State, v.Player, v.Orders = s, p, orders
}

// New returns the script of that name. room is the number of orders that it may give in
// a turn; begin makes a view and the rule that gives the orders for it. The script has no
// memory. If the rule draws from View.Random, wants must include env.WantRowSeed:
// without it View.Random is not seeded.
func New[S, R any, G GameWithRules[S, R]](name, doc string, room int, wants env.Want, begin func() (*View[S, R, G], func())) Script {
	return Script{name, doc, func(s env.Spec) (rollout.Policy, error) {
		if s.Info.MaxOrders < room {
			return nil, fmt.Errorf("%s needs room for %d orders, not %d", name, room, s.Info.MaxOrders)
		}
		view, rule := begin()
		return &policy[S, R, G]{name, wants, int32(s.Info.Players), view, rule}, nil
	}}
}

// policy is the rollout.Policy of a script.
type policy[S, R any, G GameWithRules[S, R]] struct {
	name  string
	wants env.Want
	seats int32
	view  *View[S, R, G]
	rule  func() // gives the orders of view
}

// Name returns the name of the script.
func (p *policy[S, R, G]) Name() string { return p.name }

// Wants returns the row's seed if the rule draws.
func (p *policy[S, R, G]) Wants() env.Want { return p.wants }

// Act lets the rule give the orders of the rows.
func (p *policy[S, R, G]) Act(v env.Vector, b *env.Batch, rows []int32) {
	states, ok := env.States[S](v)
	rules, _ := env.Rules[S](v)
	g, same := rules.(G)
	if !ok || !same {
		panic(WrongGame(p.name, v))
	}
	b.Need(p.wants, p.name)
	room := len(b.Orders) / b.Rows
	for _, row := range rows {
		at := int(row) * room
		p.view.Look(g, &states[row/p.seats], sim.Player(row%p.seats), b.Orders[at:at:at+room])
		if p.wants&env.WantRowSeed != 0 {
			p.view.Random = prng.New(b.RowSeed[row])
		}
		p.rule()
		b.OrderLen[row] = int32(len(p.view.Orders))
	}
}

// WrongGame returns the panic message of a policy whose Act gets a Vector of another game.
func WrongGame(name string, v env.Vector) string {
	return "policy: " + name + " plays no " + v.Spec().Info.Name
}
