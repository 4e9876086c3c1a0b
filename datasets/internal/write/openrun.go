package write

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"moonfarm/datasets/internal/about"
	"moonfarm/datasets/internal/read"
	"moonfarm/datasets/internal/store"
	"moonfarm/rollout"
	"moonfarm/rollout/parallel"
	"moonfarm/rollout/shard"
)

// Run is a dataset whose shards several processes make together, in a shared folder or
// in a bucket. Until Finish, the names of a shard's files end in the shard's sum, as in
// steps/00012-SUM.arrow, so that no process replaces the files of another. Several
// goroutines may use a Run at once.
type Run struct {
	run     *run
	release func()
	began   bool          // there was no run.json before
	made    atomic.Uint64 // number of shards begun, for the names of unfinished files
	differ  Differ

	mu   sync.Mutex
	idle []*rollout.ShardPlayer
	own  []uint64 // with Options.Alone: digest of the sum of each shard that this Run stored; 0: not stored
}

// Differ makes a shard again with these policies, and fails where its files differ from those of the
// dataset, or with a MakerError.
type Differ func(ctx context.Context, d *read.Dataset, s about.Shard, l *about.Layout, m about.Makers, seats about.SeatMakers) error

// Receipt is the result of a shard.
type Receipt = shard.Receipt

// PermanentError is an error of Run.Make or Run.Remake that comes neither from the
// store nor from the context.
type PermanentError = shard.PermanentError

// BrokenError is an error of Run.Finish for shards with missing or damaged files.
type BrokenError = shard.BrokenError

// OpenRun opens the run of a Job that several processes make.
func OpenRun(ctx context.Context, out string, j about.Job, m about.Makers, o Options, differ Differ) (*Run, error) {
	if j.Imported() {
		return nil, fmt.Errorf("a job of imported episodes cannot be generated")
	}
	r, err := NewRun(context.WithoutCancel(ctx), out, j, m, o)
	if err != nil {
		return nil, err
	}
	r.Folder.by = strings.ToLower(rand.Text())
	x := &Run{run: r, differ: differ}
	if o.Alone {
		x.own = make([]uint64, x.Shards())
	}
	if o.Build != "" && o.Build != x.Build() {
		return nil, fmt.Errorf("this machine's build is %s, the run wants %.200s: install the same version and files", x.Build(), o.Build)
	}
	if r.Folder.finishedBefore() {
		x.release = func() {}
		return x, nil
	}
	if x.release, err = r.lock(true); err != nil {
		r.discard()
		return nil, err
	}
	_, err = store.ReadFile(ctx, r.Folder.Files, about.RunName, about.MaxRun)
	x.began = errors.Is(err, fs.ErrNotExist)
	if _, err := r.Folder.begin(); err != nil {
		return nil, errors.Join(err, x.Discard())
	}
	return x, nil
}

// Close releases the policies and the folder.
func (r *Run) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var errs []error
	for _, p := range r.idle {
		errs = append(errs, p.Close())
	}
	r.idle = nil
	r.release()
	r.run.close()
	return errors.Join(errs...)
}

// Discard closes the Run, and removes what OpenRun began: the models, run.json and the
// folder. Nothing is removed if the dataset had begun before, has a shard, or if another
// run is writing there.
func (r *Run) Discard() error {
	err := r.Close()
	if !r.began || err != nil {
		return err
	}
	f := r.run.Folder
	release, err := r.run.lock(false)
	if err != nil {
		r.run.close()
		return nil // another run has joined
	}
	names := []string{about.ModelsDir, about.RunName}
	for _, m := range f.Begun.Job.Models {
		names = append([]string{m.Path}, names...)
	}
	made := errors.New("shards are made")
	err = f.Files.Each(f.ctx, about.ShardsDir, func(string) error { return made })
	for _, name := range names {
		if err == nil {
			err = f.Files.Remove(f.ctx, name)
		}
	}
	release()
	if r.run.discard(); err == made {
		err = nil
	}
	return err
}

// discard closes a local folder, and removes it if it was made and is empty.
func (r *run) discard() {
	if r.local != nil {
		r.local.Discard()
	}
}

// Shards returns the number of shards.
func (r *Run) Shards() int { return r.run.Folder.shards }

// Build returns what the bytes of the dataset depend on: the version of moonfarm, and
// the sha256 of the manifest without its counts.
func (r *Run) Build() string {
	return "moonfarm " + r.run.Folder.Begun.Moonfarm + ", manifest " + r.run.Folder.Begun.Manifest
}

