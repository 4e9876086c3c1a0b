package policy

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/rollout"
	"moonfarm/sim"
	"moonfarm/sim/towerdefence"
)

// The opponent of the searching seat has only the script's move at every node.
func TestOpponent(t *testing.T) {
	g, err := catalog.Find("towerdefence")
	require.NoError(t, err)
	v, err := g.New("", env.Settings{N: 1})
	require.NoError(t, err)
	made := func(spec string) rollout.Policy {
		m, err := New("towerdefence", spec)
		require.NoError(t, err)
		p, err := m(v.Spec())
		require.NoError(t, err)
		return p
	}
	rush := made("rush")
	for _, spec := range []string{"mcts(sims=60,opponent=rush)", "mcts(sims=60,opponent=rush,rollout=playout,horizon=0)"} {
		c := made(spec).(*searcher[towerdefence.State, sim.Order])
		b, scripted := env.NewBatch(v.Spec(), 1, env.WantRowSeed|env.WantPlanes), env.NewBatch(v.Spec(), 1, env.WantRowSeed)
		v.Reset(0, 1)
		for range 12 {
			v.Observe(b)
			states, _ := env.States[towerdefence.State](v)
			c.Act(v, b, []int32{0})
			first := slices.Clone(c.found[0].Shares)
			for seat := range int32(2) {
				c.Act(v, b, []int32{seat})
				other := seat ^ 1
				scripted.RowSeed[other] = uint64(states[0].Round)<<1 | uint64(other) // the seed of the search
				rush.Act(v, scripted, []int32{other})
				if got, want := c.trees[0].Moves(sim.Player(other)), scripted.Orders[other:][:1]; !slices.Equal(got, want) {
					t.Fatalf("%s, round %d: moves %x of the opponent, want %x", spec, states[0].Round, got, want)
				}
			}
			c.Act(v, b, []int32{1, 0})
			if again := c.found[1].Shares; !slices.Equal(again, first) {
				t.Fatalf("%s, round %d: shares %v after another row, %v before it", spec, states[0].Round, again, first)
			}
			v.Step(b)
		}
	}
}
