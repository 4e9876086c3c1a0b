// Package analysis examines an episode with a policy that searches: what each seat could expect
// before each turn, and what its orders cost it.
//
// Each position is searched for each seat as the policy would have searched it in that episode,
// with the same seed; the best orders are those of the move with the largest share. The loss of a
// seat in a turn is the difference of two values for that seat: of the position after its best
// orders, and of the position after its own orders. The other seats give their own orders in both
// cases, and both positions are searched with the seed of the next turn. So a systematic error of
// the search and the effect of the others' orders are in both values and cancel; if both positions
// are equal, the loss is 0. The change of the value from turn to turn would be a worse measure: it
// includes the effect of the others' orders, and the value before the turn is a mean that includes
// bad moves tried by the search.
//
// The best orders were chosen without knowledge of the others' orders, and the two values are
// estimates. So a loss may be negative: against the others' orders, the orders played were better
// than those the search prefers.
//
// The result depends only on the episode, the game and the policy, unless the policy reads the
// clock.
package analysis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"

	"moonfarm/env"
	"moonfarm/rollout"
	"moonfarm/rollout/parallel"
	"moonfarm/sim"
)

// Options select the turns to analyse and how.
type Options struct {
	// Game makes a Vector of one game with the same rules as the episode's.
	Game func() (env.Vector, error)
	// Policy makes a policy that searches.
	Policy rollout.Maker
	// First and Last are the first and the last turn to analyse; every Every-th turn from First on
	// is analysed.
	First, Last, Every int
	Workers            int
	// Progress, if not nil, is called with the number of positions searched and of all positions.
	// Calls come one at a time.
	Progress func(done, all int)
}

// TurnAnalysis is the analysis of a turn.
type TurnAnalysis struct {
	Turn  int // from 0
	Seats []Assessment
}

// Assessment is the analysis of a seat in a turn. Values are the result that the seat can expect, −1 … 1.
type Assessment struct {
	Value  float64 // before the turn
	Loss   float64 // Best.Value − Played.Value
	Played Choice
	Best   Choice
}

// BestPlayed reports whether the seat gave the best orders.
func (a *Assessment) BestPlayed() bool { return same(a.Best.Orders, a.Played.Orders) }

// Worst returns up to n turns with the largest losses of a seat, the worst first.
func Worst(turns []TurnAnalysis, p sim.Player, n int) []int {
	worst := slices.DeleteFunc(slices.Clone(turns), func(t TurnAnalysis) bool { return t.Seats[p].Loss <= 0 })
	slices.SortStableFunc(worst, func(a, b TurnAnalysis) int { return cmp.Compare(b.Seats[p].Loss, a.Seats[p].Loss) })
	list := []int{}
	for _, t := range worst[:min(n, len(worst))] {
		list = append(list, t.Turn)
	}
	return list
}

// Choice is a list of orders that a seat can give in a turn.
type Choice struct {
	Orders []sim.Order
	Share  float64 // of the search for this move; −1 if the search did not try it
	Value  float64 // of the position after them
}

// Check returns an error if the options do not fit the episode, or if it cannot be continued with
// other orders.
func (o *Options) Check(e *rollout.Episode) error {
	switch {
	case len(e.Recording) > 0:
		return fmt.Errorf("episode %d is a recording with an unknown random seed: the effect of other orders cannot be computed", e.ID)
	case o.First < 0 || o.Last < o.First || o.Last >= e.Turns || o.Every < 1:
		return fmt.Errorf("turns %d to %d, every %d: the episode has turns 0 to %d", o.First, o.Last, o.Every, e.Turns-1)
	}
	return nil
}

