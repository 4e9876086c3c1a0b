package stepper_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/rollout"
	"moonfarm/rollout/stepper"
)

// thinker is a policy that chooses at once if it is allowed to, and else waits
// for the end of its context.
type thinker struct {
	let     chan struct{}
	begun   chan struct{}
	context *context.Context
}

func (t thinker) Name() string              { return "thinker" }
func (t thinker) Wants() env.Want           { return 0 }
func (t thinker) Until(ctx context.Context) { *t.context = ctx }
func (t thinker) Act(_ env.Vector, b *env.Batch, rows []int32) {
	select {
	case t.begun <- struct{}{}:
	default:
	}
	select {
	case <-t.let:
	case <-(*t.context).Done():
	}
	for _, row := range rows {
		if b.OrderLen[row] != -1 {
			panic("a policy acts for a row that has orders")
		}
		b.OrderLen[row] = 0
	}
}

// thinking returns a Setup against a thinker.
func thinking(t *testing.T, games int) (stepper.Setup, thinker) {
	c := config(t, "towerdefence", games, 0)
	p := thinker{make(chan struct{}), make(chan struct{}, 1), new(context.Context)}
	c.Opponents = []rollout.Maker{func(env.Spec) (rollout.Policy, error) { return p, nil }}
	return c, p
}

// within waits for a result, for a minute at most.
func within[T any](t *testing.T, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(time.Minute):
		t.Fatalf("%s: nothing within a minute", what)
		panic("unreachable")
	}
}

// TestInterrupt: Interrupt ends a step whose opponents take long; the step has
// played nothing and can be repeated.
func TestInterrupt(t *testing.T) {
	for _, workers := range []int{1, 2} {
		t.Run(fmt.Sprintf("%d workers", workers), func(t *testing.T) {
			c, p := thinking(t, 3)
			c.Workers = workers
			s, b := open(t, c)
			require.True(t, s.Interruptible(), "the Stepper is not Interruptible")
			before, _ := s.AppendSnapshot(nil, 1)
			s.Interrupt() // no step is under way, and the next one is not affected
			done := make(chan error, 1)
			go func() { done <- s.Step() }()
			within(t, "the opponent", p.begun)
			s.Interrupt()
			require.ErrorIs(t, within(t, "Step", done), stepper.ErrInterrupted, "an interrupted Step")
			after, _ := s.AppendSnapshot(nil, 1)
			assert.Truef(t, bytes.Equal(before, after) && slices.Max(b.Turn) == 0, "an interrupted Step has played: turns %d", b.Turn)
			close(p.let)
			require.NoError(t, s.Send(0))
			_, err := s.Recv(time.Minute)
			require.NoError(t, err, "the block")
			assert.Equal(t, []int32{1, 1, 1}, b.Turn, "the block after, turns")
			err = s.Step()
			require.NoError(t, err, "the step")
			assert.Equal(t, []int32{2, 2, 2}, b.Turn, "the step after, turns")
		})
	}
}

// counter is a policy that is not rollout.Interruptible. It sends the number of
// rows of each Act.
type counter chan int

func (c counter) Name() string    { return "counter" }
func (c counter) Wants() env.Want { return 0 }
func (c counter) Act(_ env.Vector, b *env.Batch, rows []int32) {
	c <- len(rows)
	for _, row := range rows {
		b.OrderLen[row] = 0
	}
}

// TestInterruptAnything: StepInterruptibly can be ended against opponents that
// are not Interruptible, once they have chosen for the current rows.
func TestInterruptAnything(t *testing.T) {
	const games = 1000
	c := config(t, "tron", games, 0)
	p := make(counter)
	c.Opponents = []rollout.Maker{func(env.Spec) (rollout.Policy, error) { return p, nil }}
	s, b := open(t, c)
	done := make(chan error, 1)
	go func() { done <- s.StepInterruptibly(make([]int32, games)) }()
	s.Interrupt() // has no effect if the step has not begun yet
	n := within(t, "the opponent", p)
	s.Interrupt()
	for over := false; !over; {
		select {
		case more := <-p: // it was about to choose for these rows
			n += more
		case err := <-done:
			assert.ErrorIs(t, err, stepper.ErrInterrupted)
			over = true
		}
	}
	if n > games/2+100 || slices.Max(b.Turn) != 0 {
		t.Errorf("the opponent chose for %d of %d games, turns up to %d", n, games, slices.Max(b.Turn))
	}
	go func() { done <- s.StepInterruptibly(nil) }()
	for n = 0; n < games; {
		n += within(t, "the opponent", p)
	}
	if err := within(t, "the step", done); err != nil || slices.Min(b.Turn) != 1 {
		t.Errorf("the step after: error %v, turns from %d", err, slices.Min(b.Turn))
	}
}

