package stepper_test

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/rollout"
	"moonfarm/rollout/stepper"
	"moonfarm/sim"
)

// wantError requires an error with that text that is a StateError if state is
// set.
func wantError(t *testing.T, what string, err error, state bool, want string) {
	t.Helper()
	var s stepper.StateError
	assert.Truef(t, err != nil && strings.Contains(err.Error(), want) && errors.As(err, &s) == state, "%s: error %v, want one with %q; a StateError: %v", what, err, want, state)
}

func TestSetupRefused(t *testing.T) {
	vector, maker := errors.New("broken Vector"), errors.New("broken Maker")
	for _, c := range []struct {
		want   string
		change func(c *stepper.Setup)
	}{
		{"0 games: there must be at least 1", func(c *stepper.Setup) { c.Env.N = 0 }},
		{"0 workers", func(c *stepper.Setup) { c.Workers = 0 }},
		{"blocks of 3 games: expected a divisor of 4 games, or 0", func(c *stepper.Setup) { c.Batch = 3 }},
		{"blocks of -1 games", func(c *stepper.Setup) { c.Batch = -1 }},
		{"blocks of 8 games", func(c *stepper.Setup) { c.Batch = 8 }},
		{"seat 2: towerdefence has 2, from 0", func(c *stepper.Setup) { c.Seat = 2 }},
		{"seat -3", func(c *stepper.Setup) { c.Seat = -3 }},
		{"opponents, but the caller plays all seats", func(c *stepper.Setup) { c.Seat = stepper.AllSeats }},
		{"no opponents: somebody must play the other seats of towerdefence", func(c *stepper.Setup) { c.Opponents = nil }},
		{"256 opponents: there may be 255", func(c *stepper.Setup) { c.Opponents = make([]rollout.Maker, 256) }},
		{"autoreset Mode(3)", func(c *stepper.Setup) { c.Autoreset = 3 }},
		{`no reward "glory"`, func(c *stepper.Setup) { c.Env.Reward = "glory" }},
		{"broken Vector", func(c *stepper.Setup) {
			c.Vector = func(env.Settings) (env.Vector, error) { return nil, vector }
		}},
		{"made 1 games, expected 4", func(c *stepper.Setup) {
			make := c.Vector
			c.Vector = func(e env.Settings) (env.Vector, error) { e.N = 1; return make(e) }
		}},
		{"broken Maker", func(c *stepper.Setup) {
			c.Opponents = append(c.Opponents, func(env.Spec) (rollout.Policy, error) { return nil, maker })
		}},
	} {
		t.Run(c.want, func(t *testing.T) {
			config := config(t, "towerdefence", 4, 0, "random")
			c.change(&config)
			s, err := stepper.New(config)
			require.Nil(t, s)
			wantError(t, "New", err, false, c.want)
		})
	}
}

func TestSlabsRefused(t *testing.T) {
	c := config(t, "towerdefence", 4, 0, "random")
	s, good := open(t, c)
	for k := range reflect.TypeFor[stepper.Slabs]().NumField() {
		bad := *good
		slab := reflect.ValueOf(&bad).Elem().Field(k)
		name := reflect.TypeFor[stepper.Slabs]().Field(k).Name
		t.Run(name, func(t *testing.T) {
			slab.Set(reflect.MakeSlice(slab.Type(), slab.Len()+1, slab.Len()+1))
			wantError(t, "Bind", s.Bind(&bad), false, fmt.Sprintf("slab %s has length %d, expected ", name, slab.Len()))
		})
	}
	last := *good
	last.FinalScalars = make([]float32, len(good.Scalars))
	wantError(t, "Bind", s.Bind(&last), false, "only autoreset SameStep writes them")
	all, b := open(t, config(t, "towerdefence", 4, stepper.AllSeats))
	b.Seat = make([]sim.Player, 4)
	wantError(t, "Bind", all.Bind(b), false, "a slab Seat, but the caller plays all seats")
}

