package arrowfile

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	flatbuffers "github.com/google/flatbuffers/go"
)

// Writer writes files of one schema, one after the other, and keeps its
// memory. The first error sticks until the next Start. The bytes of a file
// depend on the schema, the codec and the tables written, on nothing else. It
// is not safe for concurrent use.
type Writer struct {
	schema Schema
	arrow  *arrow.Schema
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
	body  []byte   // the body of a batch, or with codec None its small parts
	parts [][]byte // the body with codec None, in pieces that are not copied
	bits  []byte   // scratch: packed bools
}

// NewWriter returns a Writer. It fails on a schema that cannot be written and
// on an unknown codec.
func NewWriter(s Schema, c Codec) (*Writer, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	frames, err := newCompressor(c)
	if err != nil {
		return nil, err
	}
	as := s.Arrow()
	w := &Writer{schema: s, arrow: as, codec: c, frames: frames, flat: flatbuffers.NewBuilder(4096)}
	w.head = fileHead(as)
	w.err = fmt.Errorf("no file started")
	return w, nil
}

// Start begins a file.
func (w *Writer) Start(out io.Writer) error {
	w.w, w.pos, w.rows, w.blocks, w.err = out, 0, 0, w.blocks[:0], nil
	return w.write(w.head)
}

// Rows is the number of rows written to the file, Bytes that of bytes.
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

// Write writes the rows of the table as one record batch. The table must be of
// the schema, without columns left out.
func (w *Writer) Write(t *Table) error {
	if w.err != nil {
		return w.err
	}
	w.nodes, w.spans, w.body, w.parts, w.bits = w.nodes[:0], w.spans[:0], w.body[:0], w.parts[:0], w.bits[:0]
	var at int64
	if len(t.Data) != len(w.schema.Columns) {
		w.err = fmt.Errorf("a table of %d columns for a schema of %d", len(t.Data), len(w.schema.Columns))
		return w.err
	}
	for i, d := range t.Data {
		if at, w.err = w.column(d, t.Rows, at); w.err != nil {
			w.err = fmt.Errorf("column %s: %w", w.schema.Columns[i].Name, w.err)
			return w.err
		}
	}
	w.msg = appendBatchMessage(w.msg[:0], w.flat, t.Rows, w.nodes, w.spans, at, w.codec)
	w.blocks = append(w.blocks, block{w.pos, int32(len(w.msg)), at})
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

// column appends the nodes and buffers of one column; at is where its first
// buffer begins in the body.
func (w *Writer) column(d *Data, rows int, at int64) (int64, error) {
	c := d.Column
	n := c.Values()
	w.nodes = append(w.nodes, int64(rows))
	w.spans = append(w.spans, span{at, 0}) // validity
	if len(c.Shape) > 0 {
		w.nodes = append(w.nodes, int64(rows*n))
		w.spans = append(w.spans, span{at, 0})
	}
	if d.Ends == nil {
		used := d.Fixed[:rows*c.Width()]
		if c.Type == Bool {
			used = w.pack(used)
		}
		return w.buffer(used, at, c.Width()*w.schema.Stride)
	}
	if len(d.Ends) != rows*n+1 || len(d.Bytes) > maxBuffer {
		return at, fmt.Errorf("%d ends for %d values, %d bytes", len(d.Ends)-1, rows*n, len(d.Bytes))
	}
	at, err := w.buffer(bytesOf(d.Ends), at, 0)
	if err != nil {
		return at, err
	}
	if c.List {
		w.nodes = append(w.nodes, int64(d.Ends[rows]))
		w.spans = append(w.spans, span{at, 0})
	}
	return w.buffer(d.Bytes, at, 0)
}

// pack packs bytes 0 and 1 into bits.
func (w *Writer) pack(b []byte) []byte {
	from := len(w.bits)
	w.bits = append(w.bits, make([]byte, (len(b)+7)/8)...)
	for i, v := range b {
		w.bits[from+i/8] |= v << (i % 8)
	}
	return w.bits[from:]
}

var zeros [8]byte

// buffer adds one buffer to the body and returns where the next begins.
func (w *Writer) buffer(b []byte, at int64, stride int) (int64, error) {
	if len(b) == 0 {
		w.spans = append(w.spans, span{at, 0})
		return at, nil
	}
	if w.codec == None {
		pad := -len(b) & 7
		w.spans = append(w.spans, span{at, int64(len(b))})
		w.parts = append(w.parts, b, zeros[:pad])
		return at + int64(len(b)+pad), nil
	}
	w.body = binary.LittleEndian.AppendUint64(w.body, uint64(len(b)))
	var err error
	if w.body, err = w.frames.frame(w.body, b, stride); err != nil {
		return at, err
	}
	w.spans = append(w.spans, span{at, int64(len(w.body)) - at})
	w.body = append(w.body, zeros[:-len(w.body)&7]...)
	return int64(len(w.body)), nil
}

// Finish writes the end of the file.
func (w *Writer) Finish() error {
	if w.err != nil {
		return w.err
	}
	w.msg = appendFooter(w.msg[:0], w.arrow, w.blocks)
	w.write(w.msg)
	if w.err == nil {
		w.err = fmt.Errorf("no file started")
		return nil
	}
	return w.err
}
