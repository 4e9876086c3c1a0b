package rollout_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/features/featuretest"
	"moonfarm/rollout"
	"moonfarm/sim"
	"moonfarm/sim/simtest"
)

// picker is a policy that names the two heaps which the seed of the row picks. It counts the rows
// that it is asked for.
type picker struct{ asked *int }

func (p picker) Name() string    { return "picker" }
func (p picker) Wants() env.Want { return env.WantRowSeed }
func (p picker) Act(_ env.Vector, b *env.Batch, rows []int32) {
	room := len(b.Orders) / b.Rows
	for _, row := range rows {
		*p.asked++
		b.OrderLen[row] = 2
		b.Orders[int(row)*room] = sim.Order(1 + b.RowSeed[row]%8)
		b.Orders[int(row)*room+1] = sim.Order(1 + b.RowSeed[row]>>8%8)
	}
}

func toysInForm(t *testing.T, form string, n int) env.Vector {
	t.Helper()
	g := simtest.Toy{Seats: 2, Orders: 4}
	v, err := env.New(g, featuretest.ToyKit(g), env.Settings{N: n, Form: form})
	require.NoError(t, err)
	return v
}

// TestAsk: the answers are what the policy plays, for any rows, in the form of the Vector.
func TestAsk(t *testing.T) {
	asked := 0
	maker := func(env.Spec) (rollout.Policy, error) { return picker{&asked}, nil }
	for _, form := range []string{"cells", "orders"} {
		t.Run(form, func(t *testing.T) {
			v := toysInForm(t, form, 3)
			s := v.Spec()
			a, err := rollout.NewAsker(v, maker)
			require.NoError(t, err)
			b := env.NewBatch(s, 3, env.WantPlanes|env.WantRowSeed|env.WantAction|env.WantPlayed)
			heads := len(s.Heads)
			all, one := make([]int32, 6*heads), make([]int32, heads)
			turns, asks := int32(0), 0
			asked = 0
			for b.Turn[0] < simtest.ToyTurns-1 && b.Status[0] == sim.Running {
				v.Observe(b)
				a.Ask(all, []int32{0, 1, 2, 3, 4, 5})
				for _, row := range []int32{4, 1} {
					a.Ask(one, []int32{row})
					assert.Equal(t, all[int(row)*heads:][:heads], one)
				}
				copy(b.Action, all)
				v.Step(b)
				asks++
				for row := range 6 {
					if s.Sequential && all[row*heads] == -1 {
						continue // the seat waits, or the game has ended
					}
					assert.Equal(t, all[row*heads:][:heads], b.Played[row*heads:][:heads])
				}
				turns = b.Turn[0]
			}
			require.Greater(t, turns, int32(3))
			if s.Sequential {
				assert.Less(t, asked, asks*8, "answers of a turn are kept")
			} else {
				assert.Equal(t, asks*8, asked)
			}
			v.Reset(1, 99)
			v.Observe(b)
			a.Ask(all, []int32{2, 3})
			assert.NotEqual(t, int32(-1), all[0], "a new game has answers")
			rows := []int32{0, 1, 2, 3, 4, 5}
			assert.Zero(t, testing.AllocsPerRun(20, func() { a.Ask(all, rows) }))
			assert.NoError(t, a.Close())
		})
	}
}

// TestAskLate: the answer does not depend on whether the policy was asked earlier in the turn.
func TestAskLate(t *testing.T) {
	asked := 0
	maker := func(env.Spec) (rollout.Policy, error) { return picker{&asked}, nil }
	v := toysInForm(t, "orders", 1)
	early, err := rollout.NewAsker(v, maker)
	require.NoError(t, err)
	b := env.NewBatch(v.Spec(), 1, env.WantAction)
	differ := false
	first, now, again := make([]int32, 2), make([]int32, 2), make([]int32, 2)
	for b.Status[0] == sim.Running {
		v.Observe(b)
		early.Ask(first, []int32{0, 1})
		late, err := rollout.NewAsker(v, maker)
		require.NoError(t, err)
		late.Ask(now, []int32{0, 1})
		assert.Equal(t, first, now)
		early.Forget()
		early.Ask(again, []int32{0, 1})
		assert.Equal(t, first, again, "after Forget")
		differ = differ || first[0] != first[1]
		copy(b.Action, first)
		v.Step(b)
	}
	assert.True(t, differ)
}

// TestAskEnded: a game that has ended has no answer.
func TestAskEnded(t *testing.T) {
	asked := 0
	v := toysInForm(t, "", 1)
	a, err := rollout.NewAsker(v, func(env.Spec) (rollout.Policy, error) { return picker{&asked}, nil })
	require.NoError(t, err)
	b := env.NewBatch(v.Spec(), 1, 0)
	for b.Status[0] == sim.Running {
		v.Observe(b)
		b.OrderLen[0], b.OrderLen[1] = 0, 0
		v.Step(b)
	}
	dst := make([]int32, 8)
	a.Ask(dst, []int32{0, 1})
	assert.Zero(t, asked, "the policy chooses in a game that has ended")
	assert.Equal(t, []int32{-1, -1, -1, -1, -1, -1, -1, -1}, dst)
	_, err = rollout.NewAsker(v, func(env.Spec) (rollout.Policy, error) { return nil, assert.AnError })
	assert.ErrorIs(t, err, assert.AnError)
}
