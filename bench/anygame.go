package bench

import (
	"errors"

	"moonfarm/env"
	"moonfarm/sim"
	"moonfarm/sim/prng"
)

// randomTurns is the number of turns in a pass of randomly played games.
const randomTurns = 1 << 18

// anyGame lists figures that suit any game: every seat gives one of its legal orders in
// each turn.
func anyGame[S any](g sim.Game[S]) []measure {
	random := prng.New(1)
	legal := make([]sim.Order, 0, 1<<10)
	choose := func(dst []sim.Order, v env.Vector, i int, p sim.Player) []sim.Order {
		states, _ := env.States[S](v)
		legal = g.AppendOrders(legal[:0], &states[i], p)
		return append(dst, legal[random.IntN(len(legal))])
	}
	setup := func(given bool) func(o *Options) (pass, int, error) {
		return func(o *Options) (pass, int, error) {
			if len(o.Recordings) > 0 {
				return nil, 0, errors.New("the game has no recordings")
			}
			return randomGames(g, given), randomTurns, nil
		}
	}
	name := g.Info().Name
	return []measure{
		{what: "step", unit: "turns/s", setup: setup(true), note: "the games of playout with the orders given beforehand"},
		{what: "playout", unit: "turns/s", setup: setup(false), note: "uniform over the legal orders, all players"},
		observed(name, "observe", env.WantPlanes|env.WantScalars|env.WantMask, 128, choose),
		observed(name, "observe-packed", env.WantPacked|env.WantScalars|env.WantMask, 128, choose),
	}
}

// randomGames returns a pass of randomly played games. With given, their orders are drawn
// before the pass, else during the pass.
func randomGames[S any](g sim.Game[S], given bool) func() (uint64, error) {
	players := sim.Player(g.Info().Players)
	s, t := new(S), sim.NewTurn(1)
	legal, orders := make([]sim.Order, 0, 1<<10), make([]sim.Order, 0, randomTurns*int(players))
	pass := func(draw bool) uint64 {
		random, sum, seed, k := prng.New(1), uint64(0), uint64(0), 0
		g.Reset(s, seed)
		for range randomTurns {
			for p := range players {
				if draw {
					legal = g.AppendOrders(legal[:0], s, p)
					orders = append(orders, legal[random.IntN(len(legal))])
				}
				t.SetOne(p, orders[k])
				k++
			}
			if g.Step(s, t) != sim.Running {
				sum = prng.Mix(sum ^ g.Hash(s))
				seed++
				g.Reset(s, seed)
			}
		}
		return prng.Mix(sum ^ g.Hash(s))
	}
	if given {
		pass(true)
	}
	return func() (uint64, error) {
		if !given {
			orders = orders[:0]
		}
		return pass(!given), nil
	}
}