// TestWrongTime: calls that come too early, too late or twice change nothing.
func TestWrongTime(t *testing.T) {
	c := config(t, "towerdefence", 4, 0, "random")
	c.Batch, c.Autoreset, c.Env.MaxTurns = 2, env.Disabled, 3
	s, err := stepper.New(c)
	require.NoError(t, err)
	b := slabsFor(s.Spec(), s.Rows(), c)
	wantError(t, "Step", s.Step(), true, "no slab Action is bound")
	wantError(t, "StepWith", s.StepWith(b.Action), true, "no slabs are bound")
	require.NoError(t, s.Bind(b))
	require.NoError(t, s.Reset(nil, []bool{true, true, true, false}))
	wantError(t, "Step", s.Step(), true, "game 3 has not begun: Reset it first")
	wantError(t, "Send", s.Send(1), true, "game 3 has not begun")
	_, err = s.Recv(0)
	wantError(t, "Recv", err, true, "Recv, but no block is under way")
	wantError(t, "Send", s.Send(2), false, "Send of block 2: there are 2, from 0")
	wantError(t, "Reset", s.Reset(make([]uint64, 3), nil), false, "3 seeds for 4 games")
	wantError(t, "Reset", s.Reset(nil, make([]bool, 5)), false, "a reset mask of length 5 for 4 games")
	require.NoError(t, s.Send(0))
	_, snapshot := s.AppendSnapshot(nil, 1)
	for what, err := range map[string]error{
		"Bind": s.Bind(b), "Step": s.Step(), "StepWith": s.StepWith(b.Action), "Observe": s.Observe(), "Reset": s.Reset(nil, nil), "Send": s.Send(0),
		"Reset ": s.Reset(nil, []bool{false, true, false, false}), "AppendSnapshot": snapshot, "Restore": s.Restore(0, nil),
	} {
		wantError(t, what, err, true, "under way")
	}
	assert.NoError(t, s.Reset(nil, []bool{false, false, false, true}), "Reset of a game in another block")
	k, err := s.Recv(time.Minute)
	require.NoErrorf(t, err, "block %d", k)
	assert.Zero(t, k, "block")
	for range 2 {
		require.NoError(t, s.Send(0))
		_, err = s.Recv(-1)
		require.NoError(t, err)
	}
	wantError(t, "Send", s.Send(0), true, "game 0 has ended: with autoreset Disabled it must be Reset")
	wantError(t, "Step", s.Step(), true, "game 0 has ended")
	assert.Truef(t, b.Turn[2] == 0 && b.Turn[0] == 3, "turns %v", b.Turn)
	assert.NoError(t, errors.Join(s.Close(), s.Close()), "Close")
	_, err = s.Recv(0)
	for what, err := range map[string]error{"Step": s.Step(), "Send": s.Send(0), "Recv": err, "Reset": s.Reset(nil, nil), "Bind": s.Bind(b), "Observe": s.Observe(), "Restore": s.Restore(0, nil)} {
		wantError(t, what, err, true, "the stepper is closed")
	}
}

// TestStepWith: StepWith plays the same as Step with the same actions, does not
// read the slab, and writes to neither.
func TestStepWith(t *testing.T) {
	for _, seat := range []int{0, stepper.AllSeats} {
		t.Run(fmt.Sprintf("seat %d", seat), func(t *testing.T) {
			c := config(t, "tron", 40, seat, "random")
			if seat == stepper.AllSeats {
				c = config(t, "tron", 40, seat)
			}
			c.Workers = 2
			s, b := open(t, c)
			twin, same := open(t, c)
			free, none := open(t, c)
			none.Action = nil
			require.NoError(t, free.Bind(none))
			slab := slices.Repeat([]int32{7}, len(b.Action)) // not a choice
			for turn := range 12 {
				for row := range same.Action { // games that have ended, too
					same.Action[row] = int32((row + turn) % s.Spec().Heads[0])
				}
				copy(b.Action, slab)
				with := slices.Clone(same.Action)
				for what, err := range map[string]error{"Step": twin.Step(), "StepWith": s.StepWith(with), "StepWith, nothing bound": free.StepWith(with)} {
					if err != nil {
						t.Fatalf("seat %d: %s: %v", seat, what, err)
					}
				}
				require.Truef(t, slices.Equal(b.Planes, same.Planes) && slices.Equal(b.Episode, same.Episode) && slices.Equal(none.Planes, same.Planes), "seat %d: StepWith plays otherwise than Step in turn %d", seat, turn)
				require.Truef(t, slices.Equal(with, same.Action) && slices.Equal(b.Action, slab), "seat %d: actions were written", seat)
			}
			assert.NotEqualf(t, uint64(0), b.Episode[0], "seat %d: no game has ended", seat)
			wantError(t, "Step", s.Step(), false, "game 0, seat 0: action 7 of head 0: expected −1 to")
			wantError(t, "StepWith", s.StepWith(slab), false, "game 0, seat 0: action 7 of head 0: expected −1 to")
			wantError(t, "StepWith", s.StepWith(slab[1:]), false, fmt.Sprintf("%d actions, expected %d", len(slab)-1, len(slab)))
			wantError(t, "Step", free.Step(), true, "no slab Action is bound")
		})
	}
}