// TestCloseWhileThinking: Close does not wait for opponents.
func TestCloseWhileThinking(t *testing.T) {
	c, p := thinking(t, 2)
	s, _ := open(t, c)
	require.NoError(t, s.Send(0))
	within(t, "the opponent", p.begun)
	done := make(chan error, 1)
	go func() { done <- s.Close() }()
	assert.NoError(t, within(t, "Close", done))

	c, p = thinking(t, 2)
	s, _ = open(t, c)
	go func() { done <- s.Step() }()
	within(t, "the opponent", p.begun)
	s.Abandon()
	assert.ErrorIs(t, within(t, "Step", done), stepper.ErrInterrupted, "an abandoned Step")
	assert.ErrorIs(t, s.Step(), stepper.ErrInterrupted, "a Step after Abandon")
}

// TestSlowOpponentsPlayTheSame: a search that can be interrupted plays as it
// does in blocks, where opponents choose and games are stepped part by part.
func TestSlowOpponentsPlayTheSame(t *testing.T) {
	c := config(t, "towerdefence", 4, stepper.AnySeat, "mcts(sims=2,horizon=2)", "random")
	c.Workers = 2
	want := playAsync(t, c, 4)
	compare(t, "Step", playSync(t, c, 4), want)
}

// TestOpponentSlab: the slab Opponent has the player of each seat, in every
// mode.
func TestOpponentSlab(t *testing.T) {
	for mode := env.NextStep; mode <= env.Disabled; mode++ {
		c := config(t, "tron", 6, stepper.AnySeat, "random", "empty", "random")
		c.Autoreset = mode
		s, b := open(t, c)
		seen := map[uint8]bool{}
		for range 60 {
			for i, seat := range b.Seat {
				if b.Opponent[2*i+int(seat)] != stepper.NoOpponent {
					t.Fatalf("game %d: opponents %d, but seat %d is the caller's", i, b.Opponent[2*i:2*i+2], seat)
				}
				snapshot, _ := s.AppendSnapshot(nil, i)
				if got, want := b.Opponent[2*i+1-int(seat)], snapshot[24+1-seat]; got != want {
					t.Fatalf("game %d: opponent %d, the snapshot has %d", i, got, want)
				}
				seen[b.Opponent[2*i+1-int(seat)]] = true
			}
			next(t, s, b, c)
		}
		assert.Lenf(t, seen, 3, "%v: opponents %v were seen, there are 3", mode, seen)
	}
}

// TestSnapshotsRemember: games with memory, and games that have not begun, go
// on in another Stepper as in their own.
func TestSnapshotsRemember(t *testing.T) {
	c := config(t, "codecraft", 2, 0, "econ")
	c.Env.Memory = true
	s, b := open(t, c)
	c.Seed = 77
	other, d := open(t, c)
	for turn := range 40 {
		choose(s.Spec(), b, 0, s.Rows())
		if turn < 20 {
			choose(s.Spec(), d, 0, s.Rows())
		} else {
			copy(d.Action, b.Action)
		}
		if turn == 20 {
			for i := range 2 {
				saved, err := s.AppendSnapshot(nil, i)
				if err == nil {
					err = other.Restore(i, saved)
				}
				if again, _ := other.AppendSnapshot(nil, i); err != nil || !bytes.Equal(again, saved) {
					t.Fatalf("the snapshot of a restored game differs, error %v", err)
				}
			}
		}
		require.Truef(t, turn < 20 || bytes.Equal(b.Planes, d.Planes), "turn %d: the restored games show other planes", turn)
		for _, one := range []*stepper.Stepper{s, other} {
			if err := one.Step(); err != nil {
				t.Fatal(err)
			}
		}
	}

	fresh, err := stepper.New(c)
	require.NoError(t, err)
	defer fresh.Close()
	saved, err := fresh.AppendSnapshot(nil, 1)
	if err == nil {
		err = other.Restore(1, saved)
	}
	require.NoError(t, err)
	wantError(t, "Step", other.Step(), true, "game 1 has not begun")
	for n := range saved[:60] {
		require.Errorf(t, other.Restore(1, saved[:n]), "a snapshot that is cut off after %d bytes is accepted", n)
	}
}
