package datasets

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"moonfarm/datasets/internal/stats"
	"moonfarm/datasets/internal/store"
	"moonfarm/rollout/parallel"
)

// resume finds the shards of earlier runs and compares the sums of their files. It
// returns the digest of each shard's sidecar, 0 if the shard is missing, and calls
// there for each shard that it finds. In a locked folder it removes all files that
// belong to no finished shard; elsewhere another run may be writing them, and they are
// written again.
func (f folder) resume(ctx context.Context, workers int, there func(shard int)) ([]uint64, error) {
	have := make([]uint64, f.shards)
	var found []int32
	err := f.files.Each(f.ctx, shardsDir, func(base string) error {
		i, ok := numberOf(shardsDir, base)
		switch {
		case ok && i < f.shards:
			found = append(found, int32(i))
		case strings.Contains(base, "-") && shardFile.MatchString(base) && !unfinished.MatchString(base):
			return fmt.Errorf("%s: several processes make this dataset; only the command that began it continues", f.path(shardsDir+"/"+base))
		case shardFile.MatchString(base) && !unfinished.MatchString(base):
			return fmt.Errorf("%s: damaged; remove it to make the shard again", f.path(shardsDir+"/"+base))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	err = parallel.Each(ctx, workers, found, func(ctx context.Context, _ int, i int32) error {
		text, c, err := f.sidecar(int(i))
		if err == nil {
			err = f.checkFiles(ctx, c)
		}
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		have[i] = digest(text)
		there(int(i))
		return nil
	})
	if err != nil {
		return nil, err
	}
	return have, f.sweep(have)
}

// sidecar reads and checks one sidecar.
func (f folder) sidecar(i int) (text []byte, c sidecar, err error) {
	path := f.path(pathOf(shardsDir, i))
	if text, err = store.ReadFile(f.ctx, f.files, pathOf(shardsDir, i), maxSidecar); err != nil {
		return nil, c, err
	}
	if c, err = decodeSidecar(text); err != nil || c.Shard != i || len(c.all()) != len(f.tables()) {
		return nil, c, fmt.Errorf("%s: damaged; remove it to make the shard again", path)
	}
	return text, c, nil
}

// checkFiles compares the files of a shard with the sums in its sidecar.
func (f folder) checkFiles(ctx context.Context, c sidecar) error {
	for _, file := range c.all() {
		sum, err := store.SumFile(ctx, f.files, file.Path, file.Bytes)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err == nil && sum != file.SHA256 {
			err = fmt.Errorf("%s: sha256 is %s, expected %s", f.path(file.Path), sum, file.SHA256)
		}
		if err != nil {
			return fmt.Errorf("%w; remove %s to make the shard again", err, f.path(pathOf(shardsDir, c.Shard)))
		}
	}
	return nil
}

// sweep removes the index and all files that belong to no finished shard; the index is
// written again at the end. It fails if there is a file that no run makes. Where
// nothing is locked it removes nothing.
func (f folder) sweep(have []uint64) error {
	for _, dir := range append(tableNames(true), shardsDir, indexDir) {
		err := f.removeAll(dir, func(name string) bool {
			i, ok := numberOf(dir, name)
			return f.locked && (dir == indexDir || !ok || i >= len(have) || have[i] == 0)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// finish writes the index and the manifest of a folder that has all shards: each yields
// all sidecars in order.
func (r *run) finish(f folder, m *Manifest, each func(ctx context.Context, take func(sidecar) error) error) error {
	x, err := newIndexWriter(f, r.layout)
	if err != nil {
		return err
	}
	var sum stats.Sums
	err = each(f.ctx, func(c sidecar) error {
		i := c.Shard
		err := m.add(c)
		if err == nil {
			err = sum.Add(&c.Sampled)
		}
		if err != nil {
			return fmt.Errorf("%s: %w; remove it to make the shard again", f.path(pathOf(shardsDir, i)), err)
		}
		return x.add(c, r.place(i))
	})
	if err != nil {
		return err
	}
	m.close()
	if err := x.flush(); err != nil {
		return err
	}
	m.Index = x.parts
	if err := f.attach(m, &sum); err != nil {
		return err
	}
	return f.writeManifest(m)
}

// all yields the sidecars of all shards in order, as finished does.
func (r *run) all(ctx context.Context, take func(sidecar) error) error {
	return r.finished(ctx, 0, len(r.have), take)
}

// finished yields the sidecars of shards in order. It fails if a sidecar changed since
// the run wrote or found it, or if a file of a shard is missing, so that the completed
// dataset can be opened.
func (r *run) finished(ctx context.Context, first, end int, take func(sidecar) error) error {
	for i := first; i < end; i++ {
		d := r.have[i]
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if d == 0 {
			return fmt.Errorf("%s: shard %d is missing", r.folder.dir, i)
		}
		c, err := r.folder.finished(i, d, r.place(i))
		if err == nil {
			err = take(c)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// finished reads the sidecar of a shard of this run and checks that its files exist.
func (f folder) finished(i int, digested uint64, p place) (sidecar, error) {
	text, c, err := f.sidecar(i)
	if err != nil {
		return c, err
	}
	if digest(text) != digested || c.Episodes.Rows != p.n {
		return c, fmt.Errorf("%s: changed while the dataset was made; remove it to make the shard again", f.path(pathOf(shardsDir, i)))
	}
	for _, file := range c.all() {
		if err := store.HasFile(f.ctx, f.files, file.Path, file.Bytes); err != nil {
			return c, fmt.Errorf("changed while the dataset was made: %w; remove %s to make the shard again", err, f.path(pathOf(shardsDir, i)))
		}
	}
	return c, nil
}

// writeManifest completes the folder. The manifest is written last, and only if it
// and the index can be read.
func (f folder) writeManifest(m *Manifest) error {
	text, err := m.encode()
	if err != nil {
		return err
	}
	again, err := decodeManifest(text)
	if err != nil {
		return fmt.Errorf("%s: the manifest to be written cannot be read: %w", f.dir, err)
	}
	for _, err := range newDataset(f.ctx, f.dir, f.files, again).Shards() {
		if err != nil {
			return fmt.Errorf("%s: the index just written cannot be read: %w", f.dir, err)
		}
	}
	m.Checksum = again.Checksum
	for _, d := range append(f.tables(), indexDir) {
		if err := f.files.Sync(f.ctx, d); err != nil {
			return err
		}
	}
	if err := store.WriteFile(f.ctx, f.files, manifestName, text); err != nil {
		return err
	}
	return f.clean()
}
