package search_test

import (
	"fmt"
	"math"
	"math/bits"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/policy/search"
	"moonfarm/sim"
	"moonfarm/sim/prng"
	"moonfarm/sim/towerdefence"
)

// endGame is Tower Defence whose only orders are to build on some cells, to do nothing
// and to raise the curtain.
type endGame struct {
	game  *towerdefence.Game
	cells [2]uint64
	legal []sim.Order
	win   bool // the value is the result of the game; else the change of the scores
	base  int  // A's score less B's before
}

func (g *endGame) Moves(dst []search.Choice[sim.Order], s *towerdefence.State, p sim.Player) []search.Choice[sim.Order] {
	g.legal = g.game.AppendOrders(g.legal[:0], s, p)
	for _, o := range g.legal {
		c := towerdefence.Decode(o)
		build := c.Op != towerdefence.OpNothing && c.Op != towerdefence.OpCurtain
		if c.Op == towerdefence.OpDeconstruct || build && g.cells[p]>>(c.Y*8+c.X)&1 == 0 {
			continue
		}
		dst = append(dst, search.Choice[sim.Order]{Move: o, Prior: 1})
	}
	return dst
}

func (g *endGame) Step(s *towerdefence.State, a, b sim.Order, _ *prng.Rand) (bool, uint64) {
	return g.game.Play(s, a, b) != sim.Running, 0
}

func (g *endGame) Result(s *towerdefence.State) float64 {
	if g.win {
		return float64(g.game.Outcome(s, 0).Result)
	}
	return max(-1, min(1, float64(g.game.Score(s, 0)-g.game.Score(s, 1)-g.base)/80))
}

// Evaluate returns a random value.
func (g *endGame) Evaluate(_ *towerdefence.State, r *prng.Rand) float64 {
	return 2*r.Float64() - 1
}

// payoffs returns the matrix of the values after each pair of moves, by backward
// induction.
func (g *endGame) payoffs(s *towerdefence.State) [][]float64 {
	own, other := g.Moves(nil, s, 0), g.Moves(nil, s, 1)
	m := make([][]float64, len(own))
	for i, a := range own {
		for _, b := range other {
			next := *s
			value := 0.0
			if over, _ := g.Step(&next, a.Move, b.Move, nil); over {
				value = g.Result(&next)
			} else {
				value = matrixValue(g.payoffs(&next))
			}
			m[i] = append(m[i], value)
		}
	}
	return m
}

// check compares a search of the position with its solution, and returns the value.
func (g *endGame) check(t *testing.T, name string, s *towerdefence.State, simulations int) (value float64) {
	t.Helper()
	m := g.payoffs(s)
	want := matrixValue(m)
	tree := search.New(options(search.Regret, simulations), search.Model[towerdefence.State, sim.Order](g))
	tree.Search(s, 1)
	var strategies [2][]float64
	for p := range sim.Player(2) {
		for _, share := range tree.AppendShares(nil, p) {
			strategies[p] = append(strategies[p], float64(share))
		}
	}
	low, high := guarantees(m, strategies[0], strategies[1])
	got := tree.Value(0)
	t.Logf("%s: %d×%d moves, value %.4f, found %.4f, guaranteed %.4f … %.4f", name, len(m), len(m[0]), want, got, low, high)
	assert.Truef(t, math.Abs(got-want) <= 0.02 && low >= want-0.02 && high <= want+0.02, "%s: value %.4f, the strategies guarantee %.4f and %.4f, want %.4f", name, got, low, high, want)
	return want
}

// duel returns a position in which A's tesla tower kills B in one shot and B can raise
// the curtain for one round, once. A shoots unless it spends the energy for the shot on
// a building. If B survives it wins by score. Three rounds are left.
func duel(t *testing.T) (*endGame, towerdefence.State) {
	r := towerdefence.DefaultRules()
	r.MaxRounds, r.StartEnergy, r.TeslaEnergyPerShot = 12, 100, 50
	r.CurtainPrice, r.CurtainActiveRounds, r.CurtainResetPeriod = 10, 1, 9
	r.Buildings[towerdefence.Defense].Price = 1000
	r.Buildings[towerdefence.Attack].Price = 5
	r.Buildings[towerdefence.Energy].Price = 1000
	r.Buildings[towerdefence.Energy].ConstructionScore = 1000
	r.Handicap = towerdefence.Handicap{Energy: 910, Health: 20 - r.StartHealth}
	game, err := towerdefence.New(r)
	require.NoError(t, err)
	var s towerdefence.State
	game.Reset(&s, 0)
	game.Play(&s, towerdefence.Build(towerdefence.Tesla, 7, 0), towerdefence.Build(towerdefence.Energy, 0, 7))
	for s.Round < 10 {
		require.Equalf(t, sim.Running, game.Play(&s, towerdefence.Nothing, towerdefence.Nothing), "the position ends in round %d", s.Round)
	}
	// A may build attack towers in its last row, one a round.
	return &endGame{game: game, cells: [2]uint64{1 << 63, 0}, win: true}, s
}

// TestDuel: A should shoot in a round in which B has not raised the curtain, so both must
// mix their strategies.
func TestDuel(t *testing.T) {
	g, s := duel(t)
	value := g.check(t, "duel", &s, 50000)
	assert.Truef(t, value > -0.95 && value < 0.95, "the duel has the value %v, want one that needs mixed strategies", value)
}

// TestEndGames searches the last rounds of random games, with a few cells for each seat.
// The value is the change of the scores.
func TestEndGames(t *testing.T) {
	mixed, positions := 0, 0
	for seed := uint64(0); positions < 6 || mixed < 4; seed++ {
		require.NotEqualf(t, uint64(500), seed, "%d positions, %d of which need mixed strategies", positions, mixed)
		rounds := 2 + int(seed&1)
		g, s := endGameOf(t, seed, rounds)
		if g == nil {
			continue
		}
		_, pure := saddlePoint(g.payoffs(&s))
		if pure && positions-mixed >= 2 {
			continue
		}
		positions++
		if !pure {
			mixed++
		}
		g.check(t, fmt.Sprintf("game %d, %d rounds, pure %v", seed, rounds, pure), &s, 150000)
	}
}

// endGameOf returns the last rounds of a random game; nil if the game ends before.
func endGameOf(t *testing.T, seed uint64, rounds int) (*endGame, towerdefence.State) {
	r := towerdefence.DefaultRules()
	r.MaxRounds = 30 + int(seed)%16 + rounds - 1
	// Tesla towers that shoot often, and short curtains, make mixed strategies necessary.
	r.CurtainResetPeriod, r.CurtainActiveRounds, r.CurtainPrice = 3, 1, 20
	r.Buildings[towerdefence.Tesla].Price, r.TeslaEnergyPerShot = 40, 40
	r.Buildings[towerdefence.Tesla].ConstructionTime, r.Buildings[towerdefence.Tesla].Cooldown = 3, 2
	game, err := towerdefence.New(r)
	require.NoError(t, err)
	var s towerdefence.State
	game.Reset(&s, 0)
	random := prng.New(seed)
	for int(s.Round) <= r.MaxRounds-rounds {
		if game.Play(&s, game.Playout(&s, 0, &random), game.Playout(&s, 1, &random)) != sim.Running {
			return nil, s
		}
	}
	g := &endGame{game: game, base: game.Score(&s, 0) - game.Score(&s, 1)}
	for p := range g.cells {
		free := ^s.Half[p].Occupied
		for bits.OnesCount64(g.cells[p]) < 4-rounds {
			g.cells[p] |= free & (1 << (random.Uint64() & 63))
		}
	}
	return g, s
}
