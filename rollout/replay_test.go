package rollout_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/rollout"
	"moonfarm/sim"
	"moonfarm/sim/simtest"
)

// episodes records n episodes of random play.
func episodes(t testing.TB, g simtest.Toy, c env.Settings, n uint64) (all []*rollout.Episode) {
	t.Helper()
	v := newToy(t, g, c)
	sink := sinkFunc(func(e *rollout.Episode) error { all = append(all, clone(e)); return nil })
	require.NoError(t, rollout.Shard(context.Background(), v, newSeats(t, v, "random"), 3, 0, n, sink))
	return all
}

// watch is a policy that prints, for one game, the observation, mask and action of
// its rows.
type watch struct {
	rollout.Policy
	rows []string
}

func (w *watch) Wants() env.Want {
	return w.Policy.Wants() | env.WantPlanes | env.WantPacked | env.WantScalars
}

func (w *watch) Act(v env.Vector, b *env.Batch, rows []int32) {
	w.Policy.Act(v, b, rows)
	for _, row := range rows {
		w.rows = append(w.rows, show(v.Spec(), b, int(row)))
	}
}

// show prints observation, mask and action of a row.
func show(s env.Spec, b *env.Batch, row int) string {
	n, k := s.Shape.PlaneBytes(), s.Shape.Words
	m, h := s.MaskWords, len(s.Heads)
	return fmt.Sprint(b.Planes[row*n:][:n], b.Packed[row*k:][:k], b.Scalars[row*s.Shape.Scalars:][:s.Shape.Scalars],
		b.Mask[row*m:][:m], actions(b.Action[row*h:][:h]))
}

// actions returns the choices of an action other than 0, sorted.
func actions(a []int32) []int32 {
	a = slices.DeleteFunc(slices.Clone(a), func(c int32) bool { return c <= 0 })
	slices.Sort(a)
	return a
}

// The rows of a replay are those that the policies saw when the episode was
// played, and its last rewards are the outcome.
func TestReplayShowsWhatWasPlayed(t *testing.T) {
	for _, g := range toys {
		v := newToy(t, g, env.Settings{N: 1})
		seats := newSeats(t, v, "random")
		w := &watch{Policy: seats[1]}
		seats[1] = w
		one := newToy(t, g, env.Settings{N: 1})
		b := env.NewBatch(one.Spec(), 1, env.WantPlanes|env.WantPacked|env.WantScalars|env.WantMask|env.WantAction)
		check := sinkFunc(func(e *rollout.Episode) error {
			seen := w.rows
			w.rows = nil
			require.Equalf(t, e.Turns, len(seen), "%d turns seen, %d recorded", len(seen), e.Turns)
			return rollout.Replay(one, e, b, func(turn int, b *env.Batch) error {
				if got := show(one.Spec(), b, 1); got != seen[turn] {
					return fmt.Errorf("row is\n%s, seen was\n%s", got, seen[turn])
				}
				for p := range g.Seats {
					if want := e.Outcome[p].Result; turn == e.Turns-1 && b.Reward[p] != want {
						return fmt.Errorf("seat %d: last reward %v, outcome %v", p, b.Reward[p], want)
					}
				}
				return nil
			})
		})
		assert.NoError(t, rollout.Shard(context.Background(), v, seats, 5, 0, 40, check))
	}
}

// The slabs may move from turn to turn: windows into columns of the caller.
func TestReplayIntoColumns(t *testing.T) {
	g := toys[0]
	e := episodes(t, g, env.Settings{N: 4}, 3)[2]
	v := newToy(t, g, env.Settings{N: 1})
	s := v.Spec()
	size := s.Shape.PlaneBytes()
	planes, reward := make([]uint8, e.Turns*g.Seats*size), make([]float32, e.Turns*g.Seats)
	r, err := rollout.NewReplayer(v)
	require.NoError(t, err)
	b := env.NewBatch(s, 1, 0)
	play := func() {
		require.NoError(t, r.Start(e))
		for r.More() {
			row := r.Turn() * g.Seats
			b.Planes = planes[row*size : (row+g.Seats)*size]
			b.Reward = reward[row : row+g.Seats]
			require.NoError(t, r.Step(b))
		}
	}
	play()
	var want []uint8
	whole := env.NewBatch(s, 1, env.WantPlanes)
	err = rollout.Replay(v, e, whole, func(_ int, b *env.Batch) error { want = append(want, b.Planes...); return nil })
	require.NoError(t, err)
	assert.True(t, slices.Equal(planes, want), "columns hold other planes than a batch of its own")
	assert.Zerof(t, reward[len(reward)-2]+reward[len(reward)-1], "last rewards %v", reward[len(reward)-2:])
	n := testing.AllocsPerRun(5, play)
	assert.Zerof(t, n, "%v allocations for an episode", n)
	assert.Error(t, r.Step(b), "a turn beyond the last was stepped")
}

