package arrowfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	flatbuffers "github.com/google/flatbuffers/go"
)

// Reader reads the batches of files of one schema, one file after the other, and keeps
// its memory. From any bytes it returns an error or a batch that a Writer of the same
// schema may have written; it does not panic, and allocates no more than the rows of
// the RecordBatch can need. It does not check whether the content was changed:
// checksums do. It is not safe for concurrent use.
type Reader struct {
	schema Schema
	head   []byte // of files that a Writer of the schema writes
	codec  Codec
	unpack decompressor

	r      io.ReaderAt
	size   int64
	blocks []block

	meta  []byte
	raw   []byte
	nodes []int64
	spans []span
}

// NewReader returns a Reader. It fails on a wrong schema.
func NewReader(s Schema, c Codec) (*Reader, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	unpack, err := newDecompressor(c)
	if err != nil {
		return nil, err
	}
	return &Reader{schema: s, head: fileHead(s), codec: c, unpack: unpack}, nil
}

// Open reads the head and the footer of a file of that size and returns its number of
// batches. It fails if the file is damaged or has another schema.
func (r *Reader) Open(f io.ReaderAt, size int64) (batches int, err error) {
	defer guard(&err)
	r.r, r.size, r.blocks = f, size, r.blocks[:0]
	if err := r.checkHead(); err != nil {
		return 0, err
	}
	err = r.openFooter()
	return len(r.blocks), err
}

// guard turns a panic of the flatbuffers code, which trusts offsets in the file, into
// an error.
func guard(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("damaged: %v", p)
	}
}

// readAt reads n bytes into buf, enlarged if needed.
func (r *Reader) readAt(buf []byte, at, n int64) ([]byte, error) {
	if at < 0 || n < 0 || at > r.size-n {
		return buf, fmt.Errorf("truncated: %d bytes at %d of a file of %d", n, at, r.size)
	}
	if int64(cap(buf)) < n {
		buf = Aligned(int(n))
	}
	buf = buf[:n]
	if _, err := r.r.ReadAt(buf, at); err != nil {
		return buf, err
	}
	return buf, nil
}

// checkHead fails unless the file begins with the bytes that a Writer of the schema
// writes.
func (r *Reader) checkHead() (err error) {
	if r.meta, err = r.readAt(r.meta, 0, min(r.size, int64(len(r.head)))); err != nil {
		return err
	}
	switch {
	case !bytes.HasPrefix(r.meta, r.head[:8]):
		return fmt.Errorf("not an Arrow file")
	case !bytes.HasPrefix(r.head, r.meta):
		return fmt.Errorf("another schema than expected: other columns or other metadata")
	case len(r.meta) < len(r.head):
		return fmt.Errorf("truncated: %d bytes", r.size)
	}
	return nil
}

// openFooter reads the places of the batches, which must lie one after the other
// between the head and the end of the stream.
func (r *Reader) openFooter() error {
	const tail = 4 + int64(len(magic))
	var err error
	if r.meta, err = r.readAt(r.meta, r.size-tail, tail); err != nil {
		return err
	}
	n := int64(binary.LittleEndian.Uint32(r.meta))
	if string(r.meta[4:]) != magic || n < 8 || n > maxMetadata {
		return fmt.Errorf("truncated or damaged: no footer at the end")
	}
	end := r.size - tail - n
	if r.meta, err = r.readAt(r.meta, end, n); err != nil {
		return err
	}
	list, length := vector(root(r.meta), footerBatches)
	if length > len(list)/blockSize {
		return fmt.Errorf("damaged: %d batches in a footer of %d bytes", length, n)
	}
	if cap(r.blocks) < length {
		r.blocks = make([]block, 0, length)
	}
	at := int64(len(r.head))
	for i := range length {
		b := list[i*blockSize:]
		k := block{int64(binary.LittleEndian.Uint64(b)), int32(binary.LittleEndian.Uint32(b[8:])), int64(binary.LittleEndian.Uint64(b[16:]))}
		if k.offset != at || k.meta < 16 || k.meta > maxMetadata || k.body < 0 || k.body > end-at {
			return fmt.Errorf("damaged: batch %d lies at %d, %d and %d bytes", i, k.offset, k.meta, k.body)
		}
		r.blocks = append(r.blocks, k)
		at += int64(k.meta) + k.body
	}
	if at+int64(len(endOfStream)) != end {
		return fmt.Errorf("damaged: batches end at %d, the footer begins at %d", at, end)
	}
	return nil
}

