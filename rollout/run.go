package rollout

import (
	"context"
	"fmt"
	"io"
	"sync"

	"moonfarm/env"
)

// Job says what to play: Episodes episodes in shards of ShardEpisodes, of
// which shard s holds the episodes s*ShardEpisodes and following. The content
// of an episode depends on Seed, the vector's rules and the seats alone.
type Job struct {
	Seed          uint64
	Episodes      uint64
	ShardEpisodes uint64

	// Vector makes the games of one worker, and Seats the policy of each
	// seat. They are called by several goroutines at once.
	Vector func() (env.Vector, error)
	Seats  []Maker
	// KeepRows makes the episodes hold their rows, with the slabs of Keep: see
	// Table.Keep.
	KeepRows bool
	Keep     env.Want
}

// Shards is the number of shards of the job; the last may be smaller.
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

// Range tells the first episode of a shard and how many it holds.
func (j Job) Range(shard int) (first, n uint64) {
	first = uint64(shard) * j.ShardEpisodes
	return first, min(j.ShardEpisodes, j.Episodes-first)
}

// ShardSink takes the episodes of one shard and is told how it went: Commit
// after the last episode, or Abort if there was an error or the run was
// cancelled. One of the two is called, once, and nothing after it; Abort is not
// called for a Commit that failed.
type ShardSink interface {
	Sink
	Commit() error
	Abort()
}

// Counts tells how far a Run is.
type Counts struct {
	Shards   int    // committed
	Episodes uint64 // given to the sinks, those of the shards in hand too
	Turns    uint64 // of these episodes
}

// Options say how a Run goes about a job. They change nothing in what is
// played.
type Options struct {
	Workers int // goroutines, each with its own vector and policies; at least 1
	// Progress, if not nil, is told the counts after every shard and now and
	// then in between (every few thousand turns of a worker). Calls come one
	// at a time, and workers wait for them.
	Progress func(Counts)
}

// Run plays the given shards of the job. Workers take them from the list in
// order; open makes the sink of each. The first error of a sink, a maker or
// open stops the others and is returned; it names the shard if there is one. If
// the context is done, the shards in hand are aborted and its cause is returned.
func Run(ctx context.Context, j Job, shards []int, open func(shard int) (ShardSink, error), o Options) error {
	for _, s := range shards {
		if s < 0 || s >= j.Shards() {
			return fmt.Errorf("shard %d: the job has %d", s, j.Shards())
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r := &run{job: j, shards: shards, open: open, progress: o.Progress}
	var wg sync.WaitGroup
	for range min(max(o.Workers, 1), len(shards)) {
		wg.Go(func() {
			if err := r.work(ctx); err != nil {
				cancel(err) // the first cause stays
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// run is what the workers share.
type run struct {
	job      Job
	open     func(shard int) (ShardSink, error)
	progress func(Counts)

	mu     sync.Mutex
	shards []int // still to be played
	counts Counts
}

// take removes the next shard from the list.
func (r *run) take() (shard int, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.shards) == 0 {
		return 0, false
	}
	shard, r.shards = r.shards[0], r.shards[1:]
	return shard, true
}

// count adds to the counts and tells them.
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

// work is one worker: it sets its own table and plays shards until none is
// left or the context is done.
func (r *run) work(ctx context.Context) (err error) {
	v, err := r.job.Vector()
	if err != nil {
		return err
	}
	seats := make([]Policy, 0, len(r.job.Seats))
	defer func() {
		for _, p := range seats {
			if c, ok := p.(io.Closer); ok {
				if e := c.Close(); err == nil {
					err = e
				}
			}
		}
	}()
	for _, maker := range r.job.Seats {
		p, err := maker(v.Spec())
		if err != nil {
			return err
		}
		seats = append(seats, p)
	}
	t, err := NewTable(v, seats)
	if err != nil {
		return err
	}
	if r.job.KeepRows {
		t.Keep(r.job.Keep)
	}
	for ctx.Err() == nil {
		shard, ok := r.take()
		if !ok {
			return nil
		}
		if err := r.play(ctx, t, shard); err != nil {
			return fmt.Errorf("shard %d: %w", shard, err)
		}
	}
	return nil
}

// play plays one shard into its sink.
func (r *run) play(ctx context.Context, t *Table, shard int) error {
	sink, err := r.open(shard)
	if err != nil {
		return err
	}
	first, n := r.job.Range(shard)
	m := meter{run: r, sink: sink}
	if err := t.Play(ctx, r.job.Seed, first, n, &m); err != nil {
		sink.Abort()
		return err
	}
	if err := sink.Commit(); err != nil {
		return err
	}
	m.c.Shards = 1
	r.count(m.c)
	return nil
}

// meterTurns is how many turns a worker plays before it reports them.
const meterTurns = 1 << 12

// meter counts the episodes on their way to the sink.
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