// Policies returns the policies of all seats in canonical form. With them, and their
// files in the dataset, another process makes the same policies.
func (r *Run) Policies() []string { return slices.Clone(r.run.Folder.Begun.Job.Policies) }

// Complete returns the sizes of a complete dataset, without a sum, and nil if it is not
// complete. It fails if a file of a complete dataset is missing or has another kind or
// size.
func (r *Run) Complete(ctx context.Context) (*Receipt, error) {
	f := r.run.Folder
	f.ctx = ctx
	if done, err := f.begin(); err != nil || !done {
		return nil, err
	}
	found, missing, err := r.run.whole(ctx)
	if err == nil && !found.AlreadyComplete {
		err = fmt.Errorf("%s: the dataset was complete and lacks files of %d shards, or its card or models; generate makes them again", f.Dir, len(missing))
	}
	if err != nil {
		return nil, err
	}
	m := found.Manifest
	return &Receipt{Episodes: m.Totals.Episodes, Rows: m.Totals.Rows, Bytes: m.Totals.Bytes}, nil
}

// Make computes a shard and stores its files. If the dataset is complete, it stores
// nothing.
func (r *Run) Make(ctx context.Context, shard int) (Receipt, error) { return r.play(ctx, shard, false) }

// Remake computes a shard and stores nothing.
func (r *Run) Remake(ctx context.Context, shard int) (Receipt, error) {
	return r.play(ctx, shard, true)
}

// check fails if there is no shard of that number.
func (r *Run) check(shard int) error {
	if shard < 0 || shard >= r.Shards() {
		return &PermanentError{Err: fmt.Errorf("shard %d: the run has %d, from 0", shard, r.Shards())}
	}
	return nil
}

func (r *Run) play(ctx context.Context, shard int, dry bool) (Receipt, error) {
	if err := r.check(shard); err != nil {
		return Receipt{}, err
	}
	f := r.run.Folder
	f.ctx, f.by = ctx, f.by+strconv.FormatUint(r.made.Add(1), 10)
	w, err := r.run.openShard(shard, f, dry)
	if err == nil {
		err = r.into(ctx, w)
	}
	switch {
	case err == nil:
		r.note(shard, w)
		return w.receipt, nil
	case ctx.Err() != nil:
		return Receipt{}, context.Cause(ctx)
	}
	err = fmt.Errorf("shard %d: %w", shard, err)
	if !errors.As(err, new(*storeError)) {
		err = &PermanentError{Err: err}
	}
	return Receipt{}, err
}

// note remembers the sum of a shard that this Run has stored, with Options.Alone.
func (r *Run) note(shard int, w *shardWriter) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.own != nil && !w.dry {
		r.own[shard] = about.Digest([]byte(w.receipt.Sum))
	}
}

// isOwn reports whether this Run, alone, has stored the shard with that sum.
func (r *Run) isOwn(shard int, sum string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.own != nil && r.own[shard] == about.Digest([]byte(sum))
}

// into plays a shard with an idle ShardPlayer, or with a new one if none is idle.
func (r *Run) into(ctx context.Context, w *shardWriter) (err error) {
	r.mu.Lock()
	var p *rollout.ShardPlayer
	if last := len(r.idle) - 1; last >= 0 {
		p, r.idle = r.idle[last], r.idle[:last]
	}
	r.mu.Unlock()
	if p == nil {
		if p, err = rollout.NewShardPlayer(r.run.rollout()); err != nil {
			w.Abort()
			return err
		}
	}
	if err := p.Play(ctx, w.place.Shard, w); err != nil {
		return errors.Join(err, p.Close())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.idle = append(r.idle, p)
	return nil
}

// damage is an error in stored files.
type damage struct{ error }

func (d *damage) Unwrap() error { return d.error }

// isDamage reports whether an error means that stored files are missing or damaged, and
// not that the store failed.
func isDamage(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.As(err, new(*damage)) || errors.As(err, new(*store.SizeError))
}

// sound fails if a file differs from its entry in the sidecar.
func (f folder) sound(ctx context.Context, name string, want *about.File) error {
	sum, err := store.SumFile(ctx, f.Files, name, want.Bytes)
	if err == nil && sum != want.SHA256 {
		err = &damage{fmt.Errorf("%s: sha256 is %s, expected %s", f.path(name), sum, want.SHA256)}
	}
	return err
}

// Differ describes the first row in which the stored shard of that sum differs from the
// shard as this process makes it, or the damage of its files. It fails with the errors
// of makers, the store and the context.
func (r *Run) Differ(ctx context.Context, shard int, sum string) (string, error) {
	if err := r.check(shard); err != nil {
		return "", err
	}
	f := r.run.Folder
	f.ctx = ctx
	_, c, err := f.sidecar(shard, sum)
	for _, file := range c.All() {
		if err == nil {
			err = f.sound(ctx, Variant(file.Path, sum), file)
		}
	}
	if err == nil {
		err = r.compare(f, c, sum)
	}
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err == nil:
		return fmt.Sprintf("%s: all rows are equal; counts or the bytes differ", f.path(Variant(c.Steps.Path, sum))), nil
	case errors.As(err, new(*about.MakerError)), errors.As(err, new(*storeError)):
		return "", err
	}
	return err.Error(), nil
}