// Run analyses the turns of an episode. With an error, such as the cause of ctx, it returns the
// turns that it has finished.
func Run(ctx context.Context, e *rollout.Episode, o Options) ([]TurnAnalysis, error) {
	if err := o.Check(e); err != nil {
		return nil, err
	}
	r := &run{o: o, e: e, found: make([][]Assessment, e.Turns+1)}
	for t := range r.found {
		if r.needed(t) {
			r.all++
		}
	}
	if r.overAfter(e.Turns - 1) {
		r.found[e.Turns] = make([]Assessment, e.Players)
		for p := range r.found[e.Turns] {
			r.found[e.Turns][p].Value = float64(e.Outcome[p].Result)
		}
		if r.needed(e.Turns) {
			r.all--
		}
	}
	err := parallel.Do(ctx, o.Workers, r.all, r.positions(), r.start, r.look)
	return r.turns(), err
}

// run is the state of Run.
type run struct {
	o   Options
	e   *rollout.Episode
	all int // positions to search

	mu    sync.Mutex
	done  int
	found [][]Assessment // search results of the position before each turn and after the last; nil: not searched
}

// position is a state to search.
type position struct {
	turn     int
	snapshot []byte
}

// wanted reports whether a turn is to be analysed.
func (r *run) wanted(turn int) bool {
	return turn >= r.o.First && turn <= r.o.Last && (turn-r.o.First)%r.o.Every == 0
}

// needed reports whether the position before a turn is to be searched: an analysed turn begins or
// ends with it.
func (r *run) needed(turn int) bool { return r.wanted(turn) || r.wanted(turn-1) }

// overAfter reports whether the rules end the game with the given turn.
func (r *run) overAfter(turn int) bool { return turn == r.e.Turns-1 && r.e.Status == sim.Over }

// positions replays the episode and yields the positions to search.
func (r *run) positions() iter.Seq2[position, error] {
	return func(yield func(position, error) bool) {
		if err := r.replay(func(p position) bool { return yield(p, nil) }); err != nil {
			yield(position{}, err)
		}
	}
}

// replay is positions with an error result. It stops after the last position needed.
func (r *run) replay(yield func(position) bool) error {
	v, err := r.o.Game()
	if err != nil {
		return err
	}
	player, err := rollout.NewReplayer(v)
	if err != nil {
		return err
	}
	if err := player.Start(r.e); err != nil {
		return err
	}
	b := env.NewBatch(v.Spec(), 1, 0)
	for turn := 0; turn <= r.o.Last+1; turn++ {
		if r.needed(turn) && r.found[turn] == nil && !yield(position{turn, v.AppendSnapshot(nil, 0)}) {
			return nil
		}
		if !player.More() {
			return nil
		}
		if err := player.Step(b); err != nil {
			return err
		}
	}
	return nil
}

// worker searches positions.
type worker struct {
	v      env.Vector // of one game
	policy rollout.Policy
	batch  *env.Batch
}

// Close closes the policy.
func (w *worker) Close() error { return rollout.CloseSeats(w.policy) }

// start makes a worker.
func (r *run) start() (*worker, error) {
	v, err := r.o.Game()
	if err != nil {
		return nil, err
	}
	p, err := r.o.Policy(v.Spec())
	if err != nil {
		return nil, err
	}
	switch {
	case !rollout.Has[rollout.Searcher](p):
		return nil, errors.Join(fmt.Errorf("%s does not search", p.Name()), rollout.CloseSeats(p))
	case len(rollout.StatesOf(p)) > 0:
		return nil, errors.Join(fmt.Errorf("%s has a recurrent member, which must see every turn of a game", p.Name()), rollout.CloseSeats(p))
	}
	return &worker{v, p, env.NewBatch(v.Spec(), 1, p.Wants())}, nil
}

