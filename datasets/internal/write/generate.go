// Package write makes datasets: it plays or copies the missing shards of a run into its folder, and
// completes it.
package write

import (
	"context"
	"fmt"
	"sync"

	"moonfarm/datasets/internal/about"
	"moonfarm/datasets/internal/disk"
	"moonfarm/datasets/internal/read"
	"moonfarm/datasets/internal/store"
	"moonfarm/env"
	"moonfarm/rollout"
	"moonfarm/rollout/filelock"
	"moonfarm/rollout/parallel"
)

// Options say how a Job is run. The bytes of the dataset do not depend on them.
type Options struct {
	Workers int // goroutines; at least 1
	Games   int // games that a worker plays side by side; 0: 8
	// With Parts > 1, Generate makes only part number Part of the shards, from 0, and
	// does not complete the dataset: Merge joins the parts.
	Part, Parts int
	// Strict makes a run fail at the first episode in which a network gave NaN or
	// infinite logits or values.
	Strict bool
	// Alone means that only this Run makes the shards. Its Finish then checks that the
	// files it stored exist, as Generate does, but does not read them again.
	Alone bool
	// Within, if not empty, is a folder above the dataset's: no link leads out of it to
	// another folder, at no time.
	Within string
	// Build, if not empty, is the Build that OpenRun expects. It fails before it writes
	// anything if its own is another.
	Build string
	// Locks keep other runs out of a folder; nil: the default locks.
	Locks *filelock.Locker
	// Progress, if not nil, is called with the progress of the run, never by two
	// goroutines at once.
	Progress func(Progress)

	// Wrap, if not nil, wraps the store of the files: tests make it fail.
	Wrap func(store.Store) store.Store
}

// Progress is how far a run is. Shards of earlier runs count as done.
type Progress struct {
	Shards, AllShards     int
	Episodes, AllEpisodes uint64
	Rows                  uint64 // step rows made by this run, as of each worker's last report
}

// RunResult tells what a run made.
type RunResult struct {
	Manifest *about.Manifest // of a part: with its totals and without an index
	Made     int             // shards made by this run
	Found    int             // shards of earlier runs
	// AlreadyComplete reports whether earlier runs had completed the dataset, and all of its
	// files are there in their sizes; this run then wrote nothing.
	AlreadyComplete bool
}

// Size is the size of a dataset, and how much of it a run made. The help of moonfarm
// generate documents its JSON keys.
type Size struct {
	Episodes uint64 `json:"episodes"`
	Distinct uint64 `json:"distinct"`
	Turns    uint64 `json:"turns"`
	Rows     uint64 `json:"rows"`
	Bytes    uint64 `json:"bytes"`
	Shards   int    `json:"shards"`
	Made     int    `json:"shards_made"`
	Found    int    `json:"shards_found"`
}

// Size returns the size of the dataset.
func (r RunResult) Size() Size {
	t := r.Manifest.Totals
	return Size{t.Episodes, t.Distinct, t.Turns, t.Rows, t.Bytes, int(t.Shards), r.Made, r.Found}
}

// Source yields the episodes of shards from elsewhere, such as recordings of an
// original engine. Several goroutines call it at once.
type Source interface {
	// Shard yields the episodes of the shard in order, numbered on from the shards
	// before, each with a text that names its source. It returns the error of yield,
	// its own, or the context's.
	Shard(ctx context.Context, shard int, yield func(e *rollout.Episode, source string) error) error
}

// Generate plays the missing shards of a Job, and completes the dataset.
func Generate(ctx context.Context, dir string, j about.Job, m about.Makers, o Options) (RunResult, error) {
	if len(j.Shards) > 0 {
		return RunResult{}, fmt.Errorf("a job of imported episodes cannot be generated")
	}
	if p := max(o.Parts, 1); o.Parts < 0 || o.Part < 0 || o.Part >= p || p > about.MaxShards {
		return RunResult{}, fmt.Errorf("part %d of %d, from 0; there may be %d", o.Part, o.Parts, about.MaxShards)
	}
	r, err := NewRun(ctx, dir, j, m, o)
	if err != nil {
		return RunResult{}, err
	}
	return r.Generate(ctx)
}

