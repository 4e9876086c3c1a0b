package policy_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/features/featuretest"
	"moonfarm/rollout"
	"moonfarm/rollout/policy"
	"moonfarm/rollout/policy/policytest"
	"moonfarm/sim"
	"moonfarm/sim/simtest"
)

// toysInForm returns games of a toy, which has a sequential form, "orders".
func toysInForm(t *testing.T, form string) env.Vector {
	t.Helper()
	g := simtest.Toy{Seats: 2, Orders: 4}
	v, err := env.New(g, featuretest.ToyKit(g), env.Settings{N: 5, Form: form})
	require.NoError(t, err)
	return v
}

// TestForms: a policy gives the same orders in Vectors of every form, for any rows, and a network
// plays in the form that it fits.
func TestForms(t *testing.T) {
	spec := toysInForm(t, "").Spec()
	ordersSpec, _ := spec.InForm("orders")
	for _, c := range []struct {
		name, policy string
		evaluations  bool // more than one a turn
	}{
		{"random", "random", false},
		{"cells", policy.Quote(modelFile(t, spec, true)), false},
		{"orders", policy.Quote(modelFile(t, ordersSpec, true)), true},
		{"mixture", "mix(1*random,1*" + policy.Quote(modelFile(t, ordersSpec, true)) + ")", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var vectors [2]env.Vector
			var batches [2]*env.Batch
			var policies [2]rollout.Policy
			for k, form := range []string{"", "orders"} {
				v := toysInForm(t, form)
				p := policytest.NewPolicy(t, "toy", c.policy, v.Spec())
				vectors[k], policies[k], batches[k] = v, p, env.NewBatch(v.Spec(), 5, p.Wants())
				for i := range 5 {
					v.Reset(i, uint64(3*i))
				}
			}
			all := []int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
			given, steps := 0, uint64(0)
			for turn := range simtest.ToyTurns {
				for k, v := range vectors {
					v.Observe(batches[k])
					if rows := all; k == 0 {
						policies[k].Act(v, batches[k], rows[5:])
						policies[k].Act(v, batches[k], rows[:5])
					} else {
						policies[k].Act(v, batches[k], rows)
					}
					for _, row := range all {
						steps += rollout.CountsOf(policies[k], batches[k], row).Evaluations
					}
					v.Step(batches[k])
				}
				for row := range all {
					var orders [2][]sim.Order
					for k, b := range batches {
						orders[k] = b.Orders[row*4:][:b.OrderLen[row]]
					}
					given += len(orders[0])
					require.Equalf(t, orders[0], orders[1], "turn %d, row %d", turn, row)
				}
			}
			assert.Greater(t, given, 40)
			if c.evaluations {
				assert.Greater(t, steps, uint64(2*len(all)*simtest.ToyTurns+10), "a turn is several evaluations")
			}
		})
	}
	other := spec
	other.Heads = []int{7}
	_, err := policytest.NewMaker(t, "toy", policy.Quote(modelFile(t, other, true)))(spec)
	assert.ErrorContains(t, err, "form orders")
}