// look searches a position, and, before a wanted turn, also the positions after the best orders.
func (r *run) look(ctx context.Context, w *worker, _ int, at position) error {
	seats := make([]Assessment, r.e.Players)
	rollout.Until(ctx, w.policy)
	for p := range seats {
		if err := w.v.Restore(0, at.snapshot); err != nil {
			return err
		}
		found, err := w.search(ctx, sim.Player(p))
		if err != nil {
			return fmt.Errorf("turn %d, seat %d: %w", at.turn, p, err)
		}
		seats[p].Value = found.Value
		if !r.wanted(at.turn) {
			continue
		}
		seats[p].compare(found, r.e.OrdersOf(at.turn, sim.Player(p)))
	}
	for p := range seats {
		s := &seats[p]
		if !r.wanted(at.turn) || s.BestPlayed() {
			continue
		}
		if err := w.v.Restore(0, at.snapshot); err != nil {
			return err
		}
		var err error
		if s.Best.Value, err = w.after(ctx, r.e, at.turn, sim.Player(p), s.Best.Orders); err != nil {
			return fmt.Errorf("turn %d, seat %d: after the best orders: %w", at.turn, p, err)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.found[at.turn] = seats
	r.done++
	if r.o.Progress != nil {
		r.o.Progress(r.done, r.all)
	}
	return nil
}

// search searches the game for a seat. It fails once ctx, the policy's context, is done.
func (w *worker) search(ctx context.Context, p sim.Player) (*rollout.SearchResult, error) {
	w.v.Observe(w.batch)
	w.policy.Act(w.v, w.batch, []int32{int32(p)})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	found := rollout.ResultOf(w.policy, w.batch, int32(p))
	if found == nil {
		return nil, fmt.Errorf("%s has not searched the position", w.policy.Name())
	}
	return found, nil
}

// after plays the turn of the episode, with other orders of one seat, and returns the value for
// that seat.
func (w *worker) after(ctx context.Context, e *rollout.Episode, turn int, p sim.Player, orders []sim.Order) (float64, error) {
	w.v.Observe(w.batch)
	room := len(w.batch.Orders) / w.batch.Rows
	for seat := range w.batch.Rows {
		list := orders
		if seat != int(p) {
			list = e.OrdersOf(turn, sim.Player(seat))
		}
		w.batch.OrderLen[seat] = int32(copy(w.batch.Orders[seat*room:][:room], list))
	}
	w.v.Step(w.batch)
	if w.batch.Status[0] == sim.Over {
		return float64(w.v.Outcome(0, p).Result), nil
	}
	found, err := w.search(ctx, p)
	if err != nil {
		return 0, err
	}
	return found.Value, nil
}

// compare sets Best and Played from a search result and the orders played.
func (a *Assessment) compare(found *rollout.SearchResult, played []sim.Order) {
	best := 0
	a.Played = Choice{Orders: slices.Clone(played), Share: -1}
	for k, share := range found.Shares {
		if share > found.Shares[best] {
			best = k
		}
		if same(found.OrdersOf(k), played) {
			a.Played.Share = max(a.Played.Share, float64(share))
		}
	}
	a.Best = Choice{Orders: slices.Clone(found.OrdersOf(best)), Share: float64(found.Shares[best])}
}

// same reports whether two lists of orders are equal, ignoring orders that do nothing.
func same(a, b []sim.Order) bool {
	for {
		for len(a) > 0 && a[0] == 0 {
			a = a[1:]
		}
		for len(b) > 0 && b[0] == 0 {
			b = b[1:]
		}
		if len(a) == 0 || len(b) == 0 {
			return len(a) == len(b)
		}
		if a[0] != b[0] {
			return false
		}
		a, b = a[1:], b[1:]
	}
}

// turns returns the analysed turns whose next position has been searched, too.
func (r *run) turns() (all []TurnAnalysis) {
	for t := r.o.First; t <= r.o.Last; t += r.o.Every {
		seats, next := r.found[t], r.found[t+1]
		if seats == nil || next == nil {
			continue
		}
		for p := range seats {
			s := &seats[p]
			s.Played.Value = next[p].Value
			if s.BestPlayed() {
				s.Best.Value = s.Played.Value
			}
			s.Loss = s.Best.Value - s.Played.Value
		}
		all = append(all, TurnAnalysis{t, seats})
	}
	return all
}
