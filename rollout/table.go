package rollout

import (
	"context"
	"errors"
	"fmt"
	"math"

	"moonfarm/env"
	"moonfarm/sim"
	"moonfarm/sim/prng"
)

// window is the most episodes that a Table holds for each game of its vector:
// the episodes in play, and ended ones that wait for an older one, as
// sinks get episodes in order. While one long episode is played, each of the
// other games may finish about this many before it waits. So memory does not
// grow with the number of episodes.
const window = 4

// maxMembers is the most members of a Mixture: a byte has their number.
const maxMembers = 256

// GameSeed is the seed with which episode number id of a run is Reset.
func GameSeed(seed, id uint64) uint64 { return prng.StreamSeed(seed, id, 0, 0, prng.PurposeGame) }

// Table is a Vector with policies at its seats. It plays ranges of episodes,
// any number of them one after the other, and keeps its buffers. It is not
// safe for concurrent use.
type Table struct {
	v         env.Vector
	seats     []Policy
	names     []string
	players   int
	maxOrders int

	wants env.Want // slabs of batch
	keep  env.Want // slabs of which episodes hold Rows; 0: they hold none
	batch *env.Batch
	kept  *env.Batch // batch with these slabs alone
	games []*Episode // the episode each game plays; nil: idle
	live  int        // games that are not idle
	rows  [][]int32  // per seat, the rows of the games that are not idle

	mixtures []Mixture // per seat, nil for other policies; none: no seat has one
	chosen   []uint8   // [rows], if there are mixtures

	networked []Networked // per seat, nil for other policies; none: no seat has one

	searches *searches // nil: no seat has a Searcher
	opening  *opening  // nil: there is none

	held  []*Episode // by ID modulo the window: ended, waiting for an older one
	free  []*Episode // buffers to use again
	pages []*Page    // and pages of Rows
	seed  uint64
	next  uint64 // episode to start next
	due   uint64 // episode to deliver next
	end   uint64 // first episode not to be played
}

// NewTable seats one policy at each seat of the games of v. A policy may sit
// at several seats. Episodes hold their Rows with the slabs of keep, and with
// the reward if it is not 0. A caller that writes rows saves playing every turn
// a second time for them; the price is memory: see MostRowBytes. NewTable fails
// if there are not as many policies as seats, or one is nil.
func NewTable(v env.Vector, seats []Policy, keep env.Want) (*Table, error) {
	if v == nil {
		return nil, errors.New("a table needs a Vector, got nil")
	}
	s := v.Spec()
	if len(seats) != s.Info.Players {
		return nil, fmt.Errorf("%s has %d seats, got %d policies", s.Info.Name, s.Info.Players, len(seats))
	}
	if s.Games < 1 {
		return nil, fmt.Errorf("a vector of %d games, want 1 or more", s.Games)
	}
	if keep&env.WantAction != 0 { // the action that the orders encode
		keep = keep&^env.WantAction | env.WantPlayed
	}
	t := &Table{
		v: v, seats: seats, keep: keep,
		players: s.Info.Players, maxOrders: s.Info.MaxOrders,
		games: make([]*Episode, s.Games),
		rows:  make([][]int32, len(seats)),
		held:  make([]*Episode, window*s.Games),
	}
	t.wants = keep
	for p, policy := range seats {
		if policy == nil {
			return nil, fmt.Errorf("the policy of seat %d is nil", p)
		}
		t.wants |= policy.Wants()
		t.names = append(t.names, policy.Name())
		t.rows[p] = make([]int32, 0, s.Games)
	}
	t.makeBatch()
	t.findNetworked()
	return t, errors.Join(t.findMixtures(), t.findSearchers())
}

// makeBatch makes the batch with all slabs that are wanted.
func (t *Table) makeBatch() {
	s := t.v.Spec()
	t.batch = env.NewBatch(s, s.Games, t.wants)
	t.kept = part(t.batch, t.keep)
}