// A replay that does not go as recorded says which episode and turn.
func TestReplayDivergence(t *testing.T) {
	g := toys[0]
	for _, c := range []struct {
		name, want string
		change     func(e *rollout.Episode)
	}{
		{"a turn too many", "turn 4: the game is over, but 6 turns are recorded", func(e *rollout.Episode) {
			e.Turns = 6
			e.Ends = append(e.Ends, e.Ends[9], e.Ends[9])
		}},
		{"a turn missing", "turn 3, the last: the game is running, recorded as over", func(e *rollout.Episode) {
			e.Turns, e.Ends, e.Orders = 4, e.Ends[:8], e.Orders[:e.Ends[7]]
		}},
		{"other status", "turn 4, the last: the game is over, recorded as cut", func(e *rollout.Episode) { e.Status = sim.Cut }},
		{"other outcome", "turn 4, the last: outcome of seat 1 is", func(e *rollout.Episode) { e.Outcome[1].Score++ }},
		{"other seats", "3 seats, the game has 2", func(e *rollout.Episode) { e.Players = 3 }},
		{"an end missing", "9 ends of orders for 5 turns of 2 seats", func(e *rollout.Episode) { e.Ends = e.Ends[:9] }},
		{"ends that decrease", "turn 1, seat 0: orders", func(e *rollout.Episode) { e.Ends[2] = e.Ends[1] - 1 }},
		{"an end beyond the orders", "turn 4, seat 1: orders", func(e *rollout.Episode) { e.Ends[9] = 1000 }},
		{"an order too many", "orders, of which", func(e *rollout.Episode) { e.Orders = append(e.Orders, 3) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := fiveTurns(t, g)
			c.change(e)
			v := newToy(t, g, env.Settings{N: 1})
			err := rollout.Replay(v, e, env.NewBatch(v.Spec(), 1, 0), nil)
			require.ErrorContains(t, err, c.want)
			require.True(t, strings.HasPrefix(err.Error(), fmt.Sprintf("episode %d: ", e.ID)), "the error %q names the episode", err)
		})
	}
	_, err := rollout.NewReplayer(newToy(t, g, env.Settings{N: 2}))
	assert.Error(t, err, "a vector of two games was taken")
}

// fiveTurns returns an episode that ends by the rules after five turns.
func fiveTurns(t *testing.T, g simtest.Toy) *rollout.Episode {
	t.Helper()
	for _, e := range episodes(t, g, env.Settings{N: 8}, 200) {
		if e.Turns == 5 {
			return e
		}
	}
	t.Fatal("no episode of five turns")
	return nil
}

// An episode that a limit cut replays on a vector with that limit.
func TestReplayCut(t *testing.T) {
	g := toys[0]
	for _, e := range episodes(t, g, env.Settings{N: 3, MaxTurns: 2}, 10) {
		require.Truef(t, e.Turns == 2 && e.Status == sim.Cut, "episode of %d turns that is %v", e.Turns, e.Status)
		v := newToy(t, g, env.Settings{N: 1, MaxTurns: 2})
		b := env.NewBatch(v.Spec(), 1, 0)
		assert.NoError(t, rollout.Replay(v, e, b, nil))
		free := newToy(t, g, env.Settings{N: 1})
		assert.Error(t, rollout.Replay(free, e, b, nil), "an episode that was cut replays without the limit")
	}
}

// The game of a stopped episode is still running after its last turn, the game of any
// other episode has ended; a replay detects a recording that says the opposite.
func TestReplayOfAStoppedGame(t *testing.T) {
	g := toys[0]
	v := newToy(t, g, env.Settings{N: 1})
	b := env.NewBatch(v.Spec(), 1, 0)
	whole := episodes(t, g, env.Settings{N: 1}, 8)
	tried := 0
	for _, e := range whole {
		if e.Turns < 3 {
			continue
		}
		tried++
		stopped := clone(e)
		stopped.Turns--
		stopped.Ends = stopped.Ends[:stopped.Turns*stopped.Players]
		stopped.Orders = stopped.Orders[:stopped.Ends[len(stopped.Ends)-1]]
		stopped.Status, stopped.Stopped = sim.Cut, "it broke off"
		require.NoError(t, rollout.Replay(v, e, b, nil))
		for p := range g.Seats { // as it stands then
			stopped.Outcome[p] = sim.Outcome{}
		}
		err := rollout.Replay(v, stopped, b, nil)
		for p := range g.Seats {
			stopped.Outcome[p] = v.Outcome(0, sim.Player(p))
		}
		assert.Truef(t, err == nil || strings.Contains(err.Error(), "outcome of seat"), "wrong outcomes: %v", err)
		err = rollout.Replay(v, stopped, b, nil)
		require.NoError(t, err, "stopped")
		assert.Equal(t, sim.Cut, b.Status[0], "stopped, status")
		stopped.Stopped = ""
		assert.Error(t, rollout.Replay(v, stopped, b, nil), "a running game is taken for one that a limit has cut")
		wrong := clone(e)
		wrong.Status, wrong.Stopped = sim.Cut, "it broke off"
		err = rollout.Replay(v, wrong, b, nil)
		assert.ErrorContains(t, err, "but the recorded one goes on", "over, though the recorded one goes on")
		wrong.Status = sim.Over
		err = rollout.Replay(v, wrong, b, nil)
		assert.ErrorContains(t, err, "but its status is over", "stopped and over")
	}
	require.NotEqual(t, 0, tried, "no game is long enough")
}
