package export

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"slices"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/metadata"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"moonfarm/datasets"
	"moonfarm/datasets/internal/arrowfile"
	"moonfarm/sim"
)

// Keys of the metadata of a Parquet file.
const (
	keyColumns  = "moonfarm.columns"  // the columns as JSON, with shapes and what they mean
	keyManifest = "moonfarm.manifest" // of the dataset, as JSON
)

// Parquet writes the rows as a Parquet file, compressed with zstd. A tensor is a
// list of its values, row-major; the shapes are in the file's metadata, under
// "moonfarm.columns", and "moonfarm.manifest" is the manifest. No column has nulls.
// It fails on machines for which arrow's writer of Parquet is not complete.
func Parquet(ctx context.Context, w io.Writer, d *datasets.Dataset, o Options) (Written, error) {
	if err := able(); err != nil {
		return Written{}, err
	}
	s, err := newSource(ctx, d, o)
	if err != nil {
		return Written{}, err
	}
	root, err := parquetSchema(s.columns)
	if err != nil {
		return Written{}, err
	}
	columns, err := json.Marshal(s.columns)
	if err != nil {
		return Written{}, err
	}
	manifest, err := json.Marshal(d.Manifest())
	if err != nil {
		return Written{}, err
	}
	meta := metadata.NewKeyValueMetadata()
	for _, pair := range [][2]string{{keyColumns, string(columns)}, {keyManifest, string(manifest)}} {
		if err := meta.Append(pair[0], pair[1]); err != nil {
			return Written{}, err
		}
	}
	properties := parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Zstd), parquet.WithCreatedBy("moonfarm "+datasets.Version))
	to := &sticky{w: w}
	p := &parquetWriter{ctx: ctx, s: s, out: file.NewParquetWriter(to, root, file.WithWriterProps(properties), file.WithWriteMetadata(meta))}
	err = s.each(ctx, func(b *datasets.Batch) error {
		if err := p.add(b); err != nil {
			return err
		}
		return to.err
	})
	if err == nil {
		err = p.out.Close()
	}
	if err == nil {
		err = to.err
	}
	return s.written(), err
}

// able fails where arrow v15 has functions for Parquet that are nil.
func able() error {
	if able := []string{"amd64", "arm64", "ppc64le", "s390x"}; !slices.Contains(able, runtime.GOARCH) {
		return fmt.Errorf("arrow v15 writes Parquet on %v, this is %s; npz is written everywhere", able, runtime.GOARCH)
	}
	return nil
}

// sticky keeps the first error and goes on: arrow's writer panics where it cannot
// write.
type sticky struct {
	w   io.Writer
	err error
}

// Write implements io.Writer.
func (s *sticky) Write(p []byte) (int, error) {
	if s.err == nil {
		_, s.err = s.w.Write(p)
	}
	return len(p), nil
}

// parquetTypes are the types of values as Parquet has them.
var parquetTypes = map[arrowfile.Type]struct {
	stored parquet.Type
	means  schema.LogicalType
}{
	arrowfile.Uint8:   {parquet.Types.Int32, schema.NewIntLogicalType(8, false)},
	arrowfile.Int32:   {parquet.Types.Int32, schema.NewIntLogicalType(32, true)},
	arrowfile.Uint64:  {parquet.Types.Int64, schema.NewIntLogicalType(64, false)},
	arrowfile.Float32: {parquet.Types.Float, schema.NoLogicalType{}},
	arrowfile.Bool:    {parquet.Types.Boolean, schema.NoLogicalType{}},
}

// parquetSchema is the schema of columns.
func parquetSchema(columns []datasets.Column) (*schema.GroupNode, error) {
	var fields schema.FieldList
	for _, c := range columns {
		t := parquetTypes[c.Type]
		var field schema.Node
		field, err := schema.NewPrimitiveNodeLogical(c.Name, parquet.Repetitions.Required, t.means, t.stored, 0, -1)
		if err == nil && isList(c) {
			field, err = schema.ListOf(field, parquet.Repetitions.Required, -1)
		}
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", c.Name, err)
		}
		fields = append(fields, field)
	}
	return schema.NewGroupNode("schema", parquet.Repetitions.Required, fields, -1)
}

