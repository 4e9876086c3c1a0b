package datasets

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"io"

	"moonfarm/datasets/internal/arrowfile"
	"moonfarm/datasets/internal/store"
	"moonfarm/env"
)

// IndexPart is one file of the index, as the manifest lists it.
type IndexPart struct {
	Path     string `json:"path"` // relative, with slashes
	SHA256   string `json:"sha256"`
	Bytes    uint64 `json:"bytes"`
	Shards   uint64 `json:"shards"`   // listed in it
	Episodes uint64 `json:"episodes"` // in these shards
	Rows     uint64 `json:"rows"`     // of steps, in these shards
}

// Shard is an entry of the index: the episodes of a shard, and its files.
type Shard struct {
	Number int
	First  uint64 // number of its first episode
	Rules  int    // index into Job.Rules of the rules of all its episodes
	Files
}

// place holds the episodes of a shard and the number of their rules.
type place struct {
	shard    int
	first, n uint64
	rules    int
}

func (s *Shard) place() place { return place{s.Number, s.First, s.Episodes.Rows, s.Rules} }

// Names of the columns of the index.
const (
	colShard      = "shard"
	colFirst      = "first_episode"
	colShardRules = "rules"

	// The index has a column of each of these for every table; its name begins with the
	// table's.
	colRows   = "_rows"
	colBytes  = "_bytes"
	colSHA256 = "_sha256"
)

// indexColumns returns the columns of index/*.arrow.
func indexColumns(finals bool) []Column {
	c := []Column{
		{Name: colShard, Type: arrowfile.Int32, Doc: "number of the shard, from 0"},
		{Name: colFirst, Type: arrowfile.Uint64, Doc: "number of its first episode"},
		{Name: colShardRules, Type: arrowfile.Int32, Doc: "number of the rules of its episodes in the manifest, from 0"},
	}
	for _, of := range tableNames(finals) {
		c = append(c,
			Column{Name: of + colRows, Type: arrowfile.Uint64, Doc: "rows in its file of " + of},
			Column{Name: of + colBytes, Type: arrowfile.Uint64, Doc: "bytes of that file"},
			Column{Name: of + colSHA256, Type: arrowfile.Uint8, Shape: []int{32}, Dims: []string{"byte"}, Doc: "sha256 of that file"})
	}
	return c
}

// indexSchema returns the schema of the index of a dataset.
func indexSchema(j Job, specs []env.Spec) arrowfile.Schema {
	return fileSchema(j, specs[0].Info.Rules, indexDir, indexColumns(hasFinals(j.Obs)), 1)
}

// indexData holds the columns of a table of the index.
type indexData struct {
	shard, rules []int32
	first        []uint64
	files        []fileData // one of each table
}

type fileData struct {
	rows, bytes []uint64
	sums        []byte
}

func newIndexData(t *arrowfile.RecordBatch) indexData {
	u := func(name string) []uint64 { return arrowfile.View[uint64](t.Col(name).Fixed) }
	x := indexData{shard: arrowfile.View[int32](t.Col(colShard).Fixed), rules: arrowfile.View[int32](t.Col(colShardRules).Fixed), first: u(colFirst)}
	for _, of := range tableNames(t.Col(finalsDir+colRows) != nil) {
		x.files = append(x.files, fileData{u(of + colRows), u(of + colBytes), t.Col(of + colSHA256).Fixed})
	}
	return x
}

// put writes the entry of one file into row i.
func (d *fileData) put(i int, f *File) error {
	sum, err := hex.DecodeString(f.SHA256)
	if err != nil || len(sum) != 32 {
		return fmt.Errorf("%s: sha256 %q", f.Path, f.SHA256)
	}
	d.rows[i], d.bytes[i] = f.Rows, f.Bytes
	copy(d.sums[i*32:(i+1)*32], sum)
	return nil
}

// file returns the file in row i.
func (d *fileData) file(i int, path string) File {
	return File{Path: path, SHA256: hex.EncodeToString(d.sums[i*32 : (i+1)*32]), Rows: d.rows[i], Bytes: d.bytes[i]}
}

// indexWriter writes the index, part by part.
type indexWriter struct {
	files store.Store
	w     *arrowfile.Writer
	t     *arrowfile.RecordBatch
	data  indexData
	part  IndexPart // in hand
	parts []IndexPart
}

func newIndexWriter(files store.Store, l *layout) (*indexWriter, error) {
	s := indexSchema(l.job, l.specs)
	w, err := arrowfile.NewWriter(s, None)
	if err != nil {
		return nil, err
	}
	t, err := arrowfile.NewRecordBatch(s, indexShards, nil)
	if err != nil {
		return nil, err
	}
	return &indexWriter{files: files, w: w, t: t, data: newIndexData(t)}, nil
}

