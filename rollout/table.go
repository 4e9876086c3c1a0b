package rollout

import (
	"context"
	"fmt"
	"math"

	"moonfarm/env"
	"moonfarm/sim"
	"moonfarm/sim/prng"
)

// window bounds how far ahead of the oldest unfinished episode others are
// started, in episodes per game of the vector. Sinks get episodes in order, so
// those that end early are held back; while one long episode is played, each
// of the other games may finish about this many before it waits. Memory is
// bounded by the window, whatever the number of episodes.
const window = 4

// GameSeed is the seed with which episode number id of a run is Reset.
func GameSeed(seed, id uint64) uint64 { return prng.Key(seed, id, 0, 0, prng.PurposeGame) }

// Table is a Vector with policies at its seats. It plays ranges of episodes,
// any number of them one after the other, and keeps its buffers. It is not
// safe for concurrent use.
type Table struct {
	v         env.Vector
	out       outcomer
	seats     []Policy
	names     []string
	players   int
	maxOrders int

	wants env.Want // slabs of batch
	keeps bool     // episodes get Rows …
	keep  env.Want // … with these slabs
	batch *env.Batch
	games []*Episode // the episode each game plays; nil: idle
	live  int        // games that are not idle
	rows  [][]int32  // per seat, the rows of the games that are not idle
	held  []*Episode // by ID modulo the window: ended, waiting for an older one
	free  []*Episode // buffers to use again
	seed  uint64
	next  uint64 // episode to start next
	due   uint64 // episode to deliver next
	end   uint64 // first episode not to be played
}

// NewTable seats one policy at each seat of the games of v. A policy may sit
// at several seats. It fails if the number of policies is not that of seats.
func NewTable(v env.Vector, seats []Policy) (*Table, error) {
	s := v.Spec()
	if len(seats) != s.Info.Players {
		return nil, fmt.Errorf("%s has %d seats, got %d policies", s.Info.Name, s.Info.Players, len(seats))
	}
	if v.Len() < 1 {
		return nil, fmt.Errorf("a vector of %d games, want 1 or more", v.Len())
	}
	out, ok := v.(outcomer)
	if !ok {
		return nil, fmt.Errorf("a vector of type %T tells no outcomes", v)
	}
	t := &Table{
		v: v, out: out, seats: seats,
		players: s.Info.Players, maxOrders: s.Info.MaxOrders,
		games: make([]*Episode, v.Len()),
		rows:  make([][]int32, len(seats)),
		held:  make([]*Episode, window*v.Len()),
	}
	for p, policy := range seats {
		t.wants |= policy.Wants()
		t.names = append(t.names, policy.Name())
		t.rows[p] = make([]int32, 0, v.Len())
	}
	t.batch = env.NewBatch(s, v.Len(), t.wants)
	return t, nil
}

// Play plays the episodes first … first+n−1 of the run with that master seed
// and gives them to the sink in order. It returns the context's cause as soon
// as the context is done, between two turns, or the first error of the sink.
// It allocates nothing but the buffers of episodes, which it keeps.
func (t *Table) Play(ctx context.Context, seed, first, n uint64, sink Sink) error {
	if n > math.MaxUint64-first {
		return fmt.Errorf("episodes %d and %d more: too many", first, n)
	}
	t.clear()
	t.seed, t.next, t.due, t.end = seed, first, first, first+n
	t.start()
	done := ctx.Done()
	for t.live > 0 {
		select {
		case <-done:
			return context.Cause(ctx)
		default:
		}
		t.turn()
		if t.record() == 0 {
			continue
		}
		if err := t.deliver(sink); err != nil {
			return err
		}
		t.start()
	}
	return nil
}

// Shard plays the episodes first … first+n−1 of the run with that master seed
// on v: NewTable and Play in one call.
func Shard(ctx context.Context, v env.Vector, seats []Policy, seed, first, n uint64, sink Sink) error {
	t, err := NewTable(v, seats)
	if err != nil {
		return err
	}
	return t.Play(ctx, seed, first, n, sink)
}