// isList reports whether a row of a column is a list in Parquet.
func isList(c datasets.Column) bool { return c.List || len(c.Shape) > 0 }

// pieceValues is how many values of a column are written at a time, at least those
// of one row.
const pieceValues = 1 << 16

// parquetWriter writes batches, each as a row group.
type parquetWriter struct {
	ctx  context.Context // looked at before each piece: a batch can take seconds
	s    *source
	out  *file.Writer
	defs []int16 // levels of the values of a piece
	reps []int16
	ints []int32
	wide []int64
	bits []bool
}

// add writes a batch.
func (p *parquetWriter) add(b *datasets.Batch) error {
	group := p.out.AppendRowGroup()
	for _, c := range p.s.columns {
		w, err := group.NextColumn()
		if err != nil {
			return err
		}
		if err := p.column(w, c, b); err != nil {
			return fmt.Errorf("column %s: %w", c.Name, err)
		}
		if err := w.Close(); err != nil {
			return err
		}
	}
	return group.Close()
}

// column writes a column of a batch, piece by piece.
func (p *parquetWriter) column(w file.ColumnChunkWriter, c datasets.Column, b *datasets.Batch) error {
	v := values(b, c.Name)
	ends := func(row int) int { return row * c.Values() }
	if c.List {
		lists := listEnds(b, c.Name)
		ends = func(row int) int { return int(lists[row]) }
	}
	for from := 0; from < b.Rows; {
		to := from + 1
		for to < b.Rows && ends(to+1)-ends(from) <= pieceValues && to-from < pieceValues {
			to++
		}
		p.defs, p.reps = p.defs[:0], p.reps[:0]
		if isList(c) {
			p.levels(from, to, ends)
		}
		if p.ctx.Err() != nil {
			return context.Cause(p.ctx)
		}
		if err := p.piece(w, c, v, ends(from), ends(to)); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// levels sets those of the lists of some rows: a list begins at repetition 0, and an
// empty one has a place without a value, at definition 0.
func (p *parquetWriter) levels(from, to int, ends func(row int) int) {
	for row := from; row < to; row++ {
		n := ends(row+1) - ends(row)
		if n == 0 {
			p.defs, p.reps = append(p.defs, 0), append(p.reps, 0)
		}
		for i := range n {
			p.defs, p.reps = append(p.defs, 1), append(p.reps, int16(min(i, 1)))
		}
	}
}

// piece writes the values of a column from one to another.
func (p *parquetWriter) piece(w file.ColumnChunkWriter, c datasets.Column, v any, from, to int) (err error) {
	defs, reps := p.defs, p.reps
	if !isList(c) {
		defs, reps = nil, nil
	}
	switch v := v.(type) {
	case []uint8:
		if isBool(c) {
			p.bits = p.bits[:0]
			for _, x := range v[from:to] {
				p.bits = append(p.bits, x != 0)
			}
			_, err = w.(*file.BooleanColumnChunkWriter).WriteBatch(p.bits, defs, reps)
			return err
		}
		p.ints = p.ints[:0]
		for _, x := range v[from:to] {
			p.ints = append(p.ints, int32(x))
		}
		_, err = w.(*file.Int32ColumnChunkWriter).WriteBatch(p.ints, defs, reps)
	case []int32:
		_, err = w.(*file.Int32ColumnChunkWriter).WriteBatch(v[from:to], defs, reps)
	case []float32:
		_, err = w.(*file.Float32ColumnChunkWriter).WriteBatch(v[from:to], defs, reps)
	case []uint64:
		p.wide = appendWords(p.wide[:0], v[from:to])
		_, err = w.(*file.Int64ColumnChunkWriter).WriteBatch(p.wide, defs, reps)
	case []sim.Order:
		p.wide = appendWords(p.wide[:0], v[from:to])
		_, err = w.(*file.Int64ColumnChunkWriter).WriteBatch(p.wide, defs, reps)
	}
	return err
}

// appendWords appends words as Parquet stores them.
func appendWords[T ~uint64](to []int64, words []T) []int64 {
	for _, x := range words {
		to = append(to, int64(x))
	}
	return to
}
