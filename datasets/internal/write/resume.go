package write

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"moonfarm/datasets/internal/about"
	"moonfarm/datasets/internal/read"
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
	err := f.Files.Each(f.ctx, about.ShardsDir, func(base string) error {
		i, ok := about.NumberOf(about.ShardsDir, base)
		switch {
		case ok && i < f.shards:
			found = append(found, int32(i))
		case strings.Contains(base, "-") && shardFile.MatchString(base) && !about.Unfinished.MatchString(base):
			return fmt.Errorf("%s: several processes make this dataset; only the command that began it continues", f.path(about.ShardsDir+"/"+base))
		case shardFile.MatchString(base) && !about.Unfinished.MatchString(base):
			return fmt.Errorf("%s: damaged; remove it to make the shard again", f.path(about.ShardsDir+"/"+base))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	err = parallel.Each(ctx, workers, found, func(ctx context.Context, _ int, i int32) error {
		text, c, err := f.sidecar(int(i), "")
		if err == nil {
			err = f.checkFiles(ctx, c)
		}
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		have[i] = about.Digest(text)
		there(int(i))
		return nil
	})
	if err != nil {
		return nil, err
	}
	return have, f.sweep(have)
}

// sidecar reads and checks the sidecar of a shard: with a sum the one that was stored under it.
func (f folder) sidecar(i int, sum string) (text []byte, c about.Sidecar, err error) {
	name := Variant(about.PathOf(about.ShardsDir, i), sum)
	if text, err = store.ReadFile(f.ctx, f.Files, name, about.MaxSidecar); err != nil {
		return nil, c, err
	}
	if got := store.SHA256(text); sum != "" && got != sum {
		return nil, c, &damage{fmt.Errorf("%s: sha256 is %s, expected %s", f.path(name), got, sum)}
	}
	if c, err = about.DecodeSidecar(text); err != nil || c.Shard != i || len(c.All()) != len(f.tables()) {
		return nil, c, &damage{fmt.Errorf("%s: damaged; remove it to make the shard again", f.path(name))}
	}
	return text, c, nil
}

// checkFiles compares the files of a shard with the sums in its sidecar.
func (f folder) checkFiles(ctx context.Context, c about.Sidecar) error {
	for _, file := range c.All() {
		if err := f.sound(ctx, file.Path, file); ctx.Err() != nil {
			return context.Cause(ctx)
		} else if err != nil {
			return fmt.Errorf("%w; remove %s to make the shard again", err, f.path(about.PathOf(about.ShardsDir, c.Shard)))
		}
	}
	return nil
}

// sweep removes the index and all files that belong to no finished shard; the index is
// written again at the end. It fails if there is a file that no run makes. Where
// nothing is locked it removes nothing.
func (f folder) sweep(have []uint64) error {
	for _, dir := range append(about.TableNames(true), about.ShardsDir, about.IndexDir) {
		err := f.removeAll(dir, func(name string) bool {
			i, ok := about.NumberOf(dir, name)
			return f.locked && (dir == about.IndexDir || !ok || i >= len(have) || have[i] == 0)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// finish writes the index and the manifest of a folder that has all shards: each yields
// all sidecars in order.
func (r *run) finish(f folder, m *about.Manifest, each func(ctx context.Context, take func(about.Sidecar) error) error) error {
	x, err := about.NewIndexWriter(f.Files, r.Layout)
	if err != nil {
		return err
	}
	var sum stats.Sums
	err = each(f.ctx, func(c about.Sidecar) error {
		i := c.Shard
		err := m.Add(c)
		if err == nil {
			err = sum.Add(&c.Sampled)
		}
		if err != nil {
			return fmt.Errorf("%s: %w; remove it to make the shard again", f.path(about.PathOf(about.ShardsDir, i)), err)
		}
		return x.Add(f.ctx, c, r.Place(i))
	})
	if err != nil {
		return err
	}
	m.Close()
	if err := x.Flush(f.ctx); err != nil {
		return err
	}
	m.Index = x.Parts
	if err := f.attach(m, &sum); err != nil {
		return err
	}
	return f.writeManifest(m)
}

// finished yields the sidecars of shards in order. It fails if a sidecar changed since
// the run wrote or found it, or if a file of a shard is missing, so that the completed
// dataset can be opened.
func (r *run) finished(ctx context.Context, first, end int, take func(about.Sidecar) error) error {
	f := r.Folder
	for i := first; i < end; i++ {
		d := r.have[i]
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if d == 0 {
			return fmt.Errorf("%s: shard %d is missing", f.Dir, i)
		}
		text, c, err := f.sidecar(i, "")
		if err != nil {
			return err
		}
		path := f.path(about.PathOf(about.ShardsDir, i))
		if about.Digest(text) != d || c.Episodes.Rows != r.Place(i).N {
			return fmt.Errorf("%s: changed while the dataset was made; remove it to make the shard again", path)
		}
		for _, file := range c.All() {
			if err := store.HasFile(ctx, f.Files, file.Path, file.Bytes); err != nil {
				return fmt.Errorf("changed while the dataset was made: %w; remove %s to make the shard again", err, path)
			}
		}
		if err := take(c); err != nil {
			return err
		}
	}
	return nil
}

// writeManifest completes the folder. The manifest is written last, and only if it
// and the index can be read.
func (f folder) writeManifest(m *about.Manifest) error {
	text, err := m.Encode()
	if err != nil {
		return err
	}
	again, err := about.DecodeManifest(text)
	if err != nil {
		return fmt.Errorf("%s: the manifest to be written cannot be read: %w", f.Dir, err)
	}
	for _, err := range read.NewDataset(f.ctx, f.Dir, f.Files, again).Shards() {
		if err != nil {
			return fmt.Errorf("%s: the index just written cannot be read: %w", f.Dir, err)
		}
	}
	m.Checksum = again.Checksum
	for _, d := range append(f.tables(), about.IndexDir) {
		if err := f.Files.Sync(f.ctx, d); err != nil {
			return err
		}
	}
	if err := store.WriteFile(f.ctx, f.Files, about.ManifestName, text); err != nil {
		return err
	}
	return f.clean()
}

// whole returns the result of a run that finds the dataset complete. It looks at the
// names, kinds and sizes of all files, not at their content: AlreadyComplete is false if
// a file is missing that repair can make again.
func (r *run) whole(ctx context.Context) (result RunResult, missing []int, err error) {
	if result.Manifest, err = about.ReadManifest(ctx, r.Folder.Files); err != nil {
		return result, nil, err
	}
	missing, others, err := r.lacks(ctx, result.Manifest)
	result.Made, result.Found = len(missing), r.Folder.shards-len(missing)
	result.AlreadyComplete = len(missing) == 0 && !others
	return result, missing, err
}

// repair makes the missing files of a complete dataset again: the shards by play, the card
// and the models.
func (r *run) repair(ctx context.Context, play func(missing []int) error) (RunResult, error) {
	result, missing, err := r.whole(ctx)
	if err != nil || result.AlreadyComplete {
		return result, err
	}
	f, m := r.Folder, result.Manifest
	if err := f.keepModels(); err != nil {
		return result, err
	}
	if text := about.CardText(m); !f.has(m.Card) && m.Card == about.AttachmentOf(about.CardName, text) {
		if err := store.WriteFile(f.ctx, f.Files, about.CardName, text); err != nil {
			return result, err
		}
	}
	r.have, r.made = make([]uint64, f.shards), map[int]about.Files{}
	for s, err := range read.NewDataset(ctx, f.Dir, f.Files, m).Shards() {
		if err != nil {
			return result, err
		}
		if _, again := slices.BinarySearch(missing, s.Number); again {
			r.made[s.Number] = s.Files
		} else {
			r.isThere(s.Number)
		}
	}
	if len(missing) > 0 {
		err = play(missing)
	}
	if err == nil {
		err = f.clean()
	}
	return result, err
}

// fits fails if a shard that is made again differs from the one of the complete dataset.
func (r *run) fits(c about.Sidecar) error {
	if was, again := r.made[c.Shard]; again && was != c.Files {
		return fmt.Errorf("%s was made by another build: the files of the shard would differ; copy them from elsewhere, or make the dataset again in another folder",
			r.Folder.Dir)
	}
	return nil
}

// has reports whether a file of that size exists.
func (f folder) has(a about.Attachment) bool {
	return store.HasFile(f.ctx, f.Files, a.Path, a.Bytes) == nil
}

// lacks returns the shards of a complete dataset with missing files, in order, and whether
// other files are missing that can be made again. It fails if a file has another kind or
// size, or if one is missing that cannot be made again alone.
func (r *run) lacks(ctx context.Context, m *about.Manifest) (missing []int, others bool, err error) {
	f := r.Folder
	changed := func(err error, advice string) error {
		return fmt.Errorf("%s: the dataset was complete and has changed: %w; %s", f.Dir, err, advice)
	}
	again := append([]about.Attachment{m.Card}, m.Job.Models...)
	alone := []about.Attachment{m.Statistics}
	for _, p := range m.Index {
		alone = append(alone, about.Attachment{Path: p.Path, Bytes: p.Bytes})
	}
	for k, a := range append(again, alone...) {
		if a.Path == "" {
			continue
		}
		err := store.HasFile(ctx, f.Files, a.Path, a.Bytes)
		switch missing := errors.Is(err, fs.ErrNotExist); {
		case err == nil:
		case k >= len(again), a.Path == about.CardName && m.Card != about.AttachmentOf(about.CardName, about.CardText(m)):
			return nil, false, changed(err, "copy it from elsewhere, or make the dataset again in another folder")
		case !missing:
			return nil, false, changed(err, "remove it to make it again")
		default:
			others = true
		}
	}
	var shards []about.Shard
	for s, err := range read.NewDataset(ctx, f.Dir, f.Files, m).Shards() {
		if err != nil {
			return nil, false, err
		}
		shards = append(shards, s)
	}
	var mu sync.Mutex
	err = parallel.Each(ctx, max(r.options.Workers, 8), shards, func(ctx context.Context, _ int, s about.Shard) error {
		gone := false
		for _, file := range s.All() {
			err := store.HasFile(ctx, f.Files, file.Path, file.Bytes)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return changed(err, "remove it to make the shard again")
			}
			gone = gone || err != nil
		}
		if gone {
			mu.Lock()
			defer mu.Unlock()
			missing = append(missing, s.Number)
		}
		return nil
	})
	slices.Sort(missing)
	return missing, others, err
}
