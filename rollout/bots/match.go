package bots

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"moonfarm/env"
	"moonfarm/rollout"
	"moonfarm/rollout/shortage"
	"moonfarm/sim"
)

// Match is one game.
type Match struct {
	Vector env.Vector // one game, at its start
	Seats  []Seat     // one for each player
	Over   bool       // the game is over at its start: no turn is played
	// OneByOne asks the bots one after the other, in the order of their seats.
	// Otherwise they are asked at the same time.
	OneByOne bool
	// StopWhenCrashed ends the match when all bots have crashed, unless a policy
	// plays or there were no bots.
	StopWhenCrashed bool
	// Shown, if not nil, is called at the start and after every turn, while no bot is
	// being asked. b has the orders of all seats; at the start there are none. An error
	// of Shown ends the match.
	Shown func(b *env.Batch) error
	// Measured, if not nil, reports that an order carries a measurement, such as a
	// time. Result.Sum leaves such orders out.
	Measured func(o sim.Order) bool
	Hooks
}

// Hooks are called while a match is played, if they are not nil. An error ends the match.
type Hooks struct {
	// Settle is called in each turn after the bots and policies were asked, with their
	// orders in b, which it may replace: a game that is played elsewhere is shown to bots.
	Settle func(turn int, b *env.Batch) error
	// Watch is called at the start and after every turn, after Shown, with the game.
	Watch func(v env.Vector) error
	// Crashed is called for a crash as soon as the bot has ended, also in a match that is
	// stopped later. Calls come from several goroutines at once.
	Crashed func(seat int, c *Crash)
}

// Play plays the match to its end. All bots have ended when it returns. If the
// context is done, everything is stopped and Play returns the cause. Faults of bots
// are in the Result and are not errors of Play.
func (m *Match) Play(ctx context.Context) (*Result, error) {
	t, err := m.newTurnLoop()
	if err != nil {
		return nil, err
	}
	defer t.close()
	if err := t.join(ctx); err != nil {
		return nil, err
	}
	begin := time.Now()
	if err := t.play(ctx); err != nil {
		return nil, err
	}
	t.result.Time = time.Since(begin)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	t.finish(ctx)
	return t.sum(), nil
}

// turnLoop plays the turns of a Match.
type turnLoop struct {
	*Match
	batch  *env.Batch
	states []seatState    // by seat
	ends   sync.WaitGroup // goroutines that end bots
	result Result
}

// seatState is the player at a seat. It gives no orders if policy and bot are nil.
type seatState struct {
	row     []int32 // the seat's row of the batch
	policy  rollout.Policy
	bot     Bot // nil after its end
	crash   *Crash
	ended   Ended
	orders  []sim.Order           // of the bot in this turn, stored in its row of the batch
	network rollout.NetworkCounts // of a policy with a network
}

// newTurnLoop makes the policies and the batch.
func (m *Match) newTurnLoop() (t *turnLoop, err error) {
	s := m.Vector.Spec()
	if len(m.Seats) != s.Info.Players {
		return nil, fmt.Errorf("%d seats for a game of %d players", len(m.Seats), s.Info.Players)
	}
	t = &turnLoop{Match: m, states: make([]seatState, len(m.Seats))}
	var wants env.Want
	for i := range t.states {
		p, seat := &t.states[i], &m.Seats[i]
		p.row = []int32{int32(i)}
		switch {
		case seat.Policy == nil:
		case seat.Bot != nil:
			err = errors.New("a policy and a bot")
		default:
			if p.policy, err = seat.Policy(s); err == nil {
				wants |= p.policy.Wants()
			}
		}
		if err != nil {
			t.close()
			return nil, fmt.Errorf("seat %d: %w", i+1, err)
		}
	}
	t.batch = env.NewBatch(s, 1, wants)
	t.Vector.Observe(t.batch)
	if t.Over {
		t.batch.Status[0] = sim.Over
	}
	t.result.Status = t.batch.Status[0]
	return t, nil
}

