package arrowfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	flatbuffers "github.com/google/flatbuffers/go"
)

// Writer writes files of one schema, one after the other, and keeps its memory. The
// first error sticks until the next Start. The bytes of a file depend on the schema,
// the codec and the written batches alone. It is not safe for concurrent use.
type Writer struct {
	schema Schema
	head   []byte // magic and schema message
	codec  Codec
	frames compressor

	w      io.Writer
	pos    int64
	rows   int64
	blocks []block
	err    error

	flat  *flatbuffers.Builder
	nodes []int64
	spans []span
	msg   []byte
	size  int64    // of the body of a batch so far
	body  []byte   // the body with a codec
	parts [][]byte // the body with codec None, in pieces that are not copied
}

// errNotStarted is returned by a Writer before Start.
var errNotStarted = errors.New("no file started")

// NewWriter returns a Writer. It fails on a schema that cannot be written.
func NewWriter(s Schema, c Codec) (*Writer, error) {
	frames, err := newCompressor(c)
	if err != nil {
		return nil, err
	}
	return (&Writer{codec: c, frames: frames, flat: flatbuffers.NewBuilder(4096)}).Other(s)
}

// Other returns a Writer of files of another schema that shares the memory for
// compression, which is most of a Writer's memory. Both may have an open file, but one
// goroutine must write them.
func (w *Writer) Other(s Schema) (*Writer, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	return &Writer{schema: s, head: fileHead(s), codec: w.codec, frames: w.frames, flat: w.flat, err: errNotStarted}, nil
}

// Start begins a file.
func (w *Writer) Start(out io.Writer) error {
	w.w, w.pos, w.rows, w.blocks, w.err = out, 0, 0, w.blocks[:0], nil
	return w.write(w.head)
}

// Rows returns the number of rows written to the file, Bytes the number of bytes.
func (w *Writer) Rows() int64  { return w.rows }
func (w *Writer) Bytes() int64 { return w.pos }

func (w *Writer) write(b []byte) error {
	if w.err != nil || len(b) == 0 {
		return w.err
	}
	n, err := w.w.Write(b)
	w.pos += int64(n)
	w.err = err
	return err
}

// Write writes t as one record batch. t must have the schema and all its columns.
func (w *Writer) Write(t *RecordBatch) error {
	if w.err != nil {
		return w.err
	}
	w.nodes, w.spans, w.body, w.parts, w.size = w.nodes[:0], w.spans[:0], w.body[:0], w.parts[:0], 0
	for i, d := range t.Data {
		if err := w.column(d, t.Rows); err != nil {
			w.err = fmt.Errorf("column %s: %w", w.schema.Columns[i].Name, err)
			return w.err
		}
	}
	w.msg = appendBatchMessage(w.msg[:0], w.flat, t.Rows, w.nodes, w.spans, w.size, w.codec)
	w.blocks = append(w.blocks, block{w.pos, int32(len(w.msg)), w.size})
	w.write(w.msg)
	w.write(w.body)
	for _, p := range w.parts {
		w.write(p)
	}
	if w.err == nil {
		w.rows += int64(t.Rows)
	}
	return w.err
}

// column adds the fields and buffers of one column.
func (w *Writer) column(d *Data, rows int) error {
	c := d.Column
	n := rows * c.Values()
	w.field(rows)
	if len(c.Shape) > 0 {
		w.field(n)
	}
	if d.Ends == nil {
		width := c.Width()
		used := d.Fixed[:rows*width]
		if c.Type == Bool {
			used, width = packed(used), 0
		}
		return w.buffer(used, likeness{width: width, stride: w.schema.Stride, anywhere: slices.Contains(w.schema.Anywhere, c.Name)})
	}
	if len(d.Ends) != n+1 || len(d.Bytes) > maxBuffer {
		return fmt.Errorf("%d ends for %d values, %d bytes", len(d.Ends)-1, n, len(d.Bytes))
	}
	if err := w.buffer(Bytes(d.Ends), likeness{width: 4, stride: 1}); err != nil {
		return err
	}
	if c.List {
		w.field(int(d.Ends[rows]))
	}
	var like likeness
	if c.Type.size() == 8 { // the high bytes of orders are equal; other lists repeat each other
		like = likeness{width: 8, stride: 1}
	}
	return w.buffer(d.Bytes, like)
}

// field adds a field with that number of values, and its validity buffer, which is
// empty as there are no nulls.
func (w *Writer) field(values int) {
	w.nodes = append(w.nodes, int64(values))
	w.spans = append(w.spans, span{w.size, 0})
}

// packed returns bytes 0 and 1 as bits, the first one lowest.
func packed(b []byte) []byte {
	bits := make([]byte, (len(b)+7)/8)
	for i, v := range b {
		bits[i/8] |= v << (i % 8)
	}
	return bits
}

var zeros [8]byte

// buffer adds one buffer to the body.
func (w *Writer) buffer(b []byte, l likeness) (err error) {
	n := int64(len(b))
	switch {
	case n == 0:
	case w.codec == None:
		w.parts = append(w.parts, b, zeros[:-n&7])
	default:
		w.body = binary.LittleEndian.AppendUint64(w.body, uint64(n))
		if w.body, err = w.frames(w.body, b, l); err != nil {
			return err
		}
		n = int64(len(w.body)) - w.size
		w.body = append(w.body, zeros[:-n&7]...)
	}
	w.spans = append(w.spans, span{w.size, n})
	w.size += (n + 7) &^ 7
	return nil
}

// Finish writes the end of the file.
func (w *Writer) Finish() error {
	if w.err != nil {
		return w.err
	}
	w.msg = appendFooter(w.msg[:0], w.schema, w.blocks)
	if len(w.msg) > maxMetadata {
		w.err = fmt.Errorf("the places of %d batches take %d bytes, at most %d can be read", len(w.blocks), len(w.msg), maxMetadata)
		return w.err
	}
	w.write(w.msg)
	if w.err == nil {
		w.err = errNotStarted
		return nil
	}
	return w.err
}
