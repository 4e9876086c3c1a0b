package rollout_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/rollout"
	"moonfarm/sim"
)

// clock is a Vector of games without content that last length(seed) turns, to test
// games of very different length.
type clock struct {
	env.Vector
	spec   env.Spec
	length func(seed uint64) int
	left   []int
	starts int
}

func newClock(games int, length func(seed uint64) int) *clock {
	return &clock{
		spec:   env.Spec{Games: games, Info: sim.Info{Name: "clock", Players: 2, MaxTurns: 1 << 20, MaxOrders: 1}},
		length: length, left: make([]int, games),
	}
}

func (c *clock) Spec() env.Spec                          { return c.spec }
func (c *clock) Reset(i int, seed uint64)                { c.left[i] = c.length(seed); c.starts++ }
func (c *clock) Observe(b *env.Batch)                    {}
func (c *clock) Outcome(i int, p sim.Player) sim.Outcome { return sim.Outcome{} }
func (c *clock) Step(b *env.Batch) {
	for i := range c.left {
		b.Status[i] = sim.Running
		if c.left[i]--; c.left[i] <= 0 {
			b.Status[i] = sim.Over
		}
	}
}

// idle is a policy that gives the order 1.
type idle struct{}

func (idle) Name() string    { return "idle" }
func (idle) Wants() env.Want { return 0 }
func (idle) Act(_ env.Vector, b *env.Batch, rows []int32) {
	for _, row := range rows {
		b.Orders[row], b.OrderLen[row] = 1, 1
	}
}

// While one long episode is played, only a bounded number of later episodes is
// started, and the sink gets them in order after it.
func TestWindowIsBounded(t *testing.T) {
	const games, n = 8, 10000
	long := rollout.GameSeed(9, 100)
	ahead, delivered := 0, 0
	var v *clock
	v = newClock(games, func(seed uint64) int {
		ahead = max(ahead, v.starts+1-delivered)
		if seed == long {
			return 100_000
		}
		return 1 + int(seed%5)
	})
	next := uint64(0)
	err := rollout.Shard(context.Background(), v, []rollout.Policy{idle{}, idle{}}, 9, 0, n, sinkFunc(func(e *rollout.Episode) error {
		require.Truef(t, e.ID == next && len(e.Orders) == 2*e.Turns && len(e.Ends) == 2*e.Turns, "episode %d of %d turns with %d orders, want episode %d", e.ID, e.Turns, len(e.Orders), next)
		next++
		delivered++
		return nil
	}))
	require.NoErrorf(t, err, "%d episodes", next)
	require.Equalf(t, uint64(n), next, "%d episodes", next)
	assert.LessOrEqualf(t, ahead, 4*games, "%d episodes were in hand at once, with %d games", ahead, games)
	assert.GreaterOrEqualf(t, ahead, 2*games, "only %d episodes were in hand at once: games waited for nothing", ahead)
}