// findMixtures looks for seats whose policies are mixtures.
func (t *Table) findMixtures() error {
	for p, policy := range t.seats {
		c, ok := policy.(Mixture)
		if !ok {
			continue
		}
		if n := len(c.Members()); n > maxMembers {
			return fmt.Errorf("%s at seat %d has %d members, at most %d can be told apart", policy.Name(), p, n, maxMembers)
		}
		if t.mixtures == nil {
			t.mixtures, t.chosen = make([]Mixture, t.players), make([]uint8, t.players*len(t.games))
		}
		t.mixtures[p] = c
	}
	return nil
}

// Play plays the episodes first … first+n−1 of the run with that master seed
// and gives them to the sink in order. It returns the context's cause as soon
// as the context is done and the policy in hand has chosen (one that is
// Interruptible does so soon), or the first error of the sink.
// It allocates only the buffers of episodes, which it keeps.
func (t *Table) Play(ctx context.Context, seed, first, n uint64, sink Sink) error {
	if sink == nil {
		return errors.New("the sink for the episodes is nil")
	}
	if n > math.MaxUint64-first {
		return fmt.Errorf("episodes %d and %d more: too many", first, n)
	}
	t.clear()
	t.seed, t.next, t.due, t.end = seed, first, first, first+n
	t.start()
	Until(ctx, t.seats...)
	for t.live > 0 {
		if !t.turn(ctx.Done()) {
			return context.Cause(ctx)
		}
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
	t, err := NewTable(v, seats, 0)
	if err != nil {
		return err
	}
	return t.Play(ctx, seed, first, n, sink)
}

// clear makes all games idle, after an earlier Play that failed.
func (t *Table) clear() {
	for _, list := range [][]*Episode{t.games, t.held} {
		for i, e := range list {
			if e != nil {
				t.giveBack(e)
				t.free = append(t.free, e)
				list[i] = nil
			}
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
		Orders: e.Orders[:0], Ends: e.Ends[:0], Chosen: e.Chosen[:0], Searches: e.Searches.empty(), Rows: e.Rows,
		Networks: t.noNetworks(e.Networks),
	}
	switch {
	case e.Rows != nil:
		e.Rows.empty()
	case t.keep != 0:
		e.Rows = new(Rows)
	}
	return e
}

// turn plays one turn of all games. Idle games do nothing. It gives up, and returns
// false, once done is closed.
func (t *Table) turn(done <-chan struct{}) bool {
	t.v.Observe(t.batch)
	if t.live < len(t.games) {
		for i, e := range t.games {
			if e == nil {
				clear(t.batch.OrderLen[i*t.players : (i+1)*t.players])
			}
		}
	}
	rows := t.rows
	if t.opening != nil {
		rows = t.open()
	}
	for p, policy := range t.seats {
		if len(rows[p]) > 0 {
			policy.Act(t.v, t.batch, rows[p])
		}
		select {
		case <-done:
			return false
		default:
		}
		if t.searches != nil && t.searches.seats[p] != nil {
			t.searches.look(p, rows[p])
		}
		t.countNetwork(p, rows[p])
	}
	for p, c := range t.mixtures {
		if c != nil {
			for _, row := range rows[p] {
				t.chosen[row] = c.Chosen(t.batch, row)
			}
		}
	}
	t.v.Step(t.batch)
	return true
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
		if t.keep != 0 {
			t.keepTurn(e, i)
		}
		if t.mixtures != nil {
			e.Chosen = append(e.Chosen, t.chosen[row:row+t.players]...)
		}
		for range t.players {
			if t.searches != nil {
				e.Searches.add(&t.searches.rows[row])
			}
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
	if t.keep&(env.WantPlanes|env.WantPacked|env.WantScalars) != 0 {
		t.v.ObserveGame(t.batch, i) // its turn is recorded
		e.Rows.end(t.kept, i*t.players, t.players)
	}
	for p := range t.players {
		e.Outcome[p] = t.v.Outcome(i, sim.Player(p))
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
		err := sink.Episode(e)
		t.giveBack(e)
		if err != nil {
			return fmt.Errorf("episode %d: %w", e.ID, err)
		}
	}
}
