package stepper_test

import (
	"fmt"
	"hash/crc32"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/features/featuretest"
	"moonfarm/rollout"
	"moonfarm/rollout/policy"
	"moonfarm/rollout/stepper"
	"moonfarm/sim/simtest"
)

// TestAskLayouts: the answers do not depend on workers and blocks, and a caller that plays them
// plays as the policy itself does as an opponent.
func TestAskLayouts(t *testing.T) {
	g := simtest.Toy{Seats: 2, Orders: 4}
	random, err := policy.New("toy", "random")
	require.NoError(t, err)
	for _, form := range []string{"cells", "orders"} {
		for _, seat := range []int{stepper.AllSeats, stepper.AnySeat, 1} {
			var want uint32
			for k, l := range layouts {
				c := stepper.Setup{
					Vector:    func(c env.Settings) (env.Vector, error) { return env.New(g, featuretest.ToyKit(g), c) },
					Env:       env.Settings{N: 6, Form: form},
					Seat:      seat,
					Autoreset: env.SameStep, Workers: l[0], Batch: l[1], Seed: 5,
				}
				if seat != stepper.AllSeats {
					c.Opponents = []rollout.Maker{random}
				}
				s, b := open(t, c)
				answers := make([]int32, s.Rows()*len(s.Spec().Heads))
				sum := crc32.NewIEEE()
				ended := 0
				for range 150 {
					require.NoError(t, s.Ask("random", random, answers))
					require.NoError(t, s.StepWith(answers))
					fmt.Fprint(sum, answers, b.Reward, b.Turn, b.FinalScore)
					for i := range b.Terminated {
						if b.Terminated[i] {
							ended++
						}
					}
				}
				assert.Greater(t, ended, 6)
				if k == 0 {
					want = sum.Sum32()
				}
				assert.Equalf(t, want, sum.Sum32(), "form %s, seat %d, %d workers, blocks of %d", form, seat, l[0], l[1])
			}
		}
	}
}

// TestAskMisuse: wrong lengths and policies that cannot play are refused.
func TestAskMisuse(t *testing.T) {
	c := config(t, "tron", 2, stepper.AllSeats)
	s, _ := open(t, c)
	random, err := policy.New("tron", "random")
	require.NoError(t, err)
	assert.ErrorContains(t, s.Ask("random", random, make([]int32, 3)), "want 4")
	fails := func(env.Spec) (rollout.Policy, error) { return nil, assert.AnError }
	assert.ErrorIs(t, s.Ask("fails", fails, make([]int32, 4)), assert.AnError)
	assert.NoError(t, s.Ask("random", random, make([]int32, 4)))
}
