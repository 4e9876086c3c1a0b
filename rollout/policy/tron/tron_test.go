package tron_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/rollout/policy/policytest"
	"moonfarm/sim"
	"moonfarm/sim/tron"
)

// TestTronScripts runs the scripts in a position in which A crashes unless it turns left, and
// B's moves leave it different numbers of free cells.
func TestTronScripts(t *testing.T) {
	s, err := tron.ParseText("turn 9\nA right\nB up\n" +
		"........\n........\n.aaAa...\n...aaa..\n........\nbbbbbB..\n........\n........\n")
	require.NoError(t, err)
	v := policytest.NewVector(t, "tron", "", 1, 0)
	env.Load(v, 0, &s, 0)
	b := env.NewBatch(v.Spec(), 1, env.WantRowSeed)
	orders := func(name string) (orders [2]sim.Order) {
		policytest.NewPolicy(t, "tron", name, v.Spec()).Act(v, b, []int32{0, 1})
		return [2]sim.Order(b.Orders)
	}
	seen := map[sim.Order]bool{}
	for seed := range uint64(50) {
		b.RowSeed[0], b.RowSeed[1] = seed, seed
		if safe := orders("safe"); safe[0] != tron.TurnLeft {
			t.Errorf("seed %d: A gives order %d, want %d", seed, safe[0], tron.TurnLeft)
		} else {
			seen[safe[1]] = true
		}
		got, want := orders("territory"), [2]sim.Order{tron.TurnLeft, tron.Straight}
		assert.Truef(t, got == want, "seed %d: territory gives the orders %v, want %v", seed, got, want)
	}
	assert.Truef(t, len(seen) == 2 && !seen[tron.TurnLeft], "B gives the orders %v by chance, want straight on and right", seen)
}