// root returns the root table of a flatbuffer.
func root(b []byte) *flatbuffers.Table {
	return &flatbuffers.Table{Bytes: b, Pos: flatbuffers.GetUOffsetT(b)}
}

// table returns the table in slot n, nil if there is none.
func table(t *flatbuffers.Table, n flatbuffers.VOffsetT) *flatbuffers.Table {
	o := flatbuffers.UOffsetT(t.Offset(place(n)))
	if o == 0 {
		return nil
	}
	return &flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(t.Pos + o)}
}

// place returns the offset of slot n in the vtable of a table.
func place(n flatbuffers.VOffsetT) flatbuffers.VOffsetT { return 4 + 2*n }

// vector returns a vector of structs: its bytes and its length.
func vector(t *flatbuffers.Table, n flatbuffers.VOffsetT) ([]byte, int) {
	o := t.Offset(place(n))
	if o == 0 {
		return nil, 0
	}
	return t.Bytes[t.Vector(flatbuffers.UOffsetT(o)):], t.VectorLen(flatbuffers.UOffsetT(o))
}

// Read reads batch i into t, which must have the schema; it skips columns that t does
// not have. It fails if the batch is damaged or has more rows than t has room for; t
// must not be used then.
func (r *Reader) Read(i int, t *RecordBatch) (err error) {
	defer guard(&err)
	t.Reset()
	k := r.blocks[i]
	rows, err := r.batch(k)
	if err != nil {
		return err
	}
	if rows < 1 || rows > int64(t.Cap) {
		return fmt.Errorf("damaged: a batch of %d rows, expected 1 to %d", rows, t.Cap)
	}
	c := cursor{r: r, body: k.offset + int64(k.meta), size: k.body, nodes: r.nodes, spans: r.spans, table: t}
	for i, d := range t.Data {
		if err := c.column(r.schema.Columns[i], d, int(rows)); err != nil {
			return fmt.Errorf("column %s: %w", r.schema.Columns[i].Name, err)
		}
	}
	if len(c.nodes)+len(c.spans) != 0 {
		return fmt.Errorf("damaged: %d fields and %d buffers too many", len(c.nodes), len(c.spans))
	}
	t.Rows = int(rows)
	return nil
}

// batch reads the message of a batch.
func (r *Reader) batch(k block) (rows int64, err error) {
	if r.meta, err = r.readAt(r.meta, k.offset, int64(k.meta)); err != nil {
		return 0, err
	}
	if binary.LittleEndian.Uint32(r.meta) != continuation || int32(binary.LittleEndian.Uint32(r.meta[4:])) != k.meta-8 {
		return 0, fmt.Errorf("damaged: no message at %d", k.offset)
	}
	msg := root(r.meta[8:])
	batch := table(msg, messageHeader)
	if batch == nil || msg.GetByteSlot(place(messageKind), 0) != kindRecordBatch {
		return 0, fmt.Errorf("damaged: not a batch at %d", k.offset)
	}
	if msg.GetInt64Slot(place(messageBodyLength), 0) != k.body {
		return 0, fmt.Errorf("damaged: length of the batch at %d", k.offset)
	}
	if c := codecOf(batch); c != r.codec {
		return 0, fmt.Errorf("compressed with %s, expected %s", c, r.codec)
	}
	r.nodes, r.spans = r.nodes[:0], r.spans[:0]
	list, n := vector(batch, batchNodes)
	for i := range n {
		b := list[i*nodeSize:]
		if binary.LittleEndian.Uint64(b[8:]) != 0 {
			return 0, fmt.Errorf("damaged: nulls in field %d", i)
		}
		r.nodes = append(r.nodes, int64(binary.LittleEndian.Uint64(b)))
	}
	list, n = vector(batch, batchBuffers)
	for i := range n {
		b := list[i*bufferSize:]
		r.spans = append(r.spans, span{int64(binary.LittleEndian.Uint64(b)), int64(binary.LittleEndian.Uint64(b[8:]))})
	}
	return batch.GetInt64Slot(place(batchLength), 0), nil
}

func codecOf(batch *flatbuffers.Table) Codec {
	switch t := table(batch, batchCompression); {
	case t == nil:
		return None
	case t.GetByteSlot(place(compressionCodec), codecLZ4) == codecZstd:
		return Zstd
	}
	return LZ4
}
