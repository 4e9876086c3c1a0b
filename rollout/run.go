package rollout

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"moonfarm/env"
	"moonfarm/rollout/parallel"
)

// Job is a run of episodes First … First+Episodes−1, in shards of ShardEpisodes.
// Shard s begins with episode First + s*ShardEpisodes. The content of an episode
// depends only on its number, Seed, the vector's rules, the seats and the opening.
type Job struct {
	Seed          uint64
	First         uint64
	Episodes      uint64
	ShardEpisodes uint64

	// Vector makes the games of one worker, and Seats the policy of each
	// seat. They are called by several goroutines at once.
	Vector func() (env.Vector, error)
	Seats  []Maker
	// Opening plays the first turns of every episode.
	Opening Opening
	// Ask makes a policy that is asked what it would choose, in all rows: the episodes
	// hold its orders (Episode.AskedOrders). nil: none is asked.
	Ask Maker
	// Keep makes the episodes hold rows of these slabs: see NewGames.
	Keep env.Want
}

// Shards returns the number of shards of the job; the last may be smaller.
func (j Job) Shards() int {
	if j.ShardEpisodes == 0 {
		return 0
	}
	n := j.Episodes / j.ShardEpisodes
	if j.Episodes%j.ShardEpisodes != 0 {
		n++
	}
	return int(n)
}

// Range returns the first episode of a shard and the number of its episodes. It
// panics if the job has no such shard.
func (j Job) Range(shard int) (first, n uint64) {
	if shard < 0 || shard >= j.Shards() {
		panic(fmt.Sprintf("rollout: Range of shard %d: the job has %d, from 0", shard, j.Shards()))
	}
	before := uint64(shard) * j.ShardEpisodes
	return j.First + before, min(j.ShardEpisodes, j.Episodes-before)
}

// ShardSink takes the episodes of one shard. Commit is called after the last
// episode; Abort is called instead after an error or when the run is cancelled.
// Exactly one of the two is called, once, as the last call. A Commit that fails is
// not followed by Abort.
type ShardSink interface {
	Sink
	Commit() error
	Abort()
}

// Counts are the progress of a Run.
type Counts struct {
	Shards   int    // committed
	Episodes uint64 // given to the sinks, including those of unfinished shards
	Turns    uint64 // of these episodes
}

// Options control how a Run plays a job. They do not change the episodes.
type Options struct {
	Workers int // goroutines, each with its own vector and policies; at least 1
	// Progress, if not nil, is called with the counts after every shard and
	// after every few thousand turns of a worker. It is called by one worker at a
	// time, and blocks the others.
	Progress func(Counts)
}

// Run plays the given shards of the job. Workers take them from the list in
// order; open makes the sink of each. The first error of a sink, a maker or open
// stops all workers and is returned, with the shard's number if it concerns one
// shard. If the context is done, unfinished shards are aborted and its cause is
// returned.
func Run(ctx context.Context, j Job, shards []int, open func(shard int) (ShardSink, error), o Options) error {
	if err := j.check(open); err != nil {
		return err
	}
	for _, s := range shards {
		if s < 0 || s >= j.Shards() {
			return fmt.Errorf("shard %d: the job has %d", s, j.Shards())
		}
	}
	r := &run{job: j, open: open, progress: o.Progress}
	return parallel.Do(ctx, o.Workers, len(shards), parallel.Items(shards), r.player,
		func(ctx context.Context, p *ShardPlayer, _, shard int) error {
			sink, err := r.open(shard)
			if err == nil {
				err = p.Play(ctx, shard, sink)
			}
			if err != nil {
				return fmt.Errorf("shard %d: %w", shard, err)
			}
			return nil
		})
}

// check fails for an incomplete job.
func (j *Job) check(open func(int) (ShardSink, error)) error {
	if j.Vector == nil || open == nil {
		return errors.New("a run needs Job.Vector and open, got nil")
	}
	for p, maker := range j.Seats {
		if maker == nil {
			return fmt.Errorf("the maker of the policy of seat %d is nil", p)
		}
	}
	return nil
}

// run is the state that the workers share.
type run struct {
	job      Job
	open     func(shard int) (ShardSink, error)
	progress func(Counts)

	mu     sync.Mutex
	counts Counts
}

// count adds to the counts and reports them.
func (r *run) count(c Counts) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts.Shards += c.Shards
	r.counts.Episodes += c.Episodes
	r.counts.Turns += c.Turns
	if r.progress != nil {
		r.progress(r.counts)
	}
}

// ShardPlayer plays shards of a job, one after the other, with games and policies
// of its own. It is not safe for concurrent use.
type ShardPlayer struct {
	run    *run
	seats  []Policy
	opener Policy // plays the opening; nil: there is no opening
	games  *Games
}

// NewShardPlayer makes a ShardPlayer with its games and policies. The caller must
// Close it.
func NewShardPlayer(j Job) (*ShardPlayer, error) { return (&run{job: j}).player() }

// player makes a ShardPlayer for the run.
func (r *run) player() (*ShardPlayer, error) {
	v, err := r.job.Vector()
	if err != nil {
		return nil, err
	}
	if v == nil {
		return nil, errors.New("Job.Vector made a nil Vector")
	}
	p := &ShardPlayer{run: r}
	if p.seats, err = NewSeats(r.job.Seats, v.Spec()); err != nil {
		return nil, err
	}
	if p.games, err = NewGames(v, p.seats, r.job.Keep); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	if err := p.makeOpener(r.job.Opening); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	if r.job.Ask != nil {
		if err := p.games.Ask(r.job.Ask); err != nil {
			return nil, errors.Join(err, p.Close())
		}
	}
	return p, nil
}

// Close closes the policies.
func (s *ShardPlayer) Close() error {
	all := s.seats[:len(s.seats):len(s.seats)]
	if s.opener != nil {
		all = append(all, s.opener)
	}
	if s.games == nil {
		return CloseSeats(all...)
	}
	return errors.Join(CloseSeats(all...), s.games.CloseAsked())
}

// Play plays one shard into its sink, as Run does. After an error the ShardPlayer
// must not be used again.
func (s *ShardPlayer) Play(ctx context.Context, shard int, sink ShardSink) error {
	first, n := s.run.job.Range(shard)
	m := meter{run: s.run, sink: sink}
	if err := s.games.Play(ctx, s.run.job.Seed, first, n, &m); err != nil {
		sink.Abort()
		return err
	}
	if err := sink.Commit(); err != nil {
		return err
	}
	m.c.Shards = 1
	s.run.count(m.c)
	return nil
}

// meterTurns is the number of turns that a worker plays between two reports.
const meterTurns = 1 << 12

// meter counts the episodes and passes them on to the sink.
type meter struct {
	run  *run
	sink Sink
	c    Counts
}

func (m *meter) Episode(e *Episode) error {
	if err := m.sink.Episode(e); err != nil {
		return err
	}
	m.c.Episodes++
	m.c.Turns += uint64(e.Turns)
	if m.c.Turns >= meterTurns {
		m.run.count(m.c)
		m.c = Counts{}
	}
	return nil
}
