package rollout

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"moonfarm/env"
	"moonfarm/sim"
	"moonfarm/sim/prng"
)

// window bounds the episodes that Games hold for each game of the vector: the
// episodes in play and the ended ones that wait for an older one, since sinks get
// episodes in order. While one long episode is played, each of the other games
// finishes about this many episodes and then waits. So memory does not grow with
// the number of episodes.
const window = 4

// GameSeed returns the seed with which episode number id of a run is Reset.
func GameSeed(seed, id uint64) uint64 { return prng.StreamSeed(seed, id, 0, 0, prng.PurposeGame) }

// Games are the games of a Vector with a policy at each seat. They play ranges of
// episodes, any number of ranges one after the other, and reuse their buffers.
// They are not safe for concurrent use.
type Games struct {
	v         env.Vector
	seats     []Policy
	names     []string
	players   int
	maxOrders int

	wants   env.Want // slabs of batch
	keep    env.Want // slabs that are kept in Episode.Rows; 0: episodes have no Rows
	batch   *env.Batch
	kept    *env.Batch // batch with only the slabs of keep
	playing []*Episode // the episode each game plays; nil: idle
	live    int        // games that are not idle
	rows    [][]int32  // per seat, the rows of the games that are not idle

	mixtures []Mixture // per seat, nil for other policies; empty: no seat has a Mixture
	chosen   []uint8   // [rows], if there are mixtures

	networks bool      // a seat has a network
	searches *searches // nil: no seat has a Searcher
	opening  *opening  // nil: there is no opening
	asker    *Asker    // nil: no policy is asked
	asked    []int32   // scratch: the rows in play, game after game

	held   []*Episode // by ID modulo the window: ended, waiting for an older one
	free   []*Episode // buffers to use again
	pages  []*Page    // pages of Rows to use again
	seed   uint64
	next   uint64 // episode to start next
	oldest uint64 // episode to deliver next
	end    uint64 // first episode not to be played
}

// Cast makes the policies of Games.
type Cast struct {
	Seats   []Maker // of each seat
	Opening Opening // plays the first turns of every episode
	// Ask makes a policy that is asked what it would choose, in all rows: the episodes
	// hold its orders (Episode.AskedOrders). nil: none is asked.
	Ask Maker
	// Keep makes the episodes hold Rows with these slabs and the reward. A caller that
	// writes rows then need not play every turn a second time; the price is memory: see
	// MostRowBytes. 0: episodes have no Rows.
	Keep env.Want
}

// NewGames returns the games of v with the policies of a cast. The caller must Close
// them. NewGames fails if there are not as many policies as seats.
func NewGames(v env.Vector, c Cast) (*Games, error) {
	seats, err := NewSeats(c.Seats, v.Spec())
	if err != nil {
		return nil, err
	}
	g, err := seated(v, seats, c.Keep)
	if err != nil {
		return nil, errors.Join(err, CloseSeats(seats...))
	}
	if c.Opening.Turns > 0 {
		err = g.open(c.Opening)
	}
	if err == nil && c.Ask != nil {
		if g.asker, err = NewAsker(v, c.Ask); err == nil {
			g.asked = make([]int32, 0, g.players*len(g.playing))
		}
	}
	if err != nil {
		return nil, errors.Join(err, g.Close())
	}
	g.allocate()
	return g, nil
}

// allocate makes the batch, with all slabs that are wanted.
func (g *Games) allocate() {
	g.batch = env.NewBatch(g.v.Spec(), len(g.playing), g.wants)
	g.batch.Idle = make([]bool, len(g.playing))
	g.kept = withSlabs(g.batch, g.keep)
}

