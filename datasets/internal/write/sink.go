package write

import (
	"context"
	"errors"
	"fmt"
	"io"

	"moonfarm/datasets/internal/about"
	"moonfarm/datasets/internal/store"
	"moonfarm/rollout"
	"moonfarm/rollout/parallel"
)

// shardWriter writes the files of one shard and, when all are durable, its sidecar. It
// is a rollout.ShardSink.
type shardWriter struct {
	run     *run
	folder  folder
	place   about.Place
	x       *Encoder
	files   []store.File // one for each table
	dry     bool         // the files are summed, not stored
	receipt Receipt      // after Commit
}

// open begins a shard in the run's folder.
func (r *run) open(shard int) (rollout.ShardSink, error) { return r.openShard(shard, r.Folder, false) }

// openShard begins a shard in a folder. If dry, its files are summed but not stored.
func (r *run) openShard(shard int, f folder, dry bool) (*shardWriter, error) {
	x, err := r.encoder()
	if err != nil {
		return nil, err
	}
	p := r.Place(shard)
	w := &shardWriter{run: r, folder: f, place: p, x: x, dry: dry}
	var tables []io.Writer
	for _, dir := range f.tables() {
		sum := store.NewSum()
		var file store.File = nowhere{&sum}
		if !dry {
			if file, err = f.Files.Create(f.ctx, Variant(about.PathOf(dir, shard), f.by)); err != nil {
				w.Abort()
				return nil, &storeError{err}
			}
		}
		w.files, tables = append(w.files, file), append(tables, storing{file})
	}
	if err := x.Start(p, tables); err != nil {
		w.Abort()
		return nil, err
	}
	return w, nil
}

// storeError is an error of the store, not of the data.
type storeError struct{ error }

func (s *storeError) Unwrap() error { return s.error }

// storing wraps the errors of writing in a storeError.
type storing struct{ to io.Writer }

func (s storing) Write(b []byte) (int, error) {
	n, err := s.to.Write(b)
	if err != nil {
		err = &storeError{err}
	}
	return n, err
}

// nowhere is a file that is summed but not stored.
type nowhere struct{ *store.Sum }

func (nowhere) Close() error { return nil }

func (nowhere) Keep(string) error { return nil }

func (nowhere) KeepNew(string) error { return nil }

func (nowhere) Drop() {}

// encoder returns an idle encoder, or makes one.
func (r *run) encoder() (*Encoder, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if last := len(r.idle) - 1; last >= 0 {
		x := r.idle[last]
		r.idle = r.idle[:last]
		return x, nil
	}
	return NewEncoder(r.Layout, r.makers)
}

// Episode implements rollout.Sink.
func (s *shardWriter) Episode(e *rollout.Episode) error {
	for seat, n := range e.Networks {
		if s.run.options.Strict && n.NotFinite > 0 {
			return fmt.Errorf("the network of %s at seat %d gave NaN or infinite logits or values in %d of %d evaluations",
				e.Policies[seat], seat, n.NotFinite, n.Evaluations)
		}
	}
	return s.x.Episode(e, "")
}

// Abort implements rollout.ShardSink.
func (s *shardWriter) Abort() {
	for _, f := range s.files {
		f.Drop()
	}
}

// Commit implements rollout.ShardSink.
func (s *shardWriter) Commit() error {
	text, c, err := s.complete()
	if err == nil {
		err = s.run.fits(c)
	}
	if err == nil && !s.dry {
		if err = s.keep(text, c); err != nil {
			err = &storeError{err}
		}
	}
	if err != nil {
		s.Abort()
		return err
	}
	s.receipt = Receipt{Sum: store.SHA256(text), Episodes: c.Episodes.Rows, Rows: c.Steps.Rows, Bytes: c.Bytes()}
	r := s.run
	r.mu.Lock()
	defer r.mu.Unlock()
	r.idle = append(r.idle, s.x)
	if r.have != nil {
		r.have[s.place.Shard] = about.Digest(text)
		r.progress.Shards++
	}
	return nil
}

// complete finishes the files, and returns the sidecar.
func (s *shardWriter) complete() (text []byte, c about.Sidecar, err error) {
	if c, err = s.x.Finish(); err != nil {
		return nil, c, err
	}
	// All files are synced at the same time, which takes as long as one.
	if err := atOnce(s.files, store.File.Close); err != nil {
		return nil, c, &storeError{err}
	}
	for i, f := range s.files {
		c.Of(i).SHA256 = f.SHA256()
	}
	text, err = c.Encode()
	return text, c, err
}

// keep gives the files their names, and then writes the sidecar.
func (s *shardWriter) keep(text []byte, c about.Sidecar) error {
	f, sum := s.folder, ""
	if f.by != "" {
		sum = store.SHA256(text)
		if done, err := f.isComplete(); done || err != nil { // others made the shard and completed the dataset
			s.Abort()
			return err
		}
	}
	tables := make([]int, len(s.files))
	for i := range tables {
		tables[i] = i
	}
	if err := atOnce(tables, func(i int) error { return s.files[i].Keep(Variant(c.Of(i).Path, sum)) }); err != nil {
		return err
	}
	// The files are durable under their names before the sidecar says so.
	if err := atOnce(f.tables(), func(d string) error { return f.Files.Sync(f.ctx, d) }); err != nil {
		return err
	}
	name := about.PathOf(about.ShardsDir, s.place.Shard)
	return store.WriteFileAs(f.ctx, f.Files, Variant(name, sum), Variant(name, f.by), text)
}

// atOnce calls do for all values at the same time and returns the errors.
func atOnce[T any](all []T, do func(T) error) error {
	errs := make([]error, len(all))
	_ = parallel.Each(context.Background(), len(all), all, func(_ context.Context, i int, x T) error {
		errs[i] = do(x) // and the others go on
		return nil
	})
	return errors.Join(errs...)
}