// compare makes a shard again and fails where the stored one differs.
func (r *Run) compare(f folder, c about.Sidecar, sum string) error {
	p := r.run.Place(c.Shard)
	if c.Episodes.Rows != p.N {
		return fmt.Errorf("%d episodes, expected %d", c.Episodes.Rows, p.N)
	}
	s := about.Shard{Number: p.Shard, First: p.First, Rules: p.Rules, Files: c.Files}
	for _, file := range s.All() {
		file.Path = Variant(file.Path, sum)
	}
	d := read.NewDataset(f.ctx, f.Dir, f.Files, about.NewManifest(r.run.Layout, r.run.Command))
	return r.differ(f.ctx, d, s, r.run.Layout, r.run.makers, r.run.seats)
}

// Finish completes the dataset. sum returns the checksum of the result to keep for each shard;
// Finish removes all files with other sums. Repeating it changes nothing. If files of a shard
// are missing or do not have their sum, the error is a BrokenError.
func (r *Run) Finish(ctx context.Context, sum func(shard int) (string, error)) error {
	f := r.run.Folder
	f.ctx = ctx
	done, err := f.begin()
	if err != nil {
		return err
	}
	if !done {
		settled := func(ctx context.Context, take func(about.Sidecar) error) error { return r.settle(ctx, sum, take) }
		if err := r.run.finish(f, about.NewManifest(r.run.Layout, r.run.Command), settled); err != nil {
			return err
		}
	}
	for _, dir := range f.tables() { // files of other sums, and of shards that are still being written
		err := f.removeAll(dir, func(name string) bool {
			i, ok := about.NumberOf(dir, name)
			return !ok || i >= f.shards
		})
		if err != nil {
			return err
		}
	}
	return f.clean()
}

// settle gives the files of all shards their final names, and yields the sidecars in
// order.
func (r *Run) settle(ctx context.Context, sum func(shard int) (string, error), take func(about.Sidecar) error) error {
	var mu sync.Mutex
	var failed error
	ordered := parallel.Queue[about.Sidecar]{Take: func(c about.Sidecar) {
		if failed == nil {
			failed = take(c)
		}
	}}
	return parallel.Each(ctx, r.run.options.Workers, make([]struct{}, r.Shards()), func(ctx context.Context, i int, _ struct{}) error {
		c, err := r.settleShard(ctx, i, sum)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		ordered.Put(i, c)
		return failed
	})
}

// settleShard gives the files of one shard their final names, unless an interrupted
// Finish has done so.
func (r *Run) settleShard(ctx context.Context, i int, sum func(shard int) (string, error)) (about.Sidecar, error) {
	f := r.run.Folder
	f.ctx = ctx
	of, err := sum(i)
	if err != nil {
		return about.Sidecar{}, err
	}
	_, c, err := f.sidecar(i, of)
	if p := r.run.Place(i); err == nil && (c.Episodes.Rows != p.N) {
		err = &damage{fmt.Errorf("%d episodes, expected %d", c.Episodes.Rows, p.N)}
	}
	own := r.isOwn(i, of)
	for _, file := range c.All() {
		if err != nil {
			break
		}
		from := Variant(file.Path, of)
		if own {
			err = store.HasFile(ctx, f.Files, from, file.Bytes)
		} else {
			err = f.sound(ctx, from, file)
		}
		if err == nil {
			err = f.Files.Move(ctx, from, file.Path)
		} else if isDamage(err) && f.sound(ctx, file.Path, file) == nil {
			err = nil
		}
	}
	if err != nil && ctx.Err() == nil && isDamage(err) {
		err = &BrokenError{Shard: i, Err: err}
	}
	return c, err
}
