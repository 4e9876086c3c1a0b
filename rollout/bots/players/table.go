package players

import (
	"context"
	"errors"
	"slices"
	"sync"

	"moonfarm/env"
	"moonfarm/rollout"
	"moonfarm/sim"
)

// Table is a game that is played elsewhere, such as by a person, with bots at some of its seats. The bots play a match of
// their own, in which the orders of all seats are those of the game. A match cannot go back: if turns of the game were
// taken back, or if it begins in the middle, the bots are started anew and shown all turns so far, where their answers have
// no effect. It is for one goroutine.
type Table struct {
	ctx    context.Context
	runner *Runner
	m      Meeting
	match  *tableMatch // nil before the start, and after turns were taken back
	began  bool
	all    sync.WaitGroup // of matches that end
}

// NewTable returns a table. Meeting.Seats are the bots, by seat, and players without orders at the other seats. Close ends it.
func (r *Runner) NewTable(ctx context.Context, m Meeting) *Table {
	return &Table{ctx: ctx, runner: r, m: m}
}

// tableMatch is a match of the bots of a table.
type tableMatch struct {
	stop context.CancelFunc

	mu       sync.Mutex
	change   *sync.Cond
	settled  [][][]sim.Order // of the game: by turn and seat
	answers  [][]sim.Order   // of the bots in the last turn in which they were asked, by seat
	answered int             // number of turns in which they were asked
	ended    error           // why the match is over; nil: it goes on
}

// errEnded is the end of a match.
var errEnded = errors.New("the game of the bots is over")

// Follow tells the bots what was played, so that they think about the next turn.
func (t *Table) Follow(e *rollout.Episode) {
	if t.match != nil && e.Turns < len(t.match.settled) { // only here it is written
		t.match.stop()
		t.match = nil
		return
	}
	if t.match == nil && (t.began || e.Status != sim.Running) {
		return // Orders starts them again
	}
	t.tell(e)
}

// tell gives the match the turns that it does not have.
func (t *Table) tell(e *rollout.Episode) {
	if t.match == nil {
		t.start(e.Seed)
	}
	m := t.match
	m.mu.Lock()
	defer m.mu.Unlock()
	for turn := len(m.settled); turn < e.Turns; turn++ {
		all := make([][]sim.Order, e.Players)
		for p := range all {
			all[p] = slices.Clone(e.OrdersOf(turn, sim.Player(p)))
		}
		m.settled = append(m.settled, all)
	}
	m.change.Broadcast()
}

// start starts a match, after the one before has ended.
func (t *Table) start(seed uint64) {
	t.all.Wait()
	ctx, stop := context.WithCancel(t.ctx)
	m := &tableMatch{stop: stop}
	m.change = sync.NewCond(&m.mu)
	t.match, t.began = m, true
	meeting := t.m
	meeting.Seed = seed
	meeting.Settle = func(turn int, b *env.Batch) error { return m.settle(ctx, turn, b) }
	t.all.Go(func() {
		defer stop()
		defer context.AfterFunc(ctx, func() {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.change.Broadcast()
		})()
		_, err := t.runner.Play(ctx, &meeting)
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.ended = err; err == nil {
			m.ended = errEnded
		}
		m.change.Broadcast()
	})
}

// settle keeps the answers of the bots, and waits for the orders of the game.
func (t *tableMatch) settle(ctx context.Context, turn int, b *env.Batch) error {
	most := len(b.Orders) / len(b.OrderLen)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.answers = t.answers[:0]
	for p, n := range b.OrderLen {
		t.answers = append(t.answers, slices.Clone(b.Orders[p*most:][:max(n, 0)]))
	}
	t.answered = turn + 1
	t.change.Broadcast()
	for len(t.settled) <= turn {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		t.change.Wait()
	}
	for p, orders := range t.settled[turn] {
		b.OrderLen[p] = int32(copy(b.Orders[p*most:(p+1)*most], orders))
	}
	return nil
}

// Orders returns the orders of a bot for the turn that follows a game so far. It waits for its answer.
func (t *Table) Orders(e *rollout.Episode, seat int) ([]sim.Order, error) {
	t.tell(e)
	m := t.match
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.answered <= e.Turns && m.ended == nil {
		m.change.Wait()
	}
	if m.answered <= e.Turns {
		return nil, m.ended
	}
	return m.answers[seat], nil
}

// Close ends the bots and waits for their end.
func (t *Table) Close() {
	if t.match != nil {
		t.match.stop()
	}
	t.all.Wait()
}
