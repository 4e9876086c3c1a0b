package datasets

import (
	"io"

	"moonfarm/rollout"
)

// shardWriter writes the two files of one shard and, when both are complete,
// the sidecar that commits them. It is a rollout.ShardSink.
type shardWriter struct {
	run             *run
	shard           int
	x               *encoder
	steps, episodes *file
}

// open begins a shard.
func (r *run) open(shard int) (rollout.ShardSink, error) { return r.openShard(shard) }

func (r *run) openShard(shard int) (*shardWriter, error) {
	x, err := r.encoder()
	if err != nil {
		return nil, err
	}
	w := &shardWriter{run: r, shard: shard, x: x}
	f := r.folder
	if w.steps, err = f.disk.create(f.path(stepsPath(shard))); err != nil {
		return nil, err
	}
	if w.episodes, err = f.disk.create(f.path(episodesPath(shard))); err != nil {
		w.steps.drop()
		return nil, err
	}
	if err := x.start(shard, w.steps, w.episodes); err != nil {
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
	w.steps.drop()
	w.episodes.drop()
}

// Commit implements rollout.ShardSink.
func (w *shardWriter) Commit() error {
	c, err := w.complete()
	if err != nil {
		w.Abort()
		return err
	}
	r := w.run
	text, err := canonical(c)
	if err != nil {
		return err
	}
	// The files are durable under their names before the sidecar says so.
	for _, d := range []string{stepsDir, episodesDir} {
		if err := r.folder.disk.sync(r.folder.path(d)); err != nil {
			return err
		}
	}
	if err := r.folder.disk.writeFile(r.folder.path(sidecarPath(w.shard)), text); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.have[w.shard] = c
	r.idle = append(r.idle, w.x)
	r.progress.Shards++
	return nil
}

// complete ends both files and gives them their names.
func (w *shardWriter) complete() (sidecar, error) {
	c, err := w.x.finish()
	if err != nil {
		return c, err
	}
	for _, f := range []*file{w.steps, w.episodes} {
		if err := f.close(); err != nil {
			return c, err
		}
		if err := f.rename(); err != nil {
			return c, err
		}
	}
	c.Steps.SHA256, c.Episodes.SHA256 = w.steps.sha256(), w.episodes.sha256()
	return c, nil
}

// closePolicy lets go of a policy that holds something.
func closePolicy(p rollout.Policy) error {
	if c, ok := p.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
