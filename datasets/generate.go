package datasets

import (
	"context"
	"fmt"
	"sync"

	"moonfarm/env"
	"moonfarm/rollout"
)

// Options say how to go about a Job. They leave no trace in the dataset.
type Options struct {
	Workers int // goroutines; at least 1
	Games   int // games that a worker plays side by side; 0: 8
	// Progress, if not nil, is told how far the run is, one call at a time.
	Progress func(Progress)

	disk  disk
	spare spare // for tests
}

// spare is what tests do not keep from play, so that it is played again.
type spare uint8

const (
	spareRows    spare = 1 // all but the rewards
	spareRewards spare = 2 // all
)

// Progress tells how far a run is. Shards of earlier runs count as done.
type Progress struct {
	Shards, AllShards     int
	Episodes, AllEpisodes uint64
	Rows                  uint64 // step rows made by this run, up to the last report of each worker
}

// Result tells what a run did.
type Result struct {
	Manifest *Manifest
	Made     int  // shards made by this run
	Found    int  // shards of earlier runs
	Complete bool // the dataset was complete already
}

// Source yields the episodes of shards from elsewhere, such as recordings of an
// original engine. It is called by several goroutines at once.
type Source interface {
	// Shard yields the episodes of the shard in order, numbered on from the
	// shards before, each with a text that says where it comes from. It
	// returns the error of yield, its own, or the context's.
	Shard(ctx context.Context, shard int, yield func(e *rollout.Episode, source string) error) error
}

// Generate plays the shards of the Job that dir does not hold yet, and writes
// the manifest when none is missing. dir is made if need be; it must be empty,
// or hold what an earlier run of the same Job left or completed. If the context
// is done or anything fails, whole shards stay, and the same call continues;
// the files are then the same, byte for byte, as without the interruption.
//
// Errors: a Job that cannot be; a folder of another Job or other files; those
// of makers, games and the disk.
func Generate(ctx context.Context, dir string, j Job, m Makers, o Options) (Result, error) {
	if len(j.Shards) > 0 {
		return Result{}, fmt.Errorf("a job of imported episodes cannot be generated")
	}
	r, err := newRun(dir, j, m, o)
	if err != nil {
		return Result{}, err
	}
	return r.make(func(missing []int) error {
		return rollout.Run(ctx, r.rollout(), missing, r.open, rollout.Options{Workers: o.Workers, Progress: r.counts})
	})
}

// Write does the same as Generate for episodes from elsewhere: the Job has
// Shards and a Source text instead of policies and a seed.
func Write(ctx context.Context, dir string, j Job, m Makers, from Source, o Options) (Result, error) {
	if len(j.Shards) == 0 {
		return Result{}, fmt.Errorf("a job without shards")
	}
	r, err := newRun(dir, j, m, o)
	if err != nil {
		return Result{}, err
	}
	return r.make(func(missing []int) error { return r.copy(ctx, from, missing) })
}

// run is one call of Generate or Write.
type run struct {
	folder  folder
	layout  *layout
	makers  Makers
	options Options
	seats   []rollout.Maker
	command string

	mu       sync.Mutex
	have     map[int]sidecar
	idle     []*encoder // kept for the next shard
	progress Progress
	found    uint64 // episodes of earlier runs
}

func newRun(dir string, j Job, m Makers, o Options) (*run, error) {
	j = j.withDefaults()
	if err := j.check(); err != nil {
		return nil, err
	}
	specs, err := j.complete(m)
	if err != nil {
		return nil, err
	}
	var seats []rollout.Maker
	if len(j.Shards) == 0 {
		if seats, j.Policies, err = makeSeats(m, j, specs[0]); err != nil {
			return nil, err
		}
	}
	usual, err := m.Vector("", j.config(1))
	if err != nil {
		return nil, err
	}
	return &run{
		folder: folder{dir, o.disk, j}, layout: newLayout(j, specs), makers: m, options: o, seats: seats,
		command:  j.command(usual.Spec().Info.Config),
		progress: Progress{AllShards: int(j.shards()), AllEpisodes: j.Episodes},
	}, nil
}