// add adds the next shard.
func (x *indexWriter) add(ctx context.Context, c sidecar, p place) error {
	i := x.t.Rows
	x.data.shard[i], x.data.first[i], x.data.rules[i] = int32(p.shard), p.first, int32(p.rules)
	files := c.all()
	if len(files) != len(x.data.files) {
		return fmt.Errorf("shard %d has %d files, expected %d", p.shard, len(files), len(x.data.files))
	}
	for k, f := range files {
		if err := x.data.files[k].put(i, f); err != nil {
			return err
		}
	}
	x.part.Episodes += c.Episodes.Rows
	x.part.Rows += c.Steps.Rows
	if x.t.Rows++; x.t.Rows < indexShards {
		return nil
	}
	return x.flush(ctx)
}

// flush writes the part in hand.
func (x *indexWriter) flush(ctx context.Context) error {
	if x.t.Rows == 0 {
		return nil
	}
	p := x.part
	p.Path, p.Shards = pathOf(indexDir, len(x.parts)), uint64(x.t.Rows)
	var err error
	if p.SHA256, err = store.Write(ctx, x.files, p.Path, x.write); err != nil {
		return err
	}
	p.Bytes = uint64(x.w.Bytes())
	x.parts, x.part = append(x.parts, p), IndexPart{}
	x.t.Reset()
	return nil
}

func (x *indexWriter) write(f io.Writer) error {
	if err := x.w.Start(f); err != nil {
		return err
	}
	if err := x.w.Write(x.t); err != nil {
		return err
	}
	return x.w.Finish()
}

// indexReader reads shards from the index and holds the part last read. It is
// not safe for concurrent use.
type indexReader struct {
	d      *Dataset
	r      *arrowfile.Reader
	t      *arrowfile.RecordBatch
	text   []byte
	part   int // held; -1: none
	shards []Shard
}

func (d *Dataset) indexReader() (*indexReader, error) {
	x := &indexReader{d: d, part: -1}
	s := indexSchema(d.manifest.Job, []env.Spec{d.manifest.spec()})
	var err error
	if x.r, err = arrowfile.NewReader(s, None); err != nil {
		return nil, err
	}
	x.t, err = arrowfile.NewRecordBatch(s, indexShards, nil)
	return x, err
}

// shard returns shard i. Errors name the file.
func (x *indexReader) shard(i int) (Shard, error) {
	if k := i / indexShards; k != x.part {
		x.part, x.shards = -1, x.shards[:0]
		if err := x.read(k); err != nil {
			return Shard{}, fmt.Errorf("%s: %w", x.d.manifest.Index[k].Path, err)
		}
		x.part = k
	}
	return x.shards[i%indexShards], nil
}

// read reads part k and checks all that can be checked without the shards' files.
func (x *indexReader) read(k int) error {
	m := x.d.manifest
	p := m.Index[k]
	f, err := x.d.files.Open(x.d.ctx, p.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	size := f.Size()
	if uint64(size) != p.Bytes || size > maxIndexPart {
		return fmt.Errorf("%d bytes, the manifest says %d", size, p.Bytes)
	}
	if int64(cap(x.text)) < size {
		x.text = make([]byte, size)
	}
	x.text = x.text[:size]
	if _, err := f.ReadAt(x.text, 0); err != nil {
		return err
	}
	if sum := store.SHA256(x.text); sum != p.SHA256 {
		return fmt.Errorf("sha256 is %s, the manifest says %s", sum, p.SHA256)
	}
	return x.decode(k, p)
}

// decode decodes the text of a part into its shards.
func (x *indexReader) decode(k int, p IndexPart) error {
	batches, err := x.r.Open(bytes.NewReader(x.text), int64(len(x.text)))
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
	d, first := newIndexData(x.t), x.d.firsts[k]
	var rows uint64
	for i := range x.t.Rows {
		n := k*indexShards + i
		s := Shard{Number: n, First: first, Rules: int(d.rules[i])}
		for t := range d.files {
			*s.of(t) = d.files[t].file(i, pathOf(tableNames(true)[t], n))
		}
		if int(d.shard[i]) != n || d.first[i] != first {
			return fmt.Errorf("row %d is of shard %d from episode %d on, expected %d from %d on", i, d.shard[i], d.first[i], n, first)
		}
		if err := x.d.manifest.checkShard(&s); err != nil {
			return err
		}
		x.shards = append(x.shards, s)
		first, rows = first+s.Episodes.Rows, rows+s.Steps.Rows
	}
	if first-x.d.firsts[k] != p.Episodes || rows != p.Rows {
		return fmt.Errorf("%d episodes of %d rows, the manifest says %d of %d", first-x.d.firsts[k], rows, p.Episodes, p.Rows)
	}
	return nil
}
