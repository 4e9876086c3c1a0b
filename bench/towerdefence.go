package bench

import (
	"errors"

	"moonfarm/env"
	"moonfarm/rollout/recordings"
	"moonfarm/sim"
	"moonfarm/sim/prng"
	"moonfarm/sim/towerdefence"
)

// towerRounds is the number of rounds in a pass of the simulator.
const towerRounds = 1 << 20

// towerDefence lists the figures of Tower Defence.
func towerDefence() []measure {
	random := prng.New(1)
	choose := func(dst []sim.Order, v env.Vector, i int, p sim.Player) []sim.Order {
		states, _ := env.States[towerdefence.State](v)
		game, _ := env.Rules[towerdefence.State](v)
		return append(dst, game.(*towerdefence.Game).Playout(&states[i], p, &random))
	}
	search := searchBench{"towerdefence", 400, "rollout=playout,horizon=0", "playout", 6}
	return append([]measure{
		{what: "step", unit: "turns/s", setup: setupTowerStep, note: "commands of recordings, or of random playouts where none are given"},
		{what: "playout", unit: "turns/s", setup: setupTowerPlayout, note: "uniform over kinds, then over free cells, both players"},
		observed("towerdefence", "observe", env.WantPlanes|env.WantScalars|env.WantMask, 512, choose),
		observed("towerdefence", "observe-packed", env.WantPacked|env.WantScalars|env.WantMask, 512, choose),
	}, append(towerBatch(), search.figures()...)...)
}

func newTower() (*towerdefence.Game, error) { return towerdefence.New(towerdefence.DefaultRules()) }

// towerDigest mixes the last state of a match, as players see it, into a checksum that does
// not depend on the layout of the state.
func towerDigest(sum uint64, g *towerdefence.Game, s *towerdefence.State) uint64 {
	mix := func(x uint64) { sum = (sum ^ x) * 0x9e3779b97f4a7c15 } // cheap: a match is short
	mix(uint64(s.Round))
	for p := range sim.Player(2) {
		h := &s.Half[p]
		mix(uint64(h.Energy))
		mix(uint64(h.Health()))
		mix(uint64(h.Hits()))
		mix(uint64(g.Score(s, p)))
		for _, k := range towerdefence.Kinds {
			mix(h.Standing(k))
		}
	}
	return prng.Mix(sum)
}

// setupTowerPlayout plays random games, and draws the moves during the pass.
func setupTowerPlayout(*Options) (pass, int, error) {
	g, err := newTower()
	if err != nil {
		return nil, 0, err
	}
	pass := func() (uint64, error) {
		random := prng.New(1)
		sum := uint64(0)
		var s towerdefence.State
		g.Reset(&s, 0)
		for range towerRounds {
			if g.Play(&s, g.Playout(&s, 0, &random), g.Playout(&s, 1, &random)) != sim.Running {
				sum = towerDigest(sum, g, &s)
				g.Reset(&s, 0)
			}
		}
		return towerDigest(sum, g, &s), nil
	}
	return pass, towerRounds, nil
}

// towerMatch has the start and the commands of a match.
type towerMatch struct {
	start  towerdefence.State
	orders [][2]sim.Order
}

// setupTowerStep plays matches from their commands. Every match is played to
// its last command, and its last state goes into the checksum.
func setupTowerStep(o *Options) (pass, int, error) {
	g, matches, rounds, err := towerSteps(o)
	if err != nil {
		return nil, 0, err
	}
	repeat := max(1, towerRounds/rounds)
	pass := func() (uint64, error) {
		sum := uint64(0)
		var s towerdefence.State
		for range repeat {
			for i := range matches {
				s = matches[i].start
				for _, c := range matches[i].orders {
					g.Play(&s, c[0], c[1])
				}
				sum = towerDigest(sum, g, &s)
			}
		}
		return sum, nil
	}
	return pass, repeat * rounds, nil
}

// towerSteps returns a game, the matches that are played from their commands, and the number of
// their rounds, at least 1.
func towerSteps(o *Options) (g *towerdefence.Game, matches []towerMatch, rounds int, err error) {
	if g, err = newTower(); err != nil {
		return nil, nil, 0, err
	}
	if matches, err = towerMatches(g, o.Recordings); err != nil {
		return nil, nil, 0, err
	}
	for i := range matches {
		rounds += len(matches[i].orders)
	}
	if rounds == 0 {
		return nil, nil, 0, errors.New("the recordings hold no match")
	}
	return g, matches, rounds, nil
}

// towerMatches reads the matches of the recordings, or makes random ones.
func towerMatches(g *towerdefence.Game, files []string) ([]towerMatch, error) {
	var list []towerMatch
	err := recorded(files, func(r *recordings.RecordedGame) error {
		rules, err := towerdefence.ParseRules([]byte(r.Rules))
		if err != nil {
			return err
		}
		own, err := towerdefence.New(rules)
		if err != nil {
			return err
		}
		m := towerMatch{orders: make([][2]sim.Order, r.Episode.Turns)}
		own.Reset(&m.start, 0)
		for i := range m.orders {
			for p := range sim.Player(2) {
				for _, o := range r.Episode.OrdersOf(i, p) { // one, or none
					m.orders[i][p] = o
				}
			}
		}
		list = append(list, m)
		return nil
	})
	if err != nil || len(files) > 0 {
		return list, err
	}
	random := prng.New(2)
	for range 600 {
		var m towerMatch
		g.Reset(&m.start, 0)
		s := m.start
		for status := sim.Running; status == sim.Running; {
			c := [2]sim.Order{g.Playout(&s, 0, &random), g.Playout(&s, 1, &random)}
			m.orders = append(m.orders, c)
			status = g.Play(&s, c[0], c[1])
		}
		list = append(list, m)
	}
	return list, nil
}
