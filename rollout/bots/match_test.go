package bots

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/features/featuretest"
	"moonfarm/rollout"
	"moonfarm/rollout/policy"
	"moonfarm/sim"
	"moonfarm/sim/simtest"
)

// fake is a bot without a program. It records the calls of its methods.
type fake struct {
	seat    int
	crashes int  // turn, from 1, in which it crashes; 0: never
	waits   bool // Ask waits until the context is done
	ctx     context.Context
	asked   int
	ended   []error // crash of each call of End
	atOnce  bool    // the context of End was done
	log     func(seat int)
}

func (f *fake) join(ctx context.Context) (Bot, error) {
	f.ctx = ctx
	return f, nil
}

func (f *fake) Ask(dst []sim.Order) ([]sim.Order, error) {
	f.asked++
	if f.log != nil {
		f.log(f.seat)
	}
	if f.waits {
		<-f.ctx.Done()
		return dst, context.Cause(f.ctx)
	}
	dst = append(dst, sim.Order(1))
	if f.asked == f.crashes {
		return dst, errors.New("it fell")
	}
	return dst, nil
}

func (f *fake) End(ctx context.Context, crash error) Ended {
	f.ended, f.atOnce = append(f.ended, crash), ctx.Err() != nil
	return Ended{Exit: fmt.Sprint("exit of ", f.seat), Output: []string{"bye"}, Used: time.Duration(f.asked) * time.Second}
}

// toy returns a match of the toy game between bots; a nil bot is a player without orders.
func toy(t *testing.T, bots ...*fake) *Match {
	t.Helper()
	g := simtest.Toy{Seats: len(bots), Orders: 2}
	v, err := env.New(g, featuretest.ToyKit(g), env.Settings{N: 1})
	require.NoError(t, err)
	v.Reset(0, 3)
	m := &Match{Vector: v, Seats: make([]Seat, len(bots))}
	for i, b := range bots {
		if b != nil {
			b.seat = i
			m.Seats[i].Bot = b.join
		}
	}
	return m
}

// TestCrash: the orders that a bot returns with its error count, it is not asked again, and
// it is ended at once; the other bots go on.
func TestCrash(t *testing.T) {
	good, bad := &fake{}, &fake{crashes: 2}
	m := toy(t, good, nil, bad)
	var given []int
	m.Shown = func(b *env.Batch) error {
		given = append(given, int(b.OrderLen[2]))
		assert.Zerof(t, b.OrderLen[1], "a seat without anybody gave %d orders", b.OrderLen[1])
		return nil
	}
	r, err := m.Play(t.Context())
	require.NoError(t, err)
	require.Truef(t, r.Turns >= 3 && r.Status != sim.Running && good.asked == r.Turns && bad.asked == 2 && len(given) == r.Turns+1, "%+v; asked %d and %d times, shown %d", r, good.asked, bad.asked, len(given))
	assert.Truef(t, given[0] == 0 && given[1] == 1 && given[2] == 1 && given[3] == 0, "orders of the bot that crashed by turn: %v", given)
	c := r.Crashes[2]
	assert.Truef(t, r.Crashes[0] == nil && r.Crashes[1] == nil && c != nil && c.Turn == 1 && c.Err.Error() == "it fell" && c.Exit == "exit of 2" && len(c.Output) == 1, "crashes %+v, of seat 2 %+v", r.Crashes, c)
	assert.Truef(t, r.Used[0] == time.Duration(r.Turns)*time.Second && r.Used[1] == 0 && r.Used[2] == 2*time.Second, "used %v", r.Used)
	assert.Truef(t, len(good.ended) == 1 && good.ended[0] == nil && len(bad.ended) == 1 && bad.ended[0] != nil, "ended with %v and %v", good.ended, bad.ended)
}

func TestOneByOne(t *testing.T) {
	var order []int
	log := func(seat int) { order = append(order, seat) } // the race detector sees bots that are asked at the same time
	m := toy(t, &fake{log: log}, &fake{log: log}, &fake{log: log})
	m.OneByOne = true
	r, err := m.Play(t.Context())
	require.NoError(t, err)
	for i, seat := range order {
		require.Equalf(t, i%3, seat, "asked in the order %v", order)
	}
	assert.Equalf(t, 3*r.Turns, len(order), "asked %d times in %d turns", len(order), r.Turns)
}

func TestJoin(t *testing.T) {
	other := &fake{}
	m := toy(t, other, nil)
	m.Seats[1].Bot = func(context.Context) (Bot, error) { return nil, errors.New("no program") }
	r, err := m.Play(t.Context())
	require.NoError(t, err)
	require.Truef(t, r.Crashes[1].Turn == -1 && r.Crashes[1].Err.Error() == "no program" && other.asked == r.Turns, "%+v", r)
	m = toy(t, other, nil)
	m.Seats[1].Bot = func(context.Context) (Bot, error) {
		return nil, &JoinError{errors.New("it ended"), Ended{Exit: "exit status 3", Output: []string{"oh"}}}
	}
	r, err = m.Play(t.Context())
	require.NoError(t, err)
	require.Truef(t, r.Crashes[1].Exit == "exit status 3" && len(r.Crashes[1].Output) == 1, "%+v", r)
	for _, fault := range []error{ErrHost, syscall.EMFILE} {
		other = &fake{}
		m = toy(t, other, nil)
		m.Seats[1].Bot = func(context.Context) (Bot, error) { return nil, fmt.Errorf("%w: no port", fault) }
		_, err = m.Play(t.Context())
		assert.Truef(t, errors.Is(err, fault) && strings.Contains(err.Error(), "seat 2"), "error %v", err)
		assert.Truef(t, other.asked == 0 && len(other.ended) == 1 && other.atOnce, "the other bot: %+v", other)
	}
}

func TestInterrupted(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	waits, other := &fake{waits: true}, &fake{}
	other.log = func(int) { stop(cause) }
	_, err := toy(t, waits, other).Play(ctx)
	assert.ErrorIs(t, err, cause)
	assert.Truef(t, len(waits.ended) == 1 && len(other.ended) == 1 && other.atOnce, "ended: %+v, %+v", waits, other)
}

func TestErrors(t *testing.T) {
	random, err := policy.New("toy", "random")
	require.NoError(t, err)
	for _, c := range []struct {
		want   string // the error
		change func(m *Match)
	}{
		{"1 seats for a game of 2 players", func(m *Match) { m.Seats = m.Seats[:1] }},
		{"seat 1: a policy and a bot", func(m *Match) { m.Seats[0].Policy = random }},
		{"seat 2: no such", func(m *Match) {
			m.Seats[1] = Seat{Policy: func(env.Spec) (rollout.Policy, error) { return nil, errors.New("no such") }}
		}},
		{"disk full", func(m *Match) { m.Shown = func(*env.Batch) error { return errors.New("disk full") } }},
	} {
		t.Run(c.want, func(t *testing.T) {
			m := toy(t, &fake{}, nil)
			m.Seats[1].Policy = random
			c.change(m)
			_, err := m.Play(t.Context())
			require.ErrorContains(t, err, c.want)
		})
	}
	m := toy(t, &fake{}, nil)
	m.Over = true
	r, err := m.Play(t.Context())
	require.NoError(t, err, "a start that is the end")
	assert.Truef(t, r.Turns == 0 && r.Status == sim.Over, "a start that is the end, %+v", r)
}