// seated returns games without a batch, an opening and a policy that is asked. A policy may
// sit at several seats.
func seated(v env.Vector, seats []Policy, keep env.Want) (*Games, error) {
	s := v.Spec()
	if len(seats) != s.Info.Players {
		return nil, fmt.Errorf("%s has %d seats, got %d policies", s.Info.Name, s.Info.Players, len(seats))
	}
	if keep&env.WantAction != 0 { // the action that the orders encode
		keep = keep&^env.WantAction | env.WantPlayed
	}
	g := &Games{
		v: v, seats: seats, keep: keep, wants: keep,
		players: s.Info.Players, maxOrders: s.Info.MaxOrders,
		playing:  make([]*Episode, s.Games),
		rows:     make([][]int32, len(seats)),
		held:     make([]*Episode, window*s.Games),
		networks: slices.ContainsFunc(seats, Has[Networked]),
	}
	for p, policy := range seats {
		g.wants |= policy.Wants()
		g.names = append(g.names, policy.Name())
		g.rows[p] = make([]int32, 0, s.Games)
	}
	g.findSearchers()
	g.findMixtures()
	return g, nil
}

// Close closes the policies.
func (g *Games) Close() error {
	all := CloseSeats(g.seats...)
	if g.opening != nil {
		all = errors.Join(all, CloseSeats(g.opening.policy))
	}
	if g.asker != nil {
		all = errors.Join(all, g.asker.Close())
	}
	return all
}

// findMixtures lists the seats whose policies are mixtures.
func (g *Games) findMixtures() {
	for p, policy := range g.seats {
		c, ok := policy.(Mixture)
		if ok && g.mixtures == nil {
			g.mixtures, g.chosen = make([]Mixture, g.players), make([]uint8, g.players*len(g.playing))
		}
		if ok {
			g.mixtures[p] = c
		}
	}
}

// Play plays the episodes first … first+n−1 of the run with that master seed
// and gives them to the sink in order. It returns the first error of the sink.
// When the context is done, it returns the context's cause after the current Act;
// an Interruptible policy ends its Act early. Play allocates only the buffers of
// episodes, which it keeps.
func (g *Games) Play(ctx context.Context, seed, first, n uint64, sink Sink) error {
	if n > math.MaxUint64-first {
		return fmt.Errorf("episodes %d and %d more: too many", first, n)
	}
	g.clear()
	g.seed, g.next, g.oldest, g.end = seed, first, first, first+n
	g.start()
	Until(ctx, g.seats...)
	if g.asker != nil {
		Until(ctx, g.asker.Policy())
	}
	for g.live > 0 {
		if !g.turn(ctx.Done()) {
			return context.Cause(ctx)
		}
		if g.record() == 0 {
			continue
		}
		if err := g.deliver(sink); err != nil {
			return err
		}
		g.start()
	}
	return nil
}

// Shard plays the episodes first … first+n−1 of the run with that master seed
// on v, with policies that the caller closes.
func Shard(ctx context.Context, v env.Vector, seats []Policy, seed, first, n uint64, sink Sink) error {
	g, err := seated(v, seats, 0)
	if err != nil {
		return err
	}
	g.allocate()
	return g.Play(ctx, seed, first, n, sink)
}

// clear makes all games idle, after an earlier Play that failed.
func (g *Games) clear() {
	for _, list := range [][]*Episode{g.playing, g.held} {
		for i, e := range list {
			if e != nil {
				g.recycle(e)
				g.free = append(g.free, e)
				list[i] = nil
			}
		}
	}
	for i := range g.batch.Idle {
		g.batch.Idle[i] = true
	}
	g.live = 0
}

// start gives idle games the next episodes, up to the limit of the window.
func (g *Games) start() {
	limit := g.end
	if w := uint64(len(g.held)); limit-g.oldest > w {
		limit = g.oldest + w
	}
	for i := 0; i < len(g.playing) && g.next < limit; i++ {
		if g.playing[i] == nil {
			e := g.episode(g.next)
			g.v.Reset(i, e.Seed)
			g.playing[i], g.batch.Idle[i] = e, false
			g.live++
			g.next++
		}
	}
	if g.live < len(g.playing) || len(g.rows[0]) < g.live {
		g.list()
	}
}

// list lists the rows in play.
func (g *Games) list() {
	for p := range g.rows {
		g.rows[p] = g.rows[p][:0]
		for i, e := range g.playing {
			if e != nil {
				g.rows[p] = append(g.rows[p], int32(i*g.players+p))
			}
		}
	}
}

