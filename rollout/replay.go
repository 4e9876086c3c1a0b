package rollout

import (
	"fmt"

	"moonfarm/env"
	"moonfarm/sim"
)

// Replayer plays recorded episodes again, one at a time, and writes their rows:
// Start an episode, then Step once for each of its turns.
//
//	b := env.NewBatch(v.Spec(), 1, 0)
//	r.Start(e)
//	for r.More() {
//		b.Planes = column[at : at+rowBytes]     // windows into the caller's memory
//		b.Reward = rewards[row : row+players]
//		if err := r.Step(b); err != nil { … }
//		// b now holds the observation and mask before the turn, the orders and
//		// the action, and the reward and status after it.
//	}
//
// The Batch belongs to the caller, who may change its slabs before each Step,
// so that rows are written to their final place. It needs one row per seat. Orders,
// OrderLen, Reward, Status and Turn are required; the other slabs are written if
// they are not nil. In a sequential form Action is required, too: an episode with Steps
// is replayed step by step.
//
// A Replayer is not safe for concurrent use. No method allocates unless it
// fails.
type Replayer struct {
	// Asked, if not nil, gets in each Step the actions [players, heads] that stand for
	// the orders of the policy that was asked (Episode.AskedOrders).
	Asked []int32

	v         env.Vector
	players   int
	maxOrders int
	nothing   int32 // the choice that ends a turn of a sequential form
	e         *Episode
	turn      int
}

// NewReplayer returns a Replayer on a vector of one game. The vector must have the
// rules and the turn limit of the recording, and the reward that the rows are to
// have. NewReplayer fails if v does not hold exactly one game.
func NewReplayer(v env.Vector) (*Replayer, error) {
	s := v.Spec()
	if s.Games != 1 {
		return nil, fmt.Errorf("replay: the vector has %d games, expected 1", s.Games)
	}
	return &Replayer{v: v, players: s.Info.Players, maxOrders: s.Info.MaxOrders, nothing: int32(s.Nothing)}, nil
}

// Start resets the game to the first turn of e, which must stay unchanged until
// its last Step. It fails if e cannot be an episode of this game: if the number of
// seats differs, or offsets of orders are inconsistent.
func (r *Replayer) Start(e *Episode) error {
	r.e = nil
	if e.Players != r.players {
		return fmt.Errorf("episode %d: %d seats, the game has %d", e.ID, e.Players, r.players)
	}
	if e.Turns < 0 || len(e.Ends) != e.Turns*e.Players {
		return fmt.Errorf("episode %d: %d ends of orders for %d turns of %d seats", e.ID, len(e.Ends), e.Turns, e.Players)
	}
	if e.Stopped != "" && (e.Status != sim.Cut || e.Turns == 0) {
		return fmt.Errorf("episode %d: stopped (%s) after %d turns, but its status is %v", e.ID, e.Stopped, e.Turns, e.Status)
	}
	from := int32(0)
	for k, to := range e.Ends {
		if n := to - from; n < 0 || int(n) > r.maxOrders || int(to) > len(e.Orders) {
			return fmt.Errorf("episode %d: turn %d, seat %d: orders %d to %d of %d, at most %d a turn",
				e.ID, k/e.Players, k%e.Players, from, to, len(e.Orders), r.maxOrders)
		}
		from = to
	}
	if int(from) != len(e.Orders) {
		return fmt.Errorf("episode %d: %d orders, of which %d belong to a turn", e.ID, len(e.Orders), from)
	}
	r.v.Reset(0, e.Seed)
	r.e, r.turn = e, 0
	return nil
}

// More reports whether turns are left to Step.
func (r *Replayer) More() bool { return r.e != nil && r.turn < r.e.Turns }

// Turn returns the number of the turn that the next Step plays, from 0.
func (r *Replayer) Turn() int { return r.turn }