// Write writes the missing shards of a Job from a Source, and completes the dataset.
func Write(ctx context.Context, dir string, j about.Job, m about.Makers, from Source, o Options) (RunResult, error) {
	if len(j.Shards) == 0 {
		return RunResult{}, fmt.Errorf("a job without shards")
	}
	r, err := NewRun(ctx, dir, j, m, o)
	if err != nil {
		return RunResult{}, err
	}
	return r.make(ctx, func(missing []int) error { return r.copy(ctx, from, missing) })
}

// run is one call of Generate or Write.
type run struct {
	Folder  folder
	local   *disk.Folder // the folder on this machine; nil: the files are in a bucket
	Layout  *about.Layout
	makers  about.Makers
	options Options
	seats   about.SeatMakers
	opening rollout.Opening
	Command string

	Place func(shard int) about.Place

	mu       sync.Mutex
	have     []uint64            // digest of the sidecar of each shard; 0: it is missing
	idle     []*Encoder          // kept for the next shard
	made     map[int]about.Files // the shards of a complete dataset that are made again
	progress Progress
	found    uint64 // episodes of earlier runs
}

// NewRun checks a job, and makes what its run needs.
func NewRun(ctx context.Context, dir string, j about.Job, m about.Makers, o Options) (*run, error) {
	j = j.WithDefaults()
	if err := j.Check(); err != nil {
		return nil, err
	}
	if j.Imported() != (len(j.Shards) > 0) {
		return nil, fmt.Errorf("a source %q and %d shards: imported episodes have both, generated ones neither", j.Source, len(j.Shards))
	}
	specs, err := j.Complete(m)
	if err == nil {
		err = j.Storable(specs[0])
	}
	if err != nil {
		return nil, err
	}
	files, err := read.StoreIn(ctx, dir, o.Within)
	if err != nil {
		return nil, err
	}
	var seats about.SeatMakers
	var models []rollout.File
	var opening rollout.Opening
	if !j.Imported() && m.Policy != nil { // Merge makes no policies: its job names them
		if seats, models, err = about.MakeSeats(m, read.ModelsIn(ctx, files), &j, specs[0]); err != nil {
			return nil, err
		}
		if opening, err = j.OpeningOf(m); err != nil {
			return nil, err
		}
	}
	usual, err := m.Vector("", env.Settings{N: 1})
	if err != nil {
		return nil, err
	}
	l, command := about.NewLayout(j, specs), j.Command(usual.Spec().Info.Config)
	if err := l.CheckSizes(); err != nil {
		return nil, err
	}
	begun, err := newRunFile(l, command)
	if err != nil {
		return nil, err
	}
	local, locked := files.(*disk.Folder)
	if o.Wrap != nil {
		files = o.Wrap(files)
	}
	return &run{
		Folder: folder{Dir: dir, Files: files, ctx: ctx, Begun: begun, shards: int(j.ShardCount()), locked: locked, models: among(models)}, local: local, Layout: l, makers: m, options: o, seats: seats, opening: opening,
		Command: command, Place: j.Places(),
		progress: Progress{AllShards: int(j.ShardCount()), AllEpisodes: j.Episodes},
	}, nil
}

// Generate plays the missing shards.
func (r *run) Generate(ctx context.Context) (RunResult, error) {
	return r.make(ctx, func(missing []int) error {
		return rollout.Run(ctx, r.rollout(), missing, r.open, rollout.Options{Workers: r.options.Workers, Progress: r.counts})
	})
}

// rollout is the Job for package rollout.
func (r *run) rollout() rollout.Job {
	j, games := &r.Layout.Job, r.options.Games
	if games == 0 {
		games = 8
	}
	return rollout.Job{
		Seed: j.Seed, Episodes: j.Episodes, ShardEpisodes: j.ShardEpisodes,
		Cast:   rollout.Cast{Seats: r.seats.All, Opening: r.opening, Ask: r.seats.Ask, Keep: r.Layout.Keep(games)},
		Vector: func() (env.Vector, error) { return r.makers.Vector(j.Rules[0], j.Config(games)) },
	}
}