// episode returns an empty Episode with that number. It reuses a buffer if one is
// free.
func (g *Games) episode(id uint64) *Episode {
	var e *Episode
	if last := len(g.free) - 1; last >= 0 {
		e, g.free = g.free[last], g.free[:last]
	} else {
		e = new(Episode)
	}
	*e = Episode{
		ID: id, Seed: GameSeed(g.seed, id), Policies: g.names, Players: g.players,
		Orders: e.Orders[:0], Ends: e.Ends[:0], Chosen: e.Chosen[:0], Searches: e.Searches.empty(), Rows: e.Rows,
		AskedOrders: e.AskedOrders[:0], AskedEnds: e.AskedEnds[:0],
		Networks: g.zeroCounts(e.Networks),
	}
	switch {
	case e.Rows != nil:
		e.Rows.empty()
	case g.keep != 0:
		e.Rows = new(Rows)
	}
	return e
}

// turn plays one turn of all games that are not idle. It stops and returns
// false once done is closed.
func (g *Games) turn(done <-chan struct{}) bool {
	g.v.Observe(g.batch)
	if g.asker != nil {
		g.ask()
	}
	rows := g.rows
	if g.opening != nil {
		rows = g.openTurn()
	}
	for p, policy := range g.seats {
		if len(rows[p]) > 0 {
			policy.Act(g.v, g.batch, rows[p])
		}
		select {
		case <-done:
			return false
		default:
		}
		if g.searches != nil {
			g.collect(p, rows[p])
		}
		if g.networks {
			g.countNetwork(p, rows[p])
		}
	}
	for p, c := range g.mixtures {
		if c != nil {
			for _, row := range rows[p] {
				g.chosen[row] = c.Chosen(g.batch, row)
			}
		}
	}
	g.v.Step(g.batch)
	return true
}

// record appends the orders of the turn to the episodes and returns the number of
// episodes that ended.
func (g *Games) record() (ended int) {
	b, row := g.batch, 0
	for i, e := range g.playing {
		if e == nil {
			row += g.players
			continue
		}
		if g.keep != 0 {
			g.keepTurn(e, i)
		}
		if g.mixtures != nil {
			e.Chosen = append(e.Chosen, g.chosen[row:row+g.players]...)
		}
		for range g.players {
			if g.searches != nil {
				e.Searches.add(&g.searches.rows[row])
			}
			at := row * g.maxOrders
			e.Orders = append(e.Orders, b.Orders[at:at+int(b.OrderLen[row])]...)
			e.Ends = append(e.Ends, int32(len(e.Orders)))
			row++
		}
		e.Turns++
		if s := b.Status[i]; s != sim.Running {
			g.finish(i, s)
			ended++
		}
	}
	return ended
}

// finish closes the episode of game i and holds it.
func (g *Games) finish(i int, s sim.Status) {
	e := g.playing[i]
	e.Status = s
	if g.keep&(env.WantPlanes|env.WantPacked|env.WantScalars) != 0 {
		g.v.ObserveGame(g.batch, i) // overwrites the rows of its last turn, which are recorded
		e.Rows.end(g.kept, i*g.players, g.players)
	}
	for p := range g.players {
		e.Outcome[p] = g.v.Outcome(i, sim.Player(p))
	}
	g.held[e.ID%uint64(len(g.held))] = e
	g.playing[i], g.batch.Idle[i] = nil, true
	g.live--
}

// deliver gives the sink the ended episodes that follow the last delivered one.
func (g *Games) deliver(sink Sink) error {
	for {
		slot := &g.held[g.oldest%uint64(len(g.held))]
		e := *slot
		if e == nil {
			return nil
		}
		*slot = nil
		g.free = append(g.free, e)
		g.oldest++
		err := sink.Episode(e)
		g.recycle(e)
		if err != nil {
			return fmt.Errorf("episode %d: %w", e.ID, err)
		}
	}
}
