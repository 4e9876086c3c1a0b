package rollout

import (
	"context"
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

	// Vector makes the games of one worker, and Cast their policies. They are called by
	// several goroutines at once.
	Vector func() (env.Vector, error)
	Cast
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
	run   *run
	games *Games
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
	games, err := NewGames(v, r.job.Cast)
	return &ShardPlayer{r, games}, err
}

// Close closes the policies.
func (s *ShardPlayer) Close() error { return s.games.Close() }

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
