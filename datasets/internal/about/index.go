package about

import (
	"context"
	"encoding/hex"
	"fmt"

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

// Place holds the episodes of a shard and the number of their rules.
type Place struct {
	Shard    int
	First, N uint64
	Rules    int
}

// Place returns the place of the shard.
func (s *Shard) Place() Place { return Place{s.Number, s.First, s.Episodes.Rows, s.Rules} }

// Names of the columns of the index.
const (
	colShard      = "shard"
	colFirst      = "first_episode"
	colShardRules = "rules"

	// The index has a column of each of these for every table; its name begins with the
	// table's.
	colRows   = "_rows"
	colBytes  = "_bytes"
	ColSHA256 = "_sha256"
)

// IndexColumns returns the columns of index/*.arrow.
func IndexColumns(finals bool) []arrowfile.Column {
	c := []arrowfile.Column{
		{Name: colShard, Type: arrowfile.Int32, Doc: "number of the shard, from 0"},
		{Name: colFirst, Type: arrowfile.Uint64, Doc: "number of its first episode"},
		{Name: colShardRules, Type: arrowfile.Int32, Doc: "number of the rules of its episodes in the manifest, from 0"},
	}
	for _, of := range TableNames(finals) {
		c = append(c,
			arrowfile.Column{Name: of + colRows, Type: arrowfile.Uint64, Doc: "rows in its file of " + of},
			arrowfile.Column{Name: of + colBytes, Type: arrowfile.Uint64, Doc: "bytes of that file"},
			arrowfile.Column{Name: of + ColSHA256, Type: arrowfile.Uint8, Shape: []int{32}, Dims: []string{"byte"}, Doc: "sha256 of that file"})
	}
	return c
}

// IndexSchema returns the schema of the index of a dataset.
func IndexSchema(j Job, specs []env.Spec) arrowfile.Schema {
	return FileSchema(j, specs[0].Info.Rules, IndexDir, IndexColumns(HasFinals(j.Obs)), 1)
}

// indexData holds the columns of a table of the index.
type indexData struct {
	Shard, Rules []int32
	First        []uint64
	Files        []fileData // one of each table
}

type fileData struct {
	rows, bytes []uint64
	sums        []byte
}

// NewIndexData returns the columns of a table of the index.
func NewIndexData(t *arrowfile.RecordBatch) indexData {
	u := func(name string) []uint64 { return arrowfile.View[uint64](t.Col(name).Fixed) }
	x := indexData{Shard: arrowfile.View[int32](t.Col(colShard).Fixed), Rules: arrowfile.View[int32](t.Col(colShardRules).Fixed), First: u(colFirst)}
	for _, of := range TableNames(t.Col(FinalsDir+colRows) != nil) {
		x.Files = append(x.Files, fileData{u(of + colRows), u(of + colBytes), t.Col(of + ColSHA256).Fixed})
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

// File returns the file in row i.
func (d *fileData) File(i int, path string) File {
	return File{Path: path, SHA256: hex.EncodeToString(d.sums[i*32 : (i+1)*32]), Rows: d.rows[i], Bytes: d.bytes[i]}
}

// indexWriter writes the index, part by part.
type indexWriter struct {
	files store.Store
	w     *arrowfile.Writer
	t     *arrowfile.RecordBatch
	data  indexData
	part  IndexPart // in hand
	Parts []IndexPart
}

// NewIndexWriter writes the index of the shards of a layout.
func NewIndexWriter(files store.Store, l *Layout) (*indexWriter, error) {
	s := IndexSchema(l.Job, l.Specs)
	w, err := arrowfile.NewWriter(s, arrowfile.None)
	if err != nil {
		return nil, err
	}
	t, err := arrowfile.NewRecordBatch(s, IndexShards, nil)
	if err != nil {
		return nil, err
	}
	return &indexWriter{files: files, w: w, t: t, data: NewIndexData(t)}, nil
}

// Add adds the next shard.
func (x *indexWriter) Add(ctx context.Context, c Sidecar, p Place) error {
	i := x.t.Rows
	x.data.Shard[i], x.data.First[i], x.data.Rules[i] = int32(p.Shard), p.First, int32(p.Rules)
	files := c.All()
	if len(files) != len(x.data.Files) {
		return fmt.Errorf("shard %d has %d files, expected %d", p.Shard, len(files), len(x.data.Files))
	}
	for k, f := range files {
		if err := x.data.Files[k].put(i, f); err != nil {
			return err
		}
	}
	x.part.Episodes += c.Episodes.Rows
	x.part.Rows += c.Steps.Rows
	if x.t.Rows++; x.t.Rows < IndexShards {
		return nil
	}
	return x.Flush(ctx)
}

// Flush writes the part in hand.
func (x *indexWriter) Flush(ctx context.Context) error {
	if x.t.Rows == 0 {
		return nil
	}
	p := x.part
	p.Path, p.Shards = PathOf(IndexDir, len(x.Parts)), uint64(x.t.Rows)
	var err error
	if p.SHA256, err = store.Write(ctx, x.files, p.Path, x.write); err != nil {
		return err
	}
	p.Bytes = uint64(x.w.Bytes())
	x.Parts, x.part = append(x.Parts, p), IndexPart{}
	x.t.Reset()
	return nil
}

func (x *indexWriter) write(f store.File) error {
	if err := x.w.Start(f); err != nil {
		return err
	}
	if err := x.w.Write(x.t); err != nil {
		return err
	}
	return x.w.Finish()
}