// Step plays the next turn: it observes into b, gives the recorded orders and
// steps. It fails, and the episode is over, if the game does not end in the
// recorded turn with the recorded status and outcomes: then the rules differ, or
// the episode is damaged. The game of a Stopped episode must still be running after
// the last turn; Step then reports the status Cut.
func (r *Replayer) Step(b *env.Batch) error {
	if !r.More() {
		return fmt.Errorf("replay: no turn left to step")
	}
	e := r.e
	r.v.Observe(b)
	for p := range r.players {
		if u := e.Steps; u != nil && !endsTurn(u.Action[r.turn*r.players+p], r.nothing) {
			b.Action[p] = u.Action[r.turn*r.players+p] // OrderLen is −1
			continue
		}
		orders := e.OrdersOf(r.turn, sim.Player(p))
		b.OrderLen[p] = int32(copy(b.Orders[p*r.maxOrders:(p+1)*r.maxOrders], orders))
	}
	if r.Asked != nil {
		r.labelAsked(e)
	}
	r.v.Step(b)
	r.turn++
	if r.turn < e.Turns && b.Status[0] == sim.Running {
		return nil
	}
	r.e = nil
	if r.turn == e.Turns && e.Stopped != "" && b.Status[0] == sim.Running {
		b.Status[0] = sim.Cut
	} else if e.Stopped != "" {
		return fmt.Errorf("episode %d: turn %d: the game is %v, but the recorded one goes on after %d turns", e.ID, r.turn-1, b.Status[0], e.Turns)
	}
	return r.compare(e, b.Status[0])
}

// labelAsked writes Asked, before the state changes.
func (r *Replayer) labelAsked(e *Episode) {
	if len(e.AskedEnds) == 0 {
		for h := range r.Asked {
			r.Asked[h] = -1
		}
		return
	}
	turn, heads := r.turn, len(r.Asked)/r.players
	if e.Steps != nil {
		turn = int(e.Steps.Turn[turn])
	}
	for p := range r.players {
		dst := r.Asked[p*heads : (p+1)*heads]
		if r.v.Waits(p) {
			dst[0] = -1
			continue
		}
		r.v.Label(dst, 0, sim.Player(p), e.AskedOf(turn, sim.Player(p)))
	}
}

// compare compares the end of a game with the recorded end.
func (r *Replayer) compare(e *Episode, s sim.Status) error {
	last := r.turn - 1
	if r.turn < e.Turns {
		return fmt.Errorf("episode %d: turn %d: the game is %v, but %d turns are recorded", e.ID, last, s, e.Turns)
	}
	if s != e.Status {
		return fmt.Errorf("episode %d: turn %d, the last: the game is %v, recorded as %v", e.ID, last, s, e.Status)
	}
	for p := range r.players {
		if got := r.v.Outcome(0, sim.Player(p)); got != e.Outcome[p] {
			return fmt.Errorf("episode %d: turn %d, the last: outcome of seat %d is %+v, recorded as %+v", e.ID, last, p, got, e.Outcome[p])
		}
	}
	return nil
}

// Final writes the observations of the seats after the last turn into b. It is called
// between the last Step and the next Start, and writes the slabs that Observe writes.
func (r *Replayer) Final(b *env.Batch) { r.v.ObserveGame(b, 0) }

// Replay plays e again on v, which must hold one game, and calls each after every
// turn with the batch as Replayer.Step left it. With a nil each it only checks that
// the game goes as recorded. It returns the errors of Replayer and the first error
// of each.
func Replay(v env.Vector, e *Episode, b *env.Batch, each func(turn int, b *env.Batch) error) error {
	r, err := NewReplayer(v)
	if err == nil {
		err = r.Start(e)
	}
	for err == nil && r.More() {
		turn := r.Turn()
		if err = r.Step(b); err != nil || each == nil {
			continue
		}
		if err = each(turn, b); err != nil {
			err = fmt.Errorf("episode %d: turn %d: %w", e.ID, turn, err)
		}
	}
	return err
}
