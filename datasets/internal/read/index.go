package read

import (
	"bytes"
	"fmt"

	"moonfarm/datasets/internal/about"
	"moonfarm/datasets/internal/arrowfile"
	"moonfarm/datasets/internal/store"
	"moonfarm/env"
)

// indexReader reads shards from the index and holds the part last read. It is
// not safe for concurrent use.
type indexReader struct {
	d      *Dataset
	r      *arrowfile.Reader
	t      *arrowfile.RecordBatch
	Text   []byte
	part   int // held; -1: none
	Shards []about.Shard
}

// IndexReader returns a reader of the entries of shards.
func (d *Dataset) IndexReader() (*indexReader, error) {
	x := &indexReader{d: d, part: -1}
	s := about.IndexSchema(d.manifest.Job, []env.Spec{d.manifest.Spec()})
	var err error
	if x.r, err = arrowfile.NewReader(s, arrowfile.None); err != nil {
		return nil, err
	}
	x.t, err = arrowfile.NewRecordBatch(s, about.IndexShards, nil)
	return x, err
}

// Shard returns shard i. Errors name the file.
func (x *indexReader) Shard(i int) (about.Shard, error) {
	if k := i / about.IndexShards; k != x.part {
		x.part, x.Shards = -1, x.Shards[:0]
		if err := x.read(k); err != nil {
			return about.Shard{}, fmt.Errorf("%s: %w", x.d.manifest.Index[k].Path, err)
		}
		x.part = k
	}
	return x.Shards[i%about.IndexShards], nil
}

// read reads part k and checks all that can be checked without the shards' files.
func (x *indexReader) read(k int) error {
	m := x.d.manifest
	p := m.Index[k]
	f, err := x.d.Files.Open(x.d.Ctx, p.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	size := f.Size()
	if uint64(size) != p.Bytes || size > about.MaxIndexPart {
		return fmt.Errorf("%d bytes, the manifest says %d", size, p.Bytes)
	}
	if int64(cap(x.Text)) < size {
		x.Text = make([]byte, size)
	}
	x.Text = x.Text[:size]
	if _, err := f.ReadAt(x.Text, 0); err != nil {
		return err
	}
	if sum := store.SHA256(x.Text); sum != p.SHA256 {
		return fmt.Errorf("sha256 is %s, the manifest says %s", sum, p.SHA256)
	}
	return x.Decode(k, p)
}

// Decode decodes the text of a part into its shards.
func (x *indexReader) Decode(k int, p about.IndexPart) error {
	batches, err := x.r.Open(bytes.NewReader(x.Text), int64(len(x.Text)))
	if err != nil {
		return err
	}
	if batches != 1 {
		return fmt.Errorf("%d batches, expected 1", batches)
	}
	if err := x.r.Read(0, x.t); err != nil {
		return err
	}
	if uint64(x.t.Rows) != p.Shards {
		return fmt.Errorf("%d shards, the manifest says %d", x.t.Rows, p.Shards)
	}
	d, first := about.NewIndexData(x.t), x.d.firsts[k]
	var rows uint64
	for i := range x.t.Rows {
		n := k*about.IndexShards + i
		s := about.Shard{Number: n, First: first, Rules: int(d.Rules[i])}
		for t := range d.Files {
			*s.Of(t) = d.Files[t].File(i, about.PathOf(about.TableNames(true)[t], n))
		}
		if int(d.Shard[i]) != n || d.First[i] != first {
			return fmt.Errorf("row %d is of shard %d from episode %d on, expected %d from %d on", i, d.Shard[i], d.First[i], n, first)
		}
		if err := x.d.manifest.CheckShard(&s); err != nil {
			return err
		}
		x.Shards = append(x.Shards, s)
		first, rows = first+s.Episodes.Rows, rows+s.Steps.Rows
	}
	if first-x.d.firsts[k] != p.Episodes || rows != p.Rows {
		return fmt.Errorf("%d episodes of %d rows, the manifest says %d of %d", first-x.d.firsts[k], rows, p.Episodes, p.Rows)
	}
	return nil
}
