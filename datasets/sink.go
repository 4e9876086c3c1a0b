package datasets

import (
	"context"
	"errors"
	"io"

	"moonfarm/datasets/internal/store"
	"moonfarm/rollout"
	"moonfarm/rollout/parallel"
)

// shardWriter writes the files of one shard and, when all are durable, its
// sidecar. It is a rollout.ShardSink.
type shardWriter struct {
	run   *run
	place place
	x     *encoder
	files []store.File // one of each table
}

// open begins a shard.
func (r *run) open(shard int) (rollout.ShardSink, error) { return r.openShard(shard) }

func (r *run) openShard(shard int) (*shardWriter, error) {
	x, err := r.encoder()
	if err != nil {
		return nil, err
	}
	p := r.place(shard)
	w := &shardWriter{run: r, place: p, x: x}
	var to []io.Writer
	for _, dir := range r.folder.tables() {
		file, err := r.folder.files.Create(r.folder.ctx, pathOf(dir, shard))
		if err != nil {
			w.Abort()
			return nil, err
		}
		w.files, to = append(w.files, file), append(to, file)
	}
	if err := x.start(p, to); err != nil {
		w.Abort()
		return nil, err
	}
	return w, nil
}

// encoder takes one that is idle, or makes one.
func (r *run) encoder() (*encoder, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if last := len(r.idle) - 1; last >= 0 {
		x := r.idle[last]
		r.idle = r.idle[:last]
		return x, nil
	}
	return newEncoder(r.layout, r.makers)
}

// Episode implements rollout.Sink.
func (w *shardWriter) Episode(e *rollout.Episode) error { return w.x.episode(e, "") }

// Abort implements rollout.ShardSink.
func (w *shardWriter) Abort() {
	for _, f := range w.files {
		f.Drop()
	}
}

// Commit implements rollout.ShardSink.
func (w *shardWriter) Commit() error {
	c, err := w.complete()
	if err != nil {
		w.Abort()
		return err
	}
	r := w.run
	text, err := c.encode()
	if err != nil {
		return err
	}
	// The files are durable under their names before the sidecar says so.
	err = atOnce(r.folder.tables(), func(d string) error { return r.folder.files.Sync(r.folder.ctx, d) })
	if err != nil {
		return err
	}
	if err := store.WriteFile(r.folder.ctx, r.folder.files, pathOf(shardsDir, w.place.shard), text); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.have[w.place.shard] = digest(text)
	r.idle = append(r.idle, w.x)
	r.progress.Shards++
	return nil
}

// complete ends the files and gives them their names.
func (w *shardWriter) complete() (sidecar, error) {
	c, err := w.x.finish()
	if err != nil {
		return c, err
	}
	// All files are synced at once, so that the disk is waited for once.
	if err := atOnce(w.files, store.File.Close); err != nil {
		return c, err
	}
	for i, f := range w.files {
		if err := f.Keep(c.of(i).Path); err != nil {
			return c, err
		}
	}
	for i, f := range w.files {
		c.of(i).SHA256 = f.SHA256()
	}
	return c, nil
}

// atOnce calls do for all at once and returns their errors.
func atOnce[T any](all []T, do func(T) error) error {
	errs := make([]error, len(all))
	_ = parallel.Each(context.Background(), len(all), all, func(_ context.Context, i int, x T) error {
		errs[i] = do(x) // the others are done all the same
		return nil
	})
	return errors.Join(errs...)
}
