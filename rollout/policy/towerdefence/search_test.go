package towerdefence

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/sim"
	"moonfarm/sim/prng"
	"moonfarm/sim/towerdefence"
)

// The formula treats both seats alike, and more energy or health raises the value.
func TestTowerdefenceFormula(t *testing.T) {
	entry, err := catalog.Find("towerdefence")
	require.NoError(t, err)
	v, err := entry.New("", env.Settings{N: 1})
	require.NoError(t, err)
	g := &model{}
	g.Look(v)
	r := prng.New(1)
	judge := func(s *towerdefence.State) float64 {
		random := prng.New(7) // the same chance
		return g.formula(s, &random)
	}
	var even towerdefence.State
	g.seat.Game.Reset(&even, 0)
	chance := judge(&even)
	assert.LessOrEqualf(t, math.Abs(chance), 0.02, "value %v at the start, want only chance", chance)
	apart := 0
	for game := range 50 {
		var s towerdefence.State
		g.seat.Game.Reset(&s, uint64(game))
		for range 10 + game {
			if g.seat.Game.Play(&s, g.seat.Game.Playout(&s, 0, &r), g.seat.Game.Playout(&s, 1, &r)) != sim.Running {
				break
			}
		}
		value, turned := judge(&s)-chance, s
		turned.Half[0], turned.Half[1] = s.Half[1], s.Half[0]
		other := judge(&turned) - chance
		assert.LessOrEqualf(t, math.Abs(value+other), 1e-12, "game %d: value %v, and %v with the seats exchanged", game, value, other)
		if math.Abs(value) > 0.1 {
			apart++
		}
		richer, healthier := s, s
		richer.Half[0].Energy += 30
		healthier.Half[0].Base += 10 << 32
		for what, better := range map[string]*towerdefence.State{"energy": &richer, "health": &healthier} {
			if got := judge(better) - chance; got <= value || got >= 1 {
				t.Errorf("game %d: value %v with more %s, %v before", game, got, what, value)
			}
		}
	}
	assert.GreaterOrEqualf(t, apart, 25, "%d of 50 positions of random games are judged to be uneven, want half", apart)
}