// make makes the missing shards by calling play, and completes the folder.
func (r *run) make(ctx context.Context, play func(missing []int) error) (RunResult, error) {
	defer r.close()
	if r.Folder.finishedBefore() {
		if result, _, err := r.whole(ctx); err != nil || result.AlreadyComplete {
			return result, err
		}
	}
	release, err := r.lock(false)
	if err != nil {
		return RunResult{}, err
	}
	defer release()
	done, err := r.Folder.begin()
	if err != nil {
		return RunResult{}, err
	}
	if done {
		return r.repair(ctx, play)
	}
	result, err := r.fill(ctx, play)
	if err == nil || r.Folder.locked || ctx.Err() != nil {
		return result, err
	}
	// Another run of the same Job may have completed the dataset and removed the
	// sidecars.
	if done, _ := r.Folder.isComplete(); !done {
		return result, err
	}
	if _, err := r.Folder.begin(); err != nil { // removes the files that this run has written since
		return result, err
	}
	result.Manifest, err = about.ReadManifest(ctx, r.Folder.Files)
	return result, err
}

// lock keeps other runs out of a local folder until it is released or the process ends;
// runs with share do not keep each other out. It makes the folder. Buckets are not locked.
func (r *run) lock(share bool) (release func(), err error) {
	if r.local == nil {
		return func() {}, nil
	}
	return r.local.Lock(r.options.Locks, share)
}

// close closes a local folder.
func (r *run) close() {
	if r.local != nil {
		_ = r.local.Close() // nothing is written by it
	}
}

// fill makes the missing shards of a folder that has begun, and completes it.
func (r *run) fill(ctx context.Context, play func(missing []int) error) (result RunResult, err error) {
	if r.have, err = r.Folder.resume(ctx, r.options.Workers, r.isThere); err != nil {
		return RunResult{}, err
	}
	var missing []int
	first, end := r.options.shards(r.Folder.shards)
	for i, d := range r.have[first:end] {
		if d == 0 {
			missing = append(missing, first+i)
		}
	}
	result = RunResult{Found: end - first - len(missing), Made: len(missing)}
	if len(missing) > 0 {
		if err := play(missing); err != nil {
			return RunResult{}, err
		}
	}
	result.Manifest = about.NewManifest(r.Layout, r.Command)
	sidecars := func(ctx context.Context, take func(about.Sidecar) error) error {
		return r.finished(ctx, first, end, take)
	}
	if r.options.Parts > 1 {
		err := sidecars(ctx, result.Manifest.Add)
		result.Manifest.Close()
		return result, err
	}
	return result, r.finish(r.Folder, result.Manifest, sidecars)
}

// shards returns the first shard of the part, and the first after it.
func (o *Options) shards(all int) (first, end int) {
	parts := uint64(max(o.Parts, 1))
	return int(uint64(all) * uint64(o.Part) / parts), int(uint64(all) * uint64(o.Part+1) / parts)
}

// isThere counts a shard of an earlier run.
func (r *run) isThere(shard int) {
	r.report(func(p *Progress) {
		r.found += r.Place(shard).N
		p.Shards, p.Episodes = p.Shards+1, r.found
	})
}

// report changes the progress and reports it.
func (r *run) report(change func(p *Progress)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.progress)
	if r.options.Progress != nil {
		r.options.Progress(r.progress)
	}
}

// counts reports the progress of rollout.Run.
func (r *run) counts(c rollout.Counts) {
	r.report(func(p *Progress) {
		p.Episodes, p.Rows = r.found+c.Episodes, c.Turns*uint64(r.Layout.Specs[0].Info.Players)
	})
}

// copy writes the missing shards of a Source.
func (r *run) copy(ctx context.Context, from Source, missing []int) error {
	return parallel.Each(ctx, r.options.Workers, missing, func(ctx context.Context, _, i int) error {
		if err := r.copyShard(ctx, from, i); err != nil {
			return fmt.Errorf("shard %d: %w", i, err)
		}
		return nil
	})
}

func (r *run) copyShard(ctx context.Context, from Source, i int) error {
	w, err := r.openShard(i, r.Folder, false)
	if err != nil {
		return err
	}
	turns := uint64(0)
	err = from.Shard(ctx, i, func(e *rollout.Episode, source string) error {
		turns += uint64(e.Turns)
		return w.x.Episode(e, source)
	})
	if err != nil {
		w.Abort()
		return err
	}
	if err := w.Commit(); err != nil {
		return err
	}
	r.report(func(p *Progress) {
		p.Episodes, p.Rows = p.Episodes+w.place.N, p.Rows+turns*uint64(w.x.Players)
	})
	return nil
}