// join waits until each bot has joined or crashed.
func (t *turnLoop) join(ctx context.Context) error {
	errs := make([]error, len(t.states))
	var all sync.WaitGroup
	for i := range t.states {
		if p, seat := &t.states[i], &t.Seats[i]; seat.Bot != nil {
			all.Go(func() { p.bot, errs[i] = seat.Bot(ctx) })
		}
	}
	all.Wait()
	var fatal error
	for i, err := range errs {
		var failed *JoinError
		switch {
		case err == nil:
		case errors.Is(err, ErrHost), shortage.Of(err):
			fatal = fmt.Errorf("seat %d: %w", i+1, err)
		case errors.As(err, &failed):
			t.states[i].crash = &Crash{-1, failed.Err, failed.Exit, failed.Output}
		default:
			t.states[i].crash = &Crash{Turn: -1, Err: err}
		}
		if c := t.states[i].crash; c != nil && t.Crashed != nil && ctx.Err() == nil {
			t.Crashed(i, c)
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fatal
}

// JoinError is the error of a Join whose bot was started and has ended.
type JoinError struct {
	Err error
	Ended
}

// Error implements error.
func (j *JoinError) Error() string { return j.Err.Error() }

// Unwrap returns the reason, for errors.Is and errors.As.
func (j *JoinError) Unwrap() error { return j.Err }

// play plays all turns, until the context is done.
func (t *turnLoop) play(ctx context.Context) error {
	clear(t.batch.OrderLen)
	for i := range t.states {
		rollout.Until(ctx, t.states[i].policy)
	}
	if err := t.shown(); err != nil {
		return err
	}
	for t.result.Status == sim.Running {
		if t.StopWhenCrashed && t.allCrashed() {
			t.result.Status = sim.Cut
			return nil
		}
		t.ask(ctx)
		if t.Settle != nil && ctx.Err() == nil {
			if err := t.Settle(t.result.Turns, t.batch); err != nil {
				return err
			}
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		t.Vector.Step(t.batch)
		t.count()
		t.result.Status = t.batch.Status[0]
		t.result.Turns++
		if err := t.shown(); err != nil {
			return err
		}
	}
	return nil
}

// allCrashed reports whether a bot has crashed and no other bot or policy plays.
func (t *turnLoop) allCrashed() bool {
	crashed := false
	for i := range t.states {
		p := &t.states[i]
		if p.policy != nil || p.bot != nil {
			return false
		}
		crashed = crashed || p.crash != nil
	}
	return crashed
}

// shown calls Shown and Watch.
func (t *turnLoop) shown() error {
	if t.Shown != nil {
		if err := t.Shown(t.batch); err != nil {
			return err
		}
	}
	if t.Watch == nil {
		return nil
	}
	return t.Watch(t.Vector)
}

// ask collects the orders of all seats. All bots and the policies decide at the same
// time, unless OneByOne is set.
func (t *turnLoop) ask(ctx context.Context) {
	policies, most := false, t.Vector.Spec().Info.MaxOrders
	var all sync.WaitGroup
	for i := range t.states {
		p := &t.states[i]
		p.orders = t.batch.Orders[i*most : i*most : (i+1)*most]
		policies = policies || p.policy != nil
		switch {
		case p.bot == nil:
		case t.OneByOne:
			t.askBot(ctx, p)
		default:
			all.Go(func() { t.askBot(ctx, p) })
		}
	}
	if policies {
		t.Vector.Observe(t.batch)
	}
	for i := range t.states {
		if p := &t.states[i]; p.policy != nil {
			p.policy.Act(t.Vector, t.batch, p.row)
			p.network.Add(rollout.CountsOf(p.policy, t.batch, p.row[0]))
		}
	}
	all.Wait()
	for i := range t.states {
		if p := &t.states[i]; p.policy == nil {
			t.batch.OrderLen[i] = int32(len(p.orders))
		}
	}
}

// askBot collects the orders of a bot. If it crashes, it is ended while the match goes on.
func (t *turnLoop) askBot(ctx context.Context, p *seatState) {
	var err error
	if p.orders, err = p.bot.Ask(p.orders); err == nil {
		return
	}
	bot, stopped := p.bot, ctx.Err() != nil
	p.bot, p.crash = nil, &Crash{Turn: t.result.Turns, Err: err}
	t.ends.Go(func() {
		p.ended = bot.End(ctx, err)
		p.crash.Exit, p.crash.Output = p.ended.Exit, p.ended.Output
		if t.Crashed != nil && !stopped {
			t.Crashed(int(p.row[0]), p.crash)
		}
	})
}

// finish tells all bots that the game is over, and waits until all have ended.
func (t *turnLoop) finish(ctx context.Context) {
	for i := range t.states {
		if p := &t.states[i]; p.bot != nil {
			t.ends.Go(func() {
				p.ended = p.bot.End(ctx, nil)
				p.bot = nil
			})
		}
	}
	t.ends.Wait()
}

// close stops the bots that still run, without a grace period, and closes the policies.
func (t *turnLoop) close() {
	now, stop := context.WithCancel(context.Background())
	stop()
	t.finish(now)
	for i := range t.states {
		rollout.CloseSeats(t.states[i].policy)
	}
}

// count adds the orders of the last turn to the sum.
func (t *turnLoop) count() {
	most := t.Vector.Spec().Info.MaxOrders
	for i, n := range t.batch.OrderLen {
		given := 0
		for _, o := range t.batch.Orders[i*most:][:max(n, 0)] {
			if t.Measured == nil || !t.Measured(o) {
				t.result.Sum.Add(uint64(o))
				given++
			}
		}
		t.result.Sum.Add(uint64(given))
	}
}

// sum completes the result at the end of the match.
func (t *turnLoop) sum() *Result {
	r := &t.result
	r.Sum.Add(uint64(r.Status))
	for i := range t.states {
		o := t.Vector.Outcome(0, sim.Player(i))
		r.Sum.Add(math.Float64bits(o.Score))
		r.Sum.Add(uint64(math.Float32bits(o.Result)))
		r.Outcome = append(r.Outcome, o)
		r.Used = append(r.Used, t.states[i].ended.Used)
		r.Crashes = append(r.Crashes, t.states[i].crash)
		r.Networks = append(r.Networks, t.states[i].network)
	}
	return r
}
