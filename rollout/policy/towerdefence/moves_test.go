package towerdefence

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/rollout/policy/script"
	"moonfarm/rollout/policy/search"
	"moonfarm/sim"
	"moonfarm/sim/prng"
	"moonfarm/sim/towerdefence"
)

// plainMoves is the plain twin of model.Moves below the planner's order, econ's, nothing and an
// energy building: it compares each order with all before.
func plainMoves(g *model, s *towerdefence.State, p sim.Player) (dst []search.Choice[sim.Order]) {
	c := g.turn(s, p)
	if c.me.Energy < g.cheapest {
		return []search.Choice[sim.Order]{{Move: towerdefence.Nothing, Prior: 1}}
	}
	c.Random = prng.New(uint64(s.Round)<<1 | uint64(p))
	add := func(o sim.Order, prior float64) {
		for _, m := range dst {
			if m.Move == o {
				return
			}
		}
		dst = append(dst, search.Choice[sim.Order]{Move: o, Prior: prior})
	}
	if g.plans {
		add(c.planner(), 4)
	}
	add(c.econ(), 1)
	add(towerdefence.Nothing, 1)
	add(c.placeEnergy(), 1.5)
	for y := range c.rows {
		place := func(k towerdefence.Kind, columns uint64, prior float64) {
			for x := towerdefence.Width - 1; x >= 0; x-- {
				if cell := uint64(1) << (8*y + x); cell&columns&c.legal.Build(k) != 0 {
					add(towerdefence.Build(k, x, y), prior)
					return
				}
			}
		}
		place(towerdefence.Attack, midColumns, 0.75)
		if c.rows[y].walls < 2 {
			place(towerdefence.Defense, frontColumns, 0.75)
		}
		place(towerdefence.Energy, backColumns, 0.3)
	}
	if c.affords(towerdefence.Tesla) {
		add(c.placeTesla(), 0.75)
	}
	if c.legal.Curtain() {
		add(towerdefence.Curtain, 0.75)
	}
	return dst
}

// newModels returns models for a vector of Tower Defence, one of which lists the planner's orders.
func newModels(t testing.TB) []*model {
	t.Helper()
	entry, err := catalog.Find("towerdefence")
	require.NoError(t, err)
	v, err := entry.New("", env.Settings{N: 1})
	require.NoError(t, err)
	models := []*model{newModel(script.SearchOptions{Rollout: "playout"}).(*model), newModel(script.SearchOptions{Rollout: noRollout}).(*model)}
	for _, g := range models {
		require.True(t, g.Look(v))
	}
	return models
}

// compareMoves compares the moves in all states of random games.
func compareMoves(t testing.TB, g *model, seed uint64, rounds int) {
	t.Helper()
	r := prng.New(seed)
	game := g.seat.Game
	var s towerdefence.State
	for status := sim.Over; rounds > 0; rounds-- {
		if status != sim.Running {
			game.Reset(&s, 0)
			energy := []int{20, 20, 300, 5000}[r.IntN(4)]
			game.SetStart(&s, 0, energy, 100)
			game.SetStart(&s, 1, energy, 100)
		}
		for p := range sim.Player(2) {
			require.Equal(t, plainMoves(g, &s, p), g.Moves(nil, &s, p))
		}
		status = game.Play(&s, game.Playout(&s, 0, &r), game.Playout(&s, 1, &r))
	}
}

func TestMoves(t *testing.T) {
	rounds := 4000
	if os.Getenv("MOONFARM_LONG") == "1" {
		rounds = 1_000_000
	}
	for i, g := range newModels(t) {
		compareMoves(t, g, uint64(i), rounds/(1+9*i))
	}
}

func FuzzMoves(f *testing.F) {
	models := newModels(f)
	f.Add(uint64(1), false)
	f.Add(uint64(2), true)
	f.Fuzz(func(t *testing.T, seed uint64, plans bool) {
		g := models[0]
		if plans {
			g = models[1]
		}
		compareMoves(t, g, seed, 50)
	})
}
