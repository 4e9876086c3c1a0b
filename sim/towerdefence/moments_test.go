package towerdefence_test

import (
	"math/bits"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	"moonfarm/sim/simtest"
	"moonfarm/sim/towerdefence"
)

// stepping plays all turns of simtest.Play by Moments and compares them with Step.
type stepping struct {
	sim.Game[towerdefence.State]
	game *towerdefence.Game
	t    *testing.T

	hits, struck, stopped int
}

// Step compares the last moment of a round with the state after it: the income and
// the end of construction are the differences.
func (g *stepping) Step(s *towerdefence.State, t *sim.Turn) sim.Status {
	after, before := *s, *s
	var last towerdefence.State
	var all []towerdefence.Moment
	status := g.game.Moments(&after, t, func(m towerdefence.Moment, now *towerdefence.State) {
		require.EqualValues(g.t, before.Round, now.Round)
		if m == towerdefence.Fired && last.Half != now.Half {
			for p := range now.Half {
				g.struck += bits.OnesCount64(last.Half[p].Live &^ now.Half[p].Live)
			}
		}
		last, all = *now, append(all, m)
	})
	require.Equal(g.t, g.game.Step(s, t), status)
	require.Equal(g.t, "", simtest.Diff(&after, s), "Moments plays another round than Step")
	r := g.game.Rules()
	require.Equal(g.t, append([]towerdefence.Moment{towerdefence.Commanded, towerdefence.Fired}, slices.Repeat([]towerdefence.Moment{towerdefence.Moved}, r.Buildings[towerdefence.Attack].Speed)...), all)
	for p := range s.Half {
		h, end := &last.Half[p], &s.Half[p]
		income := r.RoundIncome + r.Buildings[towerdefence.Energy].EnergyPerTurn*bits.OnesCount64(h.Live&h.Standing(towerdefence.Energy))
		require.True(g.t, h.Own == end.Own && h.Far == end.Far && h.Base == end.Base && h.Occupied == end.Occupied && h.Ledger == end.Ledger &&
			h.Live&^end.Live == 0 && h.Extra0 == end.Extra0&h.Live && h.Extra1 == end.Extra1&h.Live && h.Curtain == end.Curtain &&
			int(h.Energy)+income == int(end.Energy), "round %d, player %d: the last moment\n%+v\nis not the end of the round\n%+v", before.Round, p, h, end)
		g.hits += end.Hits() - before.Half[p].Hits()
		if int(end.Curtain) >= int(before.Round) {
			g.stopped++
		}
	}
	return status
}

// TestMoments plays random games of the release and of another rhythm.
func TestMoments(t *testing.T) {
	for name, change := range map[string]func(r *towerdefence.Rules){
		"release": func(r *towerdefence.Rules) { r.StartEnergy = 3000 },
		"rhythm": func(r *towerdefence.Rules) {
			r.StartEnergy = 3000
			r.Buildings[towerdefence.Attack].Speed, r.Buildings[towerdefence.Attack].Cooldown = 3, 1
			r.Buildings[towerdefence.Energy].Health = 10
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := towerdefence.DefaultRules()
			change(&r)
			g, err := towerdefence.New(r)
			require.NoError(t, err)
			require.Equal(t, name == "release", g.Regular())
			steps := &stepping{Game: g, game: g, t: t}
			for seed := range uint64(20) {
				simtest.Play(steps, seed, func(int, *towerdefence.State, sim.Status) bool { return true })
			}
			assert.Positive(t, steps.hits, "hits of a base")
			assert.Positive(t, steps.struck, "buildings struck by lightning")
			assert.Positive(t, steps.stopped, "rounds under a curtain")
		})
	}
}

// TestMomentsAborted plays a round that the original aborts.
func TestMomentsAborted(t *testing.T) {
	g, err := towerdefence.New(towerdefence.DefaultRules())
	require.NoError(t, err)
	var s towerdefence.State
	g.Reset(&s, 0)
	turn := sim.NewTurn(1)
	turn.SetOne(0, 1<<11)
	assert.Equal(t, sim.Cut, g.Moments(&s, turn, func(towerdefence.Moment, *towerdefence.State) { t.Error("a moment") }))
}
