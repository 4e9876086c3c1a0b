package write

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"moonfarm/datasets/internal/about"
	"moonfarm/datasets/internal/disk"
	"moonfarm/datasets/internal/read"
	"moonfarm/datasets/internal/store"
	"moonfarm/rollout/parallel"
)

// Merge joins the parts of a dataset.
func Merge(ctx context.Context, dir string, parts []string, makers func(game string) (about.Makers, error), o Options) (RunResult, error) {
	x := &merger{}
	for _, p := range parts {
		if err := x.open(ctx, p); err != nil {
			return RunResult{}, err
		}
	}
	if len(x.parts) == 0 {
		return RunResult{}, errors.New("no parts to merge")
	}
	m, err := makers(x.begun.Job.Game)
	if err != nil {
		return RunResult{}, err
	}
	m.Policy, o.Part, o.Parts = nil, 0, 0
	r, err := NewRun(ctx, dir, x.begun.Job, m, o)
	if err != nil {
		return RunResult{}, err
	}
	if err := r.Folder.Begun.Differ(x.text); err != nil {
		return RunResult{}, fmt.Errorf("%s: %w", x.parts[0].path(about.RunName), err)
	}
	x.run = r
	r.Folder.models = read.ModelsIn(ctx, x.parts[0].Files)
	return r.make(ctx, func(missing []int) error { return x.bring(ctx, missing) })
}

// merger is the state of one Merge.
type merger struct {
	run   *run
	text  []byte // run.json of the first part
	begun RunFile
	parts []folder

	from []int32 // per shard: the number of the first part that has it, from 1; 0: none
}

// open reads the run.json of a part, and compares it with the first part's.
func (m *merger) open(ctx context.Context, dir string) error {
	files, err := read.StoreOf(ctx, dir)
	if err != nil {
		return err
	}
	text, err := store.ReadFile(ctx, files, about.RunName, about.MaxRun)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: not a part of a dataset: %w", dir, err)
	}
	if err != nil {
		return err
	}
	f := folder{Dir: dir, Files: files, ctx: ctx}
	if len(m.parts) == 0 {
		if m.begun, err = DecodeRunFile(text); err == nil {
			err = m.begun.Job.Check()
		}
		if err != nil {
			return fmt.Errorf("%s: %w", f.path(about.RunName), err)
		}
		if m.begun.Job.Imported() {
			return fmt.Errorf("%s: imported episodes are made in one part", dir)
		}
		m.text = text
	} else if err := m.begun.Differ(text); err != nil {
		return fmt.Errorf("%s and %s belong to different runs: %w", m.parts[0].Dir, dir, err)
	}
	f.Begun, f.shards = m.begun, int(m.begun.Job.ShardCount())
	m.parts = append(m.parts, f)
	return nil
}

// bring copies the missing shards.
func (m *merger) bring(ctx context.Context, missing []int) error {
	if err := m.find(ctx); err != nil {
		return err
	}
	var none []string
	for _, i := range missing {
		if m.from[i] == 0 {
			none = append(none, strconv.Itoa(i))
		}
	}
	if len(none) > 0 {
		const most = 10
		return fmt.Errorf("%d of %d shards are in no part: %s%s", len(none), len(m.from),
			strings.Join(none[:min(len(none), most)], ", "), map[bool]string{true: ", …"}[len(none) > most])
	}
	return parallel.Each(ctx, m.run.options.Workers, missing, func(ctx context.Context, _, i int) error {
		return m.shard(ctx, &m.parts[m.from[i]-1], i)
	})
}

// find finds the part that has each shard. It fails if two parts have different bytes
// for one shard.
func (m *merger) find(ctx context.Context) error {
	m.from = make([]int32, m.run.Folder.shards)
	for k, f := range m.parts {
		var there []int
		err := f.Files.Each(ctx, about.ShardsDir, func(name string) error {
			i, ok := about.NumberOf(about.ShardsDir, name)
			if !ok && about.Unfinished.MatchString(name) {
				return nil // a file being written, or left by a killed run
			}
			if !ok || i >= len(m.from) {
				return fmt.Errorf("%s: no shard of the run", f.path(about.ShardsDir+"/"+name))
			}
			there = append(there, i)
			return nil
		})
		if err != nil {
			return err
		}
		slices.Sort(there)
		for _, i := range there {
			if err := m.same(f, i); err != nil {
				return err
			}
			if m.from[i] == 0 {
				m.from[i] = int32(k + 1)
			}
		}
	}
	return nil
}

// same fails if a shard of a part differs from the same shard of an earlier part or of
// the dataset.
func (m *merger) same(f folder, i int) error {
	other := m.run.Folder
	if m.from[i] > 0 {
		other = m.parts[m.from[i]-1]
	} else if m.run.have[i] == 0 {
		return nil
	}
	_, a, err := other.sidecar(i, "")
	if err != nil {
		return err
	}
	_, b, err := f.sidecar(i, "")
	if err != nil {
		return err
	}
	if a.Checksum != b.Checksum {
		return fmt.Errorf("shard %d has different bytes in %s and %s", i, other.Dir, f.Dir)
	}
	return nil
}

// shard copies one shard, and compares the sums with its sidecar.
func (m *merger) shard(ctx context.Context, f *folder, i int) error {
	text, c, err := f.sidecar(i, "")
	if err != nil {
		return err
	}
	to := m.run.Folder
	if err := m.run.fits(c); err != nil {
		return err
	}
	if p := m.run.Place(i); c.Episodes.Rows != p.N {
		return fmt.Errorf("%s: %d episodes, expected %d", f.path(about.PathOf(about.ShardsDir, i)), c.Episodes.Rows, p.N)
	}
	if err := atOnce(c.All(), func(file *about.File) error { return m.file(ctx, f, file) }); err != nil {
		return err
	}
	if err := atOnce(to.tables(), func(d string) error { return to.Files.Sync(ctx, d) }); err != nil {
		return err
	}
	if err := store.WriteFile(ctx, to.Files, about.PathOf(about.ShardsDir, i), text); err != nil {
		return err
	}
	m.run.have[i] = about.Digest(text) // one goroutine writes each element
	m.run.report(func(p *Progress) {
		p.Shards, p.Episodes, p.Rows = p.Shards+1, p.Episodes+c.Episodes.Rows, p.Rows+c.Steps.Rows
	})
	return nil
}

// file links or copies one file.
func (m *merger) file(ctx context.Context, f *folder, file *about.File) error {
	to := m.run.Folder
	if a, ok := f.Files.(*disk.Folder); ok {
		if b, ok := to.Files.(*disk.Folder); ok && b.Link(a, file.Path) == nil {
			return f.sound(ctx, file.Path, file)
		}
	}
	from, err := store.OpenSized(ctx, f.Files, file.Path, file.Bytes)
	if err != nil {
		return err
	}
	defer from.Close()
	_, err = store.Write(ctx, to.Files, file.Path, func(w store.File) error {
		_, err := io.Copy(w, io.NewSectionReader(from, 0, from.Size()))
		if sum := w.SHA256(); err == nil && sum != file.SHA256 {
			err = fmt.Errorf("%s: sha256 is %s, expected %s", from.Name(), sum, file.SHA256)
		}
		return err
	})
	return err
}