// rollout is the Job as package rollout has it.
func (r *run) rollout() rollout.Job {
	j, games := &r.layout.job, r.options.Games
	if games == 0 {
		games = 8
	}
	keep := r.layout.keep(games)
	if r.options.spare != 0 {
		keep = 0
	}
	return rollout.Job{
		Seed: j.Seed, Episodes: j.Episodes, ShardEpisodes: j.ShardEpisodes, Seats: r.seats,
		KeepRows: r.options.spare != spareRewards, Keep: keep,
		Vector: func() (env.Vector, error) { return r.makers.Vector(j.Rules[0], j.config(games)) },
	}
}

// makeSeats returns the makers of the policies and their canonical names. Each
// policy is made once, to see that it can be.
func makeSeats(m Makers, j Job, s env.Spec) (seats []rollout.Maker, names []string, err error) {
	for _, text := range j.Policies {
		maker, err := m.Policy(text)
		if err != nil {
			return nil, nil, err
		}
		p, err := maker(s)
		if err != nil {
			return nil, nil, err
		}
		seats, names = append(seats, maker), append(names, p.Name())
		if err := closePolicy(p); err != nil {
			return nil, nil, err
		}
	}
	return seats, names, nil
}

// make makes the missing shards with play and completes the folder.
func (r *run) make(play func(missing []int) error) (Result, error) {
	if err := r.folder.disk.mkdir(r.folder.dir); err != nil {
		return Result{}, err
	}
	release, err := lock(r.folder.dir)
	if err != nil {
		return Result{}, err
	}
	defer release()
	have, done, err := r.folder.begin()
	if err != nil {
		return Result{}, err
	}
	if done {
		m, err := readManifest(r.folder.dir)
		return Result{Manifest: m, Found: r.progress.AllShards, Complete: true}, err
	}
	if r.have = have; have == nil {
		r.have = map[int]sidecar{}
	}
	result := Result{Found: len(have)}
	var missing []int
	for i := range r.progress.AllShards {
		if c, ok := r.have[i]; ok {
			r.found += c.Episodes.Rows
		} else {
			missing = append(missing, i)
		}
	}
	r.progress.Shards, r.progress.Episodes = len(have), r.found
	if len(missing) > 0 {
		if err := play(missing); err != nil {
			return Result{}, err
		}
	}
	result.Made = len(missing)
	result.Manifest = newManifest(r.layout, r.command)
	return result, r.folder.finish(result.Manifest, r.have)
}

// counts passes on the progress of rollout.Run.
func (r *run) counts(c rollout.Counts) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.progress.Episodes = r.found + c.Episodes
	r.progress.Rows = c.Turns * uint64(r.layout.specs[0].Info.Players)
	if r.options.Progress != nil {
		r.options.Progress(r.progress)
	}
}

// copy writes the missing shards of a Source.
func (r *run) copy(ctx context.Context, from Source, missing []int) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan int, len(missing))
	for _, i := range missing {
		next <- i
	}
	close(next)
	var wg sync.WaitGroup
	for range min(max(r.options.Workers, 1), len(missing)) {
		wg.Go(func() {
			for i := range next {
				if ctx.Err() != nil {
					return
				}
				if err := r.copyShard(ctx, from, i); err != nil {
					cancel(fmt.Errorf("shard %d: %w", i, err)) // the first cause stays
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

func (r *run) copyShard(ctx context.Context, from Source, i int) error {
	w, err := r.openShard(i)
	if err != nil {
		return err
	}
	turns := uint64(0)
	err = from.Shard(ctx, i, func(e *rollout.Episode, source string) error {
		turns += uint64(e.Turns)
		return w.x.episode(e, source)
	})
	if err != nil {
		w.Abort()
		return err
	}
	if err := w.Commit(); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	_, n, _ := r.layout.job.shard(i)
	r.progress.Episodes += n
	r.progress.Rows += turns * uint64(w.x.players)
	if r.options.Progress != nil {
		r.options.Progress(r.progress)
	}
	return nil
}
