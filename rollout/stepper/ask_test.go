package stepper_test

import (
	"context"
	"fmt"
	"hash/crc32"
	"slices"
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
					require.NoError(t, s.Ask("random", random, answers, nil))
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

// TestAskSome: with a selection the policy answers for the selected rows as for all, and for no
// other.
func TestAskSome(t *testing.T) {
	g := simtest.Toy{Seats: 2, Orders: 4}
	random, err := policy.New("toy", "random")
	require.NoError(t, err)
	for _, form := range []string{"cells", "orders"} {
		for _, l := range layouts {
			s, _ := open(t, stepper.Setup{
				Vector: func(c env.Settings) (env.Vector, error) { return env.New(g, featuretest.ToyKit(g), c) },
				Env:    env.Settings{N: 6, Form: form}, Seat: stepper.AllSeats, Workers: l[0], Batch: l[1],
			})
			heads := len(s.Spec().Heads)
			all, some := make([]int32, s.Rows()*heads), make([]int32, s.Rows()*heads)
			which := make([]bool, s.Rows())
			for step := range 40 {
				for row := range which {
					which[row] = (row*7+step)%3 == 0
				}
				require.NoError(t, s.Ask("some", random, some, which))
				require.NoError(t, s.Ask("all", random, all, nil))
				for row, asked := range which {
					want := all[row*heads:][:heads]
					if !asked {
						want = slices.Repeat([]int32{-1}, heads)
					}
					require.Equalf(t, want, some[row*heads:][:heads], "form %s, %d workers, row %d", form, l[0], row)
				}
				require.NoError(t, s.StepWith(all))
			}
		}
	}
}

// TestWaits: a row waits from the action that ends its turn until all seats have ended theirs; then
// only one choice is legal. Beside opponents no row waits.
func TestWaits(t *testing.T) {
	g := simtest.Toy{Seats: 2, Orders: 4}
	random, err := policy.New("toy", "random")
	require.NoError(t, err)
	for _, seat := range []int{stepper.AllSeats, 1} {
		for _, form := range []string{"cells", "orders"} {
			c := stepper.Setup{
				Vector: func(c env.Settings) (env.Vector, error) { return env.New(g, featuretest.ToyKit(g), c) },
				Env:    env.Settings{N: 6, Form: form}, Seat: seat, Workers: 2, Autoreset: env.SameStep,
			}
			if seat != stepper.AllSeats {
				c.Opponents = []rollout.Maker{random}
			}
			s, b := open(t, c)
			waited, before := 0, make([]int32, len(b.Turn))
			for range 100 {
				copy(before, b.Turn)
				choose(s.Spec(), b, 0, s.Rows())
				require.NoError(t, s.Step())
				for row, waits := range b.Waits {
					if !waits {
						continue
					}
					waited++
					game := row * len(b.Turn) / s.Rows()
					assert.Equal(t, before[game], b.Turn[game], "a row waits after a turn")
					assert.Equal(t, uint64(1)<<s.Spec().Nothing, b.Mask[row])
				}
			}
			assert.Equalf(t, seat == stepper.AllSeats && form == "orders", waited > 0, "form %s, seat %d: %d rows waited", form, seat, waited)
		}
	}
}

// TestAskInterrupted: Interrupt ends Ask, and the next Ask has the answers of a policy that was
// not interrupted.
func TestAskInterrupted(t *testing.T) {
	g := simtest.Toy{Seats: 2, Orders: 4}
	s, _ := open(t, stepper.Setup{
		Vector: func(c env.Settings) (env.Vector, error) { return env.New(g, featuretest.ToyKit(g), c) },
		Env:    env.Settings{N: 2, Form: "orders"}, Seat: stepper.AllSeats, Workers: 2,
	})
	p := thinker{make(chan struct{}), make(chan struct{}, 1), new(context.Context)}
	maker := func(env.Spec) (rollout.Policy, error) { return &counted{thinker: p}, nil }
	dst := make([]int32, 4)
	done := make(chan error, 1)
	go func() { done <- s.Ask("thinker", maker, dst, nil) }()
	within(t, "the policy", p.begun)
	s.Interrupt()
	require.ErrorIs(t, within(t, "Ask", done), stepper.ErrInterrupted)
	close(p.let)
	require.NoError(t, s.Ask("thinker", maker, dst, nil))
	assert.Equal(t, []int32{2, 2, 2, 2}, dst)
}

// counted is a thinker that names heap 1 once it may choose.
type counted struct{ thinker }

func (c *counted) Act(v env.Vector, b *env.Batch, rows []int32) {
	c.thinker.Act(v, b, rows)
	if (*c.context).Err() != nil {
		return
	}
	for _, row := range rows {
		b.OrderLen[row], b.Orders[int(row)*len(b.Orders)/b.Rows] = 1, 2
	}
}

// TestAskMisuse: wrong lengths and policies that cannot play are refused.
func TestAskMisuse(t *testing.T) {
	c := config(t, "tron", 2, stepper.AllSeats)
	s, _ := open(t, c)
	random, err := policy.New("tron", "random")
	require.NoError(t, err)
	assert.ErrorContains(t, s.Ask("random", random, make([]int32, 3), nil), "expected 4")
	assert.ErrorContains(t, s.Ask("random", random, make([]int32, 4), make([]bool, 3)), "there are 4")
	fails := func(env.Spec) (rollout.Policy, error) { return nil, assert.AnError }
	assert.ErrorIs(t, s.Ask("fails", fails, make([]int32, 4), nil), assert.AnError)
	assert.NoError(t, s.Ask("random", random, make([]int32, 4), nil))
	early, err := stepper.New(c)
	require.NoError(t, err)
	defer early.Close()
	wantError(t, "Ask", early.Ask("random", random, make([]int32, 4), nil), true, "game 0 has not begun")
}