// clear makes all games idle, whatever an earlier Play left.
func (t *Table) clear() {
	for i, e := range t.games {
		if e != nil {
			t.free = append(t.free, e)
			t.games[i] = nil
		}
	}
	for i, e := range t.held {
		if e != nil {
			t.free = append(t.free, e)
			t.held[i] = nil
		}
	}
	t.live = 0
}

// start gives idle games the next episodes, as far as the window goes.
func (t *Table) start() {
	limit := t.end
	if w := uint64(len(t.held)); limit-t.due > w {
		limit = t.due + w
	}
	for i := 0; i < len(t.games) && t.next < limit; i++ {
		if t.games[i] == nil {
			e := t.episode(t.next)
			t.v.Reset(i, e.Seed)
			t.games[i] = e
			t.live++
			t.next++
		}
	}
	if t.live < len(t.games) || len(t.rows[0]) < t.live {
		t.list()
	}
}

// list lists the rows in play.
func (t *Table) list() {
	for p := range t.rows {
		t.rows[p] = t.rows[p][:0]
		for i, e := range t.games {
			if e != nil {
				t.rows[p] = append(t.rows[p], int32(i*t.players+p))
			}
		}
	}
}

// episode is an empty Episode with that number, in a buffer used before if
// there is one.
func (t *Table) episode(id uint64) *Episode {
	var e *Episode
	if last := len(t.free) - 1; last >= 0 {
		e, t.free = t.free[last], t.free[:last]
	} else {
		e = new(Episode)
	}
	*e = Episode{
		ID: id, Seed: GameSeed(t.seed, id), Policies: t.names, Players: t.players,
		Orders: e.Orders[:0], Ends: e.Ends[:0], Rows: e.Rows,
	}
	if !t.keeps {
		e.Rows = nil
	} else if e.Rows == nil {
		e.Rows = new(Rows)
	} else {
		e.Rows.empty()
	}
	return e
}

// turn plays one turn of all games. Idle games do nothing.
func (t *Table) turn() {
	t.v.Observe(t.batch)
	if t.live < len(t.games) {
		for i, e := range t.games {
			if e == nil {
				clear(t.batch.OrderLen[i*t.players : (i+1)*t.players])
			}
		}
	}
	for p, policy := range t.seats {
		policy.Act(t.v, t.batch, t.rows[p])
	}
	t.v.Step(t.batch)
}

// record appends the orders of the turn to the episodes and returns how many
// of them ended.
func (t *Table) record() (ended int) {
	b, row := t.batch, 0
	for i, e := range t.games {
		if e == nil {
			row += t.players
			continue
		}
		if t.keeps {
			e.Rows.add(b, t.keep, row, t.players)
		}
		for range t.players {
			at := row * t.maxOrders
			e.Orders = append(e.Orders, b.Orders[at:at+int(b.OrderLen[row])]...)
			e.Ends = append(e.Ends, int32(len(e.Orders)))
			row++
		}
		e.Turns++
		if s := b.Status[i]; s != sim.Running {
			t.finish(i, s)
			ended++
		}
	}
	return ended
}

// finish closes the episode of game i and holds it.
func (t *Table) finish(i int, s sim.Status) {
	e := t.games[i]
	e.Status = s
	for p := range t.players {
		e.Outcome[p] = t.out.Outcome(i, sim.Player(p))
	}
	t.held[e.ID%uint64(len(t.held))] = e
	t.games[i] = nil
	t.live--
}

// deliver gives the sink all held episodes that are due.
func (t *Table) deliver(sink Sink) error {
	for {
		slot := &t.held[t.due%uint64(len(t.held))]
		e := *slot
		if e == nil {
			return nil
		}
		*slot = nil
		t.free = append(t.free, e)
		t.due++
		if err := sink.Episode(e); err != nil {
			return fmt.Errorf("episode %d: %w", e.ID, err)
		}
	}
}