// TestActionsRefused: the error names the invalid action, and no game has gone
// on; −1 and choices that the rules refuse are valid.
func TestActionsRefused(t *testing.T) {
	for _, g := range catalog.Games() {
		for _, seat := range []int{1, stepper.AllSeats} {
			c := config(t, g.Name, 4, seat, "random")
			if seat == stepper.AllSeats {
				c = config(t, g.Name, 4, seat)
			}
			c.Batch, c.Workers = 2, 2
			s, b := open(t, c)
			heads := s.Spec().Heads
			row, where := 3, "game 3, seat 1: "
			if seat == stepper.AllSeats {
				row = 3*s.Spec().Info.Players + 1
			}
			for _, h := range []int{0, len(heads) / 2, len(heads) - 1} {
				at := &b.Action[row*len(heads)+h]
				turns := slices.Clone(b.Turn)
				for _, bad := range []int32{int32(heads[h]), -2, 1<<31 - 1, -1 << 31} {
					*at = bad
					wantError(t, g.Name, s.Step(), false, where)
					wantError(t, g.Name, s.Send(1), false, where)
				}
				if !slices.Equal(b.Turn, turns) {
					t.Errorf("%s: turns %v after refused steps, before %v", g.Name, b.Turn, turns)
				}
				*at = -1
				if err := s.Step(); err != nil {
					t.Errorf("%s: −1 is refused: %v", g.Name, err)
				}
				*at = int32(heads[h] - 1)
				if err := s.Step(); err != nil {
					t.Errorf("%s: the last choice is refused: %v", g.Name, err)
				}
				if want := *at; want != int32(heads[h]-1) {
					t.Errorf("%s: Action was changed to %d", g.Name, want)
				}
				*at = 0
			}
		}
	}
}

// bomb is a policy that panics at a turn.
type bomb struct {
	turn   int32
	closed *int
}

func (p bomb) Name() string    { return "bomb" }
func (p bomb) Wants() env.Want { return 0 }
func (p bomb) Close() error    { *p.closed++; return io.ErrClosedPipe }
func (p bomb) Act(_ env.Vector, b *env.Batch, rows []int32) {
	for _, row := range rows {
		b.OrderLen[row] = 0
		if b.Turn[row/2] == p.turn {
			panic("boom")
		}
	}
}

// TestPanics: a panic is an error of the call and of every later one. Close
// closes all policies and returns their errors.
func TestPanics(t *testing.T) {
	for _, workers := range []int{1, 3} {
		for _, async := range []bool{false, true} {
			closed := 0
			c := config(t, "towerdefence", 6, 0)
			c.Opponents = []rollout.Maker{func(env.Spec) (rollout.Policy, error) { return bomb{2, &closed}, nil }}
			c.Workers, c.Batch = workers, 2
			s, err := stepper.New(c)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(s.Bind(slabsFor(s.Spec(), s.Rows(), c)), s.Reset(nil, nil)); err != nil {
				t.Fatal(err)
			}
			step := s.Step
			if async {
				step = func() error {
					if err := s.Send(1); err != nil {
						return err
					}
					_, err := s.Recv(-1)
					return err
				}
			}
			for turn := range 5 {
				err := step()
				var p *stepper.PanicError
				if turn < 2 && err != nil || turn >= 2 && (!errors.As(err, &p) || p.Value != "boom" || !strings.Contains(err.Error(), "boom")) {
					t.Errorf("%d workers, turn %d: error %v", workers, turn, err)
				}
			}
			if err := s.Close(); !errors.Is(err, io.ErrClosedPipe) || closed == 0 {
				t.Errorf("Close: error %v, %d policies closed", err, closed)
			}
		}
	}
	// When New fails, it closes what it has made.
	closed, made := 0, 0
	c := config(t, "towerdefence", 6, 0)
	c.Opponents = []rollout.Maker{func(env.Spec) (rollout.Policy, error) {
		if made++; made == 3 {
			return nil, errors.New("no more")
		}
		return bomb{2, &closed}, nil
	}}
	c.Batch = 2
	_, err := stepper.New(c)
	assert.Truef(t, err != nil && closed == 2, "New: error %v, %d policies closed", err, closed)
}

// TestTimeout: Recv returns after its time, and the block can be received
// later.
func TestTimeout(t *testing.T) {
	c := config(t, "towerdefence", 2, 0)
	gate := make(chan struct{})
	c.Opponents = []rollout.Maker{func(env.Spec) (rollout.Policy, error) { return slow(gate), nil }}
	s, b := open(t, c)
	require.NoError(t, s.Send(0))
	for _, wait := range []time.Duration{0, time.Millisecond} {
		_, err := s.Recv(wait)
		assert.Truef(t, err == stepper.ErrTimeout, "waiting %v: error %v", wait, err)
	}
	close(gate)
	k, err := s.Recv(time.Hour)
	assert.Truef(t, k == 0 && err == nil && b.Turn[0] == 1, "block %d, error %v, turn %d", k, err, b.Turn[0])
}

// slow is a policy that waits.
type slow chan struct{}

func (s slow) Name() string    { return "slow" }
func (s slow) Wants() env.Want { return 0 }
func (s slow) Act(_ env.Vector, b *env.Batch, rows []int32) {
	<-s
	for _, row := range rows {
		b.OrderLen[row] = 0
	}
}
